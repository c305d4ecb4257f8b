"""``imarena status``."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from imarena.cli.console import emit, session
from imarena.workflows.status import WorkspaceStatus, status


def command(
    context: typer.Context,
    items: Annotated[
        bool, typer.Option("--items", help="Instead: the items, and the file names that `edit -e folder:PATH` takes.")
    ] = False,
) -> None:
    """Counts by stage, status and editor; what a resume would still do."""
    from imarena.storage import open_workspace
    from imarena.workflows.item_files import item_files

    with open_workspace(session(context).workspace) as workspace:
        if items:
            files = list(item_files(workspace))
            emit(context, {"files": [one.to_json() for one in files]}, lambda console: _show_files(console, files))
            return
        found = status(workspace)
    emit(context, found.to_json(), lambda console: _show(console, found))


def _show_files(console: Console, files: list[Any]) -> None:
    """One line for every output that the items ask for."""
    if not files:
        console.print("There are no items: `imarena import FORMAT PATH` brings them.")
        return
    table = Table("file", "mode", "instruction", box=None)
    for one in files:
        table.add_row(_plain(one.file), one.mode, _plain(" ".join(one.instruction.split())))
    table.columns[0].overflow = "fold"
    console.print(table)
    console.print("`imarena export table DIR` writes items of one turn with their sources, `export native DIR` all.")


def _show(console: Console, found: WorkspaceStatus) -> None:
    console.print(f"[bold]{found.name}[/]  {found.root}  ({found.database}, schema {found.schema})", markup=True)
    totals = Table("records", "count", box=None)
    for name, number in found.totals.items():
        if number:
            totals.add_row(name, f"{number:,}")
    totals.add_row("different images", f"{found.images:,} ({found.image_bytes / 1e6:,.1f} MB)")
    console.print(totals)
    if found.items:
        _counts(console, "items by data set", found.items)
    if found.outputs:
        _outputs(console, found)
    if found.judgments:
        _nested(console, "judgments by judge", found.judgments)
    if found.votes:
        _counts(console, "votes by rater", found.votes)
    if found.missing:
        _counts(console, "not ok: retried when the same command runs again", found.missing)
    if found.words:
        flagged, read = found.words["flagged"], found.words["read"]
        told = f"{flagged:,} of {read:,} pictures read hold words that address a judge"
        console.print(f"{told}: see `imarena health`" if flagged else told, style="yellow" if flagged else "")
    for line in found.unfinished:
        console.print(f"unfinished: {line}; run the same command again", style="yellow", markup=False)
    for line in found.interrupted:
        console.print(f"running or interrupted: {line}; run the same command again to finish it", style="yellow")


def _counts(console: Console, title: str, counts: dict[str, int]) -> None:
    table = Table(title, "count", box=None)
    shown = list(counts.items())
    for name, number in shown[:40]:
        table.add_row(_plain(name), f"{number:,}")
    if len(shown) > 40:
        table.add_row(f"... and {len(shown) - 40} more", f"{sum(n for _, n in shown[40:]):,}")
    console.print(table)


def _outputs(console: Console, found: WorkspaceStatus) -> None:
    """What each editor was asked for and gave; coverage is over all items of its data sets, as on boards.

    The words stand last: they fold where a terminal is narrow.
    """
    without = found.outputs_without_pixels
    extra = ["no pixels"] if without else []
    table = Table("outputs by editor", "ok", "asked for", "coverage", "attempts", *extra, "without one", box=None)
    for name, row in found.outputs.items():
        made, asked = row.get("ok", 0), sum(row.values())
        failed = ", ".join(f"{number:,} {state}" for state, number in sorted(row.items()) if state != "ok")
        share = found.coverage.get(name, made / asked)
        cells = [f"{made:,}", f"{asked:,}", f"{share:.0%}", f"{found.attempts[name]:,}"]
        table.add_row(_plain(name), *cells, *([f"{without.get(name, 0):,}"] if extra else []), failed)
    table.columns[0].overflow = "fold"
    console.print(table)


def _nested(console: Console, title: str, counts: dict[str, dict[str, int]]) -> None:
    states = sorted({state for row in counts.values() for state in row}, key=lambda state: (state != "ok", state))
    table = Table(title, *states, box=None)
    for name, row in counts.items():
        table.add_row(_plain(name), *(f"{row[state]:,}" if state in row else "" for state in states))
    console.print(table)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
