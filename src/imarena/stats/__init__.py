"""Agreement, correlation, significance, bootstrap, power."""

from imarena.stats.alpha import LEVELS, Level, krippendorff_alpha
from imarena.stats.bootstrap import (
    paired_bootstrap,
    percentile_interval,
    resampled_correlations,
    resampled_counts,
    resampled_places,
)
from imarena.stats.corrections import benjamini_hochberg, holm
from imarena.stats.correlation import (
    RECIPES,
    Recipe,
    average,
    footrule,
    kendall,
    kendall_accuracy,
    midranks,
    pearson,
    spearman,
)
from imarena.stats.diagnostics import RaterReport, rater_reports
from imarena.stats.effects import cliff_delta, cohen_d, cohen_d_paired, odds_ratio, rank_biserial, win_rate
from imarena.stats.figure import Figure, undefined
from imarena.stats.folds import Fold, Folds, human_folds, judge_folds
from imarena.stats.kappa import RaterPair, cohen_kappa, fleiss_kappa, pairwise_agreement, percent_agreement, rater_pairs
from imarena.stats.pair_votes import PAIR_CODES
from imarena.stats.pairs import (
    GapBand,
    Pairs,
    TieCalibration,
    agreement_by_gap,
    calibrate_ties,
    decisive_accuracy,
    pair_accuracy,
    pairs_within,
)
from imarena.stats.power import SampleSize, battles_needed, detectable_elo
from imarena.stats.proportion import WILSON, share, wilson
from imarena.stats.ratings import Ratings, from_columns, from_matrix, rounded
from imarena.stats.score_range import PAPER_RANGE, ScoreRange, observed_range, score_range_from
from imarena.stats.significance import SignificanceTest, mcnemar, paired_t, permutation, welch_t, wilcoxon
from imarena.stats.verdicts import VerdictFigures, f1_score, verdict_figures

__all__ = [
    "LEVELS",
    "PAIR_CODES",
    "PAPER_RANGE",
    "RECIPES",
    "WILSON",
    "Figure",
    "Fold",
    "Folds",
    "GapBand",
    "Level",
    "Pairs",
    "RaterPair",
    "RaterReport",
    "Ratings",
    "Recipe",
    "SampleSize",
    "ScoreRange",
    "SignificanceTest",
    "TieCalibration",
    "VerdictFigures",
    "agreement_by_gap",
    "average",
    "battles_needed",
    "benjamini_hochberg",
    "calibrate_ties",
    "cliff_delta",
    "cohen_d",
    "cohen_d_paired",
    "cohen_kappa",
    "decisive_accuracy",
    "detectable_elo",
    "f1_score",
    "fleiss_kappa",
    "footrule",
    "from_columns",
    "from_matrix",
    "holm",
    "human_folds",
    "judge_folds",
    "kendall",
    "kendall_accuracy",
    "krippendorff_alpha",
    "mcnemar",
    "midranks",
    "observed_range",
    "odds_ratio",
    "pair_accuracy",
    "paired_bootstrap",
    "paired_t",
    "pairs_within",
    "pairwise_agreement",
    "pearson",
    "percent_agreement",
    "percentile_interval",
    "permutation",
    "rank_biserial",
    "rater_pairs",
    "rater_reports",
    "resampled_correlations",
    "resampled_counts",
    "resampled_places",
    "rounded",
    "score_range_from",
    "share",
    "spearman",
    "undefined",
    "verdict_figures",
    "welch_t",
    "wilcoxon",
    "wilson",
    "win_rate",
]
