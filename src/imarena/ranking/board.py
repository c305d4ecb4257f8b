"""From ratings and resampled ratings to a frozen `Ranking`."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core.notices import notices_from_texts
from imarena.core.records import JsonDict, Ranking
from imarena.core.records.ranking import Standing
from imarena.ranking import pairs, stability
from imarena.ranking.battles import Battles, FloatArray, Tally
from imarena.ranking.cells import tally
from imarena.ranking.neighbours import neighbours
from imarena.ranking.options import Options

MATRIX_LIMIT = 100
"""Largest board whose pairwise tables are kept in `details`."""


@dataclass(frozen=True)
class Result:
    """What a method hands over: ratings (m,), draws (R, m) or None, and what it wants to say."""

    ratings: FloatArray
    draws: FloatArray | None
    settings: JsonDict
    details: JsonDict = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    interval: tuple[FloatArray, FloatArray] | None = None
    """Ends that were computed directly (sandwich); None: percentiles of the draws."""
    covariance: FloatArray | None = None
    """(m, m) where it was computed directly; None: of the draws."""
    fixed: NDArray[np.bool_] | None = None
    """(m,) models without an interval: anchored, or nothing to resample."""


def assemble(battles: Battles, result: Result, options: Options, coverage: FloatArray | None) -> Ranking:
    """Standings from best to worst with intervals, ranks, records, coverage, and the tables by pair."""
    ratings, draws = result.ratings, result.draws
    low, high = _ends(result, options.level)
    order = np.lexsort((np.array(battles.models), -np.round(ratings, 6)))
    place = stability.ranks(ratings)
    rank_low, rank_high = _rank_ends(draws, options.level)
    record: Tally = tally(battles)
    fixed = np.zeros(ratings.size, bool) if result.fixed is None else result.fixed
    standings = tuple(
        Standing(
            model=battles.models[i],
            rating=float(ratings[i]),
            low=None if low is None or fixed[i] else float(low[i]),
            high=None if high is None or fixed[i] else float(high[i]),
            rank=int(place[i]),
            rank_low=None if rank_low is None else int(rank_low[i]),
            rank_high=None if rank_high is None else int(rank_high[i]),
            battles=float(record.battles[i]),
            wins=float(record.wins[i]),
            losses=float(record.losses[i]),
            ties=float(record.ties[i]),
            coverage=None if coverage is None else float(coverage[i]),
        )
        for i in order
    )
    covariance = result.covariance if result.covariance is not None or draws is None else np.cov(draws.T)
    return Ranking(
        method=options.method,
        settings=result.settings,
        n_battles=len(battles),
        excluded=battles.excluded,
        notices=notices_from_texts(
            (*_data_warnings(battles), *result.warnings, *_coverage_warning(battles.models, coverage))
        ),
        models=standings,
        covariance=_rows(covariance, order) if options.matrices and len(order) <= MATRIX_LIMIT else None,
        details={**result.details, **_details(battles, result, options, order)},
    )


def _ends(result: Result, level: float) -> tuple[FloatArray | None, FloatArray | None]:
    if result.interval is not None:
        return result.interval
    if result.draws is None:
        return None, None
    low, high = pairs.ends(result.draws, level)
    return low, high


def _rank_ends(draws: FloatArray | None, level: float) -> tuple[Any, Any]:
    if draws is None:
        return None, None
    places = stability.ranks(draws)
    low = np.quantile(places, (1 - level) / 2, axis=0, method="lower")
    return low, np.quantile(places, (1 + level) / 2, axis=0, method="higher")


def _details(battles: Battles, result: Result, options: Options, order: Any) -> JsonDict:
    theta = result.ratings / options.per_log
    rates = pairs.average_win_rate(theta)
    details: JsonDict = {
        "average_win_rate_top10": {battles.models[i]: float(rates[i]) for i in order},
        "stability": {
            "accuracy": stability.human_accuracy(result.ratings, battles),
            "accuracy_battles": len(battles.of_people),
            "mean_spearman": None if result.draws is None else stability.mean_spearman(result.ratings, result.draws),
            "rank_std": None if result.draws is None else stability.rank_std(result.draws),
        },
    }
    if len(order) <= MATRIX_LIMIT:
        details["neighbours"] = neighbours(battles, order, theta, result.draws, options.per_log)
    if options.matrices and len(order) <= MATRIX_LIMIT:
        tables: dict[str, FloatArray] = {
            "win_matrix": pairs.win_matrix(battles),
            "predicted_win": pairs.predicted(theta),
        }
        if result.draws is not None:
            tables["probability_above"] = pairs.superiority(result.draws)
            difference = pairs.differences(result.ratings, result.draws, options.level)
            tables.update(zip(("difference", "difference_low", "difference_high"), difference, strict=True))
        details["pairs"] = {
            "models": [battles.models[i] for i in order],
            **{k: _listed(v, order) for k, v in tables.items()},
        }
    return details


def _rows(table: FloatArray | None, order: Any) -> tuple[tuple[float, ...], ...] | None:
    if table is None:
        return None
    return tuple(tuple(row) for row in np.atleast_2d(table)[np.ix_(order, order)].tolist())


def _listed(table: FloatArray, order: Any) -> Any:
    """Nested lists in the board's order; NaN becomes None. Nine digits say all that a float64 of this kind knows."""
    rows = np.round(table[np.ix_(order, order)], 9).tolist()
    return [[None if value != value else value for value in row] for row in rows]  # noqa: PLR0124


def _data_warnings(battles: Battles) -> list[str]:
    told = []
    if battles.excluded:
        what = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in battles.excluded.items())
        told.append(f"Battles left out: {what}.")
    if battles.unranked:
        names = ", ".join(f"'{model}'" for model in battles.unranked[:5])
        more = f" and {len(battles.unranked) - 5} more" if len(battles.unranked) > 5 else ""
        told.append(f"Not ranked, because no battle of theirs counts: {names}{more}.")
    return told


def _coverage_warning(models: tuple[str, ...], coverage: FloatArray | None) -> tuple[str, ...]:
    if coverage is None or float(coverage.max() - coverage.min()) < 0.05:
        return ()
    least = int(np.argmin(coverage))
    return (
        f"Coverage differs between models, from {coverage.min():.0%} ('{models[least]}') to {coverage.max():.0%}: "
        "a model that was not tried on hard items may rank too high.",
    )
