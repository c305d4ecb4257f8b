"""Monitor runs: progress, cost and failures, read from what each run has written."""

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import JSON, cast, func, select, type_coerce

from imarena.core.records import Judgment, Output, Run
from imarena.storage import Workspace, reading
from imarena.storage.schema import judgments
from imarena.workflows.serving.judge_behaviour import JudgeDimension
from imarena.workflows.views import View, read_cached, uncommitted_window, worth_storing, write_cached


@dataclass
class _RunCounts:
    """Counts and cost of a run up to a record of each kind, so that only new records have to be read."""

    counts: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0
    after: dict[type[Judgment | Output], int] = field(default_factory=lambda: {Judgment: 0, Output: 0})


class RunWatch:
    """The runs of a workspace, newest first. While one is running, its counts and its cost are those so far."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._sofar: dict[str, _RunCounts] = {}
        self._guard = threading.Lock()

    def recent(self, before: int | None, limit: int) -> list[tuple[int, Run]]:
        """A page of runs with their sequence numbers."""
        rows = self._workspace.store.newest(Run, before=before, limit=limit)
        return [(seq, self._with_counts(run)) for seq, run in rows]

    def _with_counts(self, run: Run) -> Run:
        """A run stores its counts only when it ends; until then they are counted here."""
        with self._guard:
            if run.state != "running":
                self._sofar.pop(run.run_id, None)
                return run
            sofar = self._sofar.setdefault(run.run_id, _RunCounts())
            for kind in (Judgment, Output):
                self._read_new(kind, run.run_id, sofar)
            return run.model_copy(update={"counts": {**run.counts, **sofar.counts}, "cost_usd": sofar.cost_usd})

    def _read_new(self, kind: type[Judgment | Output], run_id: str, sofar: _RunCounts) -> None:
        for row in self._workspace.store.rows(kind, after=sofar.after[kind], run_id=run_id):
            sofar.after[kind] = row["seq"]
            sofar.counts[row["status"]] += 1
            body = json.loads(row["body"])
            usage = body.get("usage", {}) if kind is Judgment else body
            sofar.cost_usd += usage.get("cost_usd") or 0.0


_COSTS = "costs"
_WRITTEN = 5_000
"""Sums are stored again after this many new judgments: the file is small."""
_SUMMED_AT_ONCE = 20_000
"""A limit on memory: SQLite sorts whole bodies in memory to group them."""
_SETTLED = 100_000
"""Final sums may lag behind by this many judgments."""


class Costs:
    """What judges cost. Costs are stored only in bodies, so each body is read once and new ones are added."""

    def __init__(self, workspace: Workspace) -> None:
        self._engine = workspace.store.engine
        self._settled = _Sums()
        """Final sums: no earlier judgment can still be committed."""
        self._latest = _Sums()
        self._cached_until_seq = 0
        self._guard = threading.Lock()

    def of_view(self, view: View) -> Counter[JudgeDimension]:
        """US dollars by judge and dimension for all judgments of a view.

        A reply that was read again has its cost in both judgments; the later one is left out.
        """
        seq = view.marks.judgments
        with self._guard:
            if not self._latest.judgments:
                self._read_cached(view)
            late = bool(view.lag(self._latest.judgments, self._latest.recent))  # an earlier number was committed
            if seq <= self._latest.judgments and not late:
                return self._latest.costs
            final = seq - uncommitted_window(view)
            if final > self._settled.judgments and (late or seq - self._settled.judgments > _SETTLED):
                # on SQLite every sum is final
                sums = self._settled if uncommitted_window(view) else self._latest
                self._settled = self._add(sums, final, 0)
            sums = self._settled if late or self._settled.judgments > self._latest.judgments else self._latest
            self._latest = self._add(sums, seq, view.recent)
            self._write_cached(view)
            return self._latest.costs

    def _add(self, sums: "_Sums", until_seq: int, recent: int) -> "_Sums":
        costs = sums.costs.copy()
        for after in range(sums.judgments, until_seq, _SUMMED_AT_ONCE):
            costs.update(self._costs_between(after, min(until_seq, after + _SUMMED_AT_ONCE)))
        return _Sums(max(until_seq, sums.judgments), recent, +costs)

    def _costs_between(self, after: int, until_seq: int) -> Counter[JudgeDimension]:
        body: Any = judgments.c.body
        sqlite = self._engine.dialect.name == "sqlite"  # on SQLite a cast to JSON would give a number
        document: Any = type_coerce(body, JSON) if sqlite else cast(body, JSON)
        query = (
            select(judgments.c.judge, judgments.c.dimension, func.sum(document["usage"]["cost_usd"].as_float()))
            .where(judgments.c.seq > after, judgments.c.seq <= until_seq, judgments.c.supersedes.is_(None))
            .group_by(judgments.c.judge, judgments.c.dimension)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query).tuples().all()
        return Counter({(judge, about): cost or 0.0 for judge, about, cost in rows})

    def _read_cached(self, view: View) -> None:
        cached = read_cached(view, _COSTS)
        if cached is not None and "latest" in cached.metadata:
            about = cached.metadata
            self._settled = _Sums(int(about["rows"]), 0, _sum_costs(about["costs"]))
            self._latest = _Sums(int(about["judgments"]), int(about["recent"]), _sum_costs(about["latest"]))
            self._cached_until_seq = self._latest.judgments

    def _write_cached(self, view: View) -> None:
        until_seq = self._latest.judgments
        if worth_storing(until_seq, self._cached_until_seq, _WRITTEN):
            settled, latest = (
                [[*judge, usd] for judge, usd in sums.costs.items()] for sums in (self._settled, self._latest)
            )
            write_cached(view, _COSTS, {"costs": settled, "latest": latest, "rows": self._settled.judgments}, {})
            self._cached_until_seq = until_seq


@dataclass(frozen=True)
class _Sums:
    """Costs of the judgments up to a number; `recent`: how many of the numbers just before it were taken."""

    judgments: int = 0
    recent: int = 0
    costs: Counter[JudgeDimension] = field(default_factory=Counter)


def _sum_costs(rows: list[Any]) -> Counter[JudgeDimension]:
    return Counter({(judge, about): usd for judge, about, usd in rows})
