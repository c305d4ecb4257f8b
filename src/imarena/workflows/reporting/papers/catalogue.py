"""The catalogue of paper tables and figures, and the report sections made from it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from imarena.core import UserError, fill_in_commands, grouped, package_yaml, plural
from imarena.reports import Section, columns, edival_charts
from imarena.reports.tables import Column, Table
from imarena.workflows.reporting.papers import contrasts, cv_arena, genarena, imagenworld, side_by_side, viescore
from imarena.workflows.reporting.papers.data import NOTHING, Block, PaperData

CHAPTER = "In the form of the papers"
"""The heading of all sections about papers."""
_NAMED = 4
"""Tables of another section that a sentence names."""


@dataclass(frozen=True)
class PaperEntry:
    """A table or figure of a paper: its place there, the data it needs, and the command that makes them."""

    paper: str
    name: str
    place: str
    title: str
    needs: str
    command: str
    make: str = ""
    """The function that makes it; empty for tables of `imarena edival report`."""
    starts: tuple[str, ...] = ()
    """Beginnings of the titles of its tables in `imarena edival report`."""
    printed_before: bool = False
    """Whether tables that earlier sections print are not repeated: a sentence names the section."""
    charts: tuple[str, ...] = ()
    """Beginnings of the names of its plots in `imarena edival report --out`."""

    @property
    def label(self) -> str:
        """The place in the paper, such as `Table 3`."""
        return f"{self.place[0].upper()}{self.place[1:]}"

    def titled(self, table: Table) -> Table:
        """One of the entry's tables with its place in the paper in the title."""
        titles = [self.title, table.title]
        if not table.title or self.title.startswith(table.title):
            titles = [self.title]
        elif table.title.startswith(self.title):
            titles = [table.title]
        return replace(table, title=f"{self.label}. {': '.join(titles)}")


@cache
def paper_entries() -> tuple[PaperEntry, ...]:
    """Every entry, in the order of the papers."""
    entries = []
    for paper in package_yaml("imarena.workflows.reporting.papers", "catalogue.yaml")["papers"]:
        shared = {name: paper[name] for name in ("paper", "name", "needs", "command") if name in paper}
        for entry in paper["entries"]:
            begin = {
                name: tuple(part.strip() for part in entry.get(name, "").split(",") if part.strip())
                for name in ("starts", "charts")
            }
            entries.append(PaperEntry(**{**shared, **entry, **begin}))
    return tuple(entries)


@cache
def makers() -> dict[str, Callable[[PaperData], Block]]:
    """The functions that make entries, by name."""
    return {
        **cv_arena.MAKERS, **genarena.MAKERS, **side_by_side.MAKERS, **imagenworld.MAKERS, **contrasts.MAKERS,
        **viescore.MAKERS, "never": lambda _: NOTHING,
    }  # fmt: skip


def made_block(entry: PaperEntry, data: PaperData) -> Block:
    """An entry's table or figure; nothing if the data do not suffice."""
    try:
        return makers()[entry.make](data)
    except UserError:
        return NOTHING


def paper_sections(data: PaperData, printed: Sequence[Section] = ()) -> Iterator[Section]:
    """A section for each paper for which there are data, and a table of everything that is not available.

    `printed`: the sections before, for entries whose tables are not repeated.
    """
    edival = _edival_block(data)
    missing: list[PaperEntry] = []
    by_paper: dict[str, list[tuple[PaperEntry, Block]]] = {}
    for entry in paper_entries():
        block = made_block(entry, data) if entry.make else _of_edival(entry, edival)
        if block.empty:
            known_better = f" ({block.needs.rstrip('.')})" if block.needs else ""
            missing.append(replace(entry, needs=entry.needs + known_better))
        else:
            by_paper.setdefault(entry.name, []).append((entry, block))
    for paper, blocks in by_paper.items():
        section = _section(
            paper,
            [(entry, _without_repeats(block, printed) if entry.printed_before else block) for entry, block in blocks],
        )
        yield replace(section, chapter=CHAPTER)
    if missing:
        rows = tuple(
            (entry.name, entry.place, entry.title, entry.needs, fill_in_commands(entry.command)) for entry in missing
        )
        head = columns(
            "paper", "table or figure", Column("title", wrap=True), Column("not available: it needs", wrap=True),
            Column("command", wrap=True),
        )  # fmt: skip
        text = (
            f"This workspace has no data for {len(missing)} of {len(paper_entries())} groups of tables and figures of "
            "the papers. Each row states what is missing and the command that makes it."
        )
        title = f"Tables of the papers that need more data ({len(missing)} of {len(paper_entries())})"
        yield Section(title, (text,), tables=(Table(head, rows),), folded=True, chapter=CHAPTER)


def _table_names(titles: Sequence[str]) -> str:
    """The titles of a few tables, or the first and the last of many."""
    quoted = [f"“{title}”" for title in titles]
    if len(titles) > _NAMED:
        return f"its {len(titles)} tables from {quoted[0]} to {quoted[-1]}"
    return f"its {plural('table', len(titles))} {' and '.join(quoted)}"


def _without_repeats(block: Block, printed: Sequence[Section]) -> Block:
    """The block without tables of other sections, and a sentence that says where they are."""
    where = {(table.title, table.rows): section.title for section in printed for table in section.tables if table.title}
    sections = [where.get((table.title, table.rows)) for table in block.tables]
    kept = tuple(table for table, section in zip(block.tables, sections, strict=True) if section is None)
    pairs = zip(sections, block.tables, strict=True)
    by_section = grouped((section, table.title) for section, table in pairs if section is not None)
    texts = [f"see the section “{title}”: {_table_names(titles)}." for title, titles in by_section.items()]
    return replace(block, tables=kept, text=(*block.text, *texts))


def _section(paper: str, blocks: list[tuple[PaperEntry, Block]]) -> Section:
    tables: list[Table] = []
    charts, exhibits, texts = [], [], []
    for entry, block in blocks:
        tables += [entry.titled(table) for table in block.tables]
        charts += [
            replace(chart, name=f"paper-{entry.paper}-{chart.name}", caption=f"{entry.label}. {chart.caption}")
            for chart in block.charts
        ]
        exhibits += [replace(part, title=f"{entry.label}. {entry.title} · {part.title}") for part in block.exhibits]
        texts += [f"{entry.label}: {text}" for text in block.text]
    return Section(
        f"Tables and figures of {paper}", points=tuple(texts), tables=tuple(tables), charts=tuple(charts),
        exhibits=tuple(exhibits),
    )  # fmt: skip


def _edival_block(data: PaperData) -> Block:
    if data.edival is None:
        return NOTHING
    return Block(data.edival.tables, tuple(edival_charts(data.edival.scored)))


def _of_edival(entry: PaperEntry, edival: Block) -> Block:
    exact = "Success by type"
    tables = (
        table
        for table in edival.tables
        if any(table.title.startswith(text) for text in entry.starts)
        and (entry.starts != ("Success",) or not table.title.startswith(exact))
    )
    charts = (chart for chart in edival.charts if any(chart.name.startswith(text) for text in entry.charts))
    return Block(tuple(tables), tuple(charts))
