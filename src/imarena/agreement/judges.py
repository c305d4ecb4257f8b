"""A judge or a metric against people: takes scores and ratings, returns one frozen `Alignment`.

Scores match ratings by `unit` and, if both tables have them, `model`, `task` and `criterion`. People's value of a
unit is the mean of its ratings, rounded to nine decimals.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from imarena.agreement.alignment import Alignment, AverageAlignment, GroupAlignment, ScoreCoverage
from imarena.agreement.columns import RatingColumns, ScaleRange, ScoreColumns, check_groups
from imarena.agreement.folds import LeaveOneOut
from imarena.agreement.matches import Match, People, absent_outputs, match_scores, people_by_key
from imarena.agreement.pair_order import pair_orders
from imarena.agreement.paired_tests import compare_correlations
from imarena.core import ROUNDS, SEED, UserError, grouped, unknown_name
from imarena.core.notices import Notice
from imarena.stats import (
    Figure,
    Interval,
    Recipe,
    average,
    from_columns,
    judge_folds,
    kendall,
    pearson,
    percentile_interval,
    resampled_correlations,
    round_values,
    spearman,
    units_by_content,
)

KEYS = ("model", "task", "criterion")


@dataclass(frozen=True)
class AlignOptions:
    """What to compare and how; the result's settings repeat all of it."""

    by: tuple[str, ...] = ()
    average: Recipe = "fisher"
    lower_is_better: frozenset[str] = frozenset()
    """Judges whose low scores are good: their scores change sign before anything is computed."""
    score_range: Mapping[str, ScaleRange] = field(default_factory=dict)
    """The scale of each judge's scores; the key "" applies to every judge not named."""
    declared: frozenset[str] = frozenset()
    """Judges whose range in `score_range` is the scale that they declare."""
    rating_range: ScaleRange | None = None
    rating_scales: Mapping[str, ScaleRange] = field(default_factory=dict)
    """The scale of each criterion, if the source of the ratings states it and `rating_range` does not."""
    leave_one_out: bool = False
    pairs: bool = False
    gaps: tuple[float, ...] = ()
    compare: bool = False
    """Test all pairs of judges against each other."""
    rounds: int = ROUNDS
    seed: int = SEED


def align(scores: ScoreColumns, ratings: RatingColumns, options: AlignOptions | None = None) -> Alignment:
    """Compare each judge in `scores` with the people in `ratings`, per criterion and group and averaged over groups."""
    settings = _with_scales(scores, ratings, options or AlignOptions())
    check_groups(scores.labels, settings.by, scores.source)
    _known_judges(scores, settings)
    keys = [name for name in KEYS if name in scores.labels and name in ratings.labels]
    people = people_by_key(ratings, keys)
    matches, excluded = match_scores(scores, people, keys, settings.by, settings.lower_is_better)
    if not any(match.score is not None for match in matches):
        raise UserError(
            f"No output has both a score in {scores.source} and a rating in {ratings.source}.",
            hint=f"Rows are matched by {', '.join(['unit', *keys])}: check that both tables use the same names.",
        )
    limits = settings.rating_range or _observed(people)
    by_group = grouped(((match.judge, match.criterion, match.group), match) for match in matches)
    absent = absent_outputs(matches, people, ratings, keys, settings.by)
    reaches = _reaches(matches)
    groups = [
        _group(key, rows, settings, settings.rating_scales.get(key[1] or "", limits), reaches.get(key[0]), absent[key])
        for key, rows in by_group.items()
    ]
    if "task" in keys and "task" not in settings.by:
        column = 1 + [name for name in keys if name != "criterion"].index("task")
        groups = [
            _within_tasks(group, rows, column, settings) for group, rows in zip(groups, by_group.values(), strict=True)
        ]
    coverage = list(_coverage(matches, people, groups))
    pairs = pair_orders(matches, settings.by, settings.gaps) if settings.pairs or settings.gaps else ()
    return Alignment(
        _settings(scores, ratings, keys, settings),
        len(scores),
        len(ratings),
        excluded,
        tuple(groups),
        tuple(_averages(groups, settings)),
        tuple(coverage),
        tuple(pairs),
        tuple(compare_correlations(matches, rounds=settings.rounds, seed=settings.seed) if settings.compare else ()),
        tuple(_notices(groups, coverage)),
    )


