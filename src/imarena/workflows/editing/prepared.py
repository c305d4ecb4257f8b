"""What an edit run will do, before it starts: its items, their estimates, and who chose the outputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from imarena.core import Editor
from imarena.core.records import Item
from imarena.images import describe_image
from imarena.storage import Workspace
from imarena.workflows.editing.estimate import EditEstimate, estimate_edits
from imarena.workflows.editing.plan import (
    EditSettings,
    add_studio,
    choose_items,
    items_in_modes,
    missing_studio_items,
)
from imarena.workflows.editing.variants import check_same_variant


@dataclass(frozen=True)
class ItemChoice:
    """Which items are edited."""

    datasets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    limit: int | None = None
    studio: bool = False
    """Add the bundled benchmark's items first; a dry run only counts them."""


@dataclass(frozen=True)
class PreparedEdits:
    """The items of a run, what it is estimated to cost, and what it leaves out."""

    items: tuple[Item, ...]
    unfit: int
    """Number of items that cannot be edited in the modes."""
    estimates: tuple[EditEstimate, ...]
    drivers: dict[str, str]
    """The judges that choose among an editor's outputs, by editor."""


def prepare_edits(
    workspace: Workspace,
    editors: Sequence[Editor],
    choice: ItemChoice,
    settings: EditSettings,
    *,
    mixed: bool = False,
    dry_run: bool = False,
) -> PreparedEdits:
    """Choose the items and estimate the run. `mixed`: outputs with other options may be under the same name.

    A dry run stores nothing.
    """
    keys = choice.keys or None
    unstored: list[Item] = []
    if choice.studio and dry_run:
        unstored = missing_studio_items(workspace, lambda data, _: describe_image(data), keys)
    elif choice.studio:
        add_studio(workspace, keys)
    eligible = choose_items(
        workspace, datasets=choice.datasets, tasks=choice.tasks, keys=choice.keys, unstored=unstored
    )
    fitting, unfit = items_in_modes(eligible, settings.modes, choice.limit)
    if not mixed and not dry_run:
        check_same_variant(workspace, editors, settings)
    estimates = estimate_edits(workspace, fitting, editors, settings)
    drivers = {editor.name: editor.traits.driven_by for editor in editors if editor.traits.driven_by}
    return PreparedEdits(tuple(fitting), unfit, tuple(estimates), drivers)
