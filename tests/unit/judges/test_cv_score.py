"""The four dimensions, the weights and the caps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.judges.cv_score import DIMENSIONS, WEIGHTS, combine_dimensions

points = st.floats(0, 1000, allow_nan=False)


def test_a_plain_mean_without_caps() -> None:
    found = combine_dimensions(800, 700, 600, 500)
    assert found.score == pytest.approx(0.2 * 800 + 0.3 * 700 + 0.3 * 600 + 0.2 * 500)
    assert found.score == found.initial
    assert found.caps == ()
    assert not found.success  # 500 is not above the threshold of 500
    assert combine_dimensions(800, 700, 600, 501).success


@pytest.mark.parametrize(
    ("values", "score", "caps"),
    [
        ((1000, 299, 1000, 1000), 600.0, ("edit_failed",)),
        ((1000, 300, 1000, 1000), 790.0, ()),
        ((199, 1000, 1000, 1000), 400.0, ("semantics_lost",)),
        ((200, 1000, 1000, 1000), 840.0, ()),
        ((1000, 1000, 1000, 199), 400.0, ("quality_lost",)),
        ((199, 299, 1000, 1000), 400.0, ("edit_failed", "semantics_lost")),
        ((0, 0, 0, 0), 0.0, ("edit_failed", "semantics_lost", "quality_lost")),
        ((1000, 0, 0, 1000), 400.0, ("edit_failed",)),
    ],
)
def test_caps(values: tuple[float, float, float, float], score: float, caps: tuple[str, ...]) -> None:
    found = combine_dimensions(*values)
    assert found.score == pytest.approx(score)
    assert found.caps == caps
    assert found.success == (not caps and min(values) > 500)


@given(points, points, points, points)
def test_the_score_stays_in_range_and_never_exceeds_the_mean(a: float, b: float, c: float, d: float) -> None:
    found = combine_dimensions(a, b, c, d)
    assert 0 <= found.score <= found.initial + 1e-9
    assert list(found.dimensions) == list(DIMENSIONS)
    assert not (found.caps and found.success)


@given(points, points, points, points, st.floats(0, 1000), st.integers(0, 3))
def test_raising_a_dimension_never_lowers_the_score(
    a: float, b: float, c: float, d: float, more: float, at: int
) -> None:
    values = [a, b, c, d]
    raised = list(values)
    raised[at] = min(1000.0, raised[at] + more)
    before = combine_dimensions(values[0], values[1], values[2], values[3])
    after = combine_dimensions(raised[0], raised[1], raised[2], raised[3])
    assert after.score >= before.score - 1e-9


@pytest.mark.parametrize("bad", [-1, 1000.5, float("nan"), float("inf")])
def test_a_value_outside_the_scale_raises(bad: float) -> None:
    with pytest.raises(UserError, match="prompt_following"):
        combine_dimensions(500, 500, bad, 500)


def test_wrong_weights_raise() -> None:
    with pytest.raises(UserError, match="sum"):
        combine_dimensions(1, 1, 1, 1, weights=(0.2, 0.2, 0.2, 0.2))
    with pytest.raises(UserError, match="four"):
        combine_dimensions(1, 1, 1, 1, weights=(0.5, 0.5))


def test_other_weights_move_the_caps() -> None:
    assert combine_dimensions(1000, 399, 1000, 1000, weights=(0.15, 0.40, 0.30, 0.15)).score == pytest.approx(700)
    assert sum(WEIGHTS) == pytest.approx(1)
