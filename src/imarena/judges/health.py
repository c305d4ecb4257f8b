"""Figures on how far a judge can be trusted: consistency, accuracy, bias, laziness, drift, agreement.

Pure functions of verdicts. None means 'no verdict', whatever the status; these are counted, never filled in.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from imarena.core import ROUNDS, SEED, UserError
from imarena.core.records import Outcome
from imarena.stats import (
    Figure,
    GapBand,
    RaterPair,
    Ratings,
    agreement_by_gap,
    from_columns,
    krippendorff_alpha,
    paired_bootstrap,
    pairs_within,
    pairwise_agreement,
    proportion_figure,
    rater_pairs,
    spearman,
)

Verdicts = Sequence[Outcome | None]
DECISIVE = (Outcome.LEFT, Outcome.RIGHT)
_CODES = {outcome: float(code) for code, outcome in enumerate(Outcome)}


def outcomes_from_scores(left: Sequence[float | None], right: Sequence[float | None]) -> list[Outcome | None]:
    """Reduce pointwise scores to left, right or tie by the sign of their difference (GenArena, A.3.1)."""
    outcomes: list[Outcome | None] = []
    for left_score, right_score in zip(left, right, strict=True):
        if left_score is None or right_score is None:
            outcomes.append(None)
        else:
            gap = round(left_score - right_score, 9)
            outcomes.append(Outcome.TIE if gap == 0 else Outcome.LEFT if gap > 0 else Outcome.RIGHT)
    return outcomes


# ---------------------------------------------------------------- consistency


@dataclass(frozen=True)
class SelfConsistency:
    """Nominal alpha over repeated runs, and the share of pairs with the same verdict in all runs."""

    alpha: Figure
    unanimous: Figure
    n_runs: int
    n_missing: int


def self_consistency(runs: Sequence[Verdicts]) -> SelfConsistency:
    """Agreement of a judge with itself (GenArena, table 3 and A.3): runs as raters, pairs as units.

    Each run lists the same pairs in the same order; a run of a pairwise judge is the combined verdict of both orders.
    """
    if len(runs) < 2 or len({len(run) for run in runs}) != 1:
        raise UserError(
            "Self-consistency needs two or more runs over the same pairs.", hint="The paper uses five runs."
        )
    table = {str(number): dict(enumerate(run)) for number, run in enumerate(runs)}
    ratings, _ = _ratings(table)
    rows = list(zip(*runs, strict=True))
    complete = [row for row in rows if None not in row]
    unanimous = sum(len(set(row)) == 1 for row in complete)
    return SelfConsistency(
        krippendorff_alpha(ratings, "nominal", rounds=ROUNDS, seed=SEED),
        proportion_figure(
            "unanimous", unanimous, len(complete), "pairs with one verdict in all runs, among pairs without a failure"
        ),
        len(runs),
        sum(verdict is None for run in runs for verdict in run),
    )


@dataclass(frozen=True)
class JudgeAgreement:
    """Nominal alpha among judges, the share of equal pairs of verdicts, and figures for each two judges."""

    alpha: Figure
    equal: Figure
    pairs: dict[tuple[str, str], RaterPair]


def judge_agreement(verdicts: Mapping[str, Mapping[Any, Outcome | None]]) -> JudgeAgreement:
    """Measure how far judges agree with each other. `verdicts`: judge -> unit -> verdict."""
    if len(verdicts) < 2:
        raise UserError("Agreement needs two or more judges.", hint="Run another judge over the same battles.")
    ratings, names = _ratings(verdicts)
    pairs = {(names[pair.left], names[pair.right]): pair for pair in rater_pairs(ratings)}
    alpha = krippendorff_alpha(ratings, "nominal", rounds=ROUNDS, seed=SEED)
    return JudgeAgreement(alpha, pairwise_agreement(ratings), pairs)


def _ratings(verdicts: Mapping[str, Mapping[Any, Outcome | None]]) -> tuple[Ratings, list[str]]:
    rows = [(unit, judge, v) for judge, outcomes in verdicts.items() for unit, v in outcomes.items()]
    values = [math.nan if verdict is None else _CODES[verdict] for _, _, verdict in rows]
    ratings, _, judges = from_columns([row[0] for row in rows], [row[1] for row in rows], values, scale="label")
    return ratings, judges


# ---------------------------------------------------------------- against people


def same_side_rate(human: Verdicts, judge: Verdicts) -> Figure:
    """Share of the pairs that people decide where the judge picks the same side (GenArena, tables 1 and 6).

    A judge's tie counts as wrong. Pairs without a verdict are left out.
    """
    decided = [
        (people, machine)
        for people, machine in zip(human, judge, strict=True)
        if people in DECISIVE and machine is not None
    ]
    hits = sum(people is machine for people, machine in decided)
    return proportion_figure(
        "decisive_accuracy", hits, len(decided), "same side; a judge's tie is wrong; without a verdict: left out"
    )


def accuracy_by_group(human: Verdicts, judge: Verdicts, groups: Sequence[str]) -> dict[str, Figure]:
    """`decisive_accuracy` per track, judge size or other label of a pair, and ``overall`` for all pairs."""
    rows = list(zip(human, judge, groups, strict=True))
    figures = {
        group: same_side_rate([h for h, _, g in rows if g == group], [j for _, j, g in rows if g == group])
        for group in sorted(set(groups))
    }
    return {**figures, "overall": same_side_rate(human, judge)}


@dataclass(frozen=True)
class TieLaziness:
    """How a judge with a tie option votes where people decide (GenArena, table 5)."""

    rows: dict[str, dict[str, float]]
    """People's outcome -> judge's outcome -> share of the row."""
    counts: dict[str, int]
    false_ties: Figure
    """Share of ties among the verdicts on pairs that people decide."""
    decisive_accuracy: Figure
    n_missing: int


def tie_laziness(human: Verdicts, judge: Verdicts) -> TieLaziness:
    """Confusion matrix of people's and the judge's outcomes, and how often it ties where people see a winner."""
    pairs = [(h, j) for h, j in zip(human, judge, strict=True) if h is not None and j is not None]
    counts = {h.value: sum(people is h for people, _ in pairs) for h in Outcome}
    rows = {
        h.value: {j.value: sum(pair == (h, j) for pair in pairs) / counts[h.value] for j in Outcome}
        for h in Outcome
        if counts[h.value]
    }
    decided = [machine for people, machine in pairs if people in DECISIVE]
    ties = sum(machine not in DECISIVE for machine in decided)
    return TieLaziness(
        rows,
        {name: count for name, count in counts.items() if count},
        proportion_figure("false_ties", ties, len(decided), "ties where people decide"),
        same_side_rate(human, judge),
        len(human) - len(pairs),
    )


@dataclass(frozen=True)
class GapAgreement:
    """Agreement with people per band of the score gap (CV-Arena, table 5), with intervals and shares of pairs."""

    bands: tuple[GapBand, ...]
    figures: tuple[Figure, ...]
    fractions: tuple[float, ...]
    n_equal: int


def score_gap_agreement(
    units: Sequence[int], human: Sequence[float], judge: Sequence[float], edges: Sequence[float] = (50, 100, 200)
) -> GapAgreement:
    """Group the pairs of a unit's outputs that people do not call equal by the gap between the judge's scores."""
    bands, n_equal = agreement_by_gap(pairs_within(units, human, judge), edges)
    total = sum(band.n for band in bands)
    figures = tuple(
        proportion_figure("agreement", round((band.agreement or 0) * band.n), band.n, f"gap from {band.low:g}")
        for band in bands
    )
    return GapAgreement(bands, figures, tuple(band.n / total if total else 0.0 for band in bands), n_equal)


# ---------------------------------------------------------------- position


@dataclass(frozen=True)
class PositionBias:
    """Rates for the first position; 0.5 is fair. `flips`: pairs whose two orders disagree."""

    first_rate: Figure
    """Share of calls won by the side shown first, among single calls that chose a side."""
    flips: Figure
    first_of_flips: Figure
    """When both calls of a pair chose the same position: share that chose the first."""
    n_missing: int


def position_bias(left_first: Verdicts, right_first: Verdicts) -> PositionBias:
    """Measure position bias from both orders of the same pairs; verdicts are given for the recorded sides."""
    pairs = list(zip(left_first, right_first, strict=True))
    chose_first = sum(first is Outcome.LEFT for first, _ in pairs) + sum(second is Outcome.RIGHT for _, second in pairs)
    chose_second = sum(first is Outcome.RIGHT for first, _ in pairs) + sum(
        second is Outcome.LEFT for _, second in pairs
    )
    complete = [(first, second) for first, second in pairs if first is not None and second is not None]
    first_twice = sum(pair == (Outcome.LEFT, Outcome.RIGHT) for pair in complete)
    second_twice = sum(pair == (Outcome.RIGHT, Outcome.LEFT) for pair in complete)
    return PositionBias(
        proportion_figure(
            "first_rate", chose_first, chose_first + chose_second, "the side shown first won a single call"
        ),
        proportion_figure(
            "flips", sum(first is not second for first, second in complete), len(complete), "the two orders disagree"
        ),
        proportion_figure("first_of_flips", first_twice, first_twice + second_twice, "the first place won both calls"),
        sum(verdict is None for pair in pairs for verdict in pair),
    )


# ---------------------------------------------------------------- scores


@dataclass(frozen=True)
class DimensionMean:
    """Mean of one dimension for one model, its standard error (None for one value) and the number of scores."""

    mean: float
    error: float | None
    n: int


def dimension_means(scores: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, dict[str, DimensionMean]]:
    """Model -> dimension -> mean of the ok judgments (CV-Arena, table 6)."""
    means: dict[str, dict[str, DimensionMean]] = {}
    for model, rows in scores.items():
        names = sorted({name for row in rows for name in row})
        means[model] = {}
        for name in names:
            values = [row[name] for row in rows if name in row]
            error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
            means[model][name] = DimensionMean(fmean(values), error, len(values))
    return means


@dataclass(frozen=True)
class Drift:
    """Comparison of a judge's new version with the old one on the same fixed set."""

    shift: Figure
    """Mean of new minus old score, with a bootstrap interval over units."""
    rank_correlation: Figure
    changed: Figure
    """Share of units whose score moved."""
    only_old: int
    only_new: int
    drifted: bool
    """Does the interval of the shift exclude 0?"""


