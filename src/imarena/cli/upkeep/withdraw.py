"""``imarena withdraw``."""

from typing import Annotated

import typer

from imarena.cli.console import emit, fail, session_workspace


def command(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="image or rater")],
    subject: Annotated[str, typer.Argument(help="The image's SHA-256 (8 digits or more), or the rater's id.")],
    reason: Annotated[str, typer.Option(help="The reason, stored in the tombstone.")] = "",
) -> None:
    """Remove an image's bytes or a rater's personal data. Records remain, and a tombstone records the removal."""
    from imarena.storage import withdraw_image, withdraw_rater

    actions = {"image": withdraw_image, "rater": withdraw_rater}
    if kind not in actions:
        fail(f"'{kind}' cannot be withdrawn.", hint="Use 'image' or 'rater'.")
    with session_workspace(context) as workspace:
        tombstone = actions[kind](workspace, subject, reason)
    elsewhere = "Backups, exports, downloads and reports elsewhere may still hold it: remove those too."
    note = elsewhere if kind == "image" else "The votes stay."
    emit(context, tombstone.model_dump(mode="json"), f"Withdrew the {kind} {tombstone.subject}. {note}")
