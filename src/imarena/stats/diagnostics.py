"""Detect unusual raters or judges: those that agree less than the others, are constant, or reverse the scale."""

import math
from dataclasses import dataclass, replace

import numpy as np

from imarena.core import FloatArray
from imarena.stats.correlation import spearman
from imarena.stats.figure import Figure
from imarena.stats.pair_votes import PAIR_CODES
from imarena.stats.ratings import Ratings, round_values
from imarena.stats.share_interval import normal_quantile

FEW_UNITS = 10
"""With fewer shared units than this, a rater is not flagged: the figures are too noisy to accuse anyone."""
OUT_OF_STEP = 3.0
"""Number of robust standard deviations below the raters' median."""
BACKWARDS = -0.2
"""Spearman's rho up to which a rater seems to reverse the scale, if it is also significantly below 0."""
BACKWARDS_LEVEL = 0.01
"""Significance level of that test, one-sided."""


@dataclass(frozen=True)
class RaterReport:
    """One rater compared with the others."""

    rater: int
    n: int
    """Number of ratings."""
    n_shared: int
    """Number of ratings on units that somebody else also rated."""
    with_others: Figure
    """Spearman's rho with the mean of the others; for labels, the share of equal pairs."""
    mean_shift: float | None
    """Mean of (own rating - mean of the others), on the scale of the values."""
    most_common_share: float
    flags: tuple[str, ...]
    """Any of ``constant``, ``backwards``, ``out_of_step``, ``too_few``; empty if nothing is unusual."""


def rater_reports(ratings: Ratings) -> tuple[RaterReport, ...]:
    """A report on each rater, in the order of the raters' codes."""
    means = ratings.means_of_others()
    equal, company = ratings.others_equal(), ratings.sizes()[ratings.unit] - 1
    drafts = []
    for rater, rows in enumerate(ratings.rows_by_rater()):
        draft = _draft(rater, round_values(ratings.value[rows]), means[rows])
        if ratings.scale == "pair":
            draft = _voter(draft, ratings.value[rows], differs=bool((equal[rows] < company[rows]).any()))
        if ratings.scale in ("label", "pair"):
            agreement = _with_others(int(equal[rows].sum()), int(company[rows].sum()))
            draft = replace(draft, with_others=agreement, mean_shift=None)
        drafts.append(draft)
    correlations = [d.with_others.value for d in drafts if d.with_others.value is not None and d.n_shared >= FEW_UNITS]
    limit = _limit(np.array(correlations, np.float64))
    return tuple(_flagged(draft, limit) for draft in drafts)


def _draft(rater: int, own: FloatArray, means: FloatArray) -> RaterReport:
    """Report on one rater. `own`: their ratings; `means`: the mean of the others on the same units, NaN if none."""
    shared = ~np.isnan(means)
    common = float(np.unique(own, return_counts=True)[1].max() / len(own)) if len(own) else 0.0
    shift = float((own[shared] - means[shared]).mean()) if shared.any() else None
    # A single value is unusual only if the others' ratings of the same units differ.
    odd = common == 1.0 and bool(shared.any()) and float(np.ptp(means[shared])) > 0
    flags = ("constant",) if odd else ()
    return RaterReport(rater, len(own), int(shared.sum()), spearman(own[shared], means[shared]), shift, common, flags)


def _voter(draft: RaterReport, own: FloatArray, *, differs: bool) -> RaterReport:
    """The same for votes on pairs, whichever output is called left: only always the same kind of tie is constant."""
    sided = float((own < PAIR_CODES["tie"]).sum()) / 2
    ties = [float((own == PAIR_CODES[kind]).sum()) for kind in ("tie", "both_bad")]
    common = max(sided, *ties) / len(own) if len(own) else 0.0
    return replace(draft, most_common_share=common, flags=("constant",) if common == 1.0 and differs else ())


def _with_others(equal: int, pairs: int) -> Figure:
    """The share of equal ratings among all pairs (this rater, another rater) on the same unit."""
    method = "equal pairs with the other raters"
    if pairs == 0:
        return Figure("with_others", None, 0, method, reason="shares no unit with another rater")
    return Figure("with_others", equal / pairs, pairs, method)


def _limit(values: FloatArray) -> float:
    """The limit below which a rater is out of step: the median minus three robust deviations (at least 0.05 each)."""
    if len(values) < 3:
        return -np.inf
    middle = float(np.median(values))
    deviation = 1.4826 * float(np.median(np.abs(values - middle)))
    return middle - OUT_OF_STEP * max(deviation, 0.05)


def _flagged(draft: RaterReport, limit: float) -> RaterReport:
    flags = list(draft.flags)
    value = draft.with_others.value
    if draft.n_shared < FEW_UNITS:
        flags = ["too_few"]
    elif value is not None and draft.mean_shift is not None and _is_backwards(value, draft.n_shared):
        flags.append("backwards")
    elif value is not None and value < limit:
        flags.append("out_of_step")
    return replace(draft, flags=tuple(flags))


def _is_backwards(rho: float, n: int) -> bool:
    """Is rho significantly negative? Without association, it is nearly normal with variance 1 / (n - 1)."""
    return rho <= BACKWARDS and rho * math.sqrt(n - 1) < normal_quantile(BACKWARDS_LEVEL)
