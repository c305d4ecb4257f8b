"""A small workspace with real pictures: items of the bundled benchmark and what some of its editors make of them."""

from pathlib import Path

from imarena.core.records import ImageRef, Mode
from imarena.datasets.studio import studio_items
from imarena.editors.studio import studio_editor
from imarena.storage import init_workspace
from imarena.studio import DEMO_KEYS, entry_of
from imarena.workflows.editing import EditSettings, edit_items
from imarena.workflows.importing import WorkspaceIntake

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