def _with_scales(scores: ScoreColumns, ratings: RatingColumns, options: AlignOptions) -> AlignOptions:
    """Add the scales and directions that the sources state, unless options say otherwise."""
    declared = {} if "" in options.score_range else {**scores.scales}
    return replace(
        options,
        by=tuple(name for name in options.by if name != "criterion"),  # a criterion always splits
        lower_is_better=options.lower_is_better | scores.lower_is_better,
        score_range={**declared, **options.score_range},
        declared=frozenset(declared) - options.score_range.keys(),
        rating_scales={} if options.rating_range else ratings.scales,
    )


def _reaches(matches: Iterable[Match]) -> dict[str, ScaleRange]:
    """Return the lowest and highest score of each judge, over all groups, because a judge has only one scale."""
    scores = grouped((match.judge, match.score) for match in matches if match.score is not None)
    rounded = {judge: round_values(values) for judge, values in scores.items()}
    return {judge: (float(values.min()), float(values.max())) for judge, values in rounded.items()}


def _group(
    key: tuple[Any, ...],
    rows: list[Match],
    options: AlignOptions,
    limits: ScaleRange,
    reach: ScaleRange | None,
    absent: int,
) -> GroupAlignment:
    """Return the figures of one judge, criterion and group.

    `limits` and `reach`: ends of the ratings and of all scores of the judge. `absent`: number of rated outputs without
    a row in the scores.
    """
    judge, criterion, group = key
    scored = [row for row in rows if row.score is not None]
    score = round_values(np.array([row.score for row in scored], dtype=np.float64))
    human = round_values([row.human for row in scored])
    rho, r, tau = spearman(score, human), pearson(score, human), kendall(score, human)
    own_range = options.score_range.get(judge, options.score_range.get(""))
    ranges = (own_range, options.rating_range or options.rating_scales.get(criterion or ""))
    bias, scale, bias_reason = _bias(score, human, judge, options, ranges, limits, reach)
    reasons = {figure.name: _whose(figure) for figure in (rho, r, tau) if figure.value is None}
    return GroupAlignment(
        judge, criterion, dict(zip(options.by, group, strict=True)), rho.value, r.value, tau.value,
        _accuracy(tau), bias, scale, bias_reason or None, len(scored), len(rows) - len(scored) + absent,
        _intervals(score, human, [row.unit for row in scored], rho, options),
        "undefined" if reasons else "ok", "; ".join(dict.fromkeys(reasons.values())) or None,
        _folds(scored, options, ranges, scale) if options.leave_one_out else None,
        with_folds=options.leave_one_out,
    )  # fmt: skip


def _within_tasks(group: GroupAlignment, rows: Iterable[Match], column: int, options: AlignOptions) -> GroupAlignment:
    """Add the average correlation within tasks, if there are several. `column`: of the task in the key of a match."""
    by_task = grouped((row.key[column], row) for row in rows if row.score is not None)
    if len(by_task) < 2:
        return group
    correlations = [
        spearman(
            round_values(np.array([row.score for row in members], dtype=np.float64)),
            round_values([row.human for row in members]),
        ).value
        for _, members in sorted(by_task.items())
    ]
    return replace(group, within_tasks=average(correlations, recipe=options.average).value, n_tasks=len(by_task))


def _accuracy(tau: Figure) -> float | None:
    return None if tau.value is None else (tau.value + 1) / 2


