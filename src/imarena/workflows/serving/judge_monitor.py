"""How judges behave, as far as stored judgments tell: failures, order, ties, agreement with people, cost."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from imarena.storage import Form
from imarena.workflows.serving.leaderboards import Looking
from imarena.workflows.serving.snapshot import Sight
from imarena.workflows.views import (
    EQUAL,
    LEFT,
    LEFT_FIRST,
    MIRRORED,
    NONE,
    PREFERENCES,
    RIGHT,
    RIGHT_FIRST,
    TIE,
    ByteArray,
    CodeArray,
    Fought,
    IntArray,
    JudgmentColumns,
    View,
    Window,
    combine_columns,
    people_battles,
    unanswered_places,
)


@dataclass
class JudgeBehaviour:
    """How a judge behaves on one dimension, by the forms of it that count."""

    judge: str
    dimension: str
    ok: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    both_orders: int = 0
    same: int = 0
    sided: int = 0
    first: int = 0
    ties: int = 0
    preferences: int = 0
    people_pairs: int = 0
    with_people: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True)
class Decided:
    """n pairs with the outcome of each, `low` and `high` being places of outputs, as seen from `low`."""

    key: IntArray
    outcome: ByteArray


def judge_health(looking: Looking, *, released: bool = False, costs: bool = True) -> list[JudgeBehaviour]:
    """Every judge and dimension, by name; with `released` only votes of closed campaigns count as people's."""
    sight = looking.sight()
    made = sight.kept(("judges", released), lambda: _judge_health(sight, released=released), "lists")
    if not costs:
        return made
    paid = looking.costs.upto(sight.view.marks.judgments)
    return [replace(one, cost_usd=paid[one.judge, one.dimension]) for one in made]


def _judge_health(sight: Sight, *, released: bool) -> list[JudgeBehaviour]:
    voted: dict[str, Decided] = {}
    found = []
    for health, decided in behaved(sight):
        if health.dimension not in voted:
            voted[health.dimension] = _majorities(sight.view, health.dimension, Window(released=released))
        people = voted[health.dimension]
        at = np.searchsorted(people.key, decided.key)
        at[at == people.key.size] = 0
        met = np.flatnonzero(people.key[at] == decided.key) if people.key.size else np.zeros(0, np.int64)
        same = people.outcome[at[met]] == decided.outcome[met]
        found.append(replace(health, people_pairs=int(met.size), with_people=int(same.sum())))
    return found


def behaved(sight: Sight) -> list[tuple[JudgeBehaviour, Decided]]:
    """What judges said, without people, and the outcomes of the pairs that they compared."""
    return sight.kept("behaved", lambda: _behaved(sight.view), "glances")


def _behaved(view: View) -> list[tuple[JudgeBehaviour, Decided]]:
    forms: dict[tuple[str, str], list[Form]] = defaultdict(list)
    for form in view.forms.counting():
        forms[form.judge, form.dimension].append(form)
    failed: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in unanswered_places(view.workspace).values():  # tried again or not: a question fails once
        failed[one.judge, one.dimension][one.status] += 1
    return [
        _one(view, JudgeBehaviour(*who, failed=failed[who]), forms.get(who, []))
        for who in sorted(forms.keys() | failed.keys())
    ]


def _one(view: View, health: JudgeBehaviour, forms: Sequence[Form]) -> tuple[JudgeBehaviour, Decided]:
    compared = view.judgments([form for form in forms if form.pairwise])
    scored = view.judgments([form for form in forms if not form.pairwise])
    health.ok = int(compared.ok.sum() + scored.ok.sum())
    _count(health, compared)
    fought = combine_columns(compared, np.zeros(len(compared), np.int32), view.entries)
    twice = fought.decided & (fought.agreed >= 0)
    health.both_orders, health.same = int(twice.sum()), int((twice & (fought.agreed == 1)).sum())
    return health, _decided(fought)


def _count(health: JudgeBehaviour, said: JudgmentColumns) -> None:
    preference, order = said.preference, said.order
    given = said.ok & (preference != NONE)
    side = given & ((preference == LEFT) | (preference == RIGHT))
    ordered = side & ((order == LEFT_FIRST) | (order == RIGHT_FIRST))
    shown_first = ordered & ((order == LEFT_FIRST) == (preference == LEFT))
    health.preferences, health.ties = int(given.sum()), int(given.sum() - side.sum())
    health.sided, health.first = int(ordered.sum()), int(shown_first.sum())


def _decided(fought: Fought) -> Decided:
    rows = np.flatnonzero(fought.decided)
    return Decided(*_as_seen_from_low(fought.left[rows], fought.right[rows], fought.outcome[rows]))


def _as_seen_from_low(left: CodeArray, right: CodeArray, outcome: ByteArray) -> tuple[IntArray, ByteArray]:
    low, high = np.minimum(left, right).astype(np.int64), np.maximum(left, right)
    seen = np.where(left > right, MIRRORED[outcome], outcome)
    return low << 32 | high, np.where(seen == EQUAL, TIE, seen).astype(np.int8)


def _majorities(view: View, dimension: str, window: Window) -> Decided:
    """What most people say of a pair about this dimension; none where they are split."""
    cast = people_battles(view, dimension=dimension, window=window)
    keys, outcome = _as_seen_from_low(cast.left, cast.right, cast.winner)
    known, place = np.unique(keys, return_inverse=True)
    size = len(PREFERENCES)
    counts: NDArray[np.int64] = np.bincount(place * size + outcome, minlength=known.size * size).reshape(-1, size)
    most = counts.max(axis=1, initial=0)
    sole = (counts == most[:, None]).sum(axis=1) == 1
    return Decided(known[sole], counts.argmax(axis=1)[sole].astype(np.int8))
