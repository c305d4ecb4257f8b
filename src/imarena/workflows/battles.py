"""Battles from a workspace: live votes, judgments in both orders, or pairs of scores on the same item."""

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

from imarena.core.records import Assignment, Item, Mode, Order, Outcome, Output, Status, Vote
from imarena.storage import Workspace
from imarena.workflows.live import live_judgments
from imarena.workflows.slots import slots_of

Source = Literal["human", "judge", "all"]
NOT_WORK = ("gold", "practice", "qualification", "repeat")
"""Purposes of assignments whose votes say something about the rater, not about the models."""

WHOLE = "overall"
"""The dimension of a verdict that is about everything."""

COLUMNS = (
    "left", "right", "winner", "item", "rater", "source", "judge", "dimension",
    "score_left", "score_right", "task", "family", "topic", "track", "dataset", "mode",
)  # fmt: skip


@dataclass
class BattleTable:
    """Battles by column (the battles table of the command line's contract), and what was left out by reason."""

    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    excluded: Counter[str] = field(default_factory=Counter)
    coverage: dict[str, float] = field(default_factory=dict)
    """Share of what was asked of an editor for which it gave an output."""
    times: list[str] = field(default_factory=list)
    """When each battle was decided, as stored: the last of what it was made from."""
    places: list[str] = field(default_factory=list)
    """Which turn of its item each battle is about, and in which mode."""
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns["left"])

    def append(self, **values: Any) -> None:
        """Add a battle; a column that is not given is None."""
        self.times.append(values.get("created_at", ""))
        self.places.append(values.get("place", ""))
        for name, column in self.columns.items():
            column.append(values.get(name))


@dataclass(frozen=True)
class _Shown:
    editor: str | None
    turn: int
    mode: str


class _Context:
    """What is needed to name the sides of a battle."""

    def __init__(self, workspace: Workspace) -> None:
        self.items = {row["id"]: row for row in workspace.store.rows(Item)}
        self.outputs: dict[str, _Shown] = {}
        for row in workspace.store.rows(Output):
            self.outputs[row["id"]] = _Shown(row["editor"], row["turn"], row["mode"])
        self.coverage = slots_of(workspace).coverage()

    def about(self, item_id: str, output_id: str) -> dict[str, Any]:
        item = self.items[item_id]
        names = ("task", "family", "topic", "track", "dataset")
        mode = self.outputs[output_id].mode
        about = {name: item[name] for name in names}
        return {**about, "item": item_id, "mode": mode if mode != Mode.SINGLE.value else None}


def battles(
    workspace: Workspace,
    *,
    source: Source = "all",
    judge: str | None = None,
    dimension: str | None = None,
    margin: float = 0.0,
    once: bool = False,
) -> BattleTable:
    """All battles in a workspace, from people, from judges, or from both.

    `margin`: two pointwise scores this close (on the judge's scale) are a tie. With a `dimension`, people count by the
    preferences that they gave on it and by their ratings of that criterion: of two outputs for one item the one with
    the higher mean rating wins. `once`: a pair that a judge compared directly counts by that, not by its scores too.
    """
    context = _Context(workspace)
    table = BattleTable(coverage=context.coverage)
    if source in ("human", "all") and judge is None:
        _from_votes(workspace, context, table, dimension)
    if source in ("judge", "all"):
        where = {"judge": judge} if judge else {}
        where |= {"dimension": dimension} if dimension else {}
        _from_judgments(workspace, context, table, where, margin, once=once)
    return table


