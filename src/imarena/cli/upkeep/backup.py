"""``imarena backup``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import Exit, emit, session
from imarena.cli.progress import progress_bars
from imarena.core import counted


def command(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The backup folder; later backups copy only new files.")],
) -> None:
    """Copy a workspace: a consistent snapshot of the database, and every image."""
    from imarena.storage import backup, open_workspace

    with open_workspace(session(context).workspace) as workspace, progress_bars("backup") as tell:
        made = backup(workspace, target, progress=tell)
    document = {"snapshot": str(made.path), "records": made.records, "blobs": made.blobs, "missing": made.missing}
    note = f" Missing: {counted(len(made.missing), 'image')}: run 'imarena verify'." if made.missing else ""
    emit(
        context,
        document,
        lambda console: console.print(f"Wrote {made.path} with {counted(made.blobs, 'image')}.{note}", markup=False),
    )
    if made.missing:
        raise typer.Exit(Exit.PARTIAL)
