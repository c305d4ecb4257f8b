"""curate datasheet: the composition of a data set, as tables and plots; the card of `publish` has the same."""

from collections.abc import Iterable
from pathlib import Path

from imarena.core import UserError, command_line
from imarena.core.records import Item
from imarena.curation import Datasheet, summarise_items
from imarena.reports import save_datasheet_plots
from imarena.reports.tables import Column, Table, to_markdown
from imarena.storage import Workspace

FILE = "datasheet.md"


def read_datasheet(workspace: Workspace, dataset: str) -> Datasheet:
    """The data sheet of one data set."""
    items = list(workspace.store.records(Item, dataset=dataset))
    if not items:
        raise UserError(
            f"The data set '{dataset}' has no items.", hint=f"`{command_line('status')}` lists the data sets."
        )
    return summarise_items(items)


def datasheet_tables(sheet: Datasheet) -> list[Table]:
    """Return all of it as tables."""
    smallest, middle, largest = sheet.long_side or (0, 0.0, 0)
    rows = (
        ("items", f"{sheet.items:,}"), ("images", f"{sheet.images:,}"), ("instructions", f"{sheet.instructions:,}"),
        ("verified by people", f"{sheet.verified:,}"),
        ("long side (smallest, median, largest)", f"{smallest:,}, {middle:,.0f}, {largest:,} px"),
    )  # fmt: skip
    tables = [Table((Column("figure"), Column("value")), rows, title="Data sheet")]
    groups = {
        "source": sheet.sources, "track": sheet.tracks, "licence": sheet.licences, "resolution": sheet.resolution,
        "task": sheet.tasks, "family": sheet.families, "topic": sheet.topics, "flag for review": sheet.review,
    }  # fmt: skip
    for name, counts in groups.items():
        if counts:
            columns = (Column(name), Column("images" if name == "resolution" else "items", ","))
            tables.append(Table(columns, tuple(counts.items()), title=f"By {name}"))
    words = ", ".join(f"{word} ({count})" for word, count in sheet.keywords.items())
    if words:
        tables.append(Table((Column("keywords of the instructions"),), ((words,),), title="Keywords"))
    return tables


def save_datasheet(sheet: Datasheet, folder: Path) -> list[Path]:
    """Write `datasheet.md` and its plots."""
    plots = write_plots(sheet, folder)
    text = "\n".join(to_markdown(table) for table in datasheet_tables(sheet))
    images = "\n".join(f"![{name}]({name})" for name in plots)
    (folder / FILE).write_text(f"{text}\n{images}\n", encoding="utf-8")
    return [folder / FILE, *(folder / name for name in plots)]


def write_plots(sheet: Datasheet, folder: Path) -> list[str]:
    """Write only the plots; return their file names."""
    groups = {"task": sheet.tasks, "source": sheet.sources, "resolution": sheet.resolution, "licence": sheet.licences}
    return save_datasheet_plots(groups, sheet.keywords, folder)


def card_section(items: Iterable[Item], folder: Path) -> str:
    """Return the card section on how the images were collected; empty if `curate` collected none.

    Plots go to `images/` in `folder`.
    """
    sheet = summarise_items(items)
    if not sheet.is_curated:
        return ""
    plots = write_plots(sheet, folder / "images")
    tables = "\n".join(to_markdown(table) for table in datasheet_tables(sheet)[:5])
    images = "\n".join(f"![{name}](images/{name})" for name in plots)
    return f"**How the images were collected**\n\n{tables}\n{images}\n"