def about_whole(table: BattleTable, *, asked: bool = False) -> BattleTable:
    """The battles about the whole; those about one dimension (visual consistency, say) are counted as left out.

    `asked`: the judge was chosen by name. Its verdicts, or people's, are kept with a warning where all of them are
    about one dimension.
    """
    found = Counter(table.columns["dimension"])
    chosen = asked or set(table.columns["source"]) == {"human"}
    only = next(iter(found)) if chosen and len(found) == 1 else WHOLE
    excluded = table.excluded.copy()
    excluded.update({f"about {name}, not the whole": number for name, number in found.items() if name != only})
    warnings = table.warnings if only == WHOLE else (*table.warnings, one_dimension(str(only)))
    rows = [n for n, about in enumerate(table.columns["dimension"]) if about == only]
    return replace(part_of(table, rows), excluded=excluded, warnings=warnings)


def one_dimension(name: str) -> str:
    """What has to be said beside a board about less than the whole."""
    return f"These verdicts are about {name} alone, not about the whole." + (
        " An editor that changes nothing does well here." if name == "visual_consistency" else ""
    )


def part_of(table: BattleTable, rows: Sequence[int]) -> BattleTable:
    """Some rows of a table."""
    columns = {name: [column[n] for n in rows] for name, column in table.columns.items()}
    return replace(table, columns=columns, times=[table.times[n] for n in rows], places=[table.places[n] for n in rows])


def live_votes(workspace: Workspace) -> Iterator[Any]:
    """Rows of the votes that count: not replaced, not taken back, and real work (no gold, practice or repeat)."""
    replaced = {row["supersedes"] for row in workspace.store.rows(Vote) if row["supersedes"]}
    checks = {row["id"] for row in workspace.store.rows(Assignment, purpose=list(NOT_WORK))}
    for row in workspace.store.rows(Vote):
        if row["id"] not in replaced and not row["retracted"] and row["assignment_id"] not in checks:
            yield row


def dimension_of(row: Any) -> str:
    """What a vote's preference is about."""
    body = row["body"]
    return str(json.loads(body).get("dimension", WHOLE)) if '"dimension"' in body else WHOLE


