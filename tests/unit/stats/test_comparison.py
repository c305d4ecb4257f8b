"""Two models on the same items: the interval of the share of points, and what is said of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.stats import compare_points, elo_of
from imarena.stats.share_interval import win_interval


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=60))
def test_the_interval_holds_the_rate_mirrors_and_is_never_a_certainty(points: list[float]) -> None:
    rate, low, high = win_interval(points)
    assert 0 <= low <= rate <= high <= 1
    assert high - low > 0.01
    mirrored = win_interval([1 - point for point in points])
    assert mirrored == pytest.approx((1 - rate, 1 - high, 1 - low))


def test_the_interval_without_ties_is_wilsons() -> None:
    """15 of 20: Wilson's interval with n - 1 in the variance; statsmodels gives .531 to .888 with n."""
    rate, low, high = win_interval([1.0] * 15 + [0.0] * 5)
    assert rate == 0.75
    assert low == pytest.approx(0.531, abs=0.01)
    assert high == pytest.approx(0.888, abs=0.01)
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.01)
    assert elo_of(1.0) is None


@pytest.mark.parametrize("ties", [0, 20])
def test_chance_alone_is_seldom_called_a_difference(ties: int) -> None:
    """How often two equal models are told apart, by counting every way in which so many items can go."""
    for decided in range(1, 31):
        wrong = 0.0
        for won in range(decided + 1):
            _, low, high = win_interval([1.0] * won + [0.0] * (decided - won) + [0.5] * ties)
            wrong += math.comb(decided, won) / 2**decided * (low > 0.5 or high < 0.5)
        assert wrong <= 0.05, (decided, wrong)
        assert decided > 5 or wrong == 0


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40))
def test_better_is_said_only_where_the_interval_of_the_difference_says_so(points: list[float]) -> None:
    found = compare_points(points, "old", "new")
    assert found.win_rate_low is not None
    assert found.win_rate_high is not None
    assert ("is better" in found.words) == (found.win_rate_low > 0.5)
    assert ("is worse" in found.words) == (found.win_rate_high < 0.5)
    assert found.settled == ("is better" in found.words or "is worse" in found.words)


def test_seven_wins_of_eight_are_no_clear_difference() -> None:
    """The sign test gives 7%; Wilson's interval alone would begin at 50.5%."""
    found = compare_points([1.0] * 7 + [0.0], "old", "new")
    assert found.words == "There is no clear difference between new and old yet."
    assert found.win_rate_low == pytest.approx(0.47349, abs=1e-5)  # binomtest(7, 8).proportion_ci()
    assert found.elo_low is not None
    assert found.elo_low < 0
    assert found.more_items is not None
    assert compare_points([1.0] * 8 + [0.0], "old", "new").words == "new is better than old."


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    for chances in ([0.3, 0.1, 0.6], [0.2, 0.6, 0.2], [0.05, 0.0, 0.95]):
        truth = 0.5 * chances[1] + chances[2]
        hits = 0
        for _ in range(1000):
            _, low, high = win_interval(list(random.choice([0.0, 0.5, 1.0], size=40, p=chances)))
            hits += low <= truth <= high
        assert hits / 1000 > 0.92
