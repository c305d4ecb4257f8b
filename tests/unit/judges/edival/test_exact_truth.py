"""EdiVal-IF with exact tools is the paper's rule applied to the exact scene: every type, turn and habit, over 1,000 edits.

The rule is written a second time here, from the paper's pseudo-code, on scenes instead of boxes and answers.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from imarena.core import Exhibit, ObjectPlan, ObjectTurn, PlannedEdit, UserError, Verdict
from imarena.core.records import Mode, Status
from imarena.judges.edival.judge import EdiValJudge
from imarena.judges.edival.settings import EdiValSettings
from imarena.studio import COLOURS, Scene, SceneEdit, apply_edit, entry_plan, random_scene
from imarena.studio.backdrops import backdrop_of
from imarena.studio.edits import BenchmarkEntry
from imarena.studio.entries_edival import TYPES, edival_entries
from imarena.studio.kinds import KINDS
from imarena.studio.render import render_scene
from tests.unit.judges.edival.exact_tools import SceneBook, exact_toolbox, most_in_crop, names_thing, visible_boxes

SIDE = 128
Habit = Callable[[Scene, SceneEdit, np.random.Generator], Scene]


# ---------------------------------------------------------------- editors of scenes


def exact(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    """Does what was asked, where it can."""
    try:
        return apply_edit(scene, edit)
    except UserError:  # an earlier turn took the thing away
        return scene


def returns_input(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    return scene


def new_image(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    drawn = random_scene(int(rng.integers(10_000)), str(rng.choice(["table", "meadow", "beach"])), 4)
    return drawn.model_copy(update={"width": scene.width, "height": scene.height})


def over_editing(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    """What was asked, and another thing in another colour."""
    after = exact(scene, edit, rng)
    return _recoloured(after, rng)


def wrong_target(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    """The same kind of edit on something else."""
    others = [thing.uid for thing in scene.things if thing.uid not in edit.uids]
    if edit.uids and others and "x" not in edit.values:
        return exact(scene, edit.model_copy(update={"uids": (str(rng.choice(others)),)}), rng)
    return _recoloured(scene, rng)


def keeps_the_old(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    """Adds what is new and takes nothing away."""
    if edit.op == "replace":
        return scene.with_things((*scene.things, *edit.things))
    return scene if edit.op == "remove" else exact(scene, edit, rng)


def twice(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    """What was asked, and one more of what was changed, in the other half of the picture."""
    after = exact(scene, edit, rng)
    before = set(scene.things)
    extra = tuple(
        thing.model_copy(update={"uid": f"{thing.uid}-again-{len(after.things)}", "x": (thing.x + 0.5) % 1.0})
        for thing in after.things
        if thing not in before
    )
    return after.with_things((*after.things, *extra))


def mirrored(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    """What was asked, with everything on the other side."""
    after = exact(scene, edit, rng)
    return after.with_things(tuple(thing.model_copy(update={"x": 1 - thing.x}) for thing in after.things))


def _recoloured(scene: Scene, rng: np.random.Generator) -> Scene:
    if not scene.things:
        return scene
    victim = scene.things[int(rng.integers(len(scene.things)))]
    colour = str(rng.choice(list(COLOURS)))
    return apply_edit(scene, SceneEdit(op="set", uids=(victim.uid,), values={"colour": colour}))


HABITS: dict[str, Habit] = {
    "exact": exact, "returns-input": returns_input, "new-image": new_image, "over-editing": over_editing,
    "wrong-target": wrong_target, "keeps-the-old": keeps_the_old, "twice": twice, "mirrored": mirrored,
}  # fmt: skip


# ---------------------------------------------------------------- the rule, a second time


def boxes_of(scene: Scene, phrase: str | None) -> list[tuple[float, float, float, float]]:
    """Boxes of what a phrase names, the surest first. All are above every threshold."""
    found = [
        (share, box) for thing, box, share in visible_boxes(render_scene(scene)) if names_thing(phrase or "", thing)
    ]
    return [box for _, box in sorted(found, key=lambda pair: -pair[0]) if not (_wide(box) and _tall(box))]


def _wide(box: tuple[float, float, float, float]) -> bool:
    return box[2] - box[0] > 0.98


def _tall(box: tuple[float, float, float, float]) -> bool:
    return box[3] - box[1] > 0.98


def beside(box: tuple[float, ...], other: tuple[float, ...], position: str | None) -> bool:
    x, y = box[0] + box[2], box[1] + box[3]
    other_x, other_y = other[0] + other[2], other[1] + other[3]
    return {"left": x < other_x, "right": x > other_x, "above": y < other_y, "below": y > other_y}[position or "left"]


def meet(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return max(box[0], other[0]) < min(box[2], other[2]) and max(box[1], other[1]) < min(box[3], other[3])


def paper_rule(plan: ObjectPlan, turn: ObjectTurn, before: Scene, after: Scene) -> bool:  # noqa: PLR0911
    """Algorithms 3 to 11."""
    then, now = boxes_of(before, turn.object), boxes_of(after, turn.object)
    if turn.type == "subject_replace":
        return any(meet(old, new) for old in then for new in boxes_of(after, turn.new_object))
    if turn.type == "subject_remove":
        return bool(then) and not now
    if turn.type == "subject_add":
        added, reference = boxes_of(after, turn.new_object), boxes_of(after, turn.reference)
        if not added or boxes_of(before, turn.new_object):
            return False
        return bool(reference) and beside(added[0], reference[0], turn.position)
    if turn.type == "position_change":
        reference = boxes_of(after, turn.reference)
        return bool(now and reference) and len(now) <= len(then) and beside(now[0], reference[0], turn.position)
    if turn.type == "count_change":
        return len(now) == turn.count
    if turn.type == "background_change":
        return backdrop_of(after.backdrop).description == turn.background
    crop = crop_of(plan, turn, then, now, before)
    if turn.type == "text_change":
        x0, y0, x1, y1 = crop
        inside = [
            thing.text
            for thing, (left, top, right, bottom), _ in visible_boxes(render_scene(after))
            if x0 <= (left + right) / 2 <= x1 and y0 <= (top + bottom) / 2 <= y1
        ]
        return any((turn.text or "").lower() in text.lower() for text in (*inside, "".join(inside)))
    kind = max((kind for kind in KINDS if (turn.object or "").endswith(kind)), key=len)
    thing = most_in_crop(render_scene(after), kind, crop)
    return thing is not None and (turn.color or turn.material) in (thing.colour, thing.material)


def crop_of(
    plan: ObjectPlan,
    turn: ObjectTurn,
    then: list[tuple[float, float, float, float]],
    now: list[tuple[float, float, float, float]],
    before: Scene,
) -> tuple[float, float, float, float]:
    """Where the object is, else where it was, else where the plan has it, else the whole image; 0.05 a side at least."""
    planned = [
        (box[0] / before.width, box[1] / before.height, box[2] / before.width, box[3] / before.height)
        for one in plan.objects
        if one.name == turn.object
        for box in one.boxes
    ]
    left, top, right, bottom = [*now, *then, *planned, (0.0, 0.0, 1.0, 1.0)][0]
    if right - left < 0.05:
        left = min(max((left + right) / 2 - 0.025, 0), 0.95)
        right = left + 0.05
    if bottom - top < 0.05:
        top = min(max((top + bottom) / 2 - 0.025, 0), 0.95)
        bottom = top + 0.05
    return left, top, right, bottom


# ---------------------------------------------------------------- chains


@dataclass(frozen=True)
class Edited:
    """One edit of one habit, and what the judge and the rule say about it."""

    key: str
    habit: str
    number: int
    turn: ObjectTurn
    ruled: bool
    judged: bool | None
    success: bool | None


def small(entry: BenchmarkEntry) -> BenchmarkEntry:
    """The entry at 128 pixels a side."""
    assert entry.scene is not None
    return entry.model_copy(update={"scene": entry.scene.model_copy(update={"width": SIDE, "height": SIDE})})


def edited(count: int, habits: dict[str, Habit], mode: Mode) -> Iterator[Edited]:
    """Chains of three turns by every habit, each turn judged."""
    for entry in map(small, edival_entries(count)):
        plan = entry_plan(entry)
        assert plan is not None
        assert entry.scene is not None
        for habit, apply in habits.items():
            yield from _chain(entry, plan, habit, apply, mode)


def _chain(entry: BenchmarkEntry, plan: ObjectPlan, habit: str, apply: Habit, mode: Mode) -> Iterator[Edited]:
    book = SceneBook()
    judge = EdiValJudge(EdiValSettings(dimension="instruction_following"), toolbox=exact_toolbox(book, tuple(KINDS)))
    assert entry.scene is not None
    scenes = [entry.scene]
    images = [book.draw(entry.scene)]
    rng = np.random.default_rng([*entry.key.encode(), *habit.encode()])
    for number, (step, turn) in enumerate(zip(entry.steps, plan.turns, strict=True)):
        scenes.append(apply(scenes[-1], step.edit, rng))
        images.append(book.draw(scenes[-1]))
        chain = tuple(images[:-1]) if mode is Mode.MULTI_TURN else tuple(images[:1])
        exhibit = Exhibit(step.instruction, left=images[-1], planned=PlannedEdit(plan, number, mode, chain))
        verdict: Verdict = asyncio.run(judge.judge(exhibit))
        assert verdict.status is Status.OK, "exact tools decide everything"
        before = scenes[-2] if mode is Mode.MULTI_TURN else scenes[0]
        ruled = paper_rule(plan, turn, before, scenes[-1])
        judged = verdict.scores["instruction_following"]
        yield Edited(entry.key, habit, number, turn, ruled, bool(judged), verdict.success)


@pytest.mark.slow
def test_every_edit_is_judged_as_the_paper_rules() -> None:
    edits = list(edited(45, HABITS, Mode.MULTI_TURN))
    wrong = [(one.key, one.habit, one.number, one.turn.type, one.ruled) for one in edits if one.ruled is not one.judged]
    assert not wrong
    assert len(edits) >= 1_000
    seen = Counter((one.turn.type, one.number, one.habit) for one in edits)
    kinds = {one.turn.type for one in edits}
    assert kinds == set(TYPES)
    assert len(seen) >= 0.9 * len(TYPES) * 3 * len(HABITS), "nearly every type, turn and habit meet"
    for kind in TYPES:
        assert {one.ruled for one in edits if one.turn.type == kind} == {True, False}, f"{kind} passes and fails"
    chains: dict[tuple[str, str], list[Edited]] = {}
    for one in edits:
        chains.setdefault((one.key, one.habit), []).append(one)
    for turns in chains.values():
        assert [one.success for one in turns] == [all(x.ruled for x in turns[: n + 1]) for n in range(len(turns))]


def test_a_few_chains_in_both_modes() -> None:
    few = {name: HABITS[name] for name in ("exact", "mirrored")}
    for mode in (Mode.MULTI_TURN, Mode.COMPLEX):
        edits = list(edited(2, few, mode))
        assert [one.judged for one in edits] == [one.ruled for one in edits]
    assert any(one.judged for one in edits)


def test_the_rule_and_the_intent_differ_where_the_docs_say_so() -> None:
    """An old object that stays beside its replacement passes; docs/design/edival.md lists this and the others."""
    differing = [
        one
        for one in edited(9, {"keeps-the-old": keeps_the_old}, Mode.MULTI_TURN)
        if one.turn.type == "subject_replace" and one.judged
    ]
    assert differing
