"""``imarena restore``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import Exit, emit, progress_bars, session
from imarena.core import command_line, counted


def command(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="A backup folder (its newest snapshot) or one snapshot in it.")],
    database: Annotated[
        str,
        typer.Option(
            help="Restore into this empty database: postgresql://user@host/name, or sqlite (the file arena.db in the "
            "new workspace); default: the one in the backup's settings."
        ),
    ] = "",
    blobs: Annotated[
        str | None,
        typer.Option(
            help="Where to store images: s3://bucket/prefix or a folder; default: the place in the backup's settings."
        ),
    ] = None,
    blobs_endpoint: Annotated[
        str | None,
        typer.Option(help="Address of the S3-compatible service; default: the one in the backup's settings."),
    ] = None,
) -> None:
    """Restore a backup into a new workspace (the folder of --workspace)."""
    from imarena.storage import restore

    root = session(context).workspace
    with progress_bars("restore") as tell:
        done = restore(source, root, url=database, blobs=blobs, blobs_endpoint=blobs_endpoint, progress=tell)
    document = {"snapshot": str(done.path), "workspace": str(root), "blobs": done.blobs, "missing": done.missing}
    note = f" Missing: {counted(len(done.missing), 'image')}." if done.missing else ""
    if done.missing and done.images_at:
        note += f" This backup holds the database only, and {done.images_at} does not have these images."
    emit(context, document, f"Restored {done.path} into {root}.{note} Check it: {command_line('verify')}")
    if done.missing:
        raise typer.Exit(Exit.PARTIAL)
