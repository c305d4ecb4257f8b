"""A workspace with one item of three turns: two editors with chains of their own, and one that branches off."""

from pathlib import Path

from imarena.core.records import Assignment, Item, Judgment, Mode, Outcome, Output, Turn, Vote
from imarena.storage import Workspace, init_workspace
from tests.web.people import picture

STEPS = ("Make the sky red.", "Add a cat.", "Remove the tree.")
SOURCE, BRANCH = (64, 48), (72, 48)
"""Sizes of the item's source and of the output from which `c` branches off; all other images have another."""
ALL_THREE = "1. Make the sky red.\n2. Add a cat.\n3. Remove the tree."
SHOWN = {
    ("a0", "b0"): (STEPS[0], SOURCE),
    ("a1", "b1"): ("1. Make the sky red.\n2. Add a cat.", SOURCE),
    ("b1", "c1"): ("1. Make the sky red.\n2. Add a cat.", SOURCE),
    ("a1", "c1"): (STEPS[1], BRANCH),
    ("a2", "b2"): (ALL_THREE, SOURCE),
    ("b2", "c2"): (ALL_THREE, SOURCE),
    ("a2", "c2"): ("1. Add a cat.\n2. Remove the tree.", BRANCH),
}
"""Each pair (editor and turn of both), and the instruction and the size of the source that it is shown with."""
APART = [pair for pair, (words, _) in SHOWN.items() if words[:2] == "1."]


def make_chained(root: Path) -> dict[str, Output]:
    """The outputs by editor and turn: `a0` to `a2`, `b0` to `b2`, and `c1` (made from `a0`) and `c2`."""
    with init_workspace(root) as workspace:
        turns = tuple(Turn(instruction=step) for step in STEPS)
        item = Item(dataset="zoo", key="chain", turns=turns, sources=(picture(workspace, 1, "camera", SOURCE),))
        workspace.store.add([item])
        made: dict[str, Output] = {}
        parents = {"a1": "a0", "a2": "a1", "b1": "b0", "b2": "b1", "c1": "a0", "c2": "c1"}
        for seed, name in enumerate(("a0", "b0", "a1", "b1", "c1", "a2", "b2", "c2"), 2):
            image = picture(workspace, seed, name, BRANCH if name == "a0" else (80, 48))
            parent = made[parents[name]].output_id if name in parents else None
            made[name] = Output(
                item_id=item.item_id, editor=name[0], turn=int(name[1]), mode=Mode.MULTI_TURN, parent_id=parent,
                image=image,
            )  # fmt: skip
            workspace.store.add([made[name]])
    return made


def pair_of(made: dict[str, Output], *sides: str | None) -> tuple[str, str]:
    """The names of two outputs by their ids, sorted."""
    names = {output.output_id: name for name, output in made.items()}
    first, second = sorted(names[side] for side in sides if side is not None)
    return first, second


def old_judgments(made: dict[str, Output], judge: str) -> list[Judgment]:
    """What an earlier version stored: every pair, about one turn, whatever both were made from. The left one wins."""
    return [
        Judgment(
            work_id=f"work_{left}{right}", judge=judge, judge_version="1", item_id=made[left].item_id,
            turn=made[left].turn, left_id=made[left].output_id, right_id=made[right].output_id,
            params={"orders": "single"}, preference=Outcome.LEFT, run_id="run_old",
        )
        for left, right in SHOWN
    ]  # fmt: skip


def tasks_of(made: dict[str, Output], campaign: str) -> list[Assignment]:
    """A task of a campaign about every pair."""
    return [
        Assignment(
            campaign_id=campaign, unit=f"{left}{right}", item_id=made[left].item_id, turn=made[left].turn,
            left_id=made[left].output_id, right_id=made[right].output_id,
        )
        for left, right in SHOWN
    ]  # fmt: skip


def old_votes(workspace: Workspace, made: dict[str, Output], campaign: str, rater: str) -> None:
    """What a rater said to an earlier version about every pair: the left one wins."""
    tasks = tasks_of(made, campaign)
    workspace.store.add(tasks)
    workspace.store.add(
        Vote(
            rater_id=rater, assignment_id=task.assignment_id, preference=Outcome.LEFT, idempotency_key=task.unit,
            item_id=task.item_id, turn=task.turn, left_id=task.left_id or "", right_id=task.right_id,
        )
        for task in tasks
    )  # fmt: skip
