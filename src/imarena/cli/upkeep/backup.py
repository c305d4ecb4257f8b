"""``imarena backup``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import Exit, emit, session
from imarena.cli.progress import progress_bars
from imarena.core import counted


def command(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help="The backup folder; later backups into it copy only what is new.")],
) -> None:
    """Copy a workspace: the database as it is at one moment, and every picture."""
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