def _whose(figure: Figure) -> str:
    """Return the reason in this command's words: the first column is the judge's, the second people's."""
    return figure.reason.replace("first column", "judge's scores").replace("second column", "human means").replace(
        "scores is constant", "scores are constant"
    ).replace("means is constant", "means are constant")  # fmt: skip


Ranges = tuple[ScaleRange | None, ScaleRange | None]
"""The ranges of a judge's scores and of people's ratings; None if not known."""


def _bias(
    score: Any,
    human: Any,
    judge: str,
    options: AlignOptions,
    ranges: Ranges,
    limits: ScaleRange,
    reach: ScaleRange | None,
) -> tuple[float | None, str | None, str]:
    """Return the mean of judge minus people, and its scale: 0 to 1 if both ranges are known, else the ratings' own."""
    if not len(score) or reach is None:
        return None, None, "no scored output has a rating"
    if judge in options.lower_is_better:
        return None, None, "lower scores are better, so a difference from ratings has no meaning"
    own, theirs = ranges
    if own and theirs:
        low, high = theirs
        if reach[0] < own[0] or reach[1] > own[1]:
            ends = f"--score-range {own[0]:g},{own[1]:g}"
            if judge in options.declared:
                ends = f"the scale that the judge declares, {own[0]:g} to {own[1]:g}"
            return None, None, f"scores reach from {reach[0]:g} to {reach[1]:g}, beyond {ends}"
        bias = ((score - own[0]) / (own[1] - own[0]) - (human - low) / (high - low)).mean()
        return float(bias), "0 to 1, after mapping both ranges", ""
    low, high = limits
    if reach[0] < low or reach[1] > high:
        return None, None, (
            f"scores reach from {reach[0]:g} to {reach[1]:g} and ratings from {low:g} to {high:g}: "
            "add --score-range and --rating-range to compare them"
        )  # fmt: skip
    return float((score - human).mean()), f"ratings as given, {low:g} to {high:g}", ""


def _intervals(score: Any, human: Any, units: list[str], rho: Figure, options: AlignOptions) -> dict[str, Interval]:
    if rho.value is None or not options.rounds:
        return {}
    order, groups = units_by_content(units, score, human)
    score, human = score[order], human[order]
    intervals: dict[str, Interval] = {}
    for name, ranked in (("spearman", True), ("pearson", False)):
        draws = resampled_correlations(score, human, groups, ranked=ranked, rounds=options.rounds, seed=options.seed)
        intervals[name] = percentile_interval(draws, 0.95, what="units")
    return intervals


def _folds(rows: list[Match], options: AlignOptions, ranges: Ranges, scale: str | None) -> LeaveOneOut | None:
    """Return leave-one-out folds, with the bias on the same scale as the group's; without one if the group has none."""
    flat = [(row.key, rater, value) for row in rows for rater, value in row.ratings]
    if not flat:
        return None
    units, names, values = zip(*flat, strict=True)
    ratings, unit_names, raters = from_columns(units, names, np.array(values))
    own = {row.key: row.score for row in rows}
    scores = np.array([own[key] for key in unit_names], dtype=np.float64)
    own_range, theirs = ranges
    if own_range and theirs:  # both to 0 .. 1: ranks do not change
        scores = (scores - own_range[0]) / (own_range[1] - own_range[0])
        low, high = theirs
        ratings = replace(ratings, value=(ratings.value - low) / (high - low))
    return LeaveOneOut(judge_folds(scores, ratings, recipe=options.average), tuple(map(str, raters)), scale)


