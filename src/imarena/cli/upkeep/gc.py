"""``imarena gc``."""

from typing import Annotated

import typer

from imarena.cli.console import emit, session_workspace
from imarena.core import counted


def command(
    context: typer.Context,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; without it, only print what would be removed.")
    ] = False,
    grace_s: Annotated[float, typer.Option(help="Keep files younger than this many seconds.")] = 3600.0,
) -> None:
    """Remove images that no record refers to, and leftovers of interrupted writes."""
    from imarena.storage import collect_garbage

    with session_workspace(context) as workspace:
        garbage = collect_garbage(workspace, remove=yes, grace_s=grace_s)
    document = {
        "removed": yes,
        "blobs": list(garbage.blobs),
        "leftovers": garbage.leftovers,
        "bytes": garbage.bytes,
    }
    verb = "Removed" if yes else "Would remove (--yes does it)"
    content = f"{counted(len(garbage.blobs), 'image')}, {counted(garbage.leftovers, 'leftover')}"
    text = f"{verb}: {content}, {garbage.bytes / 1e6:,.1f} MB."
    emit(context, document, text)
