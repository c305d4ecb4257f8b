"""Find the table of items in a folder."""

from pathlib import Path

from imarena.core import UserError
from imarena.datasets.folder import Folder
from imarena.datasets.table.file_kinds import check_table_file
from imarena.datasets.table.item_rows import ENDINGS

NAMES = ("items", "metadata")
"""Names of a table of items; the second is that of image folders on the Hugging Face hub."""
OTHERS = frozenset({"outputs.csv", "votes.csv", "ratings.csv"})
"""Tables other than that of the items."""
_SHOWN = 3
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
_UNREADABLE = (*_SPREADSHEETS, ".db", ".sqlite", ".gz", ".zip", ".arrow", ".feather", ".pkl")


def item_tables(folder: Folder) -> list[Path]:
    """The file that was named; or `items.*`, `metadata.*`, all Parquet files in the folder or in its `data/`, or the
    only other table in the folder. Empty if there is no table of items; raises `UserError` if there are several.
    """
    if folder.root.is_file():
        return [folder.root]
    tables = _tables(folder, folder.root)
    for name in NAMES:
        matches = [path for path in tables if path.stem.lower() == name]
        if len(matches) > 1:
            raise UserError(f"{folder.root} has {_name_list(folder, matches)}.", hint="Name the one to read.")
        if matches:
            return matches
    for shards in (tables, _tables(folder, folder.root / "data")):
        parquet = [path for path in shards if path.suffix.lower() == ".parquet"]
        if parquet:
            return parquet
    # a .json next to folders of images is more often a manifest or a log than a table
    candidates = [path for path in tables if path.name.lower() not in OTHERS and path.suffix.lower() != ".json"]
    if len(candidates) > 1:
        raise UserError(
            f"{folder.root} has {_name_list(folder, candidates)}.", hint="Name the one to read, or call it items.csv."
        )
    return candidates


def refuse_unreadable_tables(folder: Folder) -> None:
    """Raise if a folder without a table of items has a file that may be meant as one: a spreadsheet, items.db, ..."""
    for path in sorted(folder.root.iterdir()) if folder.root.is_dir() else ():
        kind = path.suffix.lower()
        meant = kind in _SPREADSHEETS or (kind in _UNREADABLE and path.name.lower().startswith(NAMES))
        if path.is_file() and meant:
            check_table_file(folder.file(path.name), path.name, parquet=False)


def refuse_nested_tables(folder: Folder, directories: list[Path]) -> None:
    """Raise if the folders that would be read as editors have tables of items: the folder is one level too high."""
    nested = [path for directory in directories for path in _tables(folder, directory) if path.stem.lower() in NAMES]
    if nested:
        raise UserError(
            f"{folder.root} has no table of items, but {_name_list(folder, nested[:_SHOWN])} is one.",
            hint=f"Import the folder of the table: {nested[0].parent}",
        )


def table_above(folder: Folder) -> str:
    """The table of items in the folder above, if this folder holds that table's outputs; otherwise an empty string."""
    above = Folder(folder.root.parent)
    tables = [path for path in _tables(above, above.root) if path.stem.lower() in NAMES]
    return str(tables[0]) if tables else ""


def _tables(folder: Folder, directory: Path) -> list[Path]:
    """Files of a folder with the ending of a table, sorted by name. Raises for a link out of the folder."""
    if not directory.is_dir():
        return []
    paths = [path for path in sorted(directory.iterdir()) if path.suffix.lower() in ENDINGS]
    return [folder.file(folder.name(path)) for path in paths if path.is_file() and not path.name.startswith(".")]


def _name_list(folder: Folder, paths: list[Path]) -> str:
    return ", ".join(folder.name(path) for path in paths)
