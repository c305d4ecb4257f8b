"""The time of a judge that computes here: it looks at a picture once in a run, and what follows from that is quick.

A median over earlier questions would be that of the quick ones: where every pair of editors fights, most questions are
about pictures that were looked at already.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from imarena.core import Judge
from imarena.core.records import Judgment, Status
from imarena.storage import Workspace
from imarena.workflows.questions.judging_plan import CaseWork, place_of

RUNS, SAMPLE = 3, 1000
"""PastAttempts runs, and questions from the beginning of each: that is where the pictures are looked at."""


@dataclass(frozen=True)
class ComputeTime:
    """Seconds that a picture takes at first sight, and a question about pictures that were seen; None: not known."""

    first_s: float | None = None
    n_first: int = 0
    again_s: float | None = None

    def seconds(self, work: Sequence[CaseWork], assumed_s: float) -> float:
        """All of the work, one after the other. What is not known about pictures that were seen is taken as nothing."""
        seen: set[object] = set()
        looks = [_new(place_of(one.case)[:2], seen) for one in work]
        first_s = assumed_s if self.first_s is None else self.first_s
        return first_s * sum(looks) + (self.again_s or 0.0) * looks.count(0)

    def told(self, assumed_s: float) -> str:
        """In words."""
        if self.first_s is None:
            return f"{assumed_s:g} s a picture: assumed"
        told = f"{self.first_s:.2g} s a picture at first sight: mean of {self.n_first:,} earlier looks"
        if self.again_s is not None:
            told += f"; {self.again_s:.2g} s a question about pictures seen"
        return told


def pace_of(workspace: Workspace, judge: Judge) -> ComputeTime:
    """What the last runs of this judge took; every run looks anew.

    Two questions about one new picture are asked at once, and which of them waits for the look is chance. So the quick
    quarter tells what a question takes without a look, and all the rest of the time is the looks'.
    """
    taken = [row for run in _last_runs(workspace, judge).values() for row in run]
    pictures = sum(looks for looks, _ in taken)
    if not pictures:
        return ComputeTime()
    quick = sorted(seconds for looks, seconds in taken if not looks)
    again_s = quick[len(quick) // 4] if quick else None
    left = sum(seconds for _, seconds in taken) - (again_s or 0.0) * len(quick)
    return ComputeTime(max(0.0, left) / pictures, pictures, again_s)


def _last_runs(workspace: Workspace, judge: Judge) -> dict[str | None, list[tuple[int, float]]]:
    """The beginnings of the last runs: how many new pictures each question had, and its seconds."""
    seen: dict[str | None, set[object]] = {}
    runs: dict[str | None, list[tuple[int, float]]] = {}
    for row in workspace.store.rows(Judgment, judge=judge.name, status=Status.OK.value):
        run = row["run_id"]
        if len(runs.get(run, ())) >= SAMPLE or '"latency_s"' not in row["body"]:  # imported, or a copy: not asked
            continue
        if run not in runs and len(runs) == RUNS:
            del runs[next(iter(runs))]
        looks = _new((row["left_id"], row["right_id"]), seen.setdefault(run, set()))
        runs.setdefault(run, []).append((looks, json.loads(row["body"])["usage"]["latency_s"]))
    return runs


def _new(outputs: Sequence[str | None], seen: set[object]) -> int:
    """How many of the outputs were not seen yet; they are from now on."""
    new = {output for output in outputs if output is not None} - seen
    seen |= new
    return len(new)
