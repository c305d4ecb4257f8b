"""Route: the sheet of assignments, which any rating tool can serve, and its images in a folder beside it.

It never overwrites votes that have not been read yet.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from imarena.core import UserError, atomic_replacement, command_line, counted, plural, write_atomically
from imarena.core.records import Assignment, ImageRef, Item, Output, Rater, Vote
from imarena.images import SUFFIXES
from imarena.reports import require_sheet_format, write_sheet_file
from imarena.storage import Workspace, reading
from imarena.storage.schema import leases
from imarena.workflows.active_elo.ingesting import count_unread_rows
from imarena.workflows.rating import get_campaign
from imarena.workflows.views import chain_of, edit_question


def pictures_of(path: Path) -> Path:
    """Return the folder of a sheet's images."""
    return path.with_name(f"{path.stem}-images")


@contextmanager
def atomic_sheet(workspace: Workspace, assignments: Sequence[Assignment], path: Path | None) -> Iterator[None]:
    """Write the sheet to a temporary file, run the caller's block, then put it in place; do nothing if `path` is None.

    So an unwritable path is found before anything is stored, and a failure leaves the old file.
    """
    if path is None:
        yield
        return
    suffix = require_sheet_format(path)
    if not path.parent.is_dir():
        raise UserError(f"There is no folder {path.parent}.", hint=f"Make it, or put {path.name} elsewhere.")
    if suffix != ".html" and path.exists() and (unread := count_unread_rows(workspace, path)):
        raise UserError(
            f"{path} holds {counted(unread, 'vote')} that {plural('was', unread)} not read yet.",
            hint=f"Read them first: {command_line('route ingest', path)}; or give another --out.",
        )
    with atomic_replacement(path) as part:
        _write(workspace, assignments, part, suffix, pictures_of(path))
        yield


@dataclass(frozen=True)
class WrittenSheet:
    """A written sheet: its campaign, its number of assignments, and its file."""

    campaign: str
    assignments: int
    file: str


def write_sheet(workspace: Workspace, campaign: str, path: Path, raters: Sequence[str] = ()) -> WrittenSheet:
    """Write the sheet of a campaign's pending assignments again: all of them, or those of some raters."""
    record = get_campaign(workspace, campaign)
    last = {row["assignment_id"]: row["retracted"] for row in workspace.store.rows(Vote)}
    unavailable = {assignment for assignment, retracted in last.items() if not retracted}
    with reading(workspace.store.engine) as connection:
        in_hand = select(leases.c.assignment_id).where(leases.c.campaign_id == record.campaign_id)
        unavailable.update(connection.execute(in_hand.where(leases.c.state != "free")).scalars())
    inactive_ids = {row["id"] for row in workspace.store.rows(Rater, active=0)}  # their assignments are given to others
    waiting = [
        assignment
        for assignment in workspace.store.records(Assignment, campaign_id=record.campaign_id)
        if assignment.kind == "preference"
        and assignment.assignment_id not in unavailable
        and assignment.rater_id not in inactive_ids
        and (not raters or assignment.rater_id in raters)
    ]
    if not waiting:
        whom = f" of {', '.join(raters)}" if raters else ""
        raise UserError(
            f"'{record.name}' waits for no vote{whom}.", hint=f"Ask for some: {command_line('route assign')}"
        )
    with atomic_sheet(workspace, waiting, path):
        pass
    return WrittenSheet(record.campaign_id, len(waiting), str(path))


def _write(workspace: Workspace, assignments: Sequence[Assignment], path: Path, suffix: str, folder: Path) -> None:
    """Write blinded rows with an empty `winner` (left, right, tie or both_bad). Image paths start at the sheet."""
    item_ids = sorted({assignment.item_id for assignment in assignments})
    items = {item.item_id: item for item in workspace.store.records(Item, id=item_ids)}
    sides = sorted({side for assignment in assignments for side in (assignment.left_id, assignment.right_id) if side})
    outputs = {output.output_id: output for output in workspace.store.records(Output, id=sides)}
    chain = chain_of(workspace, *outputs.values())

    def rows() -> Iterator[Sequence[object]]:
        for assignment in assignments:
            item = items[assignment.item_id]
            turn = assignment.turn
            has_turn = turn < len(item.turns)
            left, right = (outputs.get(side or "") for side in (assignment.left_id, assignment.right_id))
            edit = edit_question(item, left, right, chain) if has_turn and left is not None else None
            text = "" if edit is None else edit.instruction
            inputs = (item.sources, item.references) if edit is None else (edit.sources, edit.references)
            pictures = [" ".join(_save_image(workspace, image, folder) for image in images) for images in inputs]
            for side, output in ((assignment.left_id, left), (assignment.right_id, right)):
                image = None if output is None else output.image
                pictures.append(_save_image(workspace, image, folder) if image else side or "")
            rater = assignment.rater_id or ""
            yield assignment.assignment_id, rater, assignment.item_id, turn, text, *pictures, ""

    write_sheet_file(path, suffix, rows())


def _save_image(workspace: Workspace, image: ImageRef, folder: Path) -> str:
    """Save the image in `folder` and return its path as in the sheet; its hash if the pixels are absent."""
    name = f"{image.sha256}{SUFFIXES.get(image.media_type, '.bin')}"
    path = folder / name
    if not path.exists():
        if workspace.blobs.size(image.sha256) is None:
            return image.sha256
        folder.mkdir(exist_ok=True)
        write_atomically(path, workspace.load(image))
    return f"{folder.name}/{name}"
