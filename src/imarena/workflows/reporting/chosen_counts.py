"""The counts of a workspace that concern the editors and the judge of a report."""

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from imarena.core.records import Status
from imarena.workflows.upkeep import WorkspaceStatus
from imarena.workflows.views import View, unanswered_questions


def chosen_status(view: View, stands: WorkspaceStatus, judge: str | None, editors: tuple[str, ...]) -> WorkspaceStatus:
    """The counts of this judge (None: all) and of these editors (empty: all). A comparison concerns both its sides.

    Of people's answers, `rating` counts those about one output, and `vote` the others.
    """
    judgments = stands.judgments
    totals = dict(stands.totals)
    outputs = stands.outputs
    votes = view.votes
    cast = votes.in_force
    if editors:
        shown = _outputs_of(view, editors)
        outputs = {name: row for name, row in outputs.items() if name in editors}
        judgments = _judgments(view, shown)
        totals["output"] = sum(row.get(Status.OK.value, 0) for row in outputs.values())
        cast &= _shown(shown, votes.left) & _shown(shown, votes.right)
    totals["rating"] = int((cast & (votes.left >= 0) & (votes.right < 0)).sum())
    totals["vote"] = int(cast.sum()) - totals["rating"]
    judged = {name: row for name, row in judgments.items() if judge in (None, name)}
    return replace(stands, outputs=outputs, judgments=judged, totals=totals)


def _outputs_of(view: View, editors: tuple[str, ...]) -> NDArray[np.bool_]:
    """(k,) which outputs of the view are by these editors."""
    named = view.entries.editor
    codes = [code for code, name in enumerate(named.names) if name in editors]
    return np.isin(named.of, codes)


def _shown(shown: NDArray[np.bool_], places: NDArray[np.int32]) -> NDArray[np.bool_]:
    """(n,) where the output at each place is among the shown ones, or there is none (-1)."""
    return (places < 0) | shown[np.maximum(places, 0)] if shown.size else places < 0


def _judgments(view: View, shown: NDArray[np.bool_]) -> dict[str, dict[str, int]]:
    """By judge and status, as `status` counts them: every question once."""
    counts: Counter[tuple[str, str]] = Counter()
    for form in view.forms.every:
        columns = view.judgments([form])
        concerned = columns.ok & _shown(shown, columns.left) & _shown(shown, columns.right)
        counts[form.judge, Status.OK.value] += int(concerned.sum())
    places = view.entries.index_of
    for (_, left, right, _), question in unanswered_questions(view.workspace).items():
        sides = [places.get(side, -1) for side in (left, right) if side is not None]
        if all(place >= 0 and shown[place] for place in sides):
            counts[question.judge, question.status] += 1
    nested: dict[str, dict[str, int]] = {}
    for (name, state), number in sorted(counts.items()):
        if number:
            nested.setdefault(name, {})[state] = number
    return nested
