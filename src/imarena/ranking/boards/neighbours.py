"""Adjacent models on a board: how certain their order is, and how many battles would decide it."""

import math
from typing import Any

from imarena.core import FloatArray, IntArray
from imarena.ranking.battles import Battles
from imarena.ranking.likelihood.pair_counts import counts_by_pair
from imarena.ranking.pairs import draw_leads, meeting_count, share_above
from imarena.stats import battles_needed, elo_of, win_rate

POWER = 0.8
SIGNIFICANCE = 0.05


def neighbours(
    battles: Battles,
    order: IntArray,
    theta: FloatArray,
    draws: FloatArray | None,
    per_log: float,
    centre: FloatArray | None = None,
    *,
    ties_apart: bool = False,
) -> Any:
    """For every two models in a row on the board, best first: a list of plain documents.

    `order` (m,) are indices from best to worst; `theta` (m,) natural-log strengths; `draws` (R, m) or None; `centre`
    as in `draw_leads`.
    `battles_to_separate` is the number of direct battles that finds the difference as it is estimated now with
    probability 0.8 at the 5 % level, at the board's share of ties; None where the two are equal. `ties_apart`: the
    strengths are those of decided battles (Davidson), not of the share of points with ties as half points.
    """
    record = counts_by_pair(battles).counts.sum(axis=0)
    tie_rate = float(record[1] / record.sum())
    pairs = []
    for above, below in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        lead = float(theta[above] - theta[below])
        pairs.append(
            {
                "above": battles.models[above],
                "below": battles.models[below],
                "difference": lead * per_log,
                "probability_above": None if draws is None else _above(above, below, draws, centre),
                "battles_met": meeting_count(battles, above, below),
                "battles_to_separate": _needed(lead, tie_rate, ties_apart),
            }
        )
    return pairs


def _above(above: int, below: int, draws: FloatArray, centre: FloatArray | None) -> float:
    pair = [above, below]
    return float(share_above(draw_leads(0, draws[:, pair], None if centre is None else centre[pair]))[1])


def _needed(lead: float, tie_rate: float, ties_apart: bool) -> int | None:
    """None for equal models, and where nothing but ties was seen."""
    elo = round(lead * 400 / math.log(10), 6)
    if elo == 0 or tie_rate >= 1:
        return None
    share = win_rate(abs(elo))
    if ties_apart:
        elo = elo_of(0.5 + (1 - tie_rate) * (share - 0.5)) or elo
    else:  # a large lead leaves less room for ties than the whole board has
        tie_rate = min(tie_rate, 2 * (1 - share))
    return battles_needed(elo, power=POWER, significance=SIGNIFICANCE, tie_rate=tie_rate).battles
