"""`align` and `health` give one judge one accuracy, whichever dimensions votes and verdicts are about."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from imarena.agreement.judges import AlignOptions
from imarena.core.records import Judgment, Order, Outcome, Output, Rater
from imarena.storage import Workspace
from imarena.workflows.studies.alignment import align_columns, read_aligned_columns
from imarena.workflows.studies.health import judge_health_report
from imarena.workflows.views import compared_dimensions
from tests.samples import item, output, vote

JUDGE = "machine"
PAIRS = 6
SAID = {"overall": (4, 1), "quality": (2, 3), "consistency": (1, 5)}
"""Dimension to the number of pairs on which people, and the judge, say left."""


def sides(count: int = PAIRS) -> list[tuple[Output, Output]]:
    found = []
    for number in range(count):
        one = item(f"p{number}")
        found.append((output(one, "alpha"), output(one, "beta")))
    return found


def compared(left: Output, right: Output, said: Outcome, **more: Any) -> list[Judgment]:
    return [
        Judgment(
            work_id=f"{left.output_id}{right.output_id}{order}{sorted(more.items())}", judge=JUDGE, run_id="run",
            item_id=left.item_id, left_id=left.output_id, right_id=right.output_id, preference=said, order=order,
            **more,
        )
        for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST)
    ]  # fmt: skip


def scored(made: Output, value: float, **more: Any) -> Judgment:
    work = f"{made.output_id}{value}{sorted(more.items())}"
    return Judgment(
        work_id=work, judge=JUDGE, run_id="run", item_id=made.item_id, left_id=made.output_id, score=value, **more
    )


def fill(workspace: Workspace, voted: Sequence[str], judged: Sequence[str], *, by_scores: bool = False) -> None:
    """Votes on every pair about every dimension of `voted`, verdicts on every pair about those of `judged`."""
    ann = Rater(rater_id="ann")
    workspace.store.add([ann])
    for number, (left, right) in enumerate(sides()):
        made = [item(f"p{number}"), left, right]
        workspace.store.add(made)
        for name in voted:
            said = Outcome.LEFT if number < SAID[name][0] else Outcome.RIGHT
            cast = vote(ann, left, right, key=f"{name}{number}", preference=said)
            workspace.store.add([cast.model_copy(update={"dimension": name})])
        for name in judged:
            said = Outcome.LEFT if number < SAID[name][1] else Outcome.RIGHT
            if by_scores:
                values = (0.9, 0.1) if said is Outcome.LEFT else (0.1, 0.9)
                workspace.store.add(
                    [scored(one, value, dimension=name) for one, value in zip((left, right), values, strict=True)]
                )
            else:
                workspace.store.add(compared(left, right, said, dimension=name))


def accuracies(workspace: Workspace) -> tuple[dict[str, tuple[float, int]], dict[str, tuple[float, int]]]:
    """Of `align` and of `health`: the judge (with its dimension) to its accuracy and how many votes it rests on."""
    columns = read_aligned_columns(workspace, [JUDGE], AlignOptions())
    aligned = align_columns(columns, AlignOptions()).to_json()["verdicts"]["groups"]
    told, _ = judge_health_report(workspace, [JUDGE])
    lines = {
        one.judge: line.figure
        for one in told
        for line in one.lines
        if line.figure.name == "decisive_accuracy" and not line.group
    }
    only = lines.keys() if len(told) == 1 else ()  # `align` does not name the one dimension of a judge that compares
    named = {(*only, one["judge"])[0]: (one["decisive_accuracy"], one["n_decisive"]) for one in aligned}
    return named, {name: (float(figure.value or 0), figure.n) for name, figure in lines.items()}


SETS = (["overall"], ["quality"], ["overall", "quality"], ["quality", "consistency"], list(SAID))


@pytest.mark.parametrize("by_scores", [False, True], ids=["compared", "scored"])
@pytest.mark.parametrize(("voted", "judged"), list(product(SETS, SETS)), ids=str)
def test_align_and_health_give_one_accuracy(
    workspace: Workspace, voted: list[str], judged: list[str], by_scores: bool
) -> None:
    fill(workspace, voted, judged, by_scores=by_scores)
    aligned, told = accuracies(workspace)
    assert aligned == told
    for dimension in judged:
        name = JUDGE if dimension == "overall" else f"{JUDGE}, {dimension}"
        met = compared_dimensions(dimension, judged, voted)
        assert (name in told) == bool(met)
        if met:
            lefts = [(SAID[about][0], SAID[dimension][1]) for about in met]
            right = sum(PAIRS - abs(people - judge) for people, judge in lefts)
            assert told[name][0] == pytest.approx(right / (PAIRS * len(met)))
            assert told[name][1] == PAIRS * len(met)


def test_repeats_exchanged_sides_and_scores_beside_battles(workspace: Workspace) -> None:
    """Every verdict on a pair meets every vote on it in both; scores of a judge that compares count in neither."""
    fill(workspace, ["overall"], [])
    for number, (left, right) in enumerate(sides()):
        workspace.store.add(compared(left, right, Outcome.LEFT))
        if number < 3:
            workspace.store.add(compared(left, right, Outcome.RIGHT, repeat=1))
            workspace.store.add(compared(right, left, Outcome.LEFT))
        workspace.store.add([scored(left, 0.9), scored(right, 0.1)])
    extra = item("scored only")
    left, right = output(extra, "alpha"), output(extra, "beta")
    ann = Rater(rater_id="ann")
    workspace.store.add([extra, left, right, scored(left, 0.9), scored(right, 0.1)])
    workspace.store.add([vote(ann, left, right, key="extra", preference=Outcome.RIGHT)])
    aligned, told = accuracies(workspace)
    assert aligned == told == {JUDGE: (4 / 12, 12)}


def test_of_two_scores_the_first_counts(workspace: Workspace) -> None:
    fill(workspace, ["overall"], ["overall"], by_scores=True)
    before = accuracies(workspace)
    for left, right in sides():
        workspace.store.add([scored(left, 0.8), scored(right, 0.3)])
    assert accuracies(workspace) == before


@pytest.mark.parametrize(
    ("dimension", "judged", "voted", "expected"),
    [
        ("quality", ["quality"], ["quality", "overall"], {"quality"}),
        ("quality", ["quality"], ["overall", "consistency"], {"overall"}),
        ("quality", ["quality"], ["consistency", "realism"], {"consistency", "realism"}),
        ("quality", ["quality", "overall"], ["overall", "consistency"], set()),
        ("overall", ["quality", "overall"], ["quality", "consistency"], {"consistency"}),
        ("overall", ["overall"], ["overall", "consistency"], {"overall"}),
    ],
)
def test_the_rule(dimension: str, judged: list[str], voted: list[str], expected: set[str]) -> None:
    assert compared_dimensions(dimension, judged, voted) == expected
