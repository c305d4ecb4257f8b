"""Reads what the report's gallery shows, and makes its thumbnails."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from imarena.core import ImarenaError
from imarena.core.records import ImageRef, Item, Output
from imarena.images import preview
from imarena.reports import ScoringJudge, Section, gallery_section, last_outputs, spread_items
from imarena.storage import Workspace
from imarena.workflows.reporting.known_truth import true_qualities
from imarena.workflows.views import WHOLE, View

THUMBNAIL_PX = 320


def read_gallery(
    workspace: Workspace,
    folder: Path,
    count: int,
    truth: Mapping[str, float] | None = None,
    judge: str | None = None,
    editors: Collection[str] = (),
) -> Section | None:
    """Some items, chosen by a fixed draw over the tasks. `truth` is the known quality (0..1) of outputs by id.

    Without it, that of items of the bundled benchmark is worked out. `judge` and `editors`: only the scores of this
    one, and only the outputs of these.
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
    picture = partial(_thumbnail, workspace, folder / "images")
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


def _thumbnail(workspace: Workspace, folder: Path, image: ImageRef) -> str:
    file = folder / f"{image.sha256[:20]}.jpg"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file.write_bytes(preview(workspace.load(image), THUMBNAIL_PX).data)
        except ImarenaError:
            return ""  # withdrawn or missing: `verify` tells
    return f"{folder.name}/{file.name}"
