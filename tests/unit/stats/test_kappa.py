"""Kappas and raw agreement against statsmodels and hand counts."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from imarena.stats import cohen_kappa, fleiss_kappa, from_matrix, pairwise_agreement, percent_agreement, rater_pairs
from imarena.stats.kappa import Weights

complete = st.tuples(st.integers(1, 12), st.integers(2, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 3))
)
gappy = st.tuples(st.integers(1, 8), st.integers(2, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0, 2.0, np.nan]))
)


@given(table=complete)
def test_fleiss_equals_statsmodels(table: Any) -> None:
    assume(table.min() != table.max())
    expected = statsmodels_fleiss(aggregate_raters(table)[0])
    assert fleiss_kappa(from_matrix(table)).value == pytest.approx(expected, abs=1e-12)


def test_fleiss_textbook() -> None:
    """Fleiss 1971's worked example as it stands in textbooks: ten subjects, fourteen raters, kappa 0.210."""
    counts = np.array([[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
                       [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]])  # fmt: skip
    table = np.array([np.repeat(np.arange(5), row) for row in counts])
    assert fleiss_kappa(from_matrix(table)).value == pytest.approx(0.210, abs=5e-4)


@given(table=gappy)
def test_pairs_are_counted_one_by_one(table: Any) -> None:
    pairs = [
        (row[i], row[j])
        for row in table
        for i, j in combinations(range(len(row)), 2)
        if not (np.isnan(row[i]) or np.isnan(row[j]))
    ]
    found = pairwise_agreement(from_matrix(table))
    if not pairs:
        assert found.value is None
        assert percent_agreement(from_matrix(table)).value is None
        return
    assert found.value == pytest.approx(sum(a == b for a, b in pairs) / len(pairs), abs=1e-12)
    rated = [row[~np.isnan(row)] for row in table]
    whole = [len(set(row)) == 1 for row in rated if len(row) > 1]
    assert percent_agreement(from_matrix(table)).value == pytest.approx(np.mean(whole), abs=1e-12)


@given(table=gappy, seed=st.integers(0, 99))
def test_renaming_raters_changes_nothing(table: Any, seed: int) -> None:
    mixed = table[:, np.random.default_rng(seed).permutation(table.shape[1])]
    for figure in (fleiss_kappa, pairwise_agreement, percent_agreement):
        assert figure(from_matrix(mixed)).value == pytest.approx(figure(from_matrix(table)).value, abs=1e-12)


def test_no_variation_has_no_kappa() -> None:
    same = from_matrix(np.ones((4, 3)))
    assert fleiss_kappa(same).value is None
    assert "no variation" in fleiss_kappa(same).reason
    assert pairwise_agreement(same).value == 1.0


def test_missing_ratings_are_told() -> None:
    found = fleiss_kappa(from_matrix(np.array([[1, 1, 2], [2, 2, np.nan], [1, np.nan, np.nan]])))
    assert "unequal" in found.method
    assert found.n == 2


@pytest.mark.parametrize(("ours", "theirs"), [("none", None), ("linear", "linear"), ("quadratic", "quadratic")])
@given(data=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_cohen_equals_statsmodels(ours: Weights, theirs: str | None, data: list[tuple[int, int]]) -> None:
    left, right = zip(*data, strict=True)
    used = sorted({*left, *right})
    assume(len(used) > 1)
    table = np.zeros((len(used), len(used)))
    for a, b in data:
        table[used.index(a), used.index(b)] += 1
    expected = cohens_kappa(table, wt=theirs, return_results=False)
    assert cohen_kappa(left, right, weights=ours).value == pytest.approx(expected, abs=1e-12)


def test_cohen_where_it_does_not_exist() -> None:
    assert cohen_kappa([1, 1], [1, 1]).value is None
    assert cohen_kappa([1, np.nan], [np.nan, 1]).reason == "the two raters share no unit"
    with pytest.raises(ValueError, match="one length"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(ValueError, match="unknown weights"):
        cohen_kappa([1, 2], [1, 2], weights="cubic")  # type: ignore[arg-type]


def test_every_two_raters() -> None:
    table = np.array([[1, 1, np.nan], [2, 2, 2], [3, 1, np.nan], [1, 1, np.nan]])
    found = {(pair.left, pair.right): pair for pair in rater_pairs(from_matrix(table))}
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    assert found[0, 1].agreement.value == 0.75
    assert found[0, 2].n == 1
    assert found[0, 2].kappa.value is None
