"""Read a workspace's votes and verdicts on two outputs, for `agree` and `align`.

The two outputs of a pair are identified by their ids: outputs without an editor's name and two samples of one editor
count here, although no board includes them. Both orders are combined as for boards (`views.combine`).
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import or_, select

from imarena.agreement import VerdictColumns, take_rows
from imarena.core.records import Outcome, Status
from imarena.judges import score_gap
from imarena.storage import JudgeVariant, Workspace, reading
from imarena.storage.schema import judgments
from imarena.workflows import views

REASONS = {"one order missing": "one order is missing", "no preference": "the judge gave no preference"}
"""Texts for problems that are not a status."""
ONE_SCORE = "one of the two outputs has no score"


@dataclass(frozen=True)
class PairVerdict:
    """One judge's verdict on one pair, or why there is none."""

    judge: str
    dimension: str
    item: str
    left: str
    right: str
    winner: str | None
    gap: float | None = None
    reason: str = ""
    direct: bool = True
    """Whether the judge compared the pair directly; False for a verdict from two scores."""


# ---------------------------------------------------------------- people


def votes_from_store(workspace: Workspace, by: Sequence[str] = ()) -> VerdictColumns:
    """Every counted vote on two outputs, whichever editors made them. `by`: item columns to add to `ITEM_LABELS`."""
    view = views.View(workspace)
    battles = views.people_battles(view)
    return _people(view, battles, [str(rater) for rater in battles.rater.list()], "the workspace's votes", by)


def votes_from_ratings(workspace: Workspace, by: Sequence[str] = ()) -> VerdictColumns:
    """Turn people's mean ratings into votes on pairs, for a judge that compares when people only rated.

    Of two outputs for one item, the higher mean rating wins; equal means (to nine decimals) are a tie.
    """
    view = views.View(workspace)
    battles = views.rating_battles(view, views.NO_BATTLES, views.WHOLE)
    raters = ["people's mean rating"] * len(battles)
    return _people(view, battles, raters, "pairs of the workspace's mean ratings", by)


def _people(
    view: views.View, battles: views.BattleColumns, raters: list[str], source: str, by: Sequence[str]
) -> VerdictColumns:
    entries = view.entries
    items = [entries.item_id[item] for item in entries.item[battles.left].tolist()]
    return VerdictColumns(
        items,
        [entries.id_of(position) for position in battles.left.tolist()],
        [entries.id_of(position) for position in battles.right.tolist()],
        [views.PREFERENCES[code] for code in battles.winner.tolist()],
        raters,
        {**labels_of_items(view, items, by), "dimension": [str(name) for name in battles.dimension.list()]},
        source,
    )


def labels_of_items(view: views.View, items: Sequence[str], by: Sequence[str] = ()) -> dict[str, list[str]]:
    """Data set, task, family, topic, track and the columns `by` of each of these items; empty if it has no value."""
    item_position = {name: number for number, name in enumerate(view.entries.item_id)}
    columns = {name: view.item_label(name) for name in (*views.ITEM_LABELS, *by)}
    labels = {name: column.list() for name, column in columns.items() if column is not None}
    return {name: [values[item_position[item]] or "" for item in items] for name, values in labels.items()}


# ---------------------------------------------------------------- judges


def verdicts_from_store(
    workspace: Workspace, judges: Sequence[str], votes: VerdictColumns, *, by: Sequence[str] = ()
) -> tuple[VerdictColumns, tuple[str, ...]]:
    """Every judge's verdicts on pairs, both orders combined, and the names of the judges that count by their scores.

    For a judge that compared nothing directly, the higher of two scores wins on the pairs that people voted on, as on
    boards and in `health`. A pair without a verdict is listed with the reason, unless another attempt gave a verdict.
    `compared_dimensions` decides which votes the verdicts are compared with; `by` names the groups of the figures.
    """
    view = views.View(workspace)
    sides = zip(votes.item, votes.left, votes.right, strict=True)
    voted = dict.fromkeys((item, min(first, second), max(first, second)) for item, first, second in sides)
    versions = views.chosen_judges(view, judges) if judges else []
    lines = list(_drop_failures(line for judge in versions for line in _lines(view, judge, list(voted))))
    dimensions = {judge.name: judge.dimensions for judge in versions}
    names = [_name(line, dimensions[line.judge]) for line in lines]
    voted_on = frozenset(votes.labels.get("dimension", ()))
    covers: dict[str, frozenset[str]] = {}
    for name, line in zip(names, lines, strict=True):
        meets = views.compared_dimensions(line.dimension, dimensions[line.judge], voted_on, separate="dimension" in by)
        covers.setdefault(name, meets)
    scored = {name for name, line in zip(names, lines, strict=True) if not line.direct and line.winner is not None}
    items = [line.item for line in lines]
    columns = VerdictColumns(
        items,
        [line.left for line in lines],
        [line.right for line in lines],
        [line.winner for line in lines],
        names,
        {**labels_of_items(view, items, by), "dimension": [line.dimension for line in lines]},
        "the workspace's battles",
        [line.gap for line in lines],
        [line.reason for line in lines],
        covers,
    )
    return columns, tuple(sorted(scored))


def exclude_judges(verdicts: VerdictColumns, judges: Sequence[str]) -> VerdictColumns:
    """The verdicts of all judges but these."""
    return take_rows(verdicts, [row for row, judge in enumerate(verdicts.rater) if judge not in judges])


