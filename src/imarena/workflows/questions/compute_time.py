"""Reads what the last runs of a judge that computes here took."""

import json

from imarena.core import Judge
from imarena.core.records import Judgment, Status
from imarena.judges import ComputeTime, count_new, measure_compute_time
from imarena.storage import Workspace

RUNS, SAMPLE = 3, 1000
"""Earlier runs, and questions from the beginning of each: that is where the pictures are looked at."""


def read_compute_time(workspace: Workspace, judge: Judge) -> ComputeTime:
    """What the last runs of this judge took; every run looks anew."""
    return measure_compute_time([row for run in _last_runs(workspace, judge).values() for row in run])


def _last_runs(workspace: Workspace, judge: Judge) -> dict[str | None, list[tuple[int, float]]]:
    """The beginnings of the last runs: how many new pictures each question had, and its seconds."""
    seen: dict[str | None, set[str]] = {}
    runs: dict[str | None, list[tuple[int, float]]] = {}
    for row in workspace.store.rows(Judgment, judge=judge.name, status=Status.OK.value):
        run = row["run_id"]
        if len(runs.get(run, ())) >= SAMPLE or '"latency_s"' not in row["body"]:  # imported, or a copy: not asked
            continue
        if run not in runs and len(runs) == RUNS:
            del runs[next(iter(runs))]
        looks = count_new((row["left_id"], row["right_id"]), seen.setdefault(run, set()))
        runs.setdefault(run, []).append((looks, json.loads(row["body"])["usage"]["latency_s"]))
    return runs
