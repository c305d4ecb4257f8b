"""Why one vote or judgment does not count, for a page that shows them all."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from imarena.core.records import Status
from imarena.workflows.views.chains import ONE_SIDE
from imarena.workflows.views.forms import EARLIER
from imarena.workflows.views.view import View
from imarena.workflows.views.votes import REASONS, Reason

CHECKS = frozenset({Reason.PRACTICE, Reason.TEST, Reason.GOLD, Reason.REPEAT, Reason.RATER_EXCLUDED})
"""Reasons that say something about a rater or about how a campaign checks raters: only leads may know."""
REPLACED = frozenset({Reason.SUPERSEDED, Reason.RETRACTED})


def vote_reasons(view: View, seqs: Sequence[int]) -> list[Reason]:
    """The reasons of votes by their `seq`; empty where a vote counts."""
    known = view.votes
    at = np.searchsorted(known.seq, np.array(seqs, np.int64))
    return [REASONS[code] for code in known.reason[at].tolist()]


def judgment_reason(view: View, row: Any) -> str:
    """Why a judgment (a row of its table) does not count; empty where it does."""
    if row["superseded"]:
        return Reason.SUPERSEDED.value
    if row["form_id"] in view.forms.earlier:
        return EARLIER
    if row["right_id"] is not None and (view.one_sided == row["seq"]).any():
        return ONE_SIDE
    return "" if row["status"] == Status.OK.value else str(row["status"]).replace("_", " ")
