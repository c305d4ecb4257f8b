"""Adjacent models on a board: how certain their order is, and how many battles would decide it."""

import math
from typing import Any

from imarena.ranking.battles import Battles, FloatArray, IntArray
from imarena.ranking.likelihood.pair_counts import counts_by_pair
from imarena.ranking.pairs import meeting_count
from imarena.stats import battles_needed

POWER = 0.8
SIGNIFICANCE = 0.05


def neighbours(battles: Battles, order: IntArray, theta: FloatArray, draws: FloatArray | None, per_log: float) -> Any:
    """For every two models in a row on the board, best first: a list of plain documents.

    `order` (m,) are places from best to worst; `theta` (m,) natural-log strengths; `draws` (R, m) or None.
    `battles_to_separate` is the number of direct battles that finds the difference as it is estimated now with
    probability 0.8 at the 5 % level, at the board's share of ties; None where the two are equal.
    """
    record = counts_by_pair(battles).counts.sum(axis=0)
    tie_rate = float(record[1] / record.sum())
    found = []
    for above, below in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        lead = float(theta[above] - theta[below])
        found.append(
            {
                "above": battles.models[above],
                "below": battles.models[below],
                "difference": lead * per_log,
                "probability_above": None if draws is None else _above(draws[:, above] - draws[:, below]),
                "battles_met": meeting_count(battles, above, below),
                "battles_to_separate": _needed(lead, tie_rate),
            }
        )
    return found


def _above(lead: FloatArray) -> float:
    return float((lead > 0).mean() + 0.5 * (lead == 0).mean())


def _needed(lead: float, tie_rate: float) -> int | None:
    """None for equal models, and where nothing but ties was seen."""
    elo = round(lead * 400 / math.log(10), 6)
    if elo == 0 or tie_rate >= 1:
        return None
    return battles_needed(elo, power=POWER, significance=SIGNIFICANCE, tie_rate=tie_rate).battles
