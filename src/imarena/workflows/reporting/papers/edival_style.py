"""The style check of EdiVal-Agent's appendix F: how often a model, and people, see the requested style."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from imarena.core.records import ImageRef, Item, Judgment, Output, Status
from imarena.judges import STYLE_CHECK, STYLE_DIMENSION
from imarena.reports import StyleAnswer, style_table
from imarena.reports.tables import Table
from imarena.workflows.views import View, live_judgments, read_ratings


def style_tables(view: View) -> list[Table]:
    """One table by judge, editor, mode and shape of the source; empty if no style was checked."""
    judges = [name for name in view.variants.judges if name.partition("/")[0] == STYLE_CHECK]
    answers = [answer for judge in judges for answer in _answers(view, judge)]
    return [style_table(answers)] if answers else []


def _answers(view: View, judge: str) -> list[StyleAnswer]:
    live = set(live_judgments(view, view.variants.counting([judge])).seq.tolist())
    answers: dict[str, tuple[bool | None, str]] = {}
    for row in view.workspace.store.rows(Judgment, judge=judge):
        if row["seq"] in live and row["right_id"] is None:
            body = json.loads(row["body"])
            yes = bool(row["score"]) if row["status"] == Status.OK.value else None
            answers[row["left_id"]] = (yes, "" if yes is not None else body.get("error", "") or row["status"])
    items = {item.item_id: item for item in view.workspace.store.records(Item)}
    people = majorities(yes_of_people(view, STYLE_DIMENSION, with_scale=True))
    result: list[StyleAnswer] = []
    for output in view.workspace.store.records(Output, status=Status.OK.value):
        if output.output_id not in answers or output.sample:
            continue
        sources = items[output.item_id].sources
        yes, why = answers[output.output_id]
        result.append(
            StyleAnswer(
                judge, output.editor or "", output.mode.value, _shape(sources), yes, why, people.get(output.output_id)
            )
        )
    return result


def _shape(sources: Sequence[ImageRef]) -> str:
    """`square` or `padded`: models that accept only squares get other images padded (appendix F)."""
    if not sources:
        return "no source"
    width, height = sources[0].width, sources[0].height
    return "square" if width == height else "padded"


def yes_of_people(view: View, criterion: str, *, with_scale: bool = False) -> dict[str, list[bool]]:
    """For each rater of an output, whether the mark is above the middle of the scale.

    Marks without a scale are compared with their mean, or (`with_scale`) left out.
    """
    ratings = read_ratings(view)
    rows = ratings.of(criterion)
    scale = ratings.scales.get(criterion)
    if not rows.size or (with_scale and scale is None):
        return {}
    middle = (scale[0] + scale[1]) / 2 if scale is not None else float(np.mean(ratings.value[rows]))
    marks: dict[str, list[bool]] = {}
    for row in rows.tolist():
        marks.setdefault(view.entries.id_of(int(ratings.output[row])), []).append(bool(ratings.value[row] > middle))
    return marks


def majorities(marks: Mapping[str, Sequence[bool]]) -> dict[str, bool]:
    """The majority's answer for each output; outputs with a tie are left out."""
    return {
        output: 2 * sum(answers) > len(answers) for output, answers in marks.items() if 2 * sum(answers) != len(answers)
    }
