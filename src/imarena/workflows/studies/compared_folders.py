"""The two folders and the table of `compare`: their names, their import, and the workspace that holds them."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from imarena.core import (
    NOT_ASKED,
    OTHER_OUTPUT,
    Importable,
    Intake,
    Progress,
    Skip,
    UserError,
    counted,
    skip_causes,
)
from imarena.core.records import Item, Output
from imarena.storage import Workspace, init_workspace, is_workspace, open_workspace, scratch_copy
from imarena.workflows.exchange import ImportReport, import_records


@dataclass(frozen=True)
class ComparedFolders:
    """The two folders and the names of their editors in the workspace."""

    old: Path
    new: Path
    old_name: str
    new_name: str


@dataclass(frozen=True)
class ComparedItems:
    """The table of items, and its names for our columns (``ours=theirs,...``)."""

    path: Path
    columns: str = ""

    @property
    def dataset(self) -> str:
        """The data set named in the table's first row, else the name of the table's folder."""
        from imarena.datasets import named_dataset

        return named_dataset(self.path, self.columns) or self.path.resolve().parent.name


def name_sides(old: Path, new: Path, old_name: str = "", new_name: str = "") -> ComparedFolders:
    """Name both sides after their folders; if those names are equal, add the parent folder."""
    for folder in (old, new):
        if not folder.is_dir():
            raise UserError(f"There is no folder {folder}.", hint="Give two folders of outputs: <key>.png in each.")
    first, second = old_name or old.resolve().name, new_name or new.resolve().name
    if first == second:
        first, second = f"{old.resolve().parent.name}/{first}", f"{new.resolve().parent.name}/{second}"
    if first == second:
        raise UserError("OLD and NEW are the same folder.", hint="Give two folders.")
    return ComparedFolders(old, new, first, second)


@dataclass(frozen=True)
class ImportedFolders:
    """What was read from the table and the two folders."""

    report: ImportReport
    item_ids: frozenset[str]
    """The items of the table. The workspace may have more."""

    @property
    def unusable(self) -> list[Skip]:
        """The rows and files that cannot be used, without those that no item asks for."""
        return [skip for skip in self.report.skips if skip.code != NOT_ASKED]

    @property
    def not_asked(self) -> list[Skip]:
        """The files that no item asks for."""
        return [skip for skip in self.report.skips if skip.code == NOT_ASKED]


def import_folders(
    workspace: Workspace, items: ComparedItems, sides: ComparedFolders, *, progress: Progress | None = None
) -> ImportedFolders:
    """Import the items and both folders into a workspace; the report's skips list what cannot be used."""
    from imarena.datasets import DatasetIndex, items_from_table, outputs_from_folder

    if not items.path.is_file():
        raise UserError(
            f"There is no file {items.path}.",
            hint="Give a CSV with the columns key, instruction and source (a file name).",
        )

    item_ids: set[str] = set()

    def read_all(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:  # noqa: ARG001
        index = DatasetIndex(intake, items.dataset)
        for entry in items_from_table(path, intake, index, items.columns):
            item_ids.update([entry.item_id] if isinstance(entry, Item) else [])
            yield entry
        for folder, name in ((sides.old, sides.old_name), (sides.new, sides.new_name)):
            for record in outputs_from_folder(folder, name, intake, index):  # both folders have files of the same names
                yield replace(record, file=f"{name}: {record.file}") if isinstance(record, Skip) else record

    report = import_records(workspace, read_all, format_name="compare", path=items.path, progress=progress)
    changed = next((skip for skip in report.skips if skip.code == OTHER_OUTPUT), None)
    if changed is not None:
        raise UserError(
            f"{changed.file}: {changed.reason}.",
            hint="The folder changed since this workspace stored it: give it a new name with --old-name or --new-name.",
        )
    return ImportedFolders(report, frozenset(item_ids))


@contextmanager
def comparison_workspace(root: Path, *, dry_run: bool = False) -> Iterator[Workspace]:
    """Open the given workspace, or a temporary one. A dry run uses a copy, so that nothing is stored."""
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


def _more_rows(number: int) -> str:
    return f"; {counted(number, 'more row')} cannot be used" if number else ""


def need_both_sides(workspace: Workspace, sides: ComparedFolders, imported: ImportedFolders) -> None:
    """Raise `UserError` if a folder has no output for any item, with the reasons why files were skipped."""
    names = [sides.old_name, sides.new_name]
    counts = {name: workspace.store.count(Output, editor=name).get((), 0) for name in names}
    empty = [name for name in names if not counts[name]]
    table = [skip for skip in imported.report.skips if not skip.file.startswith(tuple(f"{name}: " for name in names))]
    if empty and table and not imported.item_ids:
        raise UserError(
            f"No item of the table can be used: {table[0]}{_more_rows(len(table) - 1)}.",
            hint="Correct the table: its images are found by their paths, relative to the folder of the table.",
        )
    if empty and not table and not imported.item_ids:
        raise UserError(f"{Path(imported.report.path).name} has no rows.", hint="It needs a row for each item.")
    if empty:
        files = [skip for skip in imported.report.skips if skip not in table]
        causes = skip_causes(table)[:3] + skip_causes(files)[:3]
        why = "; ".join(str(cause) for cause in causes) or "the folder is empty"
        raise UserError(
            f"No output of {' and '.join(empty)} belongs to an item: {why}.",
            hint="A file is named after its item's key: <key>.png for the key in items.csv; the images that "
            "items.csv names lie in its folder or below it.",
        )
