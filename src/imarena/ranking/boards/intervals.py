"""Intervals of the models on a board. If the data do not support an interval, it is absent, with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray
from imarena.core.notices import Notice
from imarena.core.records import JsonDict
from imarena.ranking.boards import pairs, stability

FIXED = "fixed"
NO_VARIATION = "no variation"


@dataclass(frozen=True)
class Intervals:
    """Per model, in the order of the ratings: interval ends of rating and rank, or a note on why there are none."""

    low: list[float | None]
    high: list[float | None]
    rank_low: list[int | None]
    rank_high: list[int | None]
    notes: list[str]
    notices: tuple[Notice, ...] = ()
    empty: bool = False
    """Intervals were requested, but no model shows any variation."""


def find_intervals(
    ratings: FloatArray,
    draws: FloatArray | None,
    level: float,
    *,
    ends: tuple[FloatArray, FloatArray] | None,
    fixed: NDArray[np.bool_] | None,
    unbounded: Mapping[int, str],
    settings: JsonDict,
    groups: stability.Groups = (),
) -> Intervals:
    """Interval ends at `level` from draws (R, m), or as given by `ends`. `settings` name the resampled units.

    Ranks are those within the `groups` of models that never met.
    """
    m = ratings.size
    anchored = np.zeros(m, bool) if fixed is None else fixed
    notes = [FIXED if anchored[i] else "" for i in range(m)]
    nothing: list[None] = [None] * m
    if ends is None and draws is None:
        alone = f"only one {settings['cluster']}" if settings.get("units") == 1 else ""
        notes = [note or alone for note in notes]
        notices = _notices(notes.count(alone) if alone else 0, m, alone)
        return Intervals([*nothing], [*nothing], [*nothing], [*nothing], notes, notices)
    low, high = (
        ends if ends is not None else pairs.percentile_ends(draws, level) if draws is not None else (ratings, ratings)
    )
    flat = high - low <= 2 * 10.0**-stability.DECIMALS
    # there is one unit to draw, or all units agree
    reason = f"only one {settings['cluster']}" if settings.get("units") == 1 else NO_VARIATION
    loose = dict(unbounded)
    reasons = {int(i): loose.get(int(i), reason) if reason == NO_VARIATION else reason for i in np.flatnonzero(flat)}
    reasons = loose | reasons  # having one unit explains more than what it happens to show
    notes = [note or reasons.get(i, "") for i, note in enumerate(notes)]
    bounded = [not note for note in notes]
    rank_low, rank_high = _rank_ends(draws, level, groups)
    ranked = [notes[i] == FIXED or not flat[i] for i in range(m)]
    empty = bool((flat | anchored).all())
    return Intervals(
        low=[float(low[i]) if bounded[i] else None for i in range(m)],
        high=[float(high[i]) if bounded[i] else None for i in range(m)],
        rank_low=[None if rank_low is None or empty or not ranked[i] else int(rank_low[i]) for i in range(m)],
        rank_high=[None if rank_high is None or empty or not ranked[i] else int(rank_high[i]) for i in range(m)],
        notes=notes,
        notices=(
            *_notices(int((flat & ~anchored).sum()), m, reason),
            *(_ends_at_rating(ratings, low, high, ~flat & np.array(bounded), settings) if ends is None else ()),
        ),
        empty=empty,
    )


def present_ends(low: FloatArray, high: FloatArray) -> list[tuple[float | None, float | None]]:
    """Interval ends of figures other than ratings; None if the two ends are the same."""
    wide = high - low > 1e-12 * np.maximum(np.abs(high), np.abs(low))
    ends = zip(low.tolist(), high.tolist(), wide.tolist(), strict=True)
    return [(lower, upper) if apart else (None, None) for lower, upper, apart in ends]


def _notices(flat: int, of: int, reason: str) -> tuple[Notice, ...]:
    return (Notice(code="no_interval", values={"models": flat, "of": of, "reason": reason}),) if flat else ()


def _ends_at_rating(
    ratings: FloatArray, low: FloatArray, high: FloatArray, has_interval: NDArray[np.bool_], settings: JsonDict
) -> tuple[Notice, ...]:
    """A notice about intervals that end at the rating: all resampled boards are on one side of it."""
    close = 10.0**-stability.DECIMALS
    at_end = int((has_interval & ((ratings - low < close) | (high - ratings < close))).sum())
    values: JsonDict = {"models": at_end, "cluster": settings.get("cluster", "battle")}
    return (Notice(code="interval_ends_at_rating", values=values),) if at_end else ()


def _rank_ends(
    draws: FloatArray | None, level: float, groups: stability.Groups
) -> tuple[FloatArray | None, FloatArray | None]:
    if draws is None:
        return None, None
    ranks = stability.ranks(draws, groups)
    low = np.quantile(ranks, (1 - level) / 2, axis=0, method="lower")
    return np.asarray(low), np.asarray(np.quantile(ranks, (1 + level) / 2, axis=0, method="higher"))
