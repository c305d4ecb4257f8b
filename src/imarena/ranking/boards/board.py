"""From ratings and resampled ratings to a frozen `Ranking`, with comparisons of neighbours on the board."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray, Standing
from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Ranking, never_met_groups
from imarena.ranking.battles import Battles, ModelTally
from imarena.ranking.boards import pairs, stability
from imarena.ranking.boards.intervals import Intervals, find_intervals
from imarena.ranking.boards.pairs import draw_leads, meeting_count, share_above
from imarena.ranking.boards.sweeps import clean_sweeps, least_lead, surely_above, widened_ranks
from imarena.ranking.likelihood.pair_counts import counts_by_pair, tally_models
from imarena.ranking.likelihood.separation import LOST_ALL, ONE_SIDED, WON_ALL
from imarena.ranking.options import Options
from imarena.ranking.resample import TOO_NARROW, group_units, narrow_group_notices
from imarena.stats import battles_needed, elo_of, units_to_differ, win_rate
from imarena.tables import row_slices

NAMES_SHOWN = 5
MATRIX_LIMIT = 100
"""Largest board (number of models) whose pairwise tables are kept in `details`."""


@dataclass(frozen=True)
class Result:
    """What a ranking method returns: ratings (m,), draws (R, m) or None, and notices for the user."""

    ratings: FloatArray
    draws: FloatArray | None
    settings: JsonDict
    details: JsonDict = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    interval: tuple[FloatArray, FloatArray] | None = None
    """Interval ends that were computed directly (sandwich); None: use percentiles of the draws."""
    covariance: FloatArray | None = None
    """(m, m) if it was computed directly; None: use that of the draws."""
    fixed: NDArray[np.bool_] | None = None
    """(m,) True for anchored models, whose ratings are given and have no interval."""
    unbounded: Mapping[int, str] = field(default_factory=dict)
    """Models, by index, whose rating the data do not bound, and why; an interval would only show the prior."""
    blocks: IntArray | None = None
    """(m,) the block of each model; the data bound differences within a block (see `separation`)."""
    centred: bool = False
    """True: draws are centred on the ratings, so those of a difference are centred on the difference of ratings."""


def assemble(battles: Battles, result: Result, options: Options, coverage: FloatArray | None) -> Ranking:
    """Build the board: standings from best to worst with intervals, ranks, records, coverage, and pairwise tables."""
    unbounded = {**_on_one_item(battles, result.settings), **result.unbounded}
    groups = _groups(battles, result)
    intervals = find_intervals(
        result.ratings, result.draws, options.level,
        ends=result.interval, fixed=result.fixed, unbounded=unbounded, settings=result.settings, groups=groups,
    )  # fmt: skip
    if intervals.empty:  # identical rounds show nothing, not even that a rank is certain
        notices = tuple(notice for notice in result.notices if notice.code != TOO_NARROW)
        result = replace(result, draws=None, covariance=None, notices=notices)
    elif all(low is None for low in intervals.low):  # no interval is shown that could be too narrow
        result = replace(result, notices=tuple(notice for notice in result.notices if notice.code != TOO_NARROW))
    ratings, draws = result.ratings, result.draws
    swept = _swept(battles, result, options)
    above = surely_above(battles, swept, options.level, groups) if swept else None
    ends = intervals.rank_low, intervals.rank_high
    units = group_units(battles, groups, result.settings.get("cluster")) if len(groups) > 1 else []
    ends = ends if above is None else widened_ranks(ends, above, swept, groups)
    rank_low, rank_high = _open_ranks(ends, _too_few(groups, units, result.settings, options.level))
    order = np.lexsort((np.array(battles.models), -np.round(ratings, 6), _group_of(groups, len(battles.models))))
    ranks = zip(stability.ranks(ratings, groups).tolist(), rank_low, rank_high, strict=True)
    standings = _standings(battles, ratings, intervals, [*ranks], coverage)
    covariance = result.covariance if result.covariance is not None or draws is None else np.cov(draws.T)
    return Ranking(
        method=options.method,
        settings=result.settings,
        n_battles=len(battles),
        excluded=battles.excluded,
        notices=(
            *_data_notices(battles),
            *result.notices,
            *intervals.notices,
            *narrow_group_notices(
                units, result.settings, [any(intervals.low[model] is not None for model in group) for group in groups]
            ),
            *_coverage_notice(battles.models, coverage),
        ),
        models=tuple(standings[i] for i in order),
        covariance=_rows(covariance, order) if options.matrices and len(order) <= MATRIX_LIMIT else None,
        details={
            **result.details,
            **_details(battles, replace(result, unbounded=unbounded), options, order, groups),
            **({} if above is None else {"surely_above": _named_pairs(battles, above)}),
            **({"group_units": list(units)} if units else {}),
        },
    )


def _standings(
    battles: Battles,
    ratings: FloatArray,
    intervals: Intervals,
    ranks: Sequence[tuple[int, int | None, int | None]],
    coverage: FloatArray | None,
) -> list[Standing]:
    """Each model's place, in the order of the battles' models; `ranks` are the rank and the ends of its interval."""
    record: ModelTally = tally_models(battles)
    return [
        Standing(
            model=model,
            rating=float(ratings[i]),
            low=intervals.low[i],
            high=intervals.high[i],
            rank=ranks[i][0],
            rank_low=ranks[i][1],
            rank_high=ranks[i][2],
            battles=float(record.battles[i]),
            wins=float(record.wins[i]),
            losses=float(record.losses[i]),
            ties=float(record.ties[i]),
            coverage=None if coverage is None else float(coverage[i]),
            note=intervals.notes[i],
        )
        for i, model in enumerate(battles.models)
    ]


def _groups(battles: Battles, result: Result) -> list[IntArray]:
    """The groups of models that never met, by index, the largest first; usually one group of all models."""
    index = {model: number for number, model in enumerate(battles.models)}
    return [np.array([index[model] for model in group]) for group in never_met_groups(result.notices, battles.models)]


def _group_of(groups: stability.Groups, models: int) -> IntArray:
    """(m,) the number of each model's group."""
    of = np.zeros(models, np.int64)
    for number, group in enumerate(groups):
        of[group] = number
    return of


