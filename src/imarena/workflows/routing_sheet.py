"""Route: the sheet of assignments that any rating tool can serve. It never takes the place of votes not yet read."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import select

from imarena.core.errors import UserError
from imarena.core.records import Assignment, Item, Output, Rater, Vote
from imarena.storage import Workspace
from imarena.storage.database import reading
from imarena.storage.schema import leases
from imarena.workflows.campaign_quality import safe_cell
from imarena.workflows.campaigns import get_campaign
from imarena.workflows.routing_ingest import unread

COLUMNS = ("assignment", "rater", "item", "turn", "instruction", "left_image", "right_image", "winner")


@contextmanager
def sheet_at(workspace: Workspace, made: Sequence[Assignment], path: Path | None) -> Iterator[None]:
    """Write the sheet beside its place, do what is to be done, then put it there; nothing where `path` is None.

    So a place that cannot be written to is found before anything is stored, and a failure leaves the old file.
    """
    if path is None:
        yield
        return
    if not path.parent.is_dir():
        raise UserError(f"There is no folder {path.parent}.", hint=f"Make it, or put {path.name} elsewhere.")
    if path.exists() and (held := unread(workspace, path)):
        raise UserError(
            f"{path} holds {held} votes that were not read yet.",
            hint=f"Read them first: imarena route ingest {path}; or give another --out.",
        )
    part = path.with_name(f".{path.name}.part")
    try:
        _write(workspace, made, part)
        yield
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def sheet(workspace: Workspace, campaign: str, path: Path, raters: Sequence[str] = ()) -> dict[str, Any]:
    """The sheet of what a campaign still waits for, once more: all of it, or some raters' part."""
    found = get_campaign(workspace, campaign)
    last = {row["assignment_id"]: row["retracted"] for row in workspace.store.rows(Vote)}
    taken = {assignment for assignment, retracted in last.items() if not retracted}
    with reading(workspace.store.engine) as connection:
        in_hand = select(leases.c.assignment_id).where(leases.c.campaign_id == found.campaign_id)
        taken.update(connection.execute(in_hand.where(leases.c.state != "free")).scalars())
    gone = {row["id"] for row in workspace.store.rows(Rater, active=0)}  # what they had is asked of others
    waiting = [
        one
        for one in workspace.store.records(Assignment, campaign_id=found.campaign_id)
        if one.kind == "preference"
        and one.assignment_id not in taken
        and one.rater_id not in gone
        and (not raters or one.rater_id in raters)
    ]
    if not waiting:
        whom = f" of {', '.join(raters)}" if raters else ""
        raise UserError(f"'{found.name}' waits for no vote{whom}.", hint="Ask for some: imarena route assign.")
    with sheet_at(workspace, waiting, path):
        pass
    return {"campaign": found.campaign_id, "assignments": len(waiting), "file": str(path)}


def _write(workspace: Workspace, made: Sequence[Assignment], path: Path) -> None:
    """Blinded; `winner` is left empty for left, right, tie or both_bad."""
    items = {item.item_id: item for item in workspace.store.records(Item, id=sorted({one.item_id for one in made}))}
    shown = sorted({side for one in made for side in (one.left_id, one.right_id) if side})
    images = {row["id"]: row["image_sha256"] or row["id"] for row in workspace.store.rows(Output, id=shown)}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in made:
            turns = items[one.item_id].turns
            text = turns[one.turn].instruction if one.turn < len(turns) else ""
            sides = [images.get(side or "", "") for side in (one.left_id, one.right_id)]
            writer.writerow((one.assignment_id, one.rater_id or "", one.item_id, one.turn, safe_cell(text), *sides, ""))
