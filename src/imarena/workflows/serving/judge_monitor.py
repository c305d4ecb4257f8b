"""Judge monitoring from stored judgments: failures, order, ties, agreement with people, cost."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from imarena.core import IntArray
from imarena.tables import row_slices
from imarena.workflows.serving.judge_behaviour import Behaviour, JudgeBehaviour, canonical_pairs, read_behaviour
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.serving.page_cache import read_behaviour_cached, write_behaviour_cached
from imarena.workflows.serving.snapshot import ViewSnapshot
from imarena.workflows.views import PREFERENCES, ByteArray, View, Window, people_battles


def judge_health(leaderboards: Leaderboards, *, released: bool = False, costs: bool = True) -> list[JudgeBehaviour]:
    """The behaviour of every judge and dimension, by name; with `released`, votes of open campaigns are excluded."""
    snapshot = leaderboards.snapshot()
    behaviours = health_without_costs(snapshot, released=released)
    if not costs:
        return behaviours
    paid = leaderboards.costs.of_view(snapshot.view)
    return [replace(health, cost_usd=paid[health.judge, health.dimension]) for health in behaviours]


def health_without_costs(snapshot: ViewSnapshot, *, released: bool) -> list[JudgeBehaviour]:
    """The behaviour of every judge and dimension in one snapshot, without costs."""
    return snapshot.get_or_compute(("judges", released), lambda: _judge_health(snapshot, released=released), "glances")


def _judge_health(snapshot: ViewSnapshot, *, released: bool) -> list[JudgeBehaviour]:
    voted: dict[str, tuple[IntArray, ByteArray]] = {}
    report = []
    for judge in behaviour_of(snapshot).judges:
        health, decided = judge.health, judge.decided
        if health.dimension not in voted:
            voted[health.dimension] = _majorities(snapshot.view, health.dimension, Window(released=released))
        pairs, outcome = voted[health.dimension]
        rows, at = _met(pairs, decided.key, snapshot.view.entries.seq.size)
        agrees = outcome[at] == decided.outcome[rows]
        report.append(replace(health, people_pairs=int(rows.size), with_people=int(agrees.sum())))
    return report


def _met(pairs: IntArray, keys: IntArray, outputs: int) -> tuple[IntArray, IntArray]:
    """The rows of `keys` that are among the sorted `pairs`, and their positions there.

    A judge decides millions of pairs and people only some, so most rows are excluded by their first output.
    """
    voted = np.zeros(max(outputs, 1), bool)
    voted[pairs >> 32] = True
    rows, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for part in row_slices(keys.size if pairs.size else 0):
        near = np.flatnonzero(voted[keys[part] >> 32])
        at = np.searchsorted(pairs, keys[part][near])
        at[at == pairs.size] = 0
        met = pairs[at] == keys[part][near]
        rows.append(part.start + near[met])
        places.append(at[met])
    return np.concatenate(rows), np.concatenate(places)


def behaviour_of(snapshot: ViewSnapshot) -> Behaviour:
    """Judges' answers, without people, and the outcomes of the pairs that they compared."""
    return snapshot.updated("behaviour", read_behaviour, read_behaviour_cached, write_behaviour_cached, "glances")


def _majorities(view: View, dimension: str, window: Window) -> tuple[IntArray, ByteArray]:
    """Sorted pairs and people's most frequent outcome on this dimension; pairs on which they are split are left out."""
    cast = people_battles(view, dimension=dimension, window=window)
    keys, outcome = canonical_pairs(cast.left, cast.right, cast.winner)
    pairs, pair = np.unique(keys, return_inverse=True)
    size = len(PREFERENCES)
    counts: NDArray[np.int64] = np.bincount(pair * size + outcome, minlength=pairs.size * size).reshape(-1, size)
    most = counts.max(axis=1, initial=0)
    sole = (counts == most[:, None]).sum(axis=1) == 1
    return pairs[sole], counts.argmax(axis=1)[sole].astype(np.int8)