def _too_few(groups: stability.Groups, units: Sequence[int], settings: JsonDict, level: float) -> list[IntArray]:
    """The groups with so few items (battles, raters) that no difference can be significant."""
    every = settings.get("units")
    if not isinstance(every, int):
        return []
    numbers = units or [every]
    return [group for group, number in zip(groups, numbers, strict=True) if number < units_to_differ(level)]


def _open_ranks(
    ends: tuple[list[int | None], list[int | None]], groups: Sequence[IntArray]
) -> tuple[list[int | None], list[int | None]]:
    """Ends of ranks in which every rank of these groups is possible."""
    low, high = [*ends[0]], [*ends[1]]
    for group in groups:
        for model in group.tolist():
            if low[model] is not None and high[model] is not None:
                low[model], high[model] = 1, len(group)
    return low, high


def _swept(battles: Battles, result: Result, options: Options) -> dict[int, bool]:
    """Models that won (True) or lost (False) every battle, if the test of sweeps uses the same model as the board."""
    plain = options.method == "bt" and result.fixed is None and not options.position and battles.covariates is None
    if not plain or result.draws is None or result.ratings.size > MATRIX_LIMIT:
        return {}
    reasons = {WON_ALL: True, LOST_ALL: False}
    return {model: reasons[reason] for model, reason in result.unbounded.items() if reason in reasons}


def _named_pairs(battles: Battles, above: NDArray[np.bool_]) -> list[list[str]]:
    return [[battles.models[better], battles.models[worse]] for better, worse in np.argwhere(above).tolist()]


