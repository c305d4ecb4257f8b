"""Reads the basis for the estimate of a judging run: the sizes of the cases, and the usage of earlier questions."""

import json
from collections import deque
from dataclasses import replace
from typing import Any

from imarena import judges
from imarena.core import Judge, content_id
from imarena.core.records import Judgment, Order, Output, Reply, Status, Usage
from imarena.storage import Workspace
from imarena.workflows.questions.cases import Case, ShowableOutputs, images_of
from imarena.workflows.questions.judging_plan import EarlierAnswers, PlannedWork, case_key, placeholder_exhibit
from imarena.workflows.wiring import WiredJudge

SAMPLE = 300
"""How many earlier judgments, newest first, correct the assumptions."""


def estimate(
    workspace: Workspace,
    wired: WiredJudge,
    planned: PlannedWork,
    showable: ShowableOutputs,
    *,
    concurrency: int,
    at_most: bool = False,
) -> judges.Estimate:
    """Count missing questions and tokens, from prompt lengths and image sizes, corrected by earlier replies."""
    if wired.endpoint is None and wired.judge.traits.cpu_bound:
        return judges.estimate_computed(
            wired, read_compute_time(workspace, wired.judge), [case_key(work.case)[:2] for work in planned.work],
            planned.answered, unfit=dict(planned.unfit), at_most=at_most,
        )  # fmt: skip
    rows = _past(workspace, wired.judge)
    if wired.endpoint is None:
        sizes = [judges.Size(0, 0, 0)] * len(planned.work)
        past: list[tuple[judges.Size | None, Usage]] = [(None, _usage(row)) for row in rows]
    else:
        sizes = [size_of(wired, work.case, showable.parents, work.held) for work in planned.work]
        past = [(_past_size(wired, row, showable), _usage(row)) for row in rows]
    return judges.estimate_sizes(
        wired, sizes, past, planned.answered,
        concurrency=concurrency, unfit=dict(planned.unfit), at_most=at_most,
    )  # fmt: skip


def size_of(
    wired: WiredJudge, case: Case, parents: dict[str, Output], earlier: EarlierAnswers | None = None
) -> judges.Size:
    """Return the size of one case's questions not in `earlier`: words by their length, images by prepared size."""
    prompts, passes = wired.judge.traits.prompts, wired.judge.traits.passes
    images = {image.sha256.encode(): image for image in images_of(case, parents)}
    if not prompts:
        return judges.Size(
            500, sum(judges.endpoint_tokens(wired.endpoint, image) for image in images.values()), len(images)
        )
    answered = earlier.texts if earlier else {}
    new_prompts = [
        prompts[name] for number in range(passes) for name in prompts if judges.pass_name(name, number) not in answered
    ]
    size = judges.question_size(
        new_prompts,
        placeholder_exhibit(case, parents),
        lambda part: judges.endpoint_tokens(wired.endpoint, images[part]),
    )
    return replace(size, questions=len(new_prompts))


def _past(workspace: Workspace, judge: Judge) -> list[Any]:
    """Return rows of the newest ok judgments by this judge, on any subject."""
    rows = deque(workspace.store.rows(Judgment, judge=judge.name, status=Status.OK.value), maxlen=SAMPLE)
    return [row for row in rows if not row["attempt"] or _asked_whole(workspace, row)]


def _asked_whole(workspace: Workspace, row: Any) -> bool:
    """Return whether this attempt asked all questions. A partial attempt's usage says nothing about a full one."""
    reply = workspace.store.get(Reply, content_id("reply", row["work_id"], row["attempt"]))
    return reply is None or all(attempt == row["attempt"] for attempt in reply.answered.values())


def _usage(row: Any) -> Usage:
    return Usage.model_validate(json.loads(row["body"]).get("usage", {}))


def _past_size(wired: WiredJudge, row: Any, showable: ShowableOutputs) -> judges.Size | None:
    """Return the size of an earlier question; None if its outputs cannot be shown."""
    left, right = showable.parents.get(row["left_id"]), showable.parents.get(row["right_id"] or "")
    item = showable.items.get(row["item_id"])
    if left is None or item is None or (row["right_id"] and right is None):
        return None
    if left.image is None or (right is not None and right.image is None):
        return None
    case = Case(item, left, right, Order(row["order"]) if row["order"] else None)
    return size_of(wired, case, showable.parents)


RUNS, QUESTIONS_PER_RUN = 3, 1000
"""How many earlier runs to read, and how many questions from the start of each, where images are new to the run."""


def read_compute_time(workspace: Workspace, judge: Judge) -> judges.ComputeTime:
    """Measure the compute time of this judge's last runs; every run inspects the images anew."""
    return judges.measure_compute_time([row for run in _last_runs(workspace, judge).values() for row in run])


def _last_runs(workspace: Workspace, judge: Judge) -> dict[str | None, list[tuple[int, float]]]:
    """Return the first questions of the last runs: how many new images each had, and its seconds."""
    images_of_run: dict[str | None, set[str]] = {}
    runs: dict[str | None, list[tuple[int, float]]] = {}
    for row in workspace.store.rows(Judgment, judge=judge.name, status=Status.OK.value):
        run = row["run_id"]
        if (
            len(runs.get(run, ())) >= QUESTIONS_PER_RUN or '"latency_s"' not in row["body"]
        ):  # imported or copied, not asked
            continue
        if run not in runs and len(runs) == RUNS:
            del runs[next(iter(runs))]
        looks = judges.count_new((row["left_id"], row["right_id"]), images_of_run.setdefault(run, set()))
        runs.setdefault(run, []).append((looks, json.loads(row["body"])["usage"]["latency_s"]))
    return runs
