"""Boards from votes that correct a judge: from battles to ratings and draws of the posterior."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray, UserError
from imarena.core.notices import Notice
from imarena.core.records import JsonDict
from imarena.ranking.battles import COLUMNS, Battles, CodedColumn
from imarena.ranking.boards.board import Result
from imarena.ranking.boards.board_settings import board_settings
from imarena.ranking.boards.pairs import percentile_ends
from imarena.ranking.islands import islands_of
from imarena.ranking.likelihood.calibrated import fit_calibrated
from imarena.ranking.likelihood.corrected import Posterior, VoteBatch, fit_corrected
from imarena.ranking.likelihood.corrected_draws import draw_boards
from imarena.ranking.likelihood.pair_counts import counts_by_pair
from imarena.ranking.likelihood.separation import never_met_notices
from imarena.ranking.options import Options

LEAST_DRAWS = 1000


@dataclass(frozen=True)
class JudgeScale:
    """A judge's scores beyond the battles: `means` (m,) of every model, and the root mean square `gap` of two scores on
    one item. Battles that were routed by score would bias both.
    """

    means: FloatArray
    gap: float
    met: tuple[IntArray, IntArray] | None = None
    """Pairs of models that the judge scored on one item: they are on one scale, also without battles."""


def corrected_board(battles: Battles, options: Options, judge: JudgeScale | None = None) -> tuple[Battles, Result]:
    """Return people's battles and the board; without `judge`, means and scale are computed from the battles."""
    human = np.ones(len(battles), bool) if battles.judged is None else ~battles.judged
    if not human.any():
        raise UserError(
            "There are no votes: nothing corrects the judge.", hint="Give source: human or judge, and people's battles."
        )
    within, levels, how = _judge_view(battles, human, judge)
    votes = _filter(battles, human)
    # Uneven weights are worth fewer votes (Kish 1965); counting all votes would make intervals too short.
    weight = None if votes.weight is None else votes.weight * (votes.weight.sum() / (votes.weight**2).sum())
    ballot = VoteBatch(
        votes.left.astype(np.int64)[None],
        votes.right.astype(np.int64)[None],
        votes.points[None],
        within[None],
        levels[None],
        None if weight is None else weight[None],
    )
    posterior = fit_corrected(ballot)
    draws = draw_boards(ballot, posterior, max(options.rounds, LEAST_DRAWS), seed=options.seed)
    island = _islands(battles, judge)
    return votes, _result(posterior, draws, options, how, island, never_met_notices(island, battles.models))


def _islands(battles: Battles, judge: JudgeScale | None) -> IntArray:
    """(m,) the group of each model: neither a battle nor the judge's scores of one item compare two groups."""
    cells = counts_by_pair(battles)
    left, right = (cells.left, cells.right) if judge is None or judge.met is None else judge.met
    return islands_of(np.concatenate([cells.left, left]), np.concatenate([cells.right, right]), len(battles.models))


def _centred(theta: FloatArray, island: IntArray) -> FloatArray:
    """Strengths (R, m) minus the mean of each group."""
    mean = np.stack([theta[:, island == number].mean(axis=1) for number in range(int(island.max()) + 1)], axis=1)
    return np.asarray(theta - mean[:, island])


def _result(
    posterior: Posterior, strengths: FloatArray, options: Options, how: str, island: IntArray, notices: list[Notice]
) -> Result:
    ratings = options.centre + options.per_log * _centred(posterior.theta, island)[0]
    draws = options.centre + options.per_log * _centred(strengths, island)
    written = {"ties": "half a win each", "interval": "posterior", "judge_scores": how}
    unused = {"anchors", "cluster", "dimension_weight", "position"}
    unused |= {"rounds"} if options.rounds <= LEAST_DRAWS else set()
    settings = board_settings(options, written, unused=unused)
    details: JsonDict = {
        "slope_within": float(posterior.slopes[0, 0]),
        "slope_between": float(posterior.slopes[0, 1]),
        "bias_spread": float(posterior.spread[0]),
        "dispersion": float(posterior.dispersion[0]),
        "bias": [float(value) for value in posterior.coefficients[0, 2:]],
    }
    low, high = percentile_ends(draws, options.level)  # ratings have another prior and may lie outside
    ends = (np.minimum(low, ratings), np.maximum(high, ratings))
    return Result(ratings, draws, settings, details, tuple(notices), interval=ends)