def _on_one_item(battles: Battles, settings: JsonDict) -> dict[int, str]:
    """Models whose battles are all on one item: resampling items does not show how they do on others."""
    if (
        settings.get("cluster") != "item"
        or battles.item is None
        or len(battles.models) * len(battles.item.names) > 10**8
    ):
        return {}
    has_battle = np.zeros((len(battles.models), len(battles.item.names)), bool)
    for rows in row_slices(len(battles)):
        for side in (battles.left, battles.right):
            has_battle[side[rows], battles.item.of[rows]] = True
    return dict.fromkeys(np.flatnonzero(has_battle.sum(axis=1) == 1).tolist(), "only one item")


def _details(battles: Battles, result: Result, options: Options, order: Any, groups: stability.Groups) -> JsonDict:
    theta = result.ratings / options.per_log
    rates = pairs.average_win_rate(theta, groups)
    centre, of = result.ratings if result.centred else None, _group_of(groups, len(order))
    details: JsonDict = {
        "average_win_rate_top10": {
            battles.models[i]: float(rates[i]) if np.isfinite(rates[i]) else None for i in order
        },
        "stability": {
            "accuracy": stability.human_accuracy(result.ratings, battles),
            "accuracy_battles": len(battles.of_people),
            "mean_spearman": (
                None if result.draws is None else stability.mean_spearman(result.ratings, result.draws, groups)
            ),
            "rank_std": None if result.draws is None else stability.rank_std(result.draws, groups),
        },
    }
    if len(order) <= MATRIX_LIMIT:
        ties_apart = options.method == "davidson"
        details["neighbours"] = [
            line
            for number in range(len(groups))
            for line in neighbours(
                battles, order[of[order] == number], theta, result.draws, options.per_log, centre, ties_apart=ties_apart
            )
        ]
    swept = [model for model, reason in result.unbounded.items() if reason in (WON_ALL, LOST_ALL)]
    sweeps: list[tuple[int, int, int]] = []
    if swept and options.method in ("bt", "davidson"):  # a mixture does not trust every verdict
        sweeps = clean_sweeps(battles, swept)
        details["sweeps"] = [
            {"winner": battles.models[winner], "loser": battles.models[loser], "units": units}
            for winner, loser, units in sweeps
        ]
    if options.matrices and len(order) <= MATRIX_LIMIT:
        tables: dict[str, FloatArray] = {
            "win_matrix": pairs.win_matrix(battles),
            "predicted_win": pairs.predicted_win_rates(theta),
        }
        if result.draws is not None:
            tables["probability_above"] = pairs.superiority(result.draws, centre)
            difference, low, high = pairs.differences(result.ratings, result.draws, options.level, centre)
            # draws of unbounded models come from the prior, and a model without variation has no interval to compare
            absent = _without_interval(result, options.level)
            low[absent] = high[absent] = np.nan
            for winner, loser, units in sweeps:
                low[winner, loser] = least_lead(units, options.level, options.per_log)
                high[loser, winner] = -low[winner, loser]
            plain = options.method == "bt" and result.fixed is None and not options.position
            exact = pairs.two_model_ends(battles, options.level, options.per_log) if plain else None
            if exact is not None and not absent[0, 1]:
                (low[0, 1], high[0, 1]), (high[1, 0], low[1, 0]) = exact, (-exact[0], -exact[1])
            tables.update({"difference": difference, "difference_low": low, "difference_high": high})
        for table in tables.values():  # groups that never met have separate scales
            table[of[:, None] != of[None, :]] = np.nan
        details["pairs"] = {
            "models": [battles.models[i] for i in order],
            **{k: _nested_lists(v, order) for k, v in tables.items()},
        }
    return details


