"""Where a comparison of two folders is kept, and whether there is anything to compare."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from imarena.core import UserError
from imarena.core.records import Output
from imarena.storage import Workspace, init_workspace, is_workspace, open_workspace, scratch_copy
from imarena.workflows.exchange import ImportReport
from imarena.workflows.studies.comparing import ComparedFolders


@contextmanager
def comparison_workspace(root: Path, *, dry_run: bool = False) -> Iterator[Workspace]:
    """The workspace that was named, or one that is gone afterwards. A dry run gets a copy, so that nothing is kept."""
    if root != Path() and not dry_run:
        with init_workspace(root) as workspace:
            yield workspace
        return
    if root != Path() and is_workspace(root):
        with open_workspace(root) as workspace, scratch_copy(workspace) as copy:
            yield copy
        return
    with tempfile.TemporaryDirectory(prefix="imarena-") as folder, init_workspace(Path(folder) / "arena") as workspace:
        yield workspace


def need_both_sides(workspace: Workspace, sides: ComparedFolders, imported: ImportReport) -> None:
    """Raise where a folder has no output of any item: say what was left out and why."""
    names = [sides.old_name, sides.new_name]
    counts = {name: workspace.store.count(Output, editor=name).get((), 0) for name in names}
    empty = [name for name in names if not counts[name]]
    if empty:
        why = "; ".join(str(cause) for cause in imported.causes[:3]) or "the folder is empty"
        raise UserError(
            f"No output of {' and '.join(empty)} belongs to an item: {why}.",
            hint="A file is named after its item's key: <key>.png for the key in items.csv; the pictures that "
            "items.csv names lie in its folder or below it.",
        )