def _judge_view(
    battles: Battles, human: NDArray[np.bool_], judge: JudgeScale | None
) -> tuple[FloatArray, FloatArray, str]:
    """The item's own gap (n votes,), the models' levels (m,) and the source of both."""
    if battles.score_left is None or battles.score_right is None:
        return _from_verdicts(battles, human)
    left, right = battles.score_left, battles.score_right
    if battles.item is not None:
        left, right = _filled(battles, left, right)
    scored = np.isfinite(left) & np.isfinite(right)
    if judge is None and not scored.any():
        return _from_verdicts(battles, human)
    gap = np.where(scored, left - right, 0.0)
    if judge is None:
        judge = JudgeScale(_model_means(battles, left, right), float(np.sqrt(np.mean(gap[scored] ** 2))))
    scale = judge.gap or 1.0
    levels = (judge.means - judge.means.mean()) / scale
    usual = levels[battles.left] - levels[battles.right]
    within = np.where(scored, gap / scale - usual, 0.0)[human]
    return within, levels, "scores"


def _from_verdicts(battles: Battles, human: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, str]:
    """For a judge without scores, the models' levels come from its own Bradley-Terry board."""
    if human.all():
        raise UserError(
            "There is no judge to correct: no battle has scores, and none is a judge's.",
            hint="Give score_left and score_right, or battles with source judge; or use --method bt.",
        )
    m, by_judge = len(battles.models), ~human
    left, right = np.triu_indices(m, 1)
    key = battles.left[by_judge].astype(np.int64) * m + battles.right[by_judge]
    points = battles.points[by_judge]
    table = np.bincount(key, points, m * m).reshape(m, m) + np.bincount(key, 1 - points, m * m).reshape(m, m).T
    won = np.asarray(table, np.float64)
    theta = fit_calibrated(left, right, won[left, right][None, :, None], won[right, left][None, :, None], np.ones(1), m)
    levels = theta[0] / (float(np.sqrt(np.mean((theta[0][left] - theta[0][right]) ** 2))) or 1.0)
    return np.zeros(int(human.sum())), levels, "verdicts"


def _filled(battles: Battles, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fill in missing scores of a model on an item from other battles of that item."""
    item: CodedColumn | None = battles.item
    m = len(battles.models)
    of = np.zeros(len(battles), np.int64) if item is None else item.units()
    keys = np.concatenate([of * m + battles.left, of * m + battles.right])
    values = np.concatenate([left, right])
    scored = np.isfinite(values)
    if not scored.any():
        return left, right
    unique, unit = np.unique(keys[scored], return_inverse=True)
    mean = np.bincount(unit, values[scored]) / np.bincount(unit)
    sides: list[Any] = []
    for scores, models in ((left, battles.left), (right, battles.right)):
        key = of * m + models
        at = np.minimum(np.searchsorted(unique, key), unique.size - 1)
        sides.append(np.where(np.isfinite(scores), scores, np.where(unique[at] == key, mean[at], np.nan)))
    return sides[0], sides[1]


def _model_means(battles: Battles, left: FloatArray, right: FloatArray) -> FloatArray:
    """(m,) mean score of every model, counting each item once if items are known."""
    m = len(battles.models)
    of = np.arange(len(battles)) if battles.item is None else battles.item.units()
    keys = np.concatenate([of * m + battles.left, of * m + battles.right])
    values = np.concatenate([left, right])
    scored = np.isfinite(values)
    unique, first = np.unique(keys[scored], return_index=True)
    model = unique % m
    counts = np.bincount(model, minlength=m)
    sums = np.bincount(model, values[scored][first], m)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), float(values[scored].mean())))


def _filter(battles: Battles, mask: NDArray[np.bool_]) -> Battles:
    if mask.all():
        return battles
    columns = {name: getattr(battles, name) for name in COLUMNS}
    parts: dict[str, Any] = {
        name: column.part(mask) if isinstance(column, CodedColumn) else column[mask]
        for name, column in columns.items()
        if column is not None
    }
    return replace(battles, **parts)
