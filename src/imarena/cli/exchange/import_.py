"""``imarena import``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, fail, print_causes, progress_bars, session_workspace, show_names
from imarena.cli.options import ItemColumnsOption, parse_pairs
from imarena.core import UserError, command_line, counted
from imarena.core.notices import Notice, sentence
from imarena.workflows.exchange import ImportReport

_WARNINGS_SHOWN = 20
_FILES_SHOWN = 10
PLAIN = frozenset({"folder", "folders", "plain", "dir", "directory", "csv", "items", "files", "images", "pictures"})
"""Other names for the format `table`."""


def command(
    context: typer.Context,
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help="The format; --list prints all.")] = "",
    path: Annotated[str, typer.Argument(help="The folder or file to read, or hub:owner/name[@revision].")] = "",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="An option of the format, key=value; repeatable (see docs/reference)."),
    ] = None,
    columns: ItemColumnsOption = None,
    listing: Annotated[bool, typer.Option("--list", help="List the formats.")] = False,
) -> None:
    """Import records. Importing twice changes nothing. Skipped rows are listed by cause (exit code 3)."""
    from imarena.datasets import DESCRIPTIONS, READERS

    if listing or not format_name:
        formats = {name: DESCRIPTIONS.get(name, "") for name in READERS}
        emit(context, formats, lambda console: _list(console, formats))
        return
    if not path and format_name not in READERS:
        fail(
            f"In which format is {format_name}?",
            hint=f"Name it first: {command_line('import FORMAT', format_name)}, with FORMAT from "
            f"`{command_line('import --list')}`."
            " An items.csv with folders of outputs is 'table'.",
        )
    if not path:
        fail("What should be imported?", hint=f"Give a path: {command_line('import', format_name)} PATH")
    from imarena.workflows.exchange import import_dataset

    if format_name not in READERS and format_name.lower() in PLAIN:
        fail(f"There is no format called '{format_name}'.", hint=f"Plain folders: {command_line('import table', path)}")
    if format_name == "native_parquet":
        _check_published(Path(path))
    with session_workspace(context) as workspace, progress_bars("import") as tell:
        options = _options(format_name, option, columns)
        report = import_dataset(workspace, format_name, path, options=options, progress=tell)
    emit(context, report.to_json(), lambda console: _show(console, report))
    if report.skipped:
        nothing = not report.new and not report.same
        raise typer.Exit(Exit.USER if nothing else Exit.PARTIAL)


def _check_published(folder: Path) -> None:
    """Reject a published folder whose files do not match its checksums. Other exports have no checksums."""
    from imarena.datasets import CHECKSUMS_FILE, check_publication

    if not (folder / CHECKSUMS_FILE).is_file():
        return
    report = check_publication(folder)
    if report.clean:
        return
    groups = {"changed": report.changed, "missing": report.missing, "added": report.extra}
    files = [f"{name!r} ({state})" for state, names in groups.items() for name in names]
    more = f" and {len(files) - _FILES_SHOWN:,} more" if len(files) > _FILES_SHOWN else ""
    fail(
        f"{folder} is not as it was published: {', '.join(files[:_FILES_SHOWN])}{more}.",
        hint=f"Get the folder again, or remove its {CHECKSUMS_FILE} if you changed the files yourself.",
    )


def _options(format_name: str, option: list[str] | None, columns: list[str] | None) -> dict[str, str]:
    """Return the format's options, including --columns."""
    options = parse_pairs(option)
    if columns and format_name != "table":
        raise UserError(
            f"The format '{format_name}' has its own columns.",
            hint=f"--columns goes with `{command_line('import table')}`.",
        )
    if columns:
        options["columns"] = ",".join([*([options["columns"]] if "columns" in options else []), *columns])
    return options


def _list(console: Console, formats: dict[str, str]) -> None:
    from imarena.datasets import WRITERS

    show_names(console, formats)
    console.print(f"Written by `{command_line('export')}` too: {', '.join(WRITERS)}.")


def _counted(number: int, name: str) -> str:
    word = {"evidence": "evidence record"}.get(name, name)
    return counted(number, word)


def _is_note(notice: Notice) -> bool:
    """Whether nothing is wrong: columns that we do not use are stored with the item."""
    return notice.code == "columns_unused" and not notice.values.get("dropped") and not notice.values.get("clashing")


def _show(console: Console, report: ImportReport) -> None:
    for title, counts in (("new", report.new), ("already stored", report.same)):
        summary = ", ".join(_counted(number, name.lower()) for name, number in sorted(counts.items()) if number)
        if summary:
            console.print(f"{title}: {summary}")
    for name, number in sorted(report.datasets.items()):
        console.print(f"data set '{name}': {counted(number, 'item')}", markup=False)
    labels = {sentence(notice): "note" if _is_note(notice) else "warning" for notice in report.notices}
    for text, label in list(labels.items())[:_WARNINGS_SHOWN]:
        console.print(f"[yellow]{label}:[/] {escape(text)}", markup=True)
    if not report.new and not report.same:
        console.print("nothing was imported")
    print_causes(console, report.causes)
