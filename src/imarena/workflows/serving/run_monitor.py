"""Monitor runs: progress, cost and failures, read from what each run has written."""

import json
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import JSON, cast, func, select, type_coerce

from imarena.core.records import Judgment, Output, Run
from imarena.storage import Workspace, from_row, reading
from imarena.storage.schema import judgments, runs
from imarena.workflows.views import View, read_cached, uncommitted_window, worth_storing, write_cached


@dataclass(frozen=True)
class MonitoredRun:
    """A run with its place in the list. While it is at work, `counts` and the cost are those so far."""

    seq: int
    run: Run
    counts: dict[str, int]
    cost_usd: float


@dataclass
class _Sofar:
    """What a run has written up to a record of each kind: only what is new has to be read."""

    counts: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0
    after: dict[type[Judgment | Output], int] = field(default_factory=lambda: {Judgment: 0, Output: 0})


class RunWatch:
    """The runs of a workspace, newest first."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._sofar: dict[str, _Sofar] = {}
        self._guard = threading.Lock()

    def recent(self, before: int | None, limit: int) -> list[MonitoredRun]:
        """A page of runs."""
        query = select(runs).order_by(runs.c.seq.desc()).limit(limit)
        if before is not None:
            query = query.where(runs.c.seq < before)
        with reading(self._workspace.store.engine) as connection:
            rows = connection.execute(query).mappings().all()
        found = []
        for row in rows:
            run = from_row(Run, row)
            if isinstance(run, Run):
                found.append(self._followed(MonitoredRun(row["seq"], run, run.counts, run.cost_usd)))
        return found

    def _followed(self, seen: MonitoredRun) -> MonitoredRun:
        """A run that is at work tells its counts only when it ends: until then they are counted here."""
        if seen.run.state != "running":
            with self._guard:
                self._sofar.pop(seen.run.run_id, None)
            return seen
        with self._guard:
            sofar = self._sofar.setdefault(seen.run.run_id, _Sofar())
            for kind in (Judgment, Output):
                self._read(kind, seen.run.run_id, sofar)
            return replace(seen, counts={**seen.counts, **sofar.counts}, cost_usd=sofar.cost_usd)

    def _read(self, kind: type[Judgment | Output], run_id: str, sofar: _Sofar) -> None:
        for row in self._workspace.store.rows(kind, after=sofar.after[kind], run_id=run_id):
            sofar.after[kind] = row["seq"]
            sofar.counts[row["status"]] += 1
            body = json.loads(row["body"])
            told = body.get("usage", {}) if kind is Judgment else body
            sofar.cost_usd += told.get("cost_usd") or 0.0


Who = tuple[str, str]
"""A judge and a dimension."""
_COSTS = "costs"


class Costs:
    """What judges cost. It stands in bodies alone, so that each is read once: what came since is added."""

    def __init__(self, workspace: Workspace) -> None:
        self._engine = workspace.store.engine
        self._settled: Counter[Who] = Counter()
        self._upto = 0
        """Up to this judgment the sums are final: nothing before it can still be committed."""
        self._stored = 0
        self._latest: tuple[int, Counter[Who]] = (0, Counter())
        self._guard = threading.Lock()

    def upto(self, view: View) -> Counter[Who]:
        """US dollars by judge and dimension for all judgments of a view.

        A reply that was read again has its cost with both readings: the later one is left out.
        """
        seq = view.marks.judgments
        with self._guard:
            if not self._upto:
                self._read_cached(view)
            final = seq - uncommitted_window(view)
            if final > self._upto:
                self._settled = self._settled + self._between(self._upto, final)
                self._upto = final
                self._write_cached(view)
            if seq <= self._upto:
                return self._settled
            if self._latest[0] != seq:
                self._latest = seq, self._settled + self._between(self._upto, seq)
            return self._latest[1]

    def _between(self, after: int, upto: int) -> Counter[Who]:
        body: Any = judgments.c.body
        sqlite = self._engine.dialect.name == "sqlite"  # there a cast to JSON would give a number
        document: Any = type_coerce(body, JSON) if sqlite else cast(body, JSON)
        query = (
            select(judgments.c.judge, judgments.c.dimension, func.sum(document["usage"]["cost_usd"].as_float()))
            .where(judgments.c.seq > after, judgments.c.seq <= upto, judgments.c.supersedes.is_(None))
            .group_by(judgments.c.judge, judgments.c.dimension)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query).tuples().all()
        return Counter({(judge, about): cost or 0.0 for judge, about, cost in rows})

    def _read_cached(self, view: View) -> None:
        found = read_cached(view, _COSTS)
        if found is not None:
            self._settled = Counter({(judge, about): usd for judge, about, usd in found.about["costs"]})
            self._upto = self._stored = int(found.about["rows"])

    def _write_cached(self, view: View) -> None:
        if worth_storing(self._upto, self._stored):
            costs = [[*who, usd] for who, usd in self._settled.items()]
            write_cached(view, _COSTS, {"costs": costs, "rows": self._upto}, {})
            self._stored = self._upto
