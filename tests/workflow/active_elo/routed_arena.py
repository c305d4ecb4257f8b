"""An arena whose battles are routed: five editors of known strength, a judge, and raters who vote by these strengths."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from imarena.core.records import (
    Assignment,
    Item,
    Judgment,
    Output,
    Turn,
)
from imarena.storage import Workspace, open_workspace
from tests.command import Imarena
from tests.samples import picture_of

EDITORS = tuple(f"editor-{n}" for n in range(5))
STRENGTH = dict(zip(EDITORS, (1.5, 0.8, 0.0, -0.6, -1.4), strict=True))


def fill(workspace: Workspace, n_items: int = 40) -> None:
    """Items of two families, outputs of five editors, and a judge's scores that favour the second editor."""
    rng = np.random.default_rng(3)
    items = [
        Item(dataset="d", key=f"i{n}", turns=(Turn(instruction=f"edit {n}"),), family=("colour", "shape")[n % 2])
        for n in range(n_items)
    ]
    outputs = [
        Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{item.key}-{editor}"))
        for item in items
        for editor in EDITORS
    ]
    judgments = [
        Judgment(
            work_id=f"w{n}", judge="robot", item_id=output.item_id, left_id=output.output_id,
            score=float(np.clip(500 + 120 * STRENGTH[output.editor or ""] + rng.normal(0, 80)
                                + 60 * (output.editor == "editor-1"), 0, 1000)),
        )
        for n, output in enumerate(outputs)
    ]  # fmt: skip
    workspace.store.add(items)
    workspace.store.add(outputs)
    workspace.store.add(judgments)


def vote_all(arena: Path, sheet: Path, seed: int = 0) -> Path:
    """Raters who vote by Bradley-Terry on the true strengths."""
    rng = np.random.default_rng(seed)
    with open_workspace(arena) as workspace:
        made = {one.assignment_id: one for one in workspace.store.records(Assignment)}
        editor = {row["id"]: row["editor"] for row in workspace.store.rows(Output)}
    with sheet.open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        one = made[row["assignment"]]
        lead = STRENGTH[editor[one.left_id]] - STRENGTH[editor[one.right_id]]
        row["winner"] = "left" if rng.random() < 1 / (1 + np.exp(-1.5 * lead)) else "right"
        row["rater"] = row["rater"] or "someone"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return sheet


def assigned(imarena: Imarena, arena: Path, sheet: Path, *more: object) -> Any:
    """A sheet with new battles, and what the command printed as JSON."""
    return imarena("-w", arena, "route", "assign", "--out", sheet, "--json", *more).json
