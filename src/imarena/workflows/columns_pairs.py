"""Votes and verdicts on two outputs, from a workspace, as `agree` and `align` read them.

A pair is two outputs, told apart by their ids: outputs without an editor's name and two samples of one editor count
here, although they stand on no board.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from imarena.core.protocols import Verdict
from imarena.core.records import Item, Judgment, Order, Outcome, Status, tie_is_unstated
from imarena.judges.orders import combine_orders, score_gap
from imarena.stats.verdicts import EQUAL
from imarena.storage import Workspace
from imarena.workflows.battles import WHOLE, dimension_of, live_votes
from imarena.workflows.columns import VerdictColumns
from imarena.workflows.live import live_judgments

LABELS = ("task", "family", "topic", "track", "dataset")
ONE_ORDER = "one order is missing"
NO_PREFERENCE = "the judge gave no preference"
ONE_SCORE = "one of the two outputs has no score"


@dataclass(frozen=True)
class Line:
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
    """Compared side by side, not by two scores."""


def votes_from_store(workspace: Workspace) -> VerdictColumns:
    """Every live vote on two outputs, whoever made them."""
    rows = [row for row in live_votes(workspace) if row["right_id"] is not None]
    labels = _labels(workspace, [row["item_id"] for row in rows])
    return VerdictColumns(
        [row["item_id"] for row in rows],
        [row["left_id"] for row in rows],
        [row["right_id"] for row in rows],
        [row["preference"] for row in rows],
        [row["rater_id"] for row in rows],
        {**labels, "dimension": [dimension_of(row) for row in rows]},
        "the workspace's votes",
    )


def verdicts_from_store(
    workspace: Workspace, judges: Sequence[str], votes: VerdictColumns
) -> tuple[VerdictColumns, tuple[str, ...]]:
    """Every judge's verdicts on pairs, both orders combined, and the names of those that count by their scores.

    A judge that compared nothing directly counts by the sign of two of its scores on what people voted on, as on
    boards and in `health`. A pair without a verdict is there with the reason, unless another attempt gave one.
    """
    sides = zip(votes.item, votes.left, votes.right, strict=True)
    voted = dict.fromkeys((item, min(one, other), max(one, other)) for item, one, other in sides)
    lines = list(_answered(_lines(workspace, judges, voted)))
    dimensions: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        dimensions[line.judge].add(line.dimension)
    names = [_name(line, dimensions[line.judge]) for line in lines]
    asked = frozenset(votes.labels.get("dimension", ()))
    covers: dict[str, frozenset[str]] = {}
    for name, line in zip(names, lines, strict=True):
        covers.setdefault(name, _covered(line.dimension, dimensions[line.judge], asked))
    scored = {name for name, line in zip(names, lines, strict=True) if not line.direct and line.winner is not None}
    columns = VerdictColumns(
        [line.item for line in lines],
        [line.left for line in lines],
        [line.right for line in lines],
        [line.winner for line in lines],
        names,
        {**_labels(workspace, [line.item for line in lines]), "dimension": [line.dimension for line in lines]},
        "the workspace's battles",
        [line.gap for line in lines],
        [line.reason for line in lines],
        covers,
    )
    return columns, tuple(sorted(scored))


def _name(line: Line, dimensions: set[str]) -> str:
    """The judge, and what its verdicts are about where that is not the whole."""
    plain = line.dimension == WHOLE or (line.direct and len(dimensions) == 1)
    return line.judge if plain else f"{line.judge}, {line.dimension}"


def _covered(dimension: str, own: set[str], asked: frozenset[str]) -> frozenset[str]:
    """Which votes a judge's verdicts about one dimension are compared with: those about the same, and those about
    something on which the judge gave no verdicts, for which its verdict about the whole stands.
    """
    same = asked & {dimension}
    return same | (asked - own) if dimension == WHOLE or WHOLE not in own else same


def _labels(workspace: Workspace, items: Sequence[str]) -> dict[str, list[str]]:
    known = {row["id"]: {name: row[name] or "" for name in LABELS} for row in workspace.store.rows(Item)}
    return {name: [known[item][name] for item in items] for name in LABELS}


def _answered(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines without failures on pairs for which another repeat or the other way to judge has a verdict."""
    kept = list(lines)
    done = {_pair(line) for line in kept if line.winner is not None}
    return (line for line in kept if line.winner is not None or _pair(line) not in done)


def _pair(line: Line) -> tuple[str, str, frozenset[str]]:
    return line.judge, line.dimension, frozenset((line.left, line.right))


# ---------------------------------------------------------------- what a judge said


