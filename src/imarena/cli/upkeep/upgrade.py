"""``imarena upgrade``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import emit, progress_bars, session


def command(
    context: typer.Context,
    backup_to: Annotated[
        Path | None, typer.Option(help="Folder for the backup (default: next to the workspace).")
    ] = None,
) -> None:
    """Upgrade a workspace to the newest schema. A backup is made first; a newer schema is refused."""
    from imarena.workflows.upkeep import upgrade_workspace

    with progress_bars("upgrade") as tell:
        done = upgrade_workspace(session(context).workspace, backup_to, tell)
    text = (
        f"The workspace has the newest schema ({done.after})."
        if done.before == done.after
        else f"Upgraded from schema {done.before} to {done.after}; the backup is in {done.backup}."
    )
    emit(context, done.to_json(), text)
