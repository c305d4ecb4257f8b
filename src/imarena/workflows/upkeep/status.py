"""status: the contents of a workspace by stage, status and editor."""

from collections import Counter
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
from imarena.workflows.boards import read_output_coverage
from imarena.workflows.questions import TEXT, flags_of
from imarena.workflows.views import FAILED, UNNAMED_EDITOR, View, count_answered, slots_of, unanswered_questions


@dataclass(frozen=True)
class WorkspaceStatus:
    """Counts, and what is missing."""

    name: str
    root: str
    database: str
    schema: str
    items: dict[str, int]
    tasks: dict[str, int]
    outputs: dict[str, dict[str, int]]
    """By editor and standing: every slot once, however often it was tried; a row adds up to what was asked for."""
    attempts: dict[str, int]
    """How often each editor was asked."""
    coverage: dict[str, float]
    """Of all items of the data sets that an editor was run on, the share with an output; boards show the same."""
    not_run: dict[str, int]
    """By editor: outputs that coverage misses and that nobody asked for, as in an imported folder without them."""
    outputs_without_pixels: dict[str, int]
    judgments: dict[str, dict[str, int]]
    """By judge and status: every question once, by its answer or by how its newest attempt ended."""
    votes: dict[str, int]
    totals: dict[str, int]
    """Records by kind. An `output` is one that is there; attempts that failed are among the `output attempt`s."""
    images: int
    image_bytes: int
    missing: dict[str, int]
    """What a run would still have to do: failures by status that a resume retries."""
    interrupted: list[str]
    words: dict[str, int]
    """Pictures that were read for words that address a judge (`read`), and those that hold some (`flagged`)."""
    unfinished: list[str]
    """Judging runs that ended before their work was done, and how much of it was missing then."""


def workspace_status(workspace: Workspace) -> WorkspaceStatus:
    """Count everything. Fast: indexes only, no record is read back."""
    store = workspace.store
    slots = slots_of(workspace)
    outputs = slots.counts()
    unanswered = unanswered_questions(workspace)
    left = {question_id[0]: question.status for question_id, question in unanswered.items()}
    answers = Counter({(judge, Status.OK.value): number for judge, number in count_answered(workspace).items()})
    judgments = _nest(answers + Counter((question.judge, question.status) for question in unanswered.values()))
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
        not_run=coverage.not_run(),
        outputs_without_pixels={str(key[0] or UNNAMED_EDITOR): n for key, n in sorted(without.items(), key=str)},
        judgments=judgments,
        votes=votes,
        totals=_totals(workspace, outputs=slots.ok.total(), votes=sum(votes.values())),
        images=len(images),
        image_bytes=sum(row["size_bytes"] for row in images),
        missing=_failures("outputs", outputs) | _failures("judgments", judgments),
        interrupted=[f"{row['command']} ({row['created_at'][:19]})" for row in runs],
        words=_text_counts(workspace),
        unfinished=_unfinished(workspace, left),
    )


def _totals(workspace: Workspace, *, outputs: int, votes: int) -> dict[str, int]:
    """Records by kind, so that they add up with what other commands and pages count."""
    kinds = (Item, Output, Evidence, Reply, Judgment, Rater, Vote, Campaign, Assignment, Ranking)
    totals = {kind.__name__.lower(): workspace.store.count(kind).get((), 0) for kind in kinds}
    tried, totals["output"] = totals["output"], outputs
    if tried > outputs:
        totals["output attempt"] = tried
    stored, totals["vote"] = totals["vote"], votes
    if stored > votes:  # taking back is a record too
        totals["record of votes taken back or changed"] = stored - votes
    gold_sets = workspace.store.count(Campaign, kind="gold").get((), 0)
    if gold_sets:  # routing keeps it as a campaign in which nobody is asked
        totals["campaign"] -= gold_sets
        totals["gold set"] = gold_sets
    return totals


def _votes(view: View) -> dict[str, int]:
    """Votes in force, by rater; answers to tasks that test the rater are among them."""
    votes = view.votes
    numbers = np.bincount(votes.rater.of[votes.in_force], minlength=len(votes.rater.names)).tolist()
    return {rater: number for rater, number in zip(votes.rater.names, numbers, strict=True) if number}


def _nest(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (name, state), number in sorted(counts.items()):
        nested.setdefault(name, {})[state] = number
    return nested


def _failures(what: str, counts: dict[str, dict[str, int]]) -> dict[str, int]:
    failed: Counter[str] = Counter()
    for row in counts.values():
        failed.update({f"{what} {state}": n for state, n in row.items() if state != Status.OK.value})
    return dict(sorted(failed.items()))


def _unfinished(workspace: Workspace, left: dict[str, str]) -> list[str]:
    """The last run with each settings, where it left something out that has no answer since (`left`, by work)."""
    latest = {}
    for run in workspace.store.records(Run, command=["judge", "battle", "objects", "probe", "scan"]):
        latest[run.command, canonical_json(run.settings)] = run
    lines = []
    for run in latest.values():
        if run.counts.get("missing") and run.state != "running":
            missing = run.counts["missing"] - _healed(workspace, run, left)
            who = run.settings.get("judge") or run.settings.get("reader", "")
            lines += [f"{run.command} by {who}: {missing:,} missing"] if missing > 0 else []
    return lines


def _healed(workspace: Workspace, run: Run, left: dict[str, str]) -> int:
    """Questions that failed in this run and have an answer now: `reparse` could read it, or another run got it."""
    failed = {row["work_id"] for row in workspace.store.rows(Judgment, run_id=run.run_id, status=FAILED)}
    return len(failed - left.keys())


def _text_counts(workspace: Workspace) -> dict[str, int]:
    """What `imarena scan` read and found; empty where it never ran."""
    read = workspace.store.count(Evidence, kind=TEXT, status=Status.OK.value).get((), 0)
    return {"read": read, "flagged": len(flags_of(workspace))} if read else {}
