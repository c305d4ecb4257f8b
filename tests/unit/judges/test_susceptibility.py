"""How far texts move a judge: known verdicts give known figures, with intervals over outputs."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.core.protocols import Verdict
from imarena.core.records import Outcome, Status
from imarena.judges.susceptibility import (
    BattlePair,
    ScorePair,
    battle_susceptibility,
    clustered_share,
    score_susceptibility,
)
from imarena.stats import proportion_figure

LEFT, RIGHT, TIE = Outcome.LEFT, Outcome.RIGHT, Outcome.TIE


def scored(value: float) -> Verdict:
    return Verdict(Status.OK, score=value)


def test_a_firm_judge_is_not_moved_and_failures_are_counted() -> None:
    refused = Verdict(Status.REFUSED)
    found = score_susceptibility(
        [ScorePair("1", "order", scored(500), scored(500)), ScorePair("2", "order", scored(500), refused)]
    )
    assert found["order"].fell.value == 0.0
    assert found["order"].n_failed == 1


def test_texts_on_one_output_count_as_one_for_the_interval() -> None:
    pairs = [ScorePair(str(u), "order", scored(500), scored(500 + u)) for u in range(4) for _ in range(50)]
    found = score_susceptibility(pairs)["order"]
    assert found.shift.n == 4
    assert found.shift.value == pytest.approx(1.5)
    assert found.fell.n == 200
    assert found.fell.value == pytest.approx(0.75)
    assert found.fell.low is not None
    assert found.fell.low < 0.35, "three of four outputs, however many texts were drawn on each"


def test_what_any_caption_does_is_taken_off() -> None:
    pairs = [ScorePair(str(u), "order", scored(500), scored(530 + u)) for u in range(3)]
    pairs += [ScorePair(str(u), "control", scored(500), scored(510 + u)) for u in range(3)]
    found = score_susceptibility(pairs)
    assert found["all"].shift.value == pytest.approx(31)
    assert found["all"].beyond is not None
    assert found["all"].beyond.value == pytest.approx(20)
    assert found["control"].beyond is None


def test_battles_that_the_text_turns() -> None:
    found = battle_susceptibility(
        [
            BattlePair("1", "order", LEFT, RIGHT, LEFT),
            BattlePair("2", "order", LEFT, TIE, RIGHT),
            BattlePair("3", "order", LEFT, LEFT, LEFT),
            BattlePair("4", "order", LEFT, RIGHT, None),
            BattlePair("5", "order", RIGHT, LEFT, TIE),
            BattlePair("1", "control", RIGHT, LEFT, LEFT),
        ]
    )
    assert found["order"].fell.value == pytest.approx(1 / 3)
    assert found["order"].fell.n == 3, "won already, or without a verdict: not counted"
    assert found["order"].shift.value == pytest.approx((1 - 0.5 + 0 + 0.5) / 4)
    assert found["order"].n_failed == 1
    assert found["control"].fell.value == 0.0


@settings(max_examples=30, deadline=None)  # each draws two bootstraps
@given(st.lists(st.sampled_from([(LEFT, LEFT), (RIGHT, LEFT), (TIE, RIGHT), (LEFT, TIE), (None, LEFT)]), max_size=20))
def test_mirrored_battles_give_the_same_figures(found: list[tuple[Outcome | None, Outcome | None]]) -> None:
    def mirrored(outcome: Outcome | None) -> Outcome | None:
        return outcome.mirrored() if outcome is not None else None

    one = [BattlePair(str(n), "order", LEFT, before, after) for n, (before, after) in enumerate(found)]
    other = [BattlePair(str(n), "order", RIGHT, mirrored(b), mirrored(a)) for n, (b, a) in enumerate(found)]
    assert battle_susceptibility(one) == battle_susceptibility(other)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_one_case_a_unit_is_close_to_wilson(hits: list[bool]) -> None:
    """Units of one are independent cases: worth n - 1 of them, as the variance is estimated; n at the ends."""
    found = clustered_share("x", [(str(n), hit) for n, hit in enumerate(hits)], "m")
    plain = proportion_figure("x", sum(hits), len(hits), "m")
    assert found.value == plain.value
    assert found.low is not None
    assert found.high is not None
    assert plain.low is not None
    assert plain.high is not None
    assert found.low <= plain.low + 1e-12
    assert found.high >= plain.high - 1e-12
    if 0 < sum(hits) < len(hits):
        assert math.isclose(found.low, plain.low, abs_tol=0.25 / len(hits) + 0.03)
    else:
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_nothing_to_count_is_undefined() -> None:
    assert clustered_share("x", [], "m").value is None
