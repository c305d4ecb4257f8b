"""Which judgments count (not replaced by a later reading, by the newest form of each judge), and what has none."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from imarena.core.ids import canonical_json
from imarena.core.records import Judgment, Status
from imarena.judges.catalog import CARDS
from imarena.storage import Workspace

OLD_FORM = "by an earlier version, prompt or setting of the judge"
PAGE = 500
FAILED = [state.value for state in Status if state is not Status.OK]
_KEPT = (
    "id", "judge", "dimension", "item_id", "left_id", "right_id", "order", "repeat", "status", "preference", "score",
    "supersedes", "run_id", "created_at",
)  # fmt: skip


def live_judgments(workspace: Workspace, where: dict[str, Any], excluded: Counter[str]) -> Iterator[dict[str, Any]]:
    """Judgments as plain columns, and `orders`: how the one order of a battle was chosen, empty where both are meant.

    A judge whose version, prompt or parameters changed is another judge: its old verdicts are counted in `excluded`.
    """
    rows: list[tuple[dict[str, Any], str]] = []
    newest: dict[tuple[str, str, bool], str] = {}
    forms: dict[str, str] = {}
    for stored in workspace.store.rows(Judgment, **where):
        row = {name: stored[name] for name in _KEPT}
        form, row["orders"] = _form(stored)
        form = forms.setdefault(form, form)
        rows.append((row, form))
        if form:
            newest[_who(row)] = form
    replaced = {row["supersedes"] for row, _ in rows if row["supersedes"]}
    for row, form in rows:
        if row["id"] in replaced:
            continue
        if misnamed(row) or (form and newest[_who(row)] != form):
            excluded[OLD_FORM] += 1
            continue
        yield row


def misnamed(row: Any) -> bool:
    """Made here by a measure of one dimension (`clip-i`, say) when it was still recorded as about the whole."""
    card = CARDS.get(row["judge"].partition("/")[0])
    return card is not None and card.dimension != row["dimension"] == "overall" and row["run_id"] is not None


Place = tuple[str, str, str | None, str | None]
"""Work, left, right and order: copies of a picture share a work, and each has its place."""


@dataclass(frozen=True)
class Unanswered:
    """A question without a live ok answer: who was asked about what, and how the newest attempt ended."""

    judge: str
    dimension: str
    status: str


def unanswered(workspace: Workspace, **where: Any) -> dict[str, str]:
    """Questions to judges without a live ok answer: their work to the status of the last attempt."""
    return {place[0]: one.status for place, one in unanswered_places(workspace, **where).items()}


def unanswered_places(workspace: Workspace, **where: Any) -> dict[Place, Unanswered]:
    """The same for every place that a judgment was asked for."""
    last: dict[Place, Unanswered] = {}
    replaced: set[str] = set()
    for row in workspace.store.rows(Judgment, status=FAILED, **where):
        place = (row["work_id"], row["left_id"], row["right_id"], row["order"])
        last[place] = Unanswered(row["judge"], row["dimension"], row["status"])
        replaced.add(row["supersedes"])
    works, ok = sorted({place[0] for place in last}), {}
    for start in range(0, len(works), PAGE):
        for row in workspace.store.rows(Judgment, status=Status.OK.value, work_id=works[start : start + PAGE]):
            ok[row["id"]] = row["work_id"]
            replaced.add(row["supersedes"])
    answered = {work for identity, work in ok.items() if identity not in replaced}
    return {place: one for place, one in last.items() if place[0] not in answered}


def _who(row: dict[str, Any]) -> tuple[str, str, bool]:
    return row["judge"], row["dimension"], row["right_id"] is None


def _form(row: Any) -> tuple[str, str]:
    """What made the verdict, beside the judge's name; empty for an imported one, which was not made here."""
    if row["run_id"] is None:
        return "", ""
    body = json.loads(row["body"])
    params = dict(body.get("params", {}))
    orders = str(params.pop("orders", ""))
    made = [body.get(name, "") for name in ("judge_version", "prompt_id", "prompt_version")]
    return canonical_json([*made, params]), orders
