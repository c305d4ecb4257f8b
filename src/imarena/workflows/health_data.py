"""What judges and people said, arranged for the figures of `health`."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from imarena.core.ids import canonical_json
from imarena.core.records import Item, Judgment, Order, Outcome, Status
from imarena.judges.health import outcomes_from_scores
from imarena.storage import Workspace
from imarena.workflows.battles import WHOLE, dimension_of, live_votes
from imarena.workflows.live import misnamed

PairKey = tuple[str, str]
"""Left and right output, the smaller id first."""


@dataclass
class Said:
    """What one form of one judge (version, prompt, parameters) said."""

    judge: str
    form: str
    dimension: str = "overall"
    pairs: dict[tuple[PairKey, int], dict[str, Outcome | None]] = field(default_factory=lambda: defaultdict(dict))
    """Pair and repeat, then order, to the outcome as seen from the smaller id; None where it failed."""
    single_order: bool = False
    points: dict[tuple[str, int], float] = field(default_factory=dict)
    """Output and repeat to score."""
    dimensions: dict[str, dict[str, float]] = field(default_factory=dict)
    """Output to its scores by dimension."""
    items: dict[str, str] = field(default_factory=dict)
    """Scored output to its item."""
    flagged: dict[str, bool] = field(default_factory=dict)
    """Output to whether the judge found words in it that address a judge; only where the judge looks for them."""
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The judge without its dimension."""
        return self.judge.removesuffix(f", {self.dimension}")

    def battle(self, key: PairKey, repeat: int = 0) -> Outcome | None:
        """The battle's outcome: both orders combined, or by the sign of two scores; None without one."""
        orders = self.pairs.get((key, repeat))
        if orders:
            said = list(orders.values())
            whole = self.single_order or Order.BOTH.value in orders or len(said) == 2
            if not whole or None in said:
                return None
            return said[0] if len(set(said)) == 1 else Outcome.TIE
        left, right = self.points.get((key[0], repeat)), self.points.get((key[1], repeat))
        return outcomes_from_scores([left], [right])[0]

    def changed_from(self, old: "Said") -> str:
        """What differs between an older form and this one: 'temperature 0.0 to 0.7', 'prompt 1 to 2'."""
        (*was, before), (*now, after) = json.loads(old.form), json.loads(self.form)
        parts = zip(("version", "prompt", "prompt version"), was, now, strict=True)
        told = [f"{name} {one or '?'} to {two or '?'}" for name, one, two in parts if one != two]
        for name in sorted(before.keys() | after.keys()):
            one, two = before.get(name), after.get(name)
            if one != two:
                short = all(isinstance(value, str | int | float | None) for value in (one, two))
                told.append(f"{name} {str(one)[:12]} to {str(two)[:12]}" if short else name)
        return ", ".join(told)

    def keys(self) -> set[PairKey]:
        """The pairs that it was shown in battles."""
        return {key for key, _ in self.pairs}


def read_judges(workspace: Workspace, judges: Sequence[str]) -> dict[str, list[Said]]:
    """Judge (and dimension, where that is not the whole) to its forms, oldest first."""
    rows = list(workspace.store.rows(Judgment, judge=list(judges)))
    replaced = {row["supersedes"] for row in rows if row["supersedes"]}
    forms: dict[tuple[str, str], Said] = {}
    for row in rows:
        if row["id"] in replaced or misnamed(row):
            continue
        body = json.loads(row["body"])
        params = {name: value for name, value in body.get("params", {}).items() if name != "orders"}
        identity = [body.get(name, "") for name in ("judge_version", "prompt_id", "prompt_version")]
        form = canonical_json([*identity, params if row["run_id"] else {}])
        judge = row["judge"] if row["dimension"] == "overall" else f"{row['judge']}, {row['dimension']}"
        said = forms.setdefault((judge, form), Said(judge, form, row["dimension"]))
        said.single_order |= bool(body.get("params", {}).get("orders"))
        _note(said, row, body)
    found: dict[str, list[Said]] = defaultdict(list)
    for (judge, _), said in forms.items():
        found[judge].append(said)
    return found


def _note(said: Said, row: Any, body: dict[str, Any]) -> None:
    said.statuses[row["status"]] += 1
    ok = row["status"] == Status.OK.value
    if row["right_id"] is None:
        if ok and row["score"] is not None:
            said.points[row["left_id"], row["repeat"]] = row["score"]
            said.dimensions[row["left_id"]] = body.get("scores", {})
            said.items[row["left_id"]] = row["item_id"]
            if "injection" in body.get("reasons", {}):
                said.flagged[row["left_id"]] = bool(body["reasons"]["injection"])
        return
    for side in ("left", "right"):
        seen = body.get("reasons", {}).get(side)
        if ok and isinstance(seen, dict) and "injection" in seen:
            said.flagged[row[f"{side}_id"]] = bool(seen["injection"])
    key, flipped = _key(row["left_id"], row["right_id"])
    outcome = _turned(Outcome(row["preference"]), flipped) if ok and row["preference"] else None
    order = row["order"] or Order.UNKNOWN.value
    if flipped and order in (Order.LEFT_FIRST.value, Order.RIGHT_FIRST.value):
        order = Order.RIGHT_FIRST.value if order == Order.LEFT_FIRST.value else Order.LEFT_FIRST.value
    held = said.pairs[key, row["repeat"]]
    if held.get(order) is None:
        held[order] = outcome


def _key(left: str, right: str) -> tuple[PairKey, bool]:
    return ((right, left), True) if right < left else ((left, right), False)


def _turned(outcome: Outcome, flipped: bool) -> Outcome:
    return outcome.mirrored() if flipped else outcome


@dataclass(frozen=True)
class People:
    """People's votes on pairs and ratings of outputs."""

    votes: list[tuple[PairKey, Outcome, str]]
    """Pair, outcome as seen from the smaller id, and the item's track (or task)."""
    dimension: str = WHOLE
    """What they were asked about."""


def read_people(workspace: Workspace) -> dict[str, People]:
    """The live votes on pairs, by what people were asked about."""
    tracks = {row["id"]: row["track"] or row["task"] or "(none)" for row in workspace.store.rows(Item)}
    votes: dict[str, People] = {WHOLE: People([])}
    for row in live_votes(workspace):
        if row["preference"] is not None:
            about = dimension_of(row)
            key, flipped = _key(row["left_id"], row["right_id"])
            vote = (key, _turned(Outcome(row["preference"]), flipped), tracks.get(row["item_id"], "(none)"))
            votes.setdefault(about, People([], about)).votes.append(vote)
    return votes
