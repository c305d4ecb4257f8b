"""Reads what the report's gallery shows."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping

import numpy as np

from imarena.core.records import ImageRef, Item, Output
from imarena.reports import ScoringJudge, Section, gallery_section, last_outputs, spread_items
from imarena.storage import Workspace
from imarena.workflows.reporting.known_truth import true_qualities
from imarena.workflows.views import WHOLE, View


def read_gallery(
    workspace: Workspace,
    picture: Callable[[ImageRef], str],
    count: int,
    truth: Mapping[str, float] | None = None,
    judge: str | None = None,
    editors: Collection[str] = (),
) -> Section | None:
    """Some items, chosen by a fixed draw over the tasks. `truth` is the known quality (0..1) of outputs by id.

    Without it, that of items of the bundled benchmark is worked out. `judge` and `editors`: only the scores of this
    one, and only the outputs of these. `picture` gives the address of a small version of an image.
    """
    outputs: dict[str, list[Output]] = defaultdict(list)
    for output in workspace.store.records(Output, **({"editor": list(editors)} if editors else {})):
        outputs[output.item_id].append(output)
    items = [item for item in workspace.store.records(Item) if item.item_id in outputs]
    chosen = spread_items(items, count)
    if not chosen:
        return None
    made = (output for item in chosen for output in last_outputs(item, outputs[item.item_id]))
    known = truth if truth is not None else true_qualities(workspace, chosen, made)
    return gallery_section(chosen, len(items), outputs, _scores(workspace, judge), known, picture)


def _scores(workspace: Workspace, judge: str | None) -> dict[str, dict[ScoringJudge, float]]:
    """The scores that count, as the judges gave them."""
    view = View(workspace)
    scores: dict[str, dict[ScoringJudge, float]] = defaultdict(dict)
    for form in view.forms.counting(None if judge is None else (judge,), pairwise=False):
        judgments = view.judgments([form])
        name = form.judge if form.dimension == WHOLE else f"{form.judge}, {form.dimension}"
        rows = np.flatnonzero(judgments.ok & np.isfinite(judgments.score))
        for output, score in zip(judgments.left[rows].tolist(), judgments.raw_score[rows].tolist(), strict=True):
            scores[view.entries.id_of(output)][ScoringJudge(name, form.higher_is_better)] = score
    return scores
