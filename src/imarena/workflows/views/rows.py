"""Stored rows of the votes that count, for tables that hold more of a vote than its columns."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import select

from imarena.storage.database import reading
from imarena.storage.schema import judgments, votes
from imarena.workflows.views.fetch import fetch_columns
from imarena.workflows.views.versions import ChosenJudge
from imarena.workflows.views.view import View
from imarena.workflows.views.votes import REASONS

PAGE = 500


def counting_votes(view: View, campaign_id: str | None = None) -> Iterator[dict[str, Any]]:
    """Rows of the votes that count, oldest first, of one campaign or of all."""
    cast = view.votes
    kept = cast.counts
    if campaign_id is not None:
        names = cast.campaign.names
        kept = kept & (cast.campaign.of == (names.index(campaign_id) if campaign_id in names else -2))
    wanted = cast.seq[np.flatnonzero(kept)]
    for start in range(0, wanted.size, PAGE):
        page = wanted[start : start + PAGE].tolist()
        query = select(votes).where(votes.c.seq.in_(page)).order_by(votes.c.seq)
        with reading(view.workspace.store.engine) as connection:
            rows = connection.execute(query).mappings().all()
        yield from map(dict, rows)


def uncounted_votes(view: View) -> dict[str, str]:
    """Ids of the votes that do not count, each with the reason."""
    cast = view.votes
    rows = np.flatnonzero(~cast.counts)
    if not rows.size:
        return {}
    with reading(view.workspace.store.engine) as connection:
        seq, identity = fetch_columns(connection, select(votes.c.seq, votes.c.id).order_by(votes.c.seq))
    place = np.searchsorted(np.array(seq, np.int64), cast.seq[rows])
    return {
        identity[at]: REASONS[cast.reason[row]].value for at, row in zip(place.tolist(), rows.tolist(), strict=True)
    }


def judgment_rows(view: View, judges: Sequence[ChosenJudge]) -> Iterator[dict[str, Any]]:
    """Rows of the judgments of these judges that count, oldest first, those without a verdict included.

    `judge` is the name as chosen, with the version where one was asked for; `score` is turned round where low scores
    are good; `imported` and `orders` are those of the judgment's form.
    """
    for judge in judges:
        forms = {form.form_id: form for form in judge.forms}
        found = view.judgments(judge.forms)
        score = dict(zip(found.seq.tolist(), found.score.tolist(), strict=True))
        wanted = np.sort(found.seq)
        for start in range(0, wanted.size, PAGE):
            query = select(judgments).where(judgments.c.seq.in_(wanted[start : start + PAGE].tolist()))
            with reading(view.workspace.store.engine) as connection:
                rows = connection.execute(query.order_by(judgments.c.seq)).mappings().all()
            for row in rows:
                form = forms[row["form_id"]]
                turned = None if row["score"] is None else score[row["seq"]]
                about = {"judge": judge.name, "imported": form.imported, "orders": form.orders}
                yield {**row, **about, "score": turned}
