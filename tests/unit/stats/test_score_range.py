"""The range of a judge's scores: what the scores show, what a judge declares, and gaps on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.judges import CARDS
from imarena.judges.score_ranges import range_of
from imarena.stats import PAPER_RANGE, ScoreRange, observed_range, score_range_from


@pytest.mark.parametrize(
    ("scores", "ends"),
    [
        ([37.0, 985.0], (0, 1000)), ([0.0, 1000.0], (0, 1000)), ([120.0, 101.0], (0, 1000)), ([1.0, 5.0], (0, 10)),
        ([0.3, 8.7, np.nan], (0, 10)), ([0.2, 0.9], (0, 1)), ([10.000000000000002], (0, 10)), ([-0.4, 0.9], (-1, 1)),
        ([-3.2, 40.0], (-10, 100)), ([-0.7, -0.1], (-1, 0)), ([0.0, 0.0], (0, 1)), ([np.nan], (0, 1)), ([], (0, 1)),
        ([0.002], (0, 0.01)),
    ],
)  # fmt: skip
def test_each_end_is_0_or_the_next_power_of_ten(scores: list[float], ends: tuple[float, float]) -> None:
    found = observed_range(np.array(scores, np.float64))
    assert (found.low, found.high) == pytest.approx(ends)


@given(st.lists(st.floats(-1000, 1000), min_size=1), st.integers(-3, 3))
def test_scores_ten_times_as_large_have_ten_times_the_range(scores: list[float], power: int) -> None:
    array = np.round(np.array(scores), 6)
    one, other = observed_range(array), observed_range(array * 10.0**power)
    if array.any():
        assert (other.low, other.high) == pytest.approx((one.low * 10.0**power, one.high * 10.0**power))
    assert one.holds(array)


def test_the_papers_scale_stays_as_it_is_to_the_last_bit() -> None:
    scores = np.random.default_rng(0).uniform(0, 1000, 1000)
    assert (PAPER_RANGE.on_paper_scale(scores) == scores).all()
    assert PAPER_RANGE.edges((25.0, 50.0, 75.0, 400.0)) == (25.0, 50.0, 75.0, 400.0)
    ten = ScoreRange(0, 10)
    assert ten.edges((25.0, 50.0, 75.0, 300.0)) == (0.25, 0.5, 0.75, 3.0)
    assert ten.on_paper_scale(np.array([0.0, 4.5, 10.0])).tolist() == [0, 450, 1000]
    assert ScoreRange(1, 5).on_paper_scale(np.array([1.0, 3.0, 5.0])).tolist() == [0, 500, 1000]


def test_a_declared_range_counts_where_it_holds_the_scores() -> None:
    few = np.array([0.5, np.nan, 2.0])
    assert range_of("viescore/some-model", few).document == {"low": 0, "high": 10, "from": "judge"}
    assert range_of("viescore/some-model", few * 10).document == {"low": 0, "high": 100, "from": "scores"}
    assert range_of("somebody", few).document == {"low": 0, "high": 10, "from": "scores"}
    assert range_of("viescore", few, ScoreRange(0, 3)).document == {"low": 0, "high": 3, "from": "given"}
    assert range_of("clip-i", np.array([0.8])).range == ScoreRange(-1, 1)
    for name, card in CARDS.items():
        if card.scale is not None:
            assert range_of(name, np.array(card.scale, np.float64)).origin == "judge", name


def test_what_is_no_range_is_refused() -> None:
    assert score_range_from("-1:1") == ScoreRange(-1, 1)
    for text in ("10", "a:b", "5:1", "1:1", "0:inf", "nan:1", ""):
        with pytest.raises(UserError, match="not a score range"):
            score_range_from(text)
