"""``imarena backup``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import Exit, emit, progress_bars, session_workspace
from imarena.core import counted


def command(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The backup folder; later backups copy only new files.")],
) -> None:
    """Copy a workspace: a consistent snapshot of the database, and every image."""
    from imarena.storage import backup

    with session_workspace(context) as workspace, progress_bars("backup") as tell:
        made = backup(workspace, target, progress=tell)
    document = {"snapshot": str(made.path), "records": made.records, "blobs": made.blobs, "missing": made.missing}
    note = f" Missing: {counted(len(made.missing), 'image')}: run 'imarena verify'." if made.missing else ""
    emit(context, document, f"Wrote {made.path} with {counted(made.blobs, 'image')}.{note}")
    if made.missing:
        raise typer.Exit(Exit.PARTIAL)
