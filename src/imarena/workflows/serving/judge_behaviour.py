"""Judges' answers, without people: failures, order, ties, and the outcome of every pair that a judge compared.

Computed once. After a new judgment, only the pairs and questions that it affects are updated.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import CodeArray, IntArray
from imarena.storage import JudgeVariant, Workspace
from imarena.tables import ColumnWriter, build_column, filter_column, joined, row_slices
from imarena.workflows import views

JudgeDimension = tuple[str, str]
"""A judge and a dimension."""


@dataclass(frozen=True)
class JudgeBehaviour:
    """How a judge behaves on one dimension, from those of its variants that count."""

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

    @property
    def order_agreement(self) -> float | None:
        """Share of pairs judged in both orders on which both orders agree."""
        return _share(self.same, self.both_orders)

    @property
    def first_share(self) -> float | None:
        """Share of the side shown first among the verdicts for a side."""
        return _share(self.first, self.sided)

    @property
    def tie_share(self) -> float | None:
        """Share of ties among the preferences."""
        return _share(self.ties, self.preferences)

    @property
    def people_share(self) -> float | None:
        """Share of pairs on which the judge agrees with most people."""
        return _share(self.with_people, self.people_pairs)


def _share(hits: int, n: int) -> float | None:
    return hits / n if n else None


@dataclass(frozen=True)
class DecidedPairs:
    """n pairs: `key` (n,) is `low << 32 | high`, positions of outputs; `outcome` (n,) is as seen from `low`.

    `agreed` (n,): 1 if both orders agree, 0 if they differ, -1 if there are not two.
    """

    key: IntArray
    outcome: views.ByteArray
    agreed: views.ByteArray


@dataclass(frozen=True)
class DimensionBehaviour:
    """One judge on one dimension: how it behaves, and the pairs that it decided."""

    health: JudgeBehaviour
    decided: DecidedPairs
    variants: tuple[int, ...]
    swapping: bool
    """Whether any imported verdict is in swapped order."""


@dataclass(frozen=True)
class FailedQuestions:
    """The n questions without an answer: a hash of each one's work (n,), and how it failed, `kinds[kind[i]]`.

    A large workspace has tens of thousands of them; their keys as text would take fifty times the memory.
    """

    work: NDArray[np.uint64]
    kind: CodeArray
    kinds: tuple[views.Unanswered, ...]

    @classmethod
    def read(cls, workspace: Workspace, works: Sequence[str] | None = None) -> "FailedQuestions":
        """Read all of them, or only those of some works."""
        number: dict[views.Unanswered, int] = {}
        work, kind = ColumnWriter(np.uint64), ColumnWriter(np.int32)
        pages = [None] if works is None else [works[at : at + views.PAGE] for at in range(0, len(works), views.PAGE)]
        for page in pages:
            failed = views.unanswered_questions(workspace, **({} if page is None else {"work_id": list(page)}))
            work.append(_hashes(key[0] for key in failed))
            kind.append(np.array([number.setdefault(question, len(number)) for question in failed.values()], np.int32))
        return cls(work.column(), kind.column(), tuple(number))

    def updated(self, fresh: "FailedQuestions", works: Sequence[str]) -> "FailedQuestions":
        """Replace the questions of these works by `fresh`."""
        kinds = tuple(dict.fromkeys((*self.kinds, *fresh.kinds)))
        moved = np.array([kinds.index(kind) for kind in fresh.kinds], np.int32)
        stays = ~np.isin(self.work, _hashes(works))
        work = np.concatenate([self.work[stays], fresh.work])
        return FailedQuestions(work, np.concatenate([self.kind[stays], moved[fresh.kind]]), kinds)

    def counts(self) -> dict[JudgeDimension, Counter[str]]:
        """Number of questions by judge and dimension, and by their final status."""
        failed: dict[JudgeDimension, Counter[str]] = defaultdict(Counter)
        numbers = np.bincount(self.kind, minlength=len(self.kinds)).tolist()
        for kind, number in zip(self.kinds, numbers, strict=True):
            if number:
                failed[kind.judge, kind.dimension][kind.status] += number
        return failed


def _hashes(works: Iterable[str]) -> NDArray[np.uint64]:
    """(n,) a 64-bit hash of each work."""
    return np.frombuffer(b"".join(sha256(work.encode()).digest()[:8] for work in works), np.uint64)


@dataclass(frozen=True)
class Behaviour:
    """The behaviour of all judges, the unanswered questions, and the data that this was computed from."""

    judges: tuple[DimensionBehaviour, ...]
    unanswered: FailedQuestions
    outputs: IntArray
    seen: views.ReadPosition

    @property
    def pairs(self) -> int:
        """Number of decided pairs."""
        return sum(judge.decided.key.size for judge in self.judges)


def read_behaviour(view: views.View, before: Behaviour | None = None) -> Behaviour:
    """How judges behave in a view. `before`: an earlier result, whose unchanged part is kept."""
    past, changes = before, None
    if past is not None and np.array_equal(past.outputs, view.entries.seq[: past.outputs.size]):
        changes = views.changes_since(view, past.seen)
    if past is None or changes is None:
        past, unanswered = None, FailedQuestions.read(view.workspace)
    elif changes.works:
        unanswered = past.unanswered.updated(FailedQuestions.read(view.workspace, changes.works), changes.works)
    else:
        unanswered = past.unanswered
    failed = defaultdict(Counter, unanswered.counts())  # a question counts as failed once, even if it was retried
    variants: dict[JudgeDimension, list[JudgeVariant]] = defaultdict(list)
    for variant in view.variants.counting():
        variants[variant.judge, variant.dimension].append(variant)
    earlier = {(judge.health.judge, judge.health.dimension): judge for judge in past.judges} if past is not None else {}
    judges = [
        _behaviour(view, JudgeBehaviour(*key, failed=failed[key]), variants.get(key, []), earlier.get(key), changes)
        for key in sorted(variants.keys() | failed.keys())
    ]
    return Behaviour(tuple(judges), unanswered, view.entries.seq, views.view_position(view))


def _behaviour(
    view: views.View,
    health: JudgeBehaviour,
    variants: Sequence[JudgeVariant],
    before: DimensionBehaviour | None,
    changes: views.ChangedQuestions | None,
) -> DimensionBehaviour:
    of_variants = tuple(variant.form_id for variant in variants)
    if before is not None and before.variants != of_variants:
        before = None
    if before is not None and changes is not None and not changes.works:
        return replace(before, health=replace(before.health, failed=health.failed))
    swapping, counts = False, Counter[str]()
    for variant in variants:
        judgments = view.judgments([variant])
        counts.update(_counts(judgments, pairwise=variant.pairwise))
        if variant.pairwise:
            swapping = swapping or bool(views.has_swapped_order(judgments, views.constant_variant(len(judgments)))[0])
    pairwise = [variant for variant in variants if variant.pairwise]
    if before is not None and changes is not None and before.swapping == swapping:
        fresh = _decided_pairs(view, views.judgments_on(view, pairwise, changes.pairs), swapping)
        decided = _replace_pairs(view, before.decided, changes.pairs, fresh)
    else:
        decided = _decided_pairs(view, view.judgments(pairwise), swapping)
    for rows in row_slices(decided.agreed.size):
        agreed = decided.agreed[rows]
        counts.update(both_orders=int((agreed >= 0).sum()), same=int((agreed == 1).sum()))
    figures: dict[str, Any] = dict(counts)
    return DimensionBehaviour(replace(health, **figures), decided, of_variants, swapping)


def _counts(judgments: views.JudgmentColumns, *, pairwise: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    for rows in row_slices(len(judgments)):
        part = judgments.where(rows)
        preference, order, ok = part.preference, part.order, part.ok
        counts["ok"] += int(ok.sum())
        if pairwise:
            side = ok & ((preference == views.LEFT) | (preference == views.RIGHT))
            ordered = side & ((order == views.LEFT_FIRST) | (order == views.RIGHT_FIRST))
            with_preference = int((ok & (preference != views.NONE)).sum())
            counts["preferences"] += with_preference
            counts["ties"] += with_preference - int(side.sum())
            counts["sided"] += int(ordered.sum())
            counts["first"] += int((ordered & ((order == views.LEFT_FIRST) == (preference == views.LEFT))).sum())
    return counts


def _decided_pairs(view: views.View, judgments: views.JudgmentColumns, swapping: bool) -> DecidedPairs:
    fought: views.CombinedPairs = views.combine_columns(
        judgments, views.constant_variant(len(judgments)), view.entries, np.array([swapping])
    )
    key, outcome, agreed = ColumnWriter(np.int64), ColumnWriter(np.int8), ColumnWriter(np.int8)
    for rows in row_slices(fought.problem.size):
        ok = fought.problem[rows] == views.OK
        keys, outcomes = canonical_pairs(fought.left[rows][ok], fought.right[rows][ok], fought.outcome[rows][ok])
        key.append(keys)
        outcome.append(outcomes)
        agreed.append(fought.agreed[rows][ok])
    return DecidedPairs(key.column(), outcome.column(), agreed.column())


def _replace_pairs(view: views.View, past: DecidedPairs, pairs: IntArray, fresh: DecidedPairs) -> DecidedPairs:
    """The earlier decided pairs, with those in `pairs` (keys of `pair_keys`) replaced by the fresh ones."""
    keys = past.key
    low = build_column(keys.size, np.int32, lambda part: keys[part] >> 32)
    high = build_column(keys.size, np.int32, lambda part: keys[part] & 0xFFFFFFFF)
    stays = build_column(keys.size, bool, lambda part: np.ones(part.stop - part.start, bool))
    stays[views.rows_on(view.entries, low, high, pairs)] = False
    names = ("key", "outcome", "agreed")
    return DecidedPairs(*(joined(filter_column(getattr(past, name), stays), getattr(fresh, name)) for name in names))


def canonical_pairs(left: CodeArray, right: CodeArray, outcome: views.ByteArray) -> tuple[IntArray, views.ByteArray]:
    """Each pair as one number, and its outcome as seen from the output with the lower position."""
    low, high = np.minimum(left, right).astype(np.int64), np.maximum(left, right)
    mirrored = np.where(left > right, views.MIRRORED[outcome], outcome)
    return low << 32 | high, np.where(mirrored == views.EQUAL, views.TIE, mirrored).astype(np.int8)