def _without_interval(result: Result, level: float) -> NDArray[np.bool_]:
    """(m, m) True for pairs of models whose difference the data do not bound."""
    loose = np.isin(np.arange(result.ratings.size), [*result.unbounded, *_still(result, level)])
    absent: NDArray[np.bool_] = loose[:, None] | loose[None, :]
    if result.blocks is not None:  # the prior decides a block's position, but not the differences within it
        grouped = [model for model, reason in result.unbounded.items() if reason == ONE_SIDED]
        group = np.where(np.isin(np.arange(loose.size), grouped), result.blocks, -1)
        absent &= (group[:, None] != group[None, :]) | (group < 0)[:, None]
    return absent


def _still(result: Result, level: float) -> list[int]:
    """Models whose ratings show no variation, except those that are fixed."""
    if result.draws is None:
        return []
    low, high = result.interval or pairs.percentile_ends(result.draws, level)
    still = high - low <= 2 * 10.0**-stability.DECIMALS
    return [int(model) for model in np.flatnonzero(still if result.fixed is None else still & ~result.fixed)]


def _rows(table: FloatArray | None, order: Any) -> tuple[tuple[float, ...], ...] | None:
    if table is None:
        return None
    return tuple(tuple(row) for row in np.atleast_2d(table)[np.ix_(order, order)].tolist())


def _nested_lists(table: FloatArray, order: Any) -> Any:
    """Nested lists in the board's order, rounded to the nine digits that are meaningful; NaN becomes None."""
    rows = np.round(table[np.ix_(order, order)], 9).tolist()
    return [[None if value != value else value for value in row] for row in rows]  # noqa: PLR0124


def _data_notices(battles: Battles) -> list[Notice]:
    notices = []
    if battles.excluded:
        notices.append(Notice(code="battles_left_out", values={"reasons": dict(battles.excluded)}))
    if battles.unranked:
        names = [*battles.unranked[:NAMES_SHOWN]]
        more = len(battles.unranked) - len(names)
        notices.append(Notice(code="models_not_ranked", values={"models": names, "more": more}))
    return notices


def _coverage_notice(models: tuple[str, ...], coverage: FloatArray | None) -> tuple[Notice, ...]:
    if coverage is None or float(coverage.max() - coverage.min()) < 0.05:
        return ()
    least = int(np.argmin(coverage))
    values: JsonDict = {"model": models[least], "low": float(coverage.min()), "high": float(coverage.max())}
    return (Notice(code="coverage_differs", values=values),)


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
    """Compare each two neighbours on the board, best first: a list of plain documents.

    `order` (m,) are indices from best to worst; `theta` (m,) natural-log strengths; `draws` (R, m) or None; `centre`
    as in `draw_leads`.
    `battles_to_separate` is the number of direct battles that detects the current estimate of the difference with
    probability 0.8 at the 5% level, at the board's share of ties; None if the two are equal. `ties_apart`: strengths
    describe decided battles (Davidson), not the share of points with ties as half points.
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
                "battles_to_separate": _battles_needed(lead, tie_rate, ties_apart),
            }
        )
    return pairs


def _above(above: int, below: int, draws: FloatArray, centre: FloatArray | None) -> float:
    pair = [above, below]
    return float(share_above(draw_leads(0, draws[:, pair], None if centre is None else centre[pair]))[1])


def _battles_needed(lead: float, tie_rate: float, ties_apart: bool) -> int | None:
    """Battles needed to separate two models; None for equal models, and if there are only ties."""
    elo = round(lead * 400 / math.log(10), 6)
    if elo == 0 or tie_rate >= 1:
        return None
    share = win_rate(abs(elo))
    if ties_apart:
        elo = elo_of(0.5 + (1 - tie_rate) * (share - 0.5)) or elo
    else:  # a large lead leaves room for fewer ties than on the whole board
        tie_rate = min(tie_rate, 2 * (1 - share))
    return battles_needed(elo, power=POWER, significance=SIGNIFICANCE, tie_rate=tie_rate).battles
