"""Resampling: seeded, right, and silent where it says nothing."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from imarena.stats import (
    paired_bootstrap,
    percentile_interval,
    resampled_correlations,
    resampled_counts,
    resampled_rows,
)


def test_counts_are_whole_samples() -> None:
    blocks = list(resampled_counts(7, 50, seed=3))
    rows = np.concatenate(blocks)
    assert rows.shape == (50, 7)
    assert (rows.sum(axis=1) == 7).all()
    assert np.array_equal(rows, np.concatenate(list(resampled_counts(7, 50, seed=3))))


def test_clusters_are_drawn_whole() -> None:
    groups = np.array([0, 1, 1, 2, 2, 2])
    for rows in resampled_rows(groups, 30, seed=0):
        drawn = np.bincount(groups[rows], minlength=3)
        assert (drawn % np.bincount(groups) == 0).all()


def measured(ranked: bool, left: Any, right: Any) -> float:
    found = stats.spearmanr(left, right) if ranked else stats.pearsonr(left, right)
    return float(found.statistic)


@pytest.mark.parametrize("ranked", [True, False])
def test_weighted_rounds_equal_repeated_rows(ranked: bool) -> None:
    random = np.random.default_rng(5)
    left, right = random.integers(0, 6, 40).astype(float), random.normal(size=40)
    groups = np.repeat(np.arange(10), 4)
    draws = resampled_correlations(left, right, groups, ranked=ranked, rounds=25, seed=9)
    counts = np.concatenate(list(resampled_counts(10, 25, seed=9)))
    for row, draw in zip(counts, draws, strict=True):
        rows = np.repeat(np.arange(40), row[groups].astype(int))
        assert draw == pytest.approx(measured(ranked, left[rows], right[rows]), abs=1e-12)


def test_paired_bootstrap_agrees_with_scipy() -> None:
    random = np.random.default_rng(2)
    left = random.normal(0.4, 1, 60)
    right = left - random.normal(0.2, 0.5, 60)
    found = paired_bootstrap(left, right, rounds=10_000, seed=1)
    theirs = stats.bootstrap((left - right,), np.mean, method="percentile", n_resamples=10_000, rng=1)
    assert found.value == pytest.approx((left - right).mean())
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.01)
    assert "10000 rounds, seed 1" in found.interval


def test_a_constant_difference_has_no_interval() -> None:
    left, right = np.arange(30.0), np.arange(30.0) - 2
    found = paired_bootstrap(left, right, rounds=200)
    assert found.value == 2.0
    assert found.low is None  # every round gives 2: the data say nothing on its error
    assert paired_bootstrap([1.0], [2.0]).value is None
    with pytest.raises(ValueError, match="one length"):
        paired_bootstrap([1.0, 2.0], [2.0])


def test_an_interval_without_a_width_is_absent() -> None:
    """One round of a hundred differs: the ends are the same all the same."""
    found = percentile_interval(np.array([0.4] + [0.5] * 99), 0.95, what="units")
    assert (found.low, found.high, found.reason) == (None, None, "no variation: resampled rounds give the same value")
    wide = percentile_interval(np.array([0.4] * 10 + [0.5] * 90), 0.95, what="units")
    assert (wide.low, wide.high, wide.reason) == (0.4, 0.5, "")


def test_undefined_rounds_are_told_or_too_many() -> None:
    few = percentile_interval(np.array([np.nan, *np.linspace(0, 1, 99)]), 0.95, what="units")
    assert "1 undefined rounds left out" in few.method
    many = percentile_interval(np.array([np.nan] * 20 + [0.5] * 80), 0.95, what="units")
    assert (many.low, many.reason) == (None, "the figure is undefined in 20 of 100 resampled rounds")
