"""A small workspace with real pictures: items of the bundled benchmark and what some of its editors make of them."""

import csv
from itertools import combinations
from pathlib import Path

from imarena.core.records import ImageRef, Item, Mode, Order, Output
from imarena.datasets.studio import studio_items
from imarena.editors.studio.editors import studio_editor
from imarena.judges.catalog import JUDGES
from imarena.routing import assign_sides
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.studio import DEMO_KEYS, entry_of
from imarena.workflows.editing.run import EditSettings, edit_items
from imarena.workflows.exchange.importing import WorkspaceIntake
from imarena.workflows.questions.cases import Case, ShowableOutputs, load_outputs
from imarena.workflows.questions.judging import judge_cases

HABITS = ("exact", "artefacts", "returns-input")


def single_keys(count: int) -> list[str]:
    """Keys of items with a source and one turn."""
    entries = (entry_of(key) for key in DEMO_KEYS)
    return [entry.key for entry in entries if entry.scene is not None and len(entry.steps) == 1][:count]


def make_arena(root: Path, *, items: int = 4, habits: tuple[str, ...] = HABITS) -> None:
    """Fill a new workspace."""
    with init_workspace(root) as workspace:
        intake = WorkspaceIntake(workspace)

        def keep(data: bytes, name: str) -> ImageRef:
            return intake.keep(data, name=name)

        made = list(studio_items(keep, single_keys(items)))
        intake.flush()
        workspace.store.add(made)
        editors = [studio_editor(habit) for habit in habits]
        edit_items(workspace, made, editors, EditSettings(modes=(Mode.SINGLE,), concurrency=2))


def battle_all(workspace: Workspace) -> ShowableOutputs:
    """Every pair on every item of the bundled benchmark, judged by the built-in judge in both orders."""
    board = load_outputs(workspace, datasets=["studio"])
    cases: list[Case] = []
    for (item_id, _, _), outputs in sorted(board.slots.items()):
        for one, other in combinations(sorted(outputs, key=lambda output: output.editor or ""), 2):
            left, right = assign_sides(one, other)
            cases += [Case(board.items[item_id], left, right, o) for o in (Order.LEFT_FIRST, Order.RIGHT_FIRST)]
    judge_cases(workspace, JUDGES.get("builtin")({}, None), cases, parents=board.parents)
    return board


def write_folders(root: Path, target: Path) -> None:
    """A workspace's items and outputs as a newcomer has them: items.csv, sources/, outputs/<editor>/<key>.png."""
    (target / "sources").mkdir(parents=True)
    with open_workspace(root) as workspace, (target / "items.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["key", "instruction", "source", "task"])
        keys = {}
        for item in workspace.store.records(Item):
            keys[item.item_id] = item.key
            source = f"sources/{item.key}.{item.sources[0].media_type.removeprefix('image/')}"
            (target / source).write_bytes(workspace.load(item.sources[0]))
            rows.writerow([item.key, item.turns[0].instruction, source, item.task])
        for output in workspace.store.records(Output, status="ok"):
            folder = target / "outputs" / str(output.editor)
            folder.mkdir(parents=True, exist_ok=True)
            if output.image is not None:
                ending = output.image.media_type.removeprefix("image/")
                (folder / f"{keys[output.item_id]}.{ending}").write_bytes(workspace.load(output.image))
