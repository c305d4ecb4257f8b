"""Leave-one-out folds against a plain computation with scipy."""

import numpy as np
import pytest
from scipy import stats

from imarena.stats import from_matrix, human_folds, judge_folds

RANDOM = np.random.default_rng(11)
TRUTH = RANDOM.normal(size=50)
TABLE = np.round(TRUTH[:, None] + RANDOM.normal(size=(50, 3)), 1)
JUDGE = np.round(TRUTH + 0.3, 2)


def test_each_rater_against_the_mean_of_the_others() -> None:
    found = human_folds(from_matrix(TABLE))
    rhos = [stats.spearmanr(TABLE[:, r], np.delete(TABLE, r, 1).mean(axis=1).round(9)).statistic for r in range(3)]
    assert [fold.spearman.value for fold in found.folds] == pytest.approx(rhos, abs=1e-12)
    assert found.spearman.value == pytest.approx(np.tanh(np.arctanh(rhos).mean()), abs=1e-12)
    assert found.spearman_spread == pytest.approx(np.std(rhos), abs=1e-12)
    taus = [stats.kendalltau(TABLE[:, r], np.delete(TABLE, r, 1).mean(axis=1).round(9)).statistic for r in range(3)]
    assert found.kendall_accuracy.value == pytest.approx((np.mean(taus) + 1) / 2, abs=1e-12)


def test_a_judge_against_two_rater_means() -> None:
    found = judge_folds(JUDGE, from_matrix(TABLE))
    means = [np.delete(TABLE, r, 1).mean(axis=1) for r in range(3)]
    assert [fold.bias for fold in found.folds] == pytest.approx([(JUDGE - mean).mean() for mean in means], abs=1e-8)
    assert found.bias == pytest.approx(JUDGE.mean() - TABLE.mean(), abs=1e-8)
    rhos = [stats.spearmanr(JUDGE, mean.round(9)).statistic for mean in means]
    assert [fold.spearman.value for fold in found.folds] == pytest.approx(rhos, abs=1e-12)


def test_missing_ratings_and_scores() -> None:
    table, judge = TABLE.copy(), JUDGE.copy()
    table[:10, 0] = np.nan
    judge[40:] = np.nan
    assert [fold.n for fold in human_folds(from_matrix(table)).folds] == [40, 50, 50]
    assert [fold.n for fold in judge_folds(judge, from_matrix(table)).folds] == [40, 40, 40]


def test_a_constant_judge_has_no_correlation_but_a_bias() -> None:
    found = judge_folds(np.zeros(50), from_matrix(TABLE))
    assert found.spearman.value is None
    assert found.bias == pytest.approx(-TABLE.mean(), abs=1e-8)


def test_one_rater_has_no_fold_to_compare() -> None:
    found = human_folds(from_matrix(TABLE[:, :1]))
    assert found.spearman.value is None
    assert found.bias is None


def test_scores_must_match_units() -> None:
    with pytest.raises(ValueError, match="expected 50 scores"):
        judge_folds(JUDGE[:3], from_matrix(TABLE))
