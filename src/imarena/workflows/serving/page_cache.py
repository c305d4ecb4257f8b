"""Page data of a large workspace in the column cache, so that a restarted server need not compute it again."""

from dataclasses import astuple
from typing import Any

from numpy.typing import NDArray

from imarena.storage import CachedColumns
from imarena.workflows import views
from imarena.workflows.serving.battle_index import BattleIds, BattleIndex
from imarena.workflows.serving.judge_behaviour import (
    Behaviour,
    DecidedPairs,
    DimensionBehaviour,
    FailedQuestions,
    JudgeBehaviour,
)

_INDEX, _IDS, _JUDGES = "battles", "battle-ids", "judges"
_PLAIN = ("left", "right", "named", "start", "outcome", "created_us", "asking")
_NAMED = ("judge", "dimension")
_COUNTED = ("judge", "dimension", "ok", "both_orders", "same", "sided", "first", "ties", "preferences")


def _position(cached: CachedColumns) -> views.ReadPosition:
    return views.ReadPosition(int(cached.metadata["judgments"]), int(cached.metadata["recent"]))


def _write(view: views.View, name: str, rows: int, more: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    views.write_cached(view, name, {**more, "rows": rows}, arrays)


# ---------------------------------------------------------------------- battles


def has_index_cached(view: views.View) -> bool:
    """Whether the pairs of this workspace, or most of them, are in the cache."""
    return views.rows_cached(view, _INDEX) > 0


def read_index_cached(view: views.View) -> BattleIndex | None:
    """The battle index as it was when it was stored; None if there is none."""
    cached = views.read_cached(view, _INDEX)
    if cached is None:
        return None
    about, arrays = cached.metadata, cached.arrays
    columns: dict[str, Any] = {name: arrays[name] for name in _PLAIN}
    columns |= {name: views.Names(arrays[name], tuple(about[name])) for name in _NAMED}
    return BattleIndex(
        **columns,
        variants=tuple(about["forms"]),
        outputs=view.entries.seq[: about["outputs"]],
        voted=about["voted"],
        seen=_position(cached),
    )


def write_index_cached(view: views.View, index: BattleIndex) -> None:
    """Store the battle index of a view, if enough of it is new."""
    rows = int(index.outcome.size)
    if not views.worth_caching(view, _INDEX, rows):
        return
    arrays: dict[str, NDArray[Any]] = {name: getattr(index, name) for name in _PLAIN}
    arrays |= {name: getattr(index, name).of for name in _NAMED}
    more = {name: list(getattr(index, name).names) for name in _NAMED}
    _write(view, _INDEX, rows, {**more, "forms": list(index.variants), "voted": index.voted}, arrays)


def read_ids_cached(view: views.View, ids: BattleIds) -> None:
    """Load stored battle ids. They depend only on the outputs."""
    cached = views.read_cached(view, _IDS)
    if cached is not None:
        ids.start_from(cached.arrays["number"], cached.arrays["pair"])


def write_ids_cached(view: views.View, ids: BattleIds) -> None:
    """Store the hashed ids of battles, if enough of them are new."""
    number, pair = ids.known
    if views.worth_caching(view, _IDS, int(number.size)):
        _write(view, _IDS, int(number.size), {}, {"number": number, "pair": pair})


# ---------------------------------------------------------------------- judges


def read_behaviour_cached(view: views.View) -> Behaviour | None:
    """The judges' behaviour as it was when it was stored; None if there is none."""
    cached = views.read_cached(view, _JUDGES)
    if cached is None:
        return None
    judges = []
    for number, (counted, variants, swapping) in enumerate(cached.metadata["judges"]):
        decided = DecidedPairs(*(cached.arrays[f"{name}-{number}"] for name in ("key", "outcome", "agreed")))
        judges.append(DimensionBehaviour(JudgeBehaviour(**counted), decided, tuple(variants), swapping))
    kinds = tuple(views.Unanswered(*values) for values in cached.metadata["failed"])
    unanswered = FailedQuestions(cached.arrays["failed-work"], cached.arrays["failed-kind"], kinds)
    return Behaviour(tuple(judges), unanswered, view.entries.seq[: cached.metadata["outputs"]], _position(cached))


def write_behaviour_cached(view: views.View, behaviour: Behaviour) -> None:
    """Store the judges' behaviour, if enough of it is new."""
    if not views.worth_caching(view, _JUDGES, behaviour.pairs):
        return
    arrays: dict[str, NDArray[Any]] = {}
    judges = []
    for number, judge in enumerate(behaviour.judges):
        arrays |= {f"{name}-{number}": getattr(judge.decided, name) for name in ("key", "outcome", "agreed")}
        judges.append([{name: getattr(judge.health, name) for name in _COUNTED}, list(judge.variants), judge.swapping])
    arrays |= {"failed-work": behaviour.unanswered.work, "failed-kind": behaviour.unanswered.kind}
    failed = [astuple(kind) for kind in behaviour.unanswered.kinds]
    _write(view, _JUDGES, behaviour.pairs, {"judges": judges, "failed": failed}, arrays)
