"""Votes that count, for tables that need more than columns, and reasons why others do not count."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import false, or_, select

from imarena.core.records import Issue, Status, Vote
from imarena.storage import reading
from imarena.storage.schema import judgments, votes
from imarena.workflows.views.chains import ONE_SIDE, pages
from imarena.workflows.views.fetch import fetch_columns
from imarena.workflows.views.judge_variants import EARLIER
from imarena.workflows.views.view import View
from imarena.workflows.views.votes import REASONS, Reason

PAGE = 500


def counting_votes(view: View, campaign_id: str | None = None) -> Iterator[Vote]:
    """The votes that count, oldest first, of one campaign or of all."""
    cast = view.votes
    mask = cast.counts
    if campaign_id is not None:
        names = cast.campaign.names
        mask = mask & (cast.campaign.of == (names.index(campaign_id) if campaign_id in names else -2))
    seqs = cast.seq[np.flatnonzero(mask)]
    for start in range(0, seqs.size, PAGE):
        yield from view.workspace.store.records(Vote, seq=seqs[start : start + PAGE].tolist())


def vote_issues(view: View) -> Iterator[tuple[int, tuple[Issue, ...]]]:
    """Votes in which the rater was asked to mark regions: the row in the view's votes, and the issues (or none)."""
    query = select(votes.c.seq, votes.c.body).where(votes.c.body.contains('"issues"'), votes.c.seq <= view.marks.votes)
    with reading(view.workspace.store.engine) as connection:
        seqs, bodies = fetch_columns(connection, query.order_by(votes.c.seq))
    for row, body in zip(np.searchsorted(view.votes.seq, np.array(seqs, np.int64)).tolist(), bodies, strict=True):
        yield row, tuple(map(Issue.model_validate, json.loads(body).get("issues", ())))


def uncounted_votes(view: View) -> dict[str, str]:
    """Reasons of the votes that do not count, by id."""
    cast = view.votes
    rows = np.flatnonzero(~cast.counts)
    if not rows.size:
        return {}
    with reading(view.workspace.store.engine) as connection:
        seq, identity = fetch_columns(connection, select(votes.c.seq, votes.c.id).order_by(votes.c.seq))
    positions = np.searchsorted(np.array(seq, np.int64), cast.seq[rows])
    return {
        identity[at]: REASONS[cast.reason[row]].value for at, row in zip(positions.tolist(), rows.tolist(), strict=True)
    }


def uncounted_judgments(view: View) -> dict[str, str]:
    """Reasons of the judgments that do not count, by id: superseded, by an earlier variant, or one-sided."""
    table = judgments
    earlier = table.c.form_id.in_(list(view.variants.earlier)) if view.variants.earlier else false()
    query = select(table.c.id, table.c.superseded).where(or_(table.c.superseded == 1, earlier))
    with reading(view.workspace.store.engine) as connection:
        rows = connection.execute(query).tuples().all()
        one_sided = [
            identity
            for page in pages(view.one_sided.tolist())
            for identity in connection.execute(select(table.c.id).where(table.c.seq.in_(page))).scalars()
        ]
    reasons = {identity: Reason.SUPERSEDED.value if superseded else EARLIER for identity, superseded in rows}
    return {**dict.fromkeys(one_sided, ONE_SIDE), **reasons}


CHECKS = frozenset({Reason.PRACTICE, Reason.TEST, Reason.GOLD, Reason.REPEAT, Reason.RATER_EXCLUDED})
"""Reasons that reveal something about a rater or about how a campaign checks raters; only leads may see them."""
REPLACED = frozenset({Reason.SUPERSEDED, Reason.RETRACTED})


def vote_reasons(view: View, seqs: Sequence[int]) -> list[Reason]:
    """The reasons of votes by their `seq`; empty if a vote counts."""
    columns = view.votes
    at = np.searchsorted(columns.seq, np.array(seqs, np.int64))
    return [REASONS[code] for code in columns.reason[at].tolist()]


def judgment_reason(view: View, row: Any) -> str:
    """Why a judgment (a row of its table) does not count; empty if it does."""
    if row["superseded"]:
        return Reason.SUPERSEDED.value
    if row["form_id"] in view.variants.earlier:
        return EARLIER
    if row["right_id"] is not None and (view.one_sided == row["seq"]).any():
        return ONE_SIDE
    return "" if row["status"] == Status.OK.value else str(row["status"]).replace("_", " ")
