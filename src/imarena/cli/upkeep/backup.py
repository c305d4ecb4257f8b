"""``imarena backup``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import Exit, emit, progress_bars, session_workspace
from imarena.core import command_line, counted


def command(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The backup folder; later backups copy only new files.")],
) -> None:
    """Copy a workspace: a consistent snapshot of the database, and every image."""
    from imarena.storage import backup

    with session_workspace(context) as workspace, progress_bars("backup") as tell:
        snapshot = backup(workspace, target, progress=tell)
    document = {
        "snapshot": str(snapshot.path),
        "records": snapshot.records,
        "blobs": snapshot.blobs,
        "missing": snapshot.missing,
    }
    note = (
        f" Missing: {counted(len(snapshot.missing), 'image')}: run `{command_line('verify')}`."
        if snapshot.missing
        else ""
    )
    emit(context, document, f"Wrote {snapshot.path} with {counted(snapshot.blobs, 'image')}.{note}")
    if snapshot.missing:
        raise typer.Exit(Exit.PARTIAL)
