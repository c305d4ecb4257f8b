"""Counts of a workspace, limited to the editors and the judge of a report."""

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from imarena.core.records import Status
from imarena.storage import JudgeVariant
from imarena.workflows.upkeep import WorkspaceStatus, nested_counts
from imarena.workflows.views import NO_VERDICT, View, VoteColumns, unanswered_questions


def chosen_status(view: View, stands: WorkspaceStatus, judge: str | None, editors: tuple[str, ...]) -> WorkspaceStatus:
    """The counts of this judge (None: all) and of these editors (empty: all). Comparisons need both sides chosen.

    Of people's answers, `rating` counts those about one output, and `vote` the others.
    """
    judgments = stands.judgments
    totals = dict(stands.totals)
    outputs = stands.outputs
    votes = chosen_votes(view, editors)
    cast = votes.in_force
    if editors:
        outputs = {name: row for name, row in outputs.items() if name in editors}
        judgments = _judgments(view, chosen_outputs(view, editors))
        totals["output"] = sum(row.get(Status.OK.value, 0) for row in outputs.values())
    totals["rating"] = int((cast & (votes.left >= 0) & (votes.right < 0)).sum())
    totals["vote"] = int(cast.sum()) - totals["rating"]
    judged = {name: row for name, row in judgments.items() if judge in (None, name)}
    judged = _verdicts_apart(view, judged, chosen_outputs(view, editors))
    return replace(stands, outputs=outputs, judgments=judged, totals=totals)


def chosen_votes(view: View, editors: tuple[str, ...]) -> VoteColumns:
    """The votes only on outputs of these editors (empty: all votes)."""
    if not editors:
        return view.votes
    outputs, votes = chosen_outputs(view, editors), view.votes
    return votes.where(_among(outputs, votes.left) & _among(outputs, votes.right))


def chosen_verdicts(view: View, variant: JudgeVariant, editors: tuple[str, ...]) -> int:
    """Number of verdicts of this variant that are only on outputs of these editors (empty: all)."""
    return (
        _n_judgments(view, variant, chosen_outputs(view, editors)) if editors else view.verdicts.get(variant.form_id, 0)
    )


def chosen_outputs(view: View, editors: tuple[str, ...]) -> NDArray[np.bool_]:
    """(k,) which outputs of the view are by these editors (empty: all)."""
    editor = view.entries.editor
    if not editors:
        return np.ones(editor.of.size, bool)
    return np.isin(editor.of, [code for code, name in enumerate(editor.names) if name in editors])


def _among(outputs: NDArray[np.bool_], places: NDArray[np.int32]) -> NDArray[np.bool_]:
    """(n,) whether the output at each position is among the shown ones, or there is none (-1)."""
    return (places < 0) | outputs[np.maximum(places, 0)] if outputs.size else places < 0


def _n_judgments(
    view: View, variant: JudgeVariant, outputs: NDArray[np.bool_], *, without_verdict: bool = False
) -> int:
    columns = view.judgments([variant])
    counted = columns.without_verdict if without_verdict else columns.ok
    return int((counted & _among(outputs, columns.left) & _among(outputs, columns.right)).sum())


def _verdicts_apart(
    view: View, judgments: dict[str, dict[str, int]], outputs: NDArray[np.bool_]
) -> dict[str, dict[str, int]]:
    """The counts by judge and status, with answers that hold no verdict apart from those that are ok."""
    apart: Counter[str] = Counter()
    for variant in view.variants.every:
        if variant.judge in judgments:
            apart[variant.judge] += _n_judgments(view, variant, outputs, without_verdict=True)
    return {
        judge: row | {Status.OK.value: row[Status.OK.value] - apart[judge], NO_VERDICT: apart[judge]}
        if apart[judge]
        else row
        for judge, row in judgments.items()
    }


def _judgments(view: View, outputs: NDArray[np.bool_]) -> dict[str, dict[str, int]]:
    """Counts by judge and status, as in `imarena status`: every question once."""
    counts: Counter[tuple[str, str]] = Counter()
    for variant in view.variants.every:
        counts[variant.judge, Status.OK.value] += _n_judgments(view, variant, outputs)
    places = view.entries.index_of
    for (_, left, right, _), question in unanswered_questions(view.workspace).items():
        sides = [places.get(side, -1) for side in (left, right) if side is not None]
        if all(index >= 0 and outputs[index] for index in sides):
            counts[question.judge, question.status] += 1
    return nested_counts(+counts)
