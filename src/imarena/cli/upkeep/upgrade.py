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
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Skip the backup.")] = False,
) -> None:
    """Upgrade a workspace to the newest schema. The database is backed up first; a newer schema is refused."""
    from imarena.workflows.upkeep import upgrade_workspace

    with progress_bars("upgrade") as tell:
        done = upgrade_workspace(session(context).workspace, backup_to, tell, make_backup=not no_backup)
    backup_text = (
        f"The backup of the database is in {done.backup}; it holds no images, because an upgrade does not change them."
        if done.backup
        else "No backup was made."
    )
    text = (
        f"The workspace has the newest schema ({done.after})."
        if done.before == done.after
        else f"Upgraded from schema {done.before} to {done.after}. {backup_text}"
    )
    emit(context, done.to_json(), text)
