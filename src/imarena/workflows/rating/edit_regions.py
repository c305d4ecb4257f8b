"""Edit regions: stored boxes that a campaign shows to its raters, the same on every image of a task."""

from collections.abc import Collection

from imarena.core import ShareBox, UserError, command_line
from imarena.core.records import Evidence, ImageRef, Item, Status
from imarena.images import EDIT_BOXES, boxes_in
from imarena.storage import Workspace


def edit_region(workspace: Workspace, source: ImageRef, instruction: str) -> tuple[ShareBox, ...]:
    """The newest stored boxes for an instruction on its source; empty if none are stored."""
    stored = workspace.store.records(
        Evidence, kind=EDIT_BOXES, image_sha256=source.sha256, status=Status.OK.value
    )  # oldest first
    newest = None
    for evidence in stored:
        if evidence.against_sha256 is None and evidence.params.get("instruction") in (None, instruction):
            newest = evidence
    return () if newest is None else tuple(detection.box for detection in boxes_in(newest, 1, 1))


def require_regions(workspace: Workspace, kind: str, item_ids: Collection[str]) -> None:
    """Raise if a campaign cannot show edit regions: it is not of the kind preference, or none of its items has one."""
    if kind != "preference":
        raise UserError(
            "Edit regions are shown in campaigns of the kind preference only.", hint="Leave out show_region."
        )
    sources = {evidence.image_sha256 for evidence in workspace.store.records(Evidence, kind=EDIT_BOXES)}
    for item in workspace.store.records(Item):
        if item.item_id in item_ids and any(source.sha256 in sources for source in item.sources):
            return
    raise UserError(
        "The campaign is to show edit regions, and none of its items has one.",
        hint=f"Run `{command_line('pvc regions')}` first, or set show_region to false.",
    )
