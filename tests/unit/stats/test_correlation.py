"""Correlations against scipy, and averages of correlations."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from imarena.stats import CORRELATION_RECIPES, average, footrule, kendall, kendall_accuracy, midranks, pearson, spearman
from imarena.stats.correlation import Recipe

pairs = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=40)


@given(data=pairs)
def test_equal_scipy(data: list[tuple[int, int]]) -> None:
    left, right = (np.array(column, float) for column in zip(*data, strict=True))
    assume(np.ptp(left) > 0 and np.ptp(right) > 0)
    assert spearman(left, right).value == pytest.approx(stats.spearmanr(left, right).statistic, abs=1e-12)
    assert pearson(left, right).value == pytest.approx(stats.pearsonr(left, right).statistic, abs=1e-12)
    assert kendall(left, right).value == pytest.approx(stats.kendalltau(left, right).statistic, abs=1e-12)


@given(data=pairs)
def test_kendall_accuracy_counts_pairs(data: list[tuple[int, int]]) -> None:
    """Without ties it is the share of pairs in the same order."""
    left, right = (np.array(column, float) for column in zip(*data, strict=True))
    left, right = left + np.arange(len(left)) * 1e-3, right + np.arange(len(right)) * 1e-3
    same = [(left[i] - left[j]) * (right[i] - right[j]) > 0 for i in range(len(left)) for j in range(i)]
    assert kendall_accuracy(left, right).value == pytest.approx(np.mean(same), abs=1e-12)


@given(data=pairs)
def test_swapping_columns_and_direction(data: list[tuple[int, int]]) -> None:
    left, right = (np.array(column, float) for column in zip(*data, strict=True))
    for figure in (spearman, pearson, kendall):
        value = figure(left, right).value
        assert figure(right, left).value == pytest.approx(value, abs=1e-12)
        turned = figure(-left, right).value
        assert turned == (None if value is None else pytest.approx(-value, abs=1e-12))


def test_no_variation_is_undefined() -> None:
    for figure in (spearman, pearson, kendall, kendall_accuracy):
        found = figure([1, 1, 1], [1, 2, 3])
        assert found.value is None
        assert "first column is constant" in found.reason
        assert figure([1], [1]).reason == "fewer than two pairs of values"


def test_missing_values_leave_the_pair_out() -> None:
    found = spearman([1, 2, np.nan, 4], [1, 3, 9, np.nan])
    assert (found.value, found.n) == (1.0, 2)


def test_float_noise_breaks_no_tie() -> None:
    noisy = [0.1 + 0.2, 0.3, 0.5]
    assert list(midranks(noisy)) == [1.5, 1.5, 3.0]
    assert spearman(noisy, [1, 1, 2]).value == 1.0


def test_tiny_values_below_the_rounding_are_equal() -> None:
    assert pearson([1e-12, 2e-12, 3e-12], [1, 2, 3]).value is None


def test_footrule() -> None:
    assert footrule([1, 2, 3, 4], [1, 2, 3, 4]).value == 0
    assert footrule([1, 2, 3, 4], [4, 3, 2, 1]).value == 1
    assert footrule([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]).value == 1
    assert footrule([1, 2, 3], [2, 1, 3]).value == pytest.approx(2 / 4)


@given(values=st.lists(st.floats(-0.99, 0.99), min_size=1, max_size=8))
def test_recipes(values: list[float]) -> None:
    mean = math.fsum(values) / len(values)
    z = math.fsum(math.atanh(value) for value in values) / len(values)
    assert average(values).value == pytest.approx(math.tanh(z), abs=1e-9)
    assert average(values, recipe="plain").value == pytest.approx(mean, abs=1e-12)
    assert average(values, recipe="paper-compat").value == pytest.approx(math.tanh(mean), abs=1e-12)


@pytest.mark.parametrize("recipe", CORRELATION_RECIPES)
def test_undefined_groups_are_left_out_and_told(recipe: Recipe) -> None:
    found = average([0.5, None, 0.5], recipe=recipe)
    assert found.n == 2
    assert "1 undefined left out" in found.method
    assert average([None], recipe=recipe).value is None


def test_fisher_has_no_average_with_a_perfect_correlation() -> None:
    assert average([1.0, 0.2]).value is None
    assert "infinite" in average([1.0, 0.2]).reason
    assert average([1.0, 0.2], recipe="plain").value == pytest.approx(0.6)


def test_unknown_recipe() -> None:
    with pytest.raises(ValueError, match="unknown recipe"):
        average([0.1], recipe="median")  # type: ignore[arg-type]


def test_columns_must_match() -> None:
    with pytest.raises(ValueError, match="one length"):
        spearman([1, 2], [1])
