"""A small workspace for the static site: items under different licences, votes, a judge, and hostile names."""

from itertools import combinations
from pathlib import Path

from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Turn, Vote
from imarena.storage import init_workspace
from tests.samples import picture_of

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">'\"&\u202egnp"
EDITORS = ("ash", "birch", HOSTILE)
RATER = "rater-alice-id"
TASKS = ("colour", "remove", HOSTILE)


def fill_site_arena(root: Path, *, items: int = 12, editors: tuple[str, ...] = EDITORS, votes: bool = True) -> None:
    """Every pair on every item: one vote and one judgment. Every fourth item states no licence."""
    with init_workspace(root) as workspace:
        workspace.store.put(Rater(rater_id=RATER, name="Alice Secretname", contact="alice@example.org"))
        for number in range(items):
            item = Item(
                dataset="bench", key=f"item-{number}", task=TASKS[number % 3], topic=f"topic {number % 2}",
                turns=(Turn(instruction=f"make {number} red {HOSTILE if number == 1 else ''} in /home/someone/x.png"),),
                sources=(picture_of(workspace, f"source {number}"),),
                licence=None if number % 4 == 3 else "CC-BY-4.0",
                provenance={"author": "A. Photographer", "worker_id": RATER, "file": "/home/someone/x.png"},
            )  # fmt: skip
            made = [
                Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{editor} {number}"))
                for editor in editors
            ]
            said = [
                verdict
                for place, (left, right) in enumerate(combinations(made, 2))
                for verdict in _verdicts(item, left, right, number + place)[: 2 if votes else 1]
            ]
            workspace.store.add([item, *made, *said])


def _verdicts(item: Item, left: Output, right: Output, seed: int) -> list[Judgment | Vote]:
    outcomes = (Outcome.LEFT, Outcome.LEFT, Outcome.RIGHT, Outcome.TIE, Outcome.LEFT)
    judged = Judgment(
        work_id=f"work_{left.output_id}{right.output_id}", judge="looker", item_id=item.item_id, order=Order.BOTH,
        left_id=left.output_id, right_id=right.output_id, preference=outcomes[seed * 3 % 5],
    )  # fmt: skip
    voted = Outcome.BOTH_BAD if outcomes[seed % 5] is Outcome.TIE else outcomes[seed % 5]
    cast = Vote(
        rater_id=RATER, item_id=item.item_id, left_id=left.output_id, right_id=right.output_id,
        preference=voted, comment="my cat died", idempotency_key=f"{left.output_id}{right.output_id}",
    )  # fmt: skip
    return [judged, cast]
