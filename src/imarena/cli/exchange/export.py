"""``imarena export``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from imarena.cli.console import Exit, emit, session
from imarena.cli.options import parse_pairs
from imarena.cli.progress import progress_bars


def command(
    context: typer.Context,
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="genarena, native, native_jsonl, native_parquet or table.")
    ],
    directory: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="key=value, for the format.")] = None,
) -> None:
    """Write a workspace in a format. Exit code 3: records that the format has a place for could not be written."""
    from imarena.datasets import WRITERS
    from imarena.storage import open_workspace
    from imarena.workflows.exchange import export_records

    write = WRITERS.get(format_name)
    with open_workspace(session(context).workspace) as workspace, progress_bars("export") as tell:
        skips = export_records(workspace, write, directory, options=parse_pairs(option), progress=tell)
    lacking = [skip for skip in skips if not skip.by_format]
    beyond = [skip for skip in skips if skip.by_format]
    document = {
        "format": format_name,
        "directory": str(directory),
        "skipped": [{"file": s.file, "row": s.row, "reason": s.reason} for s in lacking],
        "not_in_format": [{"file": s.file, "reason": s.reason} for s in beyond],
    }
    lines = [f"Wrote {directory}.", *(str(skip) for skip in beyond), *(f"left out: {skip}" for skip in lacking)]
    emit(context, document, lambda console: console.print(escape("\n".join(lines))))
    if lacking:
        raise typer.Exit(Exit.PARTIAL)
