"""A plain folder, the simplest format: one table of items, one folder of images per editor.

    items.csv                key,instruction,source[,source_2,reference,mask,task,topic,...]
    outputs/<editor>/<key>.png
    outputs.csv              optional: key,editor,file[,sample,seed,...] if names cannot be file names
    votes.csv, ratings.csv   optional, see `votes.py`

The items may be CSV, TSV, JSON Lines, a JSON list or Parquet (`files.py` finds them). Paths in the table are relative
to it. Unknown columns are kept in the item's provenance. Without a table, every sub-folder is an editor, every file
name a key, and `sources/` (or `inputs/`) contains the originals.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from imarena.core import ITEM_LEFT_OUT, NOT_ASKED, Importable, Intake, Skip, UserError, command_line, first_line
from imarena.core.notices import Notice
from imarena.core.records import ImageRef, Item, JsonDict, Origin, Output, Status, Turn
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import IMAGE_SUFFIXES, Folder, stream_table, unescape_name
from imarena.datasets.imported import BAD_ROW, bad_row_text, keep_file, naming
from imarena.datasets.options import check_options
from imarena.datasets.table.column_names import ColumnNames, parse_columns
from imarena.datasets.table.files import item_tables, refuse_nested_tables, refuse_unreadable_tables, table_above
from imarena.datasets.table.item_rows import read_item_rows
from imarena.datasets.table.items import ItemReader
from imarena.datasets.table.votes import read_rating_rows, read_vote_rows

_OTHER_IMAGES = (".heic", ".heif", ".avif", ".svg", ".jxl", ".jp2", ".psd", ".dng")
"""Endings of images of types that are not read."""
SOURCE_FOLDERS = ("sources", "source", "inputs", "input")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import items, then outputs, then votes and ratings.

    Options: `dataset` (a name), `scale` (such as 1-5), `columns` (ours=theirs,...), `key` (row: number the rows).
    """
    check_options("table", options, dataset=None, scale=None, columns=None, key=("row",))
    names, numbered_rows = options.get("columns", ""), "key" in options
    columns = ColumnNames(parse_columns(names), numbered_rows=numbered_rows)
    folder = Folder(path)
    tables = item_tables(folder)
    if not tables:
        yield from _read_folders(folder, intake, options)
        return
    dataset = options.get("dataset") or named_dataset(tables[0], names, numbered_rows=numbered_rows) or folder.base.name
    index = DatasetIndex(intake, dataset)
    yield from _items(folder, tables, intake, index, columns)
    if folder.file("outputs.csv").is_file():
        yield from _listed_outputs(folder, intake, index)
    elif folder.file("outputs").is_dir():
        for directory in _folders(folder.file("outputs")):
            yield from outputs_from_folder(directory, directory.name, intake, index, within=folder)
    raters: set[str] = set()
    yield from read_vote_rows(folder, index, raters)
    yield from read_rating_rows(folder, index, options.get("scale"), raters)


# ---------------------------------------------------------------- items


def items_from_table(
    path: Path, intake: Intake, index: DatasetIndex, columns: str = ""
) -> Iterator[Item | Skip | Notice]:
    """The items of one table (by its ending CSV, TSV, JSON Lines, JSON or Parquet); images are in its folder.

    `columns`: the table's names of our columns, such as ``key=id,instruction=prompt``. Raises `UserError` if the whole
    table cannot be used.
    """
    yield from _items(Folder(path), [path.resolve()], intake, index, ColumnNames(parse_columns(columns)))


def _items(
    folder: Folder, tables: Sequence[Path], intake: Intake, index: DatasetIndex, columns: ColumnNames
) -> Iterator[Item | Skip | Notice]:
    """The items of several tables that form one, such as the shards of a Parquet data set."""
    rows = 0
    for table in tables:
        name = folder.name(table)
        reader = ItemReader(folder, table, intake, index.dataset, columns, rows)
        for row in read_item_rows(table, name, columns):
            if isinstance(row, Skip):
                reader.count_bad_row()
                yield row
                continue
            where, cells = row
            try:
                yield index.place_item(reader.item(cells), name, where)
            except BAD_ROW as error:
                index.leave_out(str(cells.get("key") or ""), f"{name}, {where}")
                yield Skip(name, where, bad_row_text(error))
        rows = reader.rows
    yield from columns.notices(folder.name(tables[0]))


def named_dataset(table: Path, columns: str = "", *, numbered_rows: bool = False) -> str:
    """The data set named in the first row of a table of items, or an empty string. `columns`: ``ours=theirs,...``."""
    quiet = ColumnNames(parse_columns(columns), numbered_rows=numbered_rows)
    for row in read_item_rows(table, table.name, quiet):
        if not isinstance(row, Skip):
            value = row[1].get("dataset")
            return value if isinstance(value, str) else ""
    return ""


# ---------------------------------------------------------------- outputs