@dataclass
class _Said:
    """A judge's judgments about one dimension."""

    pairs: dict[tuple[str, str, int], dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    """(left, right, repeat) to the judgment of each order."""
    points: dict[tuple[str, int], float] = field(default_factory=dict)
    """(output, repeat) to its score."""
    failed: dict[str, str] = field(default_factory=dict)
    """Output to the status of a score that failed."""
    swapped: bool = False
    """Was any pair shown in the second order?"""


def _lines(workspace: Workspace, judges: Sequence[str], voted: Iterable[tuple[str, str, str]]) -> Iterator[Line]:
    if not judges:
        return
    said: dict[tuple[str, str], _Said] = defaultdict(_Said)
    for row in live_judgments(workspace, {"judge": list(judges)}, Counter()):
        _sort_in(said[row["judge"], row["dimension"]], row)
    marks = _marks(workspace, judges)
    pairs = list(voted)
    for (judge, dimension), given in sorted(said.items()):
        compared = False
        # Sorted: replies come in any order, and a figure must not depend on it.
        for (left, right, _), orders in sorted(given.pairs.items()):
            line = _combined(judge, dimension, left, right, orders, marks, swapped=given.swapped)
            compared = compared or line.winner is not None
            yield line
        if not compared:
            yield from _by_scores(judge, dimension, given, pairs)


def _sort_in(said: _Said, row: Mapping[str, Any]) -> None:
    ok = row["status"] == Status.OK.value
    if row["right_id"] is not None:
        said.swapped = said.swapped or row["order"] == Order.RIGHT_FIRST.value
        orders = said.pairs[row["left_id"], row["right_id"], row["repeat"]]
        held = orders.get(row["order"])
        if held is None or held["status"] != Status.OK.value:
            orders[row["order"]] = row
    elif ok and row["score"] is not None:
        said.points.setdefault((row["left_id"], row["repeat"]), row["score"])
    else:
        said.failed[row["left_id"]] = row["status"]


@dataclass(frozen=True)
class _Mark:
    """What only the body of a judgment on a pair says."""

    gap: float | None
    unstated: bool


def _marks(workspace: Workspace, judges: Sequence[str]) -> dict[str, _Mark]:
    """Judgment id to its mark, for judgments on pairs that have one."""
    found = {}
    for row in workspace.store.rows(Judgment, judge=list(judges), status=Status.OK.value):
        body = row["body"]
        if row["right_id"] is None or not any(word in body for word in ('"gap"', '"left.', '"tie"', '"label"')):
            continue
        content = json.loads(body)
        reasons = content.get("reasons") or {}
        unstated = row["preference"] == Outcome.TIE.value and tie_is_unstated(reasons)
        found[row["id"]] = _Mark(score_gap(content.get("scores") or {}, reasons), unstated)
    return found


def _combined(
    judge: str,
    dimension: str,
    left: str,
    right: str,
    orders: Mapping[str, Mapping[str, Any]],
    marks: Mapping[str, _Mark],
    *,
    swapped: bool,
) -> Line:
    """One verdict from what a judge said in one or both orders."""
    rows = [orders[Order.BOTH.value]] if Order.BOTH.value in orders else list(orders.values())
    place = (judge, dimension, rows[0]["item_id"], left, right)
    failed = next((row["status"] for row in rows if row["status"] != Status.OK.value), None)
    if failed is not None:
        return Line(*place, None, reason=failed)
    if any(row["preference"] is None for row in rows):
        return Line(*place, None, reason=NO_PREFERENCE)
    if Order.BOTH.value not in orders and len(rows) < 2 and _needs_both(rows[0], swapped=swapped):
        return Line(*place, None, reason=ONE_ORDER)
    verdicts = [Verdict(Status.OK, preference=Outcome(row["preference"])) for row in rows]
    outcome = combine_orders(*verdicts[:2]).preference if len(verdicts) > 1 else verdicts[0].preference
    known = [marks[row["id"]] for row in rows if row["id"] in marks]
    gaps = [mark.gap for mark in known if mark.gap is not None]
    unstated = outcome is Outcome.TIE and any(mark.unstated for mark in known)
    consistent = len({row["preference"] for row in rows}) == 1
    winner = EQUAL if unstated and consistent else str(outcome.value) if outcome is not None else None
    return Line(*place, winner, sum(gaps) / len(gaps) if len(gaps) == len(rows) else None)


def _needs_both(row: Mapping[str, Any], *, swapped: bool) -> bool:
    """A battle that was fought here needs both orders, unless it was meant to have one only; an imported one needs
    both where the source has the second order of any.
    """
    return swapped if row["run_id"] is None else not row["orders"]


def _by_scores(judge: str, dimension: str, said: _Said, voted: Sequence[tuple[str, str, str]]) -> Iterator[Line]:
    """Verdicts by two scores of the same repeat, on the pairs that people voted on."""
    if not said.points:
        return
    repeats = sorted({repeat for _, repeat in said.points})
    for item, left, right in voted:
        place = (judge, dimension, item, left, right)
        scores = [(said.points.get((left, repeat)), said.points.get((right, repeat))) for repeat in repeats]
        both = [(one, other) for one, other in scores if one is not None and other is not None]
        for one, other in both:
            gap = round(one - other, 9)
            winner = Outcome.TIE if gap == 0 else Outcome.LEFT if gap > 0 else Outcome.RIGHT
            yield Line(*place, winner.value, gap, direct=False)
        failed = said.failed.get(left) or said.failed.get(right)
        if not both and (failed or any(score is not None for pair in scores for score in pair)):
            yield Line(*place, None, reason=failed or ONE_SCORE, direct=False)