def _name(line: PairVerdict, dimensions: frozenset[str]) -> str:
    """The judge's name, with the dimension of its verdicts unless that is overall."""
    plain = line.dimension == views.WHOLE or (line.direct and len(dimensions) == 1)
    return line.judge if plain else f"{line.judge}, {line.dimension}"


def _drop_failures(lines: Iterable[PairVerdict]) -> Iterator[PairVerdict]:
    """Drop failures on pairs for which another repeat or the other way of judging gave a verdict."""
    all_lines = list(lines)
    done = {_pair(line) for line in all_lines if line.winner is not None}
    return (line for line in all_lines if line.winner is not None or _pair(line) not in done)


def _pair(line: PairVerdict) -> tuple[str, str, frozenset[str]]:
    return line.judge, line.dimension, frozenset((line.left, line.right))


def _lines(view: views.View, judge: views.ChosenJudge, voted: Sequence[tuple[str, str, str]]) -> Iterator[PairVerdict]:
    for dimension in sorted(judge.dimensions):
        variants = [variant for variant in judge.variants if variant.dimension == dimension]
        compared = list(
            _compared_pairs(view, judge.name, dimension, [variant for variant in variants if variant.pairwise])
        )
        yield from compared
        if not any(line.winner is not None for line in compared):
            points = view.judgments([variant for variant in variants if not variant.pairwise])
            yield from _by_scores(view, judge.name, dimension, points, voted)


def _compared_pairs(
    view: views.View, judge: str, dimension: str, variants: Sequence[JudgeVariant]
) -> Iterator[PairVerdict]:
    """Pairs that a judge was shown, sorted by output ids so that figures do not depend on the order of arrival."""
    judgments = view.judgments(variants)
    fought = views.combine_columns(judgments, np.zeros(len(judgments), np.int32), view.entries)
    gaps = _gaps(view, variants)
    rows = zip(
        fought.left.tolist(), fought.right.tolist(), fought.repeat.tolist(), fought.outcome.tolist(),
        fought.problem.tolist(), fought.agreed.tolist(), strict=True,
    )  # fmt: skip
    for left, right, repeat, outcome, problem, agreed in rows:
        sides = (view.entries.id_of(left), view.entries.id_of(right))
        key = (judge, dimension, view.entries.item_id[view.entries.item[left]], *sides)
        if views.PROBLEMS[problem] != Status.OK.value:
            yield PairVerdict(*key, None, reason=REASONS.get(views.PROBLEMS[problem], views.PROBLEMS[problem]))
            continue
        pair_gaps = gaps.get((*sides, repeat), [])
        complete = len(pair_gaps) >= (1 if agreed < 0 else 2)  # the gap is known in every order asked
        yield PairVerdict(
            *key, views.PREFERENCES[outcome], sum(pair_gaps) / len(pair_gaps) if pair_gaps and complete else None
        )


def _gaps(view: views.View, variants: Sequence[JudgeVariant]) -> Mapping[tuple[str, str, int], list[float]]:
    """Map left, right and repeat to the score gaps of live verdicts, if the judge scores both sides."""
    table = judgments
    names = (table.c.left_id, table.c.right_id, table.c.repeat, table.c.body)
    query = select(*names).where(
        table.c.form_id.in_([variant.form_id for variant in variants]),
        table.c.superseded == 0,
        table.c.status == Status.OK.value,
        or_(table.c.body.contains('"gap"'), table.c.body.contains('"left.')),
    )
    gaps: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    if not variants:
        return gaps
    with reading(view.workspace.store.engine) as connection:
        columns = views.fetch_columns(connection, query.order_by(table.c.seq))
    for left, right, repeat, body in zip(*columns, strict=True):
        content = json.loads(body)
        gap = score_gap(content.get("scores") or {}, content.get("reasons") or {})
        if gap is not None:
            gaps[left, right, repeat].append(gap)
    return gaps


def _by_scores(
    view: views.View,
    judge: str,
    dimension: str,
    judgments: views.JudgmentColumns,
    voted: Sequence[tuple[str, str, str]],
) -> Iterator[PairVerdict]:
    """Verdicts from two scores of the same repeat, on the pairs that people voted on. Higher scores are better."""
    scored = views.first_scores(judgments)
    columns = (scored.left.tolist(), scored.repeat.tolist(), scored.score.tolist())
    points = {(output, repeat): score for output, repeat, score in zip(*columns, strict=True) if not np.isnan(score)}
    without = np.flatnonzero(~judgments.ok | np.isnan(judgments.score))
    failed = {int(judgments.left[row]): views.STATUSES[judgments.status[row]] for row in without.tolist()}
    if not points:
        return
    repeats = sorted({repeat for _, repeat in points})
    at = view.entries.index_of
    for item, left, right in voted:
        key = (judge, dimension, item, left, right)
        scores = [(points.get((at[left], repeat)), points.get((at[right], repeat))) for repeat in repeats]
        pairs = [(first, second) for first, second in scores if first is not None and second is not None]
        for first, second in pairs:
            gap = round(first - second, 9)
            winner = Outcome.TIE if gap == 0 else Outcome.LEFT if gap > 0 else Outcome.RIGHT
            yield PairVerdict(*key, winner.value, gap, direct=False)
        why = failed.get(at[left]) or failed.get(at[right])
        if not pairs and (why or any(score is not None for pair in scores for score in pair)):
            yield PairVerdict(*key, None, reason=why or ONE_SCORE, direct=False)
