"""The catalogue of paper tables and figures, and the sections of a report that it gives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from imarena.core import UserError
from imarena.reports import Section, columns
from imarena.reports.tables import Column, Table
from imarena.workflows.reporting.edival import edival_report
from imarena.workflows.reporting.papers import contrasts, cv_arena, genarena, imagenworld
from imarena.workflows.reporting.papers.data import NOTHING, Block, PaperData


@dataclass(frozen=True)
class PaperEntry:
    """A table or figure of a paper: where it is, what it needs, and the command that makes its data."""

    paper: str
    name: str
    place: str
    title: str
    needs: str
    command: str
    make: str = ""
    """The function that makes it; empty for tables of `imarena edival report`."""
    starts: tuple[str, ...] = ()
    """How titles of its tables in `imarena edival report` begin."""


@cache
def paper_entries() -> tuple[PaperEntry, ...]:
    """Every entry, in the order of the papers."""
    text = files("imarena.workflows.reporting.papers").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    entries = []
    for paper in yaml.safe_load(text)["papers"]:
        shared = {name: paper[name] for name in ("paper", "name", "needs", "command") if name in paper}
        for entry in paper["entries"]:
            starts = tuple(part.strip() for part in entry.get("starts", "").split(",") if part.strip())
            entries.append(PaperEntry(**{**shared, **entry, "starts": starts}))
    return tuple(entries)


def makers() -> dict[str, Callable[[PaperData], Block]]:
    """The functions that entries name."""
    return {
        **cv_arena.MAKERS, **genarena.MAKERS, **imagenworld.MAKERS, **contrasts.MAKERS, "never": lambda _: NOTHING,
    }  # fmt: skip


def paper_sections(data: PaperData) -> Iterator[Section]:
    """A section for each paper that the data allow something of, and one table of what is not available."""
    known = makers()
    edival = _edival_tables(data)
    missing: list[PaperEntry] = []
    by_paper: dict[str, list[tuple[PaperEntry, Block]]] = {}
    for entry in paper_entries():
        block = known[entry.make](data) if entry.make else _of_edival(entry, edival)
        if block.empty:
            missing.append(entry)
        else:
            by_paper.setdefault(f"{entry.name} ({entry.paper})", []).append((entry, block))
    for paper, blocks in by_paper.items():
        yield _section(paper, blocks)
    if missing:
        rows = tuple((f"{one.name} ({one.paper})", one.place, one.title, one.needs, one.command) for one in missing)
        head = columns(
            "paper", "table or figure", Column("title", wrap=True), Column("not available: it needs", wrap=True),
            Column("command", wrap=True),
        )  # fmt: skip
        yield Section("Tables of the papers that need more data", tables=(Table(head, rows),))


def _section(paper: str, blocks: list[tuple[PaperEntry, Block]]) -> Section:
    tables, charts, exhibits, texts = [], [], [], []
    for entry, block in blocks:
        place = entry.place[0].upper() + entry.place[1:]
        for table in block.tables:
            title = f"{place}. {entry.title}" + (f": {table.title}" if table.title else "")
            tables.append(replace(table, title=title))
        number = entry.paper
        charts += [
            replace(chart, name=f"paper-{number}-{chart.name}", caption=f"{place}. {chart.caption}")
            for chart in block.charts
        ]
        exhibits += [replace(one, title=f"{place}. {entry.title} · {one.title}") for one in block.exhibits]
        texts += [f"{place}: {text}" for text in block.text]
    return Section(
        f"Tables and figures of {paper}", points=tuple(texts), tables=tuple(tables), charts=tuple(charts),
        exhibits=tuple(exhibits),
    )  # fmt: skip


def _edival_tables(data: PaperData) -> tuple[Table, ...]:
    try:
        return edival_report(data.workspace).tables
    except UserError:  # no EdiVal scores
        return ()


def _of_edival(entry: PaperEntry, tables: tuple[Table, ...]) -> Block:
    exact = "Success by type"
    return Block(
        tuple(
            table
            for table in tables
            if any(table.title.startswith(text) for text in entry.starts)
            and (entry.starts != ("Success",) or not table.title.startswith(exact))
        )
    )


def catalogue_rows() -> list[dict[str, Any]]:
    """The catalogue as data, for documentation."""
    return [
        {"paper": one.paper, "name": one.name, "place": one.place, "title": one.title, "needs": one.needs,
         "command": one.command}
        for one in paper_entries()
    ]  # fmt: skip
