"""Tests of differences against scipy and statsmodels, and where they do not exist."""

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from imarena.stats import (
    cohen_d,
    cohen_d_paired,
    holm,
    mcnemar,
    odds_ratio,
    paired_t,
    permutation,
    rank_biserial,
    welch_t,
    wilcoxon,
)

RANDOM = np.random.default_rng(7)
LEFT = RANDOM.normal(0.3, 1.0, 25)
RIGHT = LEFT - RANDOM.normal(0.2, 0.6, 25)


def test_t_tests_equal_scipy() -> None:
    assert paired_t(LEFT, RIGHT).p_value == pytest.approx(stats.ttest_rel(LEFT, RIGHT).pvalue, rel=1e-6)
    theirs = stats.ttest_ind(LEFT, RIGHT[:20], equal_var=False)
    assert welch_t(LEFT, RIGHT[:20]).p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert welch_t(LEFT, RIGHT[:20]).statistic == pytest.approx(theirs.statistic, rel=1e-9)


def test_wilcoxon_equals_scipy_and_tells_equal_pairs() -> None:
    found = wilcoxon(LEFT, RIGHT)
    assert found.p_value == pytest.approx(stats.wilcoxon(LEFT, RIGHT, method="exact").pvalue, rel=1e-9)
    left = np.array([1.0, 2, 3, 4, 5, 5])
    with_ties = wilcoxon(left, [1.0, 1, 1, 1, 4, 7])
    assert with_ties.n == 5
    assert "1 equal pairs left out" in with_ties.method
    assert wilcoxon([1.0, 2.0], [1.0, 2.0]).p_value is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_mcnemar_equals_statsmodels(data: list[tuple[bool, bool]]) -> None:
    left, right = zip(*data, strict=True)
    table = [[sum((a, b) == (x, y) for a, b in data) for y in (True, False)] for x in (True, False)]
    found = mcnemar(left, right)
    if table[0][1] + table[1][0] == 0:
        assert found.reason == "the two never differ"
    else:
        assert found.p_value == pytest.approx(float(statsmodels_mcnemar(table, exact=True).pvalue), abs=1e-12)
        assert mcnemar(right, left).p_value == pytest.approx(found.p_value, abs=1e-12)


def test_permutation_meets_the_full_enumeration() -> None:
    difference = np.array([0.5, 1.0, -0.25, 2.0, 0.75, 1.5, 0.1, -0.4])
    sums = [abs(np.dot(signs, difference)) for signs in product([-1, 1], repeat=8)]
    exact = np.mean([total >= abs(difference.sum()) - 1e-12 for total in sums])
    found = permutation(difference, np.zeros(8), rounds=20_000, seed=3)
    assert found.p_value == pytest.approx(exact, abs=0.006)
    assert found == permutation(difference, np.zeros(8), rounds=20_000, seed=3)


def test_unpaired_permutation_meets_scipy() -> None:
    theirs = stats.permutation_test((LEFT, RIGHT[:10]), lambda a, b: np.mean(a) - np.mean(b), n_resamples=5_000, rng=1)
    found = permutation(LEFT, RIGHT[:10], paired=False, rounds=5_000, seed=1)
    assert found.p_value == pytest.approx(theirs.pvalue, abs=0.03)


def test_a_permutation_p_value_is_never_zero() -> None:
    found = permutation(np.full(60, 5.0) + RANDOM.normal(size=60), np.zeros(60), rounds=500)
    assert found.p_value == pytest.approx(1 / 501)


def test_where_nothing_varies_there_is_no_test() -> None:
    assert paired_t([2.0, 3.0], [1.0, 2.0]).reason == "all differences are equal"
    assert paired_t([2.0], [1.0]).reason == "fewer than two pairs"
    assert welch_t([1.0, 1.0], [2.0, 2.0]).reason == "neither sample varies"
    assert permutation([], []).status == "undefined"
    assert paired_t([2.0], [1.0]).to_json()["status"] == "undefined"


def test_columns_must_match() -> None:
    for test in (paired_t, wilcoxon, mcnemar):
        with pytest.raises(ValueError, match="one length"):
            test([1.0, 0.0], [1.0])


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(p_values)
def test_corrections_equal_statsmodels(values: list[float]) -> None:
    with patch("gc.collect"):  # statsmodels calls it each time, which takes 0.3 s late in a run
        theirs = multipletests(values, method="holm")[1]
    assert holm(values) == pytest.approx(theirs, abs=1e-12)


def test_undefined_tests_are_not_counted() -> None:
    assert list(holm([0.01, 0.04])) == list(holm([0.01, float("nan"), 0.04])[[0, 2]])
    assert np.isnan(holm([0.01, float("nan")])[1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])
    with pytest.raises(ValueError, match="one column"):
        holm([[0.1]])


def test_effect_sizes_by_hand() -> None:
    assert cohen_d([1, 2, 3], [3, 4, 5]).value == pytest.approx(-2.0)
    assert cohen_d_paired([1, 2, 3], [0, 0, 0]).value == pytest.approx(2.0)
    assert rank_biserial([1, 2, 3], [0, 0, 4]).value == pytest.approx((-1.5 + 1.5 + 3) / 6)
    assert odds_ratio(6, 3).value == 2.0
    assert odds_ratio(6, 0).value is None
    assert cohen_d([1, 1], [2, 2]).reason == "no variation within the samples"
    assert cohen_d([1], [2, 2]).value is None
    assert cohen_d_paired([1, 2], [0, 1]).value is None
