"""status: the contents of a workspace by stage, status and editor."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from imarena.core import canonical_json
from imarena.core.records import (
    Assignment,
    Campaign,
    Evidence,
    Item,
    Judgment,
    Output,
    Ranking,
    Rater,
    Reply,
    Run,
    Status,
    Vote,
)
from imarena.storage import Workspace, migrate
from imarena.workflows.questions import TEXT, flags_of
from imarena.workflows.views import (
    FAILED,
    UNNAMED_EDITOR,
    View,
    count_answered,
    read_output_coverage,
    slots_of,
    unanswered_questions,
)


@dataclass(frozen=True)
class WorkspaceStatus:
    """Counts of what there is and of what is missing."""

    name: str
    root: str
    database: str
    schema: str
    items: dict[str, int]
    tasks: dict[str, int]
    outputs: dict[str, dict[str, int]]
    """By editor and state: every slot once, however often it was tried; a row adds up to the number requested."""
    attempts: dict[str, int]
    """Number of attempts by each editor."""
    coverage: dict[str, float]
    """By editor: the share that exists of all outputs that its data sets need; boards show the same."""
    needed: dict[str, int]
    """By editor: the number of outputs that its data sets need."""
    not_run: dict[str, int]
    """By editor: outputs that count as missing in coverage but were never asked for, as in an incomplete folder."""
    outputs_without_pixels: dict[str, int]
    judgments: dict[str, dict[str, int]]
    """By judge and status: every question once, by its answer or by the result of its newest attempt."""
    votes: dict[str, int]
    totals: dict[str, int]
    """Records by kind. An `output` is one that exists; failed attempts are among the `output attempt`s."""
    images: int
    image_bytes: int
    missing: dict[str, int]
    """Work left for a resumed run: failures by status."""
    imported_failures: dict[str, int]
    """Imported judgments without a verdict, by status: no run can ask them again."""
    interrupted: list[str]
    words: dict[str, int]
    """Images read for text that addresses the judge (`read`), and those that contain some (`flagged`)."""
    unfinished: list[str]
    """Judging runs that ended early, with the number of missing answers."""


def workspace_status(workspace: Workspace) -> WorkspaceStatus:
    """Count everything, quickly: from indexes, without reading records."""
    store = workspace.store
    slots = slots_of(workspace)
    outputs = slots.counts()
    unanswered = unanswered_questions(workspace)
    left = {question_id[0]: question.status for question_id, question in unanswered.items()}
    answers = Counter({(judge, Status.OK.value): number for judge, number in count_answered(workspace).items()})
    judgments = nested_counts(answers + Counter((question.judge, question.status) for question in unanswered.values()))
    without = store.count(Output, "editor", status=Status.OK.value, image_sha256=None)
    images = [row for row in store.images() if not row["withdrawn_at"]]
    runs = list(store.rows(Run, state="running"))
    view = View(workspace)
    votes = _votes(view)
    coverage = read_output_coverage(view)
    return WorkspaceStatus(
        name=workspace.settings.name,
        root=str(workspace.root.resolve()),
        database=store.engine.dialect.name,
        schema=migrate.current_version(store.engine) or "",
        items={key[0]: n for key, n in sorted(store.count(Item, "dataset").items())},
        tasks={str(key[0] or "(none)"): n for key, n in sorted(store.count(Item, "task").items(), key=str)},
        outputs=outputs,
        attempts=dict(sorted(slots.attempts.items())),
        coverage=coverage.coverage(),
        needed=coverage.needed(),
        not_run=coverage.not_run(),
        outputs_without_pixels={str(key[0] or UNNAMED_EDITOR): n for key, n in sorted(without.items(), key=str)},
        judgments=judgments,
        votes=votes,
        totals=_totals(workspace, outputs=slots.ok.total(), votes=sum(votes.values())),
        images=len(images),
        image_bytes=sum(row["size_bytes"] for row in images),
        missing=_failures("outputs", slots.failed.values())
        | _failures("judgments", (each.status for each in unanswered.values() if not each.imported)),
        imported_failures=_failures("judgments", (each.status for each in unanswered.values() if each.imported)),
        interrupted=[f"{row['command']} ({row['created_at'][:19]})" for row in runs],
        words=_text_counts(workspace),
        unfinished=_unfinished_runs(workspace, left),
    )


def _totals(workspace: Workspace, *, outputs: int, votes: int) -> dict[str, int]:
    """Return records by kind, consistent with the counts of other commands and pages."""
    kinds = (Item, Output, Evidence, Reply, Judgment, Rater, Vote, Campaign, Assignment, Ranking)
    totals = {kind.__name__.lower(): workspace.store.count(kind).get((), 0) for kind in kinds}
    tried, totals["output"] = totals["output"], outputs
    if tried > outputs:
        totals["output attempt"] = tried
    stored, totals["vote"] = totals["vote"], votes
    if stored > votes:  # a retraction is a record too
        totals["record of votes taken back or changed"] = stored - votes
    gold_sets = workspace.store.count(Campaign, kind="gold").get((), 0)
    if gold_sets:  # routing stores it as a campaign without raters
        totals["campaign"] -= gold_sets
        totals["gold set"] = gold_sets
    return totals


def _votes(view: View) -> dict[str, int]:
    """Count votes in force, by rater, including answers to control tasks."""
    votes = view.votes
    numbers = np.bincount(votes.rater.of[votes.in_force], minlength=len(votes.rater.names)).tolist()
    return {rater: number for rater, number in zip(votes.rater.names, numbers, strict=True) if number}


def nested_counts(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Counts by name, then by state."""
    nested: dict[str, dict[str, int]] = {}
    for (name, state), number in sorted(counts.items()):
        nested.setdefault(name, {})[state] = number
    return nested


def _failures(what: str, states: Iterable[str]) -> dict[str, int]:
    """Count failed outputs or judgments by status."""
    return {f"{what} {state}": number for state, number in sorted(Counter(states).items())}


def _unfinished_runs(workspace: Workspace, left: dict[str, str]) -> list[str]:
    """Describe the last run per settings if it left questions without an answer since (`left`, by work)."""
    runs = workspace.store.records(Run, command=["judge", "battle", "objects", "probe", "scan"])
    latest = {(run.command, canonical_json(run.settings)): run for run in runs}
    lines = []
    for run in latest.values():
        if run.counts.get("missing") and run.state != "running":
            missing = run.counts["missing"] - _n_healed(workspace, run, left)
            name = run.settings.get("judge") or run.settings.get("reader", "")
            lines += [f"{run.command} by {name}: {missing:,} missing"] if missing > 0 else []
    return lines


def _n_healed(workspace: Workspace, run: Run, left: dict[str, str]) -> int:
    """Count questions that failed in this run and have an answer now, from `reparse` or from another run."""
    failed = {row["work_id"] for row in workspace.store.rows(Judgment, run_id=run.run_id, status=FAILED)}
    return len(failed - left.keys())


def _text_counts(workspace: Workspace) -> dict[str, int]:
    """Count images that `imarena scan` read and flagged; empty if it never ran."""
    number = workspace.store.count(Evidence, kind=TEXT, status=Status.OK.value).get((), 0)
    return {"read": number, "flagged": len(flags_of(workspace))} if number else {}