def _from_votes(workspace: Workspace, context: _Context, table: BattleTable, dimension: str | None) -> None:
    rated: dict[tuple[Any, ...], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in live_votes(workspace):
        if row["preference"] is not None:
            about = dimension_of(row)
            if dimension is None or about == dimension:
                _add(context, table, row, row["preference"], rater=row["rater_id"], dimension=about, source="human")
        elif dimension is not None and row["right_id"] is None:
            body = json.loads(row["body"])
            value = body.get("ratings", {}).get(dimension)
            if value is not None:
                shown = context.outputs[row["left_id"]]
                place = (row["item_id"], shown.turn, shown.mode, *body.get("scale", ()))
                rated[place][row["left_id"]].append((value, row))
    for _, group in sorted(rated.items()):
        _rating_battles(context, table, group, str(dimension))


def _rating_battles(context: _Context, table: BattleTable, group: dict[str, list[Any]], dimension: str) -> None:
    """Battles between outputs that people rated one by one, by the mean of their ratings of one criterion."""
    means = {output: statistics.fmean(value for value, _ in given) for output, given in group.items()}
    for left, right in combinations(sorted(group), 2):
        gap = round(means[left] - means[right], 9)
        winner = Outcome.TIE if not gap else Outcome.LEFT if gap > 0 else Outcome.RIGHT
        last = max(row["created_at"] for _, row in (*group[left], *group[right]))
        row = {**group[left][0][1], "right_id": right, "created_at": last}
        scores = {"score_left": means[left], "score_right": means[right]}
        _add(context, table, row, winner.value, dimension=dimension, source="human", **scores)


def _from_judgments(
    workspace: Workspace, context: _Context, table: BattleTable, where: dict[str, Any], margin: float, *, once: bool
) -> None:
    pairs: dict[tuple[Any, ...], dict[str, Any]] = defaultdict(dict)
    points: dict[tuple[Any, ...], dict[str, Any]] = defaultdict(dict)
    swapped: set[tuple[str, str]] = set()
    for row in live_judgments(workspace, where, table.excluded):
        who = (row["judge"], row["dimension"])
        if row["right_id"] is None:
            if row["status"] == Status.OK.value and row["score"] is not None:
                shown = context.outputs[row["left_id"]]
                points[*who, row["item_id"], shown.turn, shown.mode, row["repeat"]].setdefault(row["left_id"], row)
            continue
        if row["order"] == Order.RIGHT_FIRST.value:
            swapped.add(who)
        key = (*who, row["left_id"], row["right_id"], row["repeat"])
        held = pairs[key].get(row["order"])
        if held is None or held["status"] != Status.OK.value:
            pairs[key][row["order"]] = row
    # Sorted: replies come in any order, and a board must not depend on it.
    compares: set[tuple[str, str]] = set()
    for key, orders in sorted(pairs.items()):
        if _one_battle(context, table, orders, needs_both=_needs_both(orders, swapped=key[:2] in swapped)):
            compares.add(key[:2])
    # Who compared nothing with success counts by its scores.
    fought = {(*key[:2], frozenset(key[2:4])) for key in pairs if key[:2] in compares} if once else set()
    for key, group in sorted(points.items()):
        _score_battles(context, table, [group[name] for name in sorted(group)], margin, key[:2], fought)


def _needs_both(orders: dict[str, Any], *, swapped: bool) -> bool:
    """A battle that was fought here is whole with both orders, unless it was meant to have one only."""
    row = next(iter(orders.values()))
    if row["run_id"] is None:
        return swapped
    return not any(one["orders"] for one in orders.values())


def _one_battle(context: _Context, table: BattleTable, orders: dict[str, Any], *, needs_both: bool) -> bool:
    """One battle from what a judge said in one or both orders; False where that is none."""
    rows = list(orders.values())
    whole = Order.BOTH.value in orders or not needs_both
    if any(row["status"] != Status.OK.value for row in rows) or (not whole and len(rows) < 2):
        bad = next((row["status"] for row in rows if row["status"] != Status.OK.value), "one order missing")
        table.excluded[f"incomplete: {bad}"] += 1
        return False
    said = {row["preference"] for row in rows}
    if None in said:  # stored by a judge that scored where it was to compare
        table.excluded["incomplete: no preference"] += 1
        return False
    winner = said.pop() if len(said) == 1 else Outcome.TIE.value
    row = {**rows[0], "created_at": max(one["created_at"] for one in rows)}
    _add(context, table, row, winner, judge=row["judge"], dimension=row["dimension"], source="judge")
    return True


def _score_battles(
    context: _Context,
    table: BattleTable,
    group: list[Any],
    margin: float,
    who: tuple[Any, ...],
    fought: set[tuple[Any, ...]],
) -> None:
    for one, other in combinations(group, 2):
        if (*who, frozenset((one["left_id"], other["left_id"]))) in fought:
            table.excluded["scores of a pair that the judge also compared directly"] += 1
            continue
        gap = round(one["score"] - other["score"], 9)
        winner = Outcome.TIE if abs(gap) <= margin else Outcome.LEFT if gap > 0 else Outcome.RIGHT
        row = {**one, "right_id": other["left_id"], "created_at": max(one["created_at"], other["created_at"])}
        scores = {"score_left": one["score"], "score_right": other["score"]}
        by = {"judge": one["judge"], "dimension": one["dimension"], "source": "judge"}
        _add(context, table, row, winner.value, **by, **scores)


def _add(context: _Context, table: BattleTable, row: Any, winner: str, **values: Any) -> None:
    left, right = context.outputs[row["left_id"]].editor, context.outputs[row["right_id"]].editor
    if left is None or right is None:
        table.excluded["the source does not name the models"] += 1
        return
    if left == right:
        table.excluded["both sides are the same editor"] += 1
        return
    about = context.about(row["item_id"], row["left_id"])
    shown = context.outputs[row["left_id"]]
    about |= {"place": f"{shown.turn}:{shown.mode}", "created_at": row["created_at"]}
    table.append(left=left, right=right, winner=winner, **about, **values)
