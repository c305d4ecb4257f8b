"""``imarena restore``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import Exit, emit, progress_bars, session


def command(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="A backup folder (its newest snapshot) or one snapshot in it.")],
    database: Annotated[str, typer.Option(help="Restore into this PostgreSQL database.")] = "",
    blobs: Annotated[
        str | None,
        typer.Option(
            help="Store images there: s3://bucket/prefix or a folder; default: the place in the backup's settings."
        ),
    ] = None,
) -> None:
    """Restore a backup into a new workspace (the folder of --workspace)."""
    from imarena.storage import restore

    root = session(context).workspace
    with progress_bars("restore") as tell:
        done = restore(source, root, url=database, blobs=blobs, progress=tell)
    document = {"snapshot": str(done.path), "workspace": str(root), "blobs": done.blobs, "missing": done.missing}
    emit(context, document, f"Restored {done.path} into {root}. Check it: imarena -w {root} verify")
    if done.missing:
        raise typer.Exit(Exit.PARTIAL)
