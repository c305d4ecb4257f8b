"""Both orders of a battle: mirrored back, combined, never invented."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.protocols import ChatPrompt, Verdict
from imarena.core.records import Order, Outcome, Status
from imarena.judges.chat import genarena_pairwise
from imarena.judges.orders import (
    ask_both_orders,
    combine_orders,
    mirror_scores,
    orders_for,
    reorder_exhibit,
    to_recorded_sides,
)
from tests.unit.judges.chats import BLUE, ScriptedChat, always, exhibit, failing

OUTCOMES = st.sampled_from(list(Outcome))
VERDICTS = st.builds(
    lambda preference, score: Verdict(
        Status.OK, preference=preference, scores={"left.preference": score, "right.preference": 7 - score, "other": 1.0}
    ),
    OUTCOMES,
    st.integers(1, 6).map(float),
)


@given(VERDICTS)
def test_mirroring_twice_changes_nothing(verdict: Verdict) -> None:
    once = to_recorded_sides(verdict, Order.RIGHT_FIRST)
    assert once.scores["left.preference"] == 7 - verdict.scores["left.preference"]
    assert once.scores["other"] == 1.0
    assert to_recorded_sides(once, Order.RIGHT_FIRST) == verdict
    assert to_recorded_sides(verdict, Order.LEFT_FIRST) is verdict


@given(VERDICTS, VERDICTS)
def test_combining_mirrors_with_the_sides(first: Verdict, second: Verdict) -> None:
    straight = combine_orders(first, second)
    turned = combine_orders(to_recorded_sides(second, Order.RIGHT_FIRST), to_recorded_sides(first, Order.RIGHT_FIRST))
    assert straight.preference is not None
    assert turned.preference is straight.preference.mirrored()
    assert turned.consistent == straight.consistent
    assert turned.scores == mirror_scores(straight.scores)
    assert straight.consistent == (first.preference is second.preference)
    assert straight.consistent or straight.preference is Outcome.TIE


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.OK])
def test_one_failed_order_leaves_the_battle_incomplete(status: Status) -> None:
    good, bad = Verdict(Status.OK, preference=Outcome.LEFT), Verdict(status, error="why")
    for combined in (combine_orders(good, bad), combine_orders(bad, good)):
        assert combined.status is status
        assert combined.preference is None
        assert combined.consistent is None


def honest(prompt: ChatPrompt) -> str:
    """Prefers the blue picture, wherever it is shown."""
    pictures = [part for part in prompt.parts if isinstance(part, bytes)]
    return '{"winner": "A", "score": 6}' if pictures[-2] == BLUE else '{"winner": "B", "score": 1}'


def test_battles_end_to_end() -> None:
    pair = exhibit(BLUE)
    blue = asyncio.run(ask_both_orders(genarena_pairwise.make({}, ScriptedChat(honest)), pair))
    assert (blue.preference, blue.consistent) == (Outcome.RIGHT, True)
    assert blue.scores == {"left.preference": 1.0, "right.preference": 6.0}
    biased = asyncio.run(ask_both_orders(genarena_pairwise.make({}, always('{"winner": "A", "score": 6}')), pair))
    assert (biased.preference, biased.consistent) == (Outcome.TIE, False)
    assert biased.scores == {"left.preference": 3.5, "right.preference": 3.5}
    single = asyncio.run(ask_both_orders(genarena_pairwise.make({}, always('{"winner": "A"}')), pair, "single"))
    assert (single.preference, single.consistent) == (Outcome.LEFT, None)
    failed = asyncio.run(ask_both_orders(genarena_pairwise.make({}, failing(Status.REFUSED)), pair))
    assert (failed.status, failed.preference) == (Status.REFUSED, None)


def test_paper_compat_swaps_half_and_always_the_same_half() -> None:
    orders = [orders_for("paper-compat", f"battle {i}", seed=3) for i in range(2000)]
    assert orders == [orders_for("paper-compat", f"battle {i}", seed=3) for i in range(2000)]
    swapped = sum(order == (Order.RIGHT_FIRST,) for order in orders)
    assert 900 < swapped < 1100
    assert orders_for("both", "x") == (Order.LEFT_FIRST, Order.RIGHT_FIRST)


def test_no_order_without_two() -> None:
    with pytest.raises(UserError):
        reorder_exhibit(exhibit(), Order.LEFT_FIRST)
    with pytest.raises(UserError):
        reorder_exhibit(exhibit(BLUE), Order.BOTH)
    with pytest.raises(UserError):
        combine_orders(Verdict(Status.OK, score=1.0), Verdict(Status.OK, score=1.0))
