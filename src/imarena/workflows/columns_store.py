"""The columns that `agree` and `align` work on, from a workspace: ratings and scores. Pairs: `columns_pairs`."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from imarena.core.errors import UnknownName
from imarena.core.records import Item, Judgment, Output, Status, Vote
from imarena.storage import Workspace
from imarena.workflows.battles import live_votes
from imarena.workflows.columns import RatingColumns, ScoreColumns
from imarena.workflows.live import live_judgments

Unit = tuple[str, str, str]
"""What was looked at (item, turn, mode and sample in one text), the editor, and the task."""


def units(workspace: Workspace) -> dict[str, Unit]:
    """Output id to its unit."""
    tasks = {row["id"]: row["task"] or "" for row in workspace.store.rows(Item)}
    return {
        row["id"]: (
            f"{row['item_id']}:{row['turn']}:{row['mode']}:{row['sample']}",
            row["editor"] or f"(not named: {row['id']})",
            tasks.get(row["item_id"], ""),
        )
        for row in workspace.store.rows(Output)
    }


def ratings_from_store(workspace: Workspace) -> RatingColumns:
    """Every live rating by a person; where one rated the same output twice, the last one counts."""
    known = units(workspace)
    ids = {row["id"] for row in live_votes(workspace)}
    found: dict[tuple[str, str, str], float] = {}
    for vote in workspace.store.records(Vote, right_id=None):
        if vote.vote_id in ids:
            for criterion, value in vote.ratings.items():
                found[vote.left_id, vote.rater_id, criterion] = value
    rows = [(known[output], rater, criterion, value) for (output, rater, criterion), value in found.items()]
    return RatingColumns(
        unit=[unit[0] for unit, *_ in rows],
        rater=[rater for _, rater, _, _ in rows],
        value=[value for *_, value in rows],
        labels={
            "criterion": [criterion for _, _, criterion, _ in rows],
            "model": [unit[1] for unit, *_ in rows],
            "task": [unit[2] for unit, *_ in rows],
        },
        source="the workspace",
    )


def scores_from_store(
    workspace: Workspace, judges: Sequence[str] | None = None, criteria: Sequence[str] = ()
) -> ScoreColumns:
    """Every judge's score of an output: the mean over repeats, by the judge's newest form.

    With `criteria` a judge's headline score stands for each of them, and its own mark of the same name beside it, as
    `JUDGE: CRITERION`: a quality mark is compared with people's quality, not the headline alone.
    """
    known = units(workspace)
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    where: dict[str, Any] = {"right_id": None, **({"judge": list(judges)} if judges else {})}
    marks = _marks(workspace, where, frozenset(criteria)) if criteria else {}
    for row in live_judgments(workspace, where, Counter()):
        if row["status"] == Status.OK.value and row["score"] is not None:
            name = row["judge"] if row["dimension"] == "overall" else f"{row['judge']}, {row['dimension']}"
            for criterion in criteria or ("",):
                found[row["left_id"], name, criterion].append(row["score"])
        for criterion, mark in marks.get(row["id"], {}).items():
            found[row["left_id"], f"{row['judge']}: {criterion}", criterion].append(mark)
    rows = [(known[output], judge, about, sum(given) / len(given)) for (output, judge, about), given in found.items()]
    labels = {"model": [unit[1] for unit, *_ in rows], "task": [unit[2] for unit, *_ in rows]}
    return ScoreColumns(
        unit=[unit[0] for unit, *_ in rows],
        judge=[judge for _, judge, _, _ in rows],
        score=[score for *_, score in rows],
        labels={**labels, "criterion": [about for _, _, about, _ in rows]} if criteria else labels,
        source="the workspace's scores",
    )


def _marks(workspace: Workspace, where: dict[str, Any], criteria: frozenset[str]) -> dict[str, dict[str, float]]:
    """Judgment id to its marks on these criteria."""
    found = {}
    for row in workspace.store.rows(Judgment, status=Status.OK.value, **where):
        scores = json.loads(row["body"]).get("scores") or {}
        mine = {name: float(scores[name]) for name in criteria & scores.keys()}
        if mine:
            found[row["id"]] = mine
    return found


def check_judges(workspace: Workspace, judges: Sequence[str]) -> list[str]:
    """The judges that are meant: by full name, by kind, or by a table of imarena.toml; an unknown one raises."""
    import difflib

    known = sorted({str(key[0]) for key in workspace.store.count(Judgment, "judge")})
    chosen: list[str] = []
    for name in judges:
        meant = {name, _recorded_as(workspace, name)}
        fitting = [one for one in known if one in meant or one.partition("/")[0] in meant]
        if not fitting:
            near = difflib.get_close_matches(name, known, n=1)
            listed = f"The workspace has: {', '.join(known) or 'none'}."
            raise UnknownName(
                f"There is no judgment by '{name}'.", hint=f"Did you mean '{near[0]}'? {listed}" if near else listed
            )
        chosen += fitting
    return chosen or known


def _recorded_as(workspace: Workspace, name: str) -> str:
    """What the judgments of a table ``[judges.NAME]`` are called: its kind and its endpoint's model, if any."""
    table = workspace.settings.judges.get(name, {})
    kind = str(table.get("kind", name))
    model = workspace.settings.endpoints.get(str(table.get("endpoint", "")), {}).get("model")
    return f"{kind}/{model}" if model else kind