def outputs_from_folder(
    directory: Path, editor: str, intake: Intake, index: DatasetIndex, *, within: Folder | None = None
) -> Iterator[Output | Skip]:
    """One editor's images: `<key>.png` for the items in `index`. Links must not lead out of `within`."""
    folder = within or Folder(directory)
    try:
        directory = folder.file(folder.name(directory)) if within else folder.root
    except UserError as error:
        yield Skip(folder.name(directory), "", first_line(error))
        return
    for path in sorted(directory.iterdir()):
        name = folder.name(path)
        if path.name.startswith("."):
            continue
        key = _key_of(path, index)
        if key is not None and index.turns(key) > 1:
            why = (
                f"its item has {index.turns(key)} turns: add the folder with "
                f"`{command_line('edit -e folder:PATH --mode all')}`"
            )
            yield Skip(name, "", why)
            continue
        if path.is_dir() or path.suffix.lower() not in IMAGE_SUFFIXES:
            other = path.suffix.lower() in _OTHER_IMAGES
            why = "save this image as PNG or JPEG" if other else "not an image, by its name"
            yield Skip(name, "", why, code=NOT_ASKED if key is None or not other else "")
            continue
        if key is None:
            code = ITEM_LEFT_OUT if index.is_left_out(path.stem) else NOT_ASKED
            yield Skip(name, "", index.no_item(path.stem), code=code)
            continue
        try:
            image = keep_file(intake, folder, name)
        except UserError as error:
            yield Skip(name, "", first_line(error))
            continue
        output = Output(item_id=index.item_id(key) or "", editor=editor, image=image)
        yield index.place_output(key, output, name, "")


def _key_of(path: Path, index: DatasetIndex) -> str | None:
    for key in (path.stem, path.name, unescape_name(path.stem)):
        if index.item_id(key) is not None:
            return key
    return None


def _listed_outputs(folder: Folder, intake: Intake, index: DatasetIndex) -> Iterator[Output | Skip]:
    name = "outputs.csv"
    try:
        for row in stream_table(folder.file(name), name, required=("key", "editor", "file")):
            if isinstance(row, Skip):
                yield row
                continue
            number, cells = row
            where = f"line {number}"
            try:
                output = _listed_output(folder, cells, intake, index)
            except (UserError, ValueError) as error:
                yield Skip(name, where, bad_row_text(error))
            else:
                plain = output.status is Status.OK and output.sample == 0
                yield index.place_output(cells["key"], output, name, where) if plain else output
    except UserError as error:
        yield Skip(name, "", " ".join(str(error).splitlines()))


def _picture(folder: Folder, relative: str, intake: Intake) -> ImageRef:
    with naming(relative):
        return keep_file(intake, folder, relative)


def _listed_output(folder: Folder, cells: Mapping[str, str], intake: Intake, index: DatasetIndex) -> Output:
    item_id = index.item_id(cells["key"])
    if item_id is None:
        raise UserError(index.no_item(cells["key"]))
    if not cells["editor"]:
        raise UserError("the editor is empty")
    values: dict[str, Any] = {name: cells[name] for name in ("editor_version", "error", "status") if cells.get(name)}
    for name in ("sample", "seed", "attempt", "latency_s", "cost_usd", "params"):
        if cells.get(name):
            values[name] = json.loads(cells[name])
    image = _picture(folder, cells["file"], intake) if cells["file"] else None
    if image is None and values.get("status", "ok") == "ok":
        raise UserError("the file is empty")
    return Output(item_id=item_id, editor=cells["editor"], image=image, **values)


# ---------------------------------------------------------------- folders without a CSV


def _read_folders(folder: Folder, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    refuse_unreadable_tables(folder)
    directories = _folders(folder.root) if folder.root.is_dir() else []
    sources = next((d for name in SOURCE_FOLDERS for d in directories if d.name.lower() == name), None)
    editors = [directory for directory in directories if directory != sources]
    if not editors:
        raise UserError(
            f"{folder.root} has neither a table of items nor folders of images.",
            hint="Put an items.csv into it (key, instruction, source), or name the table itself. "
            "docs/guide/bring-your-own-benchmark.md shows how.",
        )
    refuse_nested_tables(folder, directories)
    index = DatasetIndex(intake, options.get("dataset") or folder.root.name)
    source_files = {path.stem: path for path in folder.images(sources)} if sources else {}
    keys = sorted({path.stem for directory in editors for path in folder.images(directory)} | set(source_files))
    for key in keys:
        yield from _bare_item(folder, key, source_files.get(key), intake, index)
    for directory in editors:
        yield from outputs_from_folder(directory, directory.name, intake, index, within=folder)
    if keys:
        names: list[JsonValue] = [directory.name for directory in editors]
        table = table_above(folder)
        values: JsonDict = {"dataset": index.dataset, "folder": folder.root.name, "editors": names, "table": table}
        yield Notice(code="folders_as_editors", values=values)


def _bare_item(
    folder: Folder, key: str, source: Path | None, intake: Intake, index: DatasetIndex
) -> Iterator[Item | Skip]:
    """An item without an instruction, because the folder does not contain one."""
    name = folder.name(source) if source else key
    try:
        sources = (_picture(folder, name, intake),) if source else ()
    except UserError as error:
        yield Skip(name, "", first_line(error))
        return
    item = Item(
        dataset=index.dataset,
        key=key,
        turns=(Turn(instruction=""),),
        sources=sources,
        absent=() if sources else (key,),
        origin=None if sources else Origin(source=index.dataset, row=key),
    )
    yield index.place_item(item, name, "")


def _folders(directory: Path) -> list[Path]:
    return [path for path in sorted(directory.iterdir()) if path.is_dir() and not path.name.startswith(".")]