def score_drift(old: Mapping[Any, float | None], new: Mapping[Any, float | None]) -> Drift:
    """Compare two versions' scores unit by unit; units that only one of them scored are counted, not compared."""
    have_old = {unit for unit, score in old.items() if score is not None}
    have_new = {unit for unit, score in new.items() if score is not None}
    common = sorted(have_old & have_new, key=str)
    before = [float(value) for unit in common if (value := old[unit]) is not None]
    after = [float(value) for unit in common if (value := new[unit]) is not None]
    shift = paired_bootstrap(after, before, rounds=ROUNDS, seed=SEED)
    moved = sum(round(a - b, 9) != 0 for a, b in zip(after, before, strict=True))
    drifted = shift.low is not None and shift.high is not None and not shift.low <= 0 <= shift.high
    return Drift(
        shift,
        spearman(before, after),
        proportion_figure("changed", moved, len(common), "moved by more than 0"),
        len(have_old - have_new),
        len(have_new - have_old),
        drifted,
    )


def verdict_drift(old: Verdicts, new: Verdicts) -> Figure:
    """Share of battles of a fixed set whose verdict changed between two versions of a judge."""
    pairs = [
        (before, after) for before, after in zip(old, new, strict=True) if before is not None and after is not None
    ]
    return proportion_figure(
        "changed", sum(before is not after for before, after in pairs), len(pairs), "another verdict than before"
    )
