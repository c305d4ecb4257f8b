"""``imarena import``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, fail, session, show_names
from imarena.cli.options import parse_pairs
from imarena.cli.progress import progress_bars
from imarena.core import counted
from imarena.workflows.exchange import ImportReport

_SHOWN = 20
PLAIN = frozenset({"folder", "folders", "plain", "dir", "directory", "csv", "items", "files", "images", "pictures"})
"""What a user may call the format `table`."""


def command(
    context: typer.Context,
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help="See --list.")] = "",
    path: Annotated[str, typer.Argument(help="The folder or file to read, or hub:owner/name[@revision].")] = "",
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="key=value, for the format: see docs/reference.")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the formats.")] = False,
) -> None:
    """Bring records in. Twice is the same as once; what is left out is told by file and row (exit code 3)."""
    from imarena.datasets import DESCRIPTIONS, READERS

    if listing or not format_name:
        known = {name: DESCRIPTIONS.get(name, "") for name in READERS}
        emit(context, known, lambda console: _list(console, known))
        return
    if not path and format_name not in READERS:
        fail(
            f"In which format is {format_name}?",
            hint=f"Name it first: imarena import FORMAT {format_name}, with FORMAT from 'imarena import --list'."
            " An items.csv with folders of outputs is 'table'.",
        )
    if not path:
        fail("What should be imported?", hint=f"Give a path: imarena import {format_name} PATH")
    from imarena.datasets import download, is_hub
    from imarena.storage import open_workspace
    from imarena.workflows.exchange import import_records

    if format_name not in READERS and format_name.lower() in PLAIN:
        fail(f"There is no format called '{format_name}'.", hint=f"Plain folders: imarena import table {path}")
    read = READERS.get(format_name)
    with open_workspace(session(context).workspace) as workspace, progress_bars("import") as tell:
        place = download(path, workspace.root / "downloads") if is_hub(path) else Path(path)
        report = import_records(
            workspace, read, format_name=format_name, path=place, options=parse_pairs(option), progress=tell
        )
    emit(context, report.to_json(), lambda console: _show(console, report))
    if report.skipped:
        nothing = not report.new and not report.same
        raise typer.Exit(Exit.USER if nothing else Exit.PARTIAL)


def _list(console: Console, known: dict[str, str]) -> None:
    from imarena.datasets import WRITERS

    show_names(console, known)
    console.print(f"Written by `imarena export` too: {', '.join(WRITERS)}.", markup=False)


def _counted(number: int, name: str) -> str:
    word = {"evidence": "evidence record"}.get(name, name)
    return counted(number, word)


def _show(console: Console, report: ImportReport) -> None:
    for title, counts in (("new", report.new), ("there already", report.same)):
        told = ", ".join(_counted(number, name.lower()) for name, number in sorted(counts.items()) if number)
        if told:
            console.print(f"{title}: {told}")
    for warning in report.warnings[:_SHOWN]:
        console.print(f"[yellow]warning:[/] {escape(warning)}")
    if not report.new and not report.same:
        console.print("nothing was imported")
    for skip in report.skips[:_SHOWN]:
        console.print(f"[yellow]left out:[/] {escape(str(skip))}")
    if report.skipped > _SHOWN:
        console.print(f"... and {report.skipped - _SHOWN:,} more; --json lists {len(report.skips):,}")
