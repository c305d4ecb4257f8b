"""Boards from the mixture of CV-Arena appendix G with a calibrated judge: order-free, with a bootstrap over items."""

from collections.abc import Callable
from typing import Any

import numpy as np

from imarena.core import FloatArray, IntArray, UserError
from imarena.core.records import JsonDict
from imarena.ranking.battles import Battles
from imarena.ranking.boards.board import Result
from imarena.ranking.boards.board_settings import board_settings
from imarena.ranking.likelihood.calibrated import fit_calibrated
from imarena.ranking.likelihood.pair_counts import counts_by_pair
from imarena.ranking.likelihood.separation import describe, find_blocks, unbounded_models
from imarena.ranking.options import Options
from imarena.ranking.resample import cluster_notices

BANDS = 12
CHUNK = 100
"""Number of boards fitted at once."""


def calibrated_board(battles: Battles, reliability_at: Callable[[FloatArray], FloatArray], options: Options) -> Result:
    """The judge's battles get the calibrated q of their gap (max(0, 2a - 1)), people's get the mixture's `q_human`.

    Bands of the gap contain equal numbers of battles, so that they fit scores of any range.
    """
    q_human = 1.0 if options.mixture.q_human is None else options.mixture.q_human
    if battles.judged is None or battles.score_left is None or battles.score_right is None:
        raise UserError("A calibrated mixture needs the source and both scores of every battle.")
    group, q = _groups(battles, reliability_at, q_human, options.mixture.gap_bins or BANDS)
    left, right = np.triu_indices(len(battles.models), 1)
    touches = _touches(battles, group, q.size)
    shape = (-1, left.size, q.size, 2)

    def boards(times: FloatArray) -> FloatArray:
        counts = np.asarray(touches.T @ times.T).T.reshape(shape)
        return fit_calibrated(left, right, counts[..., 0], counts[..., 1], q, len(battles.models))

    units = touches.shape[0]
    ratings = options.centre + options.per_log * boards(np.ones((1, units)))[0]
    rng = np.random.default_rng(options.seed)
    draws = []
    for start in range(0, options.rounds, CHUNK):
        size = min(CHUNK, options.rounds - start)
        times = rng.multinomial(units, np.full(units, 1 / units), size=size).astype(np.float64)
        draws.append(options.centre + options.per_log * boards(times))
    written: JsonDict = {
        "ties": "half a win each", "interval": "bootstrap", "rounds": options.rounds,
        "cluster": "battle" if battles.item is None else "item", "units": units, "q": "max(0, 2a - 1), calibrated",
        "q_human": q_human,
    }  # fmt: skip
    unused = {"anchors", "dimension_weight", "position", "reliability"}
    settings = board_settings(options, written, options.mixture, unused=unused)
    details: JsonDict = {"reliability_by_band": q.tolist()}
    cells = counts_by_pair(battles)
    blocks = find_blocks(cells)
    notices = (*describe(cells, blocks, battles.models), *cluster_notices(battles, str(settings["cluster"]), units))
    all_draws = np.concatenate(draws) if draws else None
    return Result(ratings, all_draws, settings, details, notices, unbounded=unbounded_models(cells, blocks))


def _groups(
    battles: Battles, reliability_at: Callable[[FloatArray], FloatArray], q_human: float, bands: int
) -> tuple[IntArray, FloatArray]:
    """(n,) band of every battle, with people's battles in the last band, and the q of each band."""
    by_judge: Any = battles.judged
    # rounded, so that equal gaps share a band: 4.1 - 3.6 and 5.0 - 4.5 differ in the last bit
    gap = np.round(np.abs(np.asarray(battles.score_left) - np.asarray(battles.score_right)), 9)
    if not np.isfinite(gap[by_judge]).all():
        raise UserError("A judge's battle has no scores, so its gap is not known.", hint="Fill both scores.")
    q_each = reliability_at(gap[by_judge])
    edges = np.unique(np.quantile(gap[by_judge], np.linspace(0, 1, bands + 1)[1:-1])) if by_judge.any() else np.zeros(0)
    band = np.searchsorted(edges, gap[by_judge], side="right")
    counts = np.bincount(band, minlength=edges.size + 1)
    q = np.bincount(band, q_each, edges.size + 1) / np.maximum(counts, 1)
    group = np.full(len(battles), edges.size + 1, np.int64)
    group[by_judge] = band
    return group, np.append(q, q_human)


def _touches(battles: Battles, group: IntArray, groups: int) -> Any:
    """(units, P * G * 2) sparse: what each item (or battle) adds to the wins and losses of the lower-numbered model."""
    from scipy.sparse import csr_matrix

    m = len(battles.models)
    pair_of = np.zeros((m, m), np.int64)
    left, right = np.triu_indices(m, 1)
    pair_of[left, right] = pair_of[right, left] = np.arange(left.size)
    points = np.where(battles.left > battles.right, 1 - battles.points, battles.points)
    weight = np.ones(len(battles)) if battles.weight is None else battles.weight
    column = (pair_of[battles.left, battles.right] * groups + group) * 2
    unit = np.arange(len(battles)) if battles.item is None else battles.item.units()
    rows, columns = np.concatenate([unit, unit]), np.concatenate([column, column + 1])
    values = np.concatenate([weight * points, weight * (1 - points)])
    table = csr_matrix((values, (rows, columns)), shape=(int(unit.max()) + 1, left.size * groups * 2))
    table.sum_duplicates()
    return table