def _averages(groups: Sequence[GroupAlignment], options: AlignOptions) -> Iterable[AverageAlignment]:
    for (judge, criterion), rows in grouped(((group.judge, group.criterion), group) for group in groups).items():
        rho, r, tau = (
            average(figures, recipe=options.average)
            for figures in (
                [row.spearman for row in rows], [row.pearson for row in rows], [row.kendall for row in rows],
            )
        )  # fmt: skip
        biases = [row.bias for row in rows if row.bias is not None]
        reasons = dict.fromkeys(figure.reason for figure in (rho, r, tau) if figure.reason)
        folds = [row.leave_one_out.folds.spearman.value if row.leave_one_out else None for row in rows]
        yield AverageAlignment(
            judge, criterion, options.average, rho.method, rho.value, r.value, tau.value, _accuracy(tau),
            float(np.mean(biases)) if len(biases) == len(rows) else None,
            sum(row.n for row in rows), len(rows), sum(row.status != "ok" for row in rows),
            "; ".join(reasons) or None,
            average(folds, recipe=options.average) if options.leave_one_out else None,
        )  # fmt: skip


def _coverage(matches: Sequence[Match], people: People, groups: Sequence[GroupAlignment]) -> Iterable[ScoreCoverage]:
    """Count how many of the rated outputs each judge scored."""
    rated = Counter(criterion for criterion, _ in people)
    scores = grouped(((match.judge, match.criterion), match.score) for match in matches)
    for (judge, criterion), values in scores.items():
        scored = len(values) - values.count(None)
        n = rated.get(criterion, rated.total())
        n_in_groups = sum(row.n_missing for row in groups if (row.judge, row.criterion) == (judge, criterion))
        yield ScoreCoverage(judge, criterion, n, scored, n - scored, n - scored - n_in_groups)


def _observed(people: People) -> ScaleRange:
    values = [value for ratings in people.values() for _, value in ratings]
    return (min(values), max(values)) if values else (0.0, 0.0)


def _known_judges(scores: ScoreColumns, options: AlignOptions) -> None:
    judges = set(scores.judge)
    for name in (*options.lower_is_better, *(judge for judge in options.score_range if judge)):
        if name not in judges:
            raise unknown_name(f"{scores.source} has no judge", name, judges)


def _settings(
    scores: ScoreColumns, ratings: RatingColumns, keys: Sequence[str], options: AlignOptions
) -> dict[str, Any]:
    return {
        "source": scores.source, "against": ratings.source, "by": list(options.by), "matched_by": ["unit", *keys],
        "average": options.average, "human_value": "mean of the unit's ratings", "round_decimals": 9,
        "lower_is_better": sorted(options.lower_is_better),
        "score_range": {judge or "*": list(ends) for judge, ends in options.score_range.items()},
        "rating_range": list(options.rating_range) if options.rating_range else None,
        "rating_scales": {criterion or "*": list(ends) for criterion, ends in options.rating_scales.items()},
        "overall": ratings.rule or None,
        "kendall": "tau-b", "kendall_accuracy": "(tau-b + 1) / 2",
        "interval": "percentile bootstrap over units, 95%" if options.rounds else None,
        "rounds": options.rounds, "seed": options.seed,
    }  # fmt: skip


def _notices(groups: Sequence[GroupAlignment], coverage: Sequence[ScoreCoverage]) -> Iterable[Notice]:
    partly = grouped((line.judge, line) for line in coverage if line.n_unscored)
    if partly:
        judges = {
            judge: [min(line.n_scored for line in lines), max(line.n_scored for line in lines), lines[0].n_rated]
            for judge, lines in sorted(partly.items(), key=lambda pair: min(line.n_scored for line in pair[1]))
        }
        ungrouped = max(line.n_ungrouped for lines in partly.values() for line in lines)
        yield Notice(code="outputs_not_scored", values={"judges": judges, "ungrouped": ungrouped})
    for group in groups:
        if group.status != "ok":
            values = {"judge": group.judge, "group": _name(group), "reason": group.reason}
            yield Notice(code="alignment_undefined", values=values)
    biases = [(group.judge, group.bias_reason) for group in groups if group.bias_reason]
    for judge, reason in dict(biases).items():
        yield Notice(code="bias_undefined", values={"judge": judge, "reason": reason})


def _name(group: GroupAlignment) -> str:
    return ", ".join([*([group.criterion] if group.criterion else []), *group.group.values()]) or "all units"
