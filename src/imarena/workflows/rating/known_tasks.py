"""Tasks with a known answer, for gold, practice and tests: from votes that agree, or from a table."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from imarena import routing
from imarena.core.notices import Notice
from imarena.core.records import Item, Output, Status, Vote
from imarena.storage import Workspace
from imarena.workflows.views import View, counting_votes

MOST = 500


@dataclass(frozen=True)
class KnownTaskProposal:
    """A task with its known answer, and details for a lead who decides whether to use it."""

    known: routing.KnownTask
    item: str
    instruction: str
    left: str
    right: str = ""
    votes: int = 0
    use: str = ""
    """The use stated in a table: gold, practice or qualification."""


@dataclass(frozen=True, slots=True)
class KnownTaskList:
    """Tasks with known answers, and notices about lines of a table that could not be used."""

    tasks: tuple[KnownTaskProposal, ...]
    notices: tuple[Notice, ...] = ()


class _Catalogue:
    """Items and their shown outputs (first turn, with pixels) by name and by id."""

    def __init__(self, workspace: Workspace) -> None:
        self.items = {row["id"]: row for row in workspace.store.rows(Item)}
        self.by_key: dict[str, list[str]] = defaultdict(list)
        for identity, row in self.items.items():
            self.by_key[row["key"]].append(identity)
        self.outputs: dict[str, Any] = {}
        self.by_editor: dict[tuple[str, str], str] = {}
        for row in workspace.store.rows(Output, status=Status.OK.value):
            if row["image_sha256"] and row["editor"] and row["turn"] == 0 and row["sample"] == 0:
                self.outputs[row["id"]] = row
                self.by_editor.setdefault((row["item_id"], row["editor"]), row["id"])

    def proposal(self, task: routing.KnownTask, votes: int = 0, use: str = "") -> KnownTaskProposal:
        item = self.items[task.item_id]
        turns = json.loads(item["body"]).get("turns") or [{}]
        names = [self.outputs[side]["editor"] if side else "" for side in (task.left_id, task.right_id)]
        return KnownTaskProposal(
            task, item["key"], str(turns[0].get("instruction", "")), names[0], names[1], votes, use
        )


# ---------------------------------------------------------------- from votes


def known_tasks_from_votes(
    workspace: Workspace, kind: str, datasets: tuple[str, ...] = (), least_votes: int = 2, least_share: float = 1.0
) -> KnownTaskList:
    """Tasks with at least `least_votes` answers, a share of at least `least_share` of which agree.

    Ratings agree if they are within one step of the median. Tasks with the most votes come first.
    """
    catalogue = _Catalogue(workspace)
    answers: dict[tuple[str, str, str | None], list[Any]] = defaultdict(list)
    for vote in counting_votes(View(workspace)):
        item, left, right = vote.item_id, vote.left_id, vote.right_id
        has_outputs = left in catalogue.outputs and (right is None or right in catalogue.outputs)
        in_datasets = not datasets or catalogue.items[item]["dataset"] in datasets
        answer = _vote_answer(kind, vote) if has_outputs and in_datasets else None
        if answer is not None:
            first, second = sorted((left, right)) if right is not None else (left, None)
            answers[item, first, second].append(routing.mirrored_preference(answer) if first != left else answer)
    proposals = []
    for (item, left, right), votes in answers.items():
        known_answer = routing.agreed_answer(kind, votes, least_votes, least_share)
        if known_answer is not None:
            task = known_answer.of_task(item, left, right)
            proposals.append(catalogue.proposal(routing.with_sides_by_chance(task), len(votes)))
    proposals.sort(key=lambda proposal: (-proposal.votes, proposal.known.unit))
    return _first_proposals(proposals)


def _vote_answer(kind: str, vote: Vote) -> Any:
    """A vote's answer for a campaign of this kind; None if the vote answers another question."""
    if (kind == "preference") != (vote.right_id is not None):
        return None
    if kind == "preference":
        return None if vote.preference is None else vote.preference.value
    return routing.ratings_answer(kind, vote.ratings)


# ---------------------------------------------------------------- from a table


def known_tasks_from_table(workspace: Workspace, kind: str, text: str) -> KnownTaskList:
    """Tasks from CSV: `item` (and `dataset` where keys repeat), `left` and `right` as editors' names, an answer.

    The answer is `winner` for a preference, `answer` (yes, no) for yes_no, and a column for each criterion for ratings.
    Optional columns: `explanation`, and `use` (gold, practice, qualification).
    """
    catalogue = _Catalogue(workspace)
    proposals: dict[str, KnownTaskProposal] = {}
    notices: list[Notice] = []
    for line, row in enumerate(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))), 2):
        cells = {name.strip().lower(): value.strip() for name, value in row.items() if name and isinstance(value, str)}
        try:
            proposal = _from_row(catalogue, kind, cells)
        except ValueError as error:
            notices.append(Notice(code="known_task_unusable", values={"line": line, "reason": str(error)}))
            continue
        if proposal.known.unit in proposals:
            notices.append(Notice(code="known_task_repeated", values={"line": line}))
        else:
            proposals[proposal.known.unit] = proposal
    if not proposals and not notices:
        notices.append(Notice(code="known_tasks_empty"))
    return _first_proposals(list(proposals.values()), notices)


def _first_proposals(proposals: Sequence[KnownTaskProposal], notices: Sequence[Notice] = ()) -> KnownTaskList:
    """The first `MOST`, with a notice about the rest."""
    more = len(proposals) - MOST
    limit = [Notice(code="known_tasks_limit", values={"listed": MOST, "more": more})] if more > 0 else []
    return KnownTaskList(tuple(proposals[:MOST]), (*limit, *notices))


def _from_row(catalogue: _Catalogue, kind: str, cells: dict[str, str]) -> KnownTaskProposal:
    item = _item(catalogue, cells)
    sides = [_output(catalogue, item, cells.get("left") or cells.get("model") or "")]
    if kind == "preference":
        sides.append(_output(catalogue, item, cells.get("right", "")))
        if sides[0] == sides[1]:
            raise ValueError("left and right are the same")
    use = routing.table_use(cells)
    right = sides[1] if len(sides) > 1 else None
    task = routing.table_answer(kind, cells).of_task(item, sides[0], right, cells.get("explanation", "")[:500])
    return catalogue.proposal(routing.with_sides_by_chance(task), 0, use)


def _item(catalogue: _Catalogue, cells: dict[str, str]) -> str:
    ids = [
        identity
        for identity in catalogue.by_key.get(cells.get("item", ""), [])
        if not cells.get("dataset") or catalogue.items[identity]["dataset"] == cells["dataset"]
    ]
    if len(ids) != 1:
        why = "no item of this name is in the workspace" if not ids else "several items have this name; add dataset"
        raise ValueError(why)
    return ids[0]


def _output(catalogue: _Catalogue, item: str, editor: str) -> str:
    output_id = catalogue.by_editor.get((item, editor))
    if output_id is None:
        raise ValueError(f"the item has no picture by '{editor[:80]}'")
    return output_id
