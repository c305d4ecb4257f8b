"""A plain folder: what a newcomer has. One CSV of items, one folder of pictures per editor.

    items.csv                key,instruction,source[,source_2,reference,mask,task,topic,...]
    outputs/<editor>/<key>.png
    outputs.csv              optional: key,editor,file[,sample,seed,...] where names do not fit into file names
    votes.csv, ratings.csv   optional, see `table_votes`

Paths in the CSV are relative to it. Columns that are not known go into the item's provenance. Without an items.csv
every sub-folder is an editor, every file name a key, and `sources/` (or `inputs/`) holds the originals.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from imarena.core import Importable, Intake, Skip, UserError
from imarena.core.records import ImageRef, Item, Origin, Output, Status, Turn
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import IMAGE_SUFFIXES, Folder, stream_table, unescape_name
from imarena.datasets.native.records import first_error
from imarena.datasets.options import check_options
from imarena.datasets.table.exporter import write
from imarena.datasets.table.votes import read_rating_rows, read_vote_rows

__all__ = ["items_from_csv", "outputs_from_folder", "read", "write"]

LABELS = ("taxonomy", "task", "family", "topic", "subtopic", "track", "licence")
SOURCE_FOLDERS = ("sources", "source", "inputs", "input")
_PICTURES = re.compile(r"(source|reference|mask)(?:_([2-9]|[1-9][0-9]+))?")
_KNOWN = frozenset(
    {"key", "instruction", "original_instruction", "expected", "language", "dataset", "provenance", *LABELS}
)


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Items, then outputs, then votes and ratings. Options: `dataset` (a name) and `scale` (such as 1-5)."""
    check_options("table", options, dataset=None, scale=None)
    folder = Folder(path)
    csv_file = folder.root if folder.root.is_file() else folder.file("items.csv")
    if not csv_file.is_file():
        yield from _read_folders(folder, intake, options)
        return
    dataset = options.get("dataset") or _named_in(csv_file) or folder.base.name
    shelf = DatasetIndex(intake, dataset)
    yield from items_from_csv(csv_file, intake, shelf)
    if folder.file("outputs.csv").is_file():
        yield from _listed_outputs(folder, intake, shelf)
    elif folder.file("outputs").is_dir():
        for directory in _folders(folder.file("outputs")):
            yield from outputs_from_folder(directory, directory.name, intake, shelf, within=folder)
    raters: set[str] = set()
    yield from read_vote_rows(folder, shelf, raters)
    yield from read_rating_rows(folder, shelf, options.get("scale"), raters)


# ---------------------------------------------------------------- items


def items_from_csv(path: Path, intake: Intake, shelf: DatasetIndex) -> Iterator[Item | Skip]:
    """The items of a CSV file (or TSV, by its ending); pictures are named relative to the file's folder."""
    folder = Folder(path)
    name = folder.name(folder.root)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        for row in stream_table(folder.root, name, delimiter=delimiter, required=("key", "instruction")):
            if isinstance(row, Skip):
                yield row
                continue
            number, cells = row
            where = f"line {number}"
            try:
                item = _item(folder, cells, intake, shelf.dataset)
            except ValidationError as error:
                yield Skip(name, where, first_error(error))
            except UserError as error:
                yield Skip(name, where, str(error).splitlines()[0])
            else:
                yield shelf.place_item(item, name, where)
    except UserError as error:
        yield Skip(name, "", " ".join(str(error).splitlines()))


def _item(folder: Folder, cells: Mapping[str, str], intake: Intake, dataset: str) -> Item:
    if not cells["key"]:
        raise UserError("the key is empty")
    if not cells["instruction"].strip():
        raise UserError("the instruction is empty")
    if cells.get("dataset", dataset) not in {"", dataset}:
        raise UserError(f"the data set is '{cells['dataset']}', the import is about '{dataset}'")
    pictures: dict[str, list[ImageRef]] = {"source": [], "reference": [], "mask": []}
    for column, role in _picture_columns(cells):
        if cells[column]:
            pictures[role].append(_picture(folder, cells[column], intake))
    turn = Turn(
        instruction=cells["instruction"],
        original_instruction=cells.get("original_instruction") or None,
        expected=cells.get("expected") or None,
    )
    return Item(
        dataset=dataset,
        key=cells["key"],
        turns=(turn,),
        sources=tuple(pictures["source"]),
        references=tuple(pictures["reference"]),
        masks=tuple(pictures["mask"]),
        language=cells.get("language") or "en",
        provenance=_provenance(cells),
        **{label: cells.get(label) or None for label in LABELS},
    )


def _picture_columns(cells: Mapping[str, str]) -> list[tuple[str, str]]:
    """Columns such as source, source_2 with their role, in the order of their numbers."""
    found = [(match, column) for column in cells if (match := _PICTURES.fullmatch(column))]
    found.sort(key=lambda pair: int(pair[0].group(2) or 1))
    return [(column, match.group(1)) for match, column in found]


def _picture(folder: Folder, relative: str, intake: Intake) -> ImageRef:
    try:
        return intake.keep(folder.read_bytes(relative), name=relative)
    except UserError as error:
        reason = str(error).splitlines()[0]
        raise UserError(reason if relative in reason else f"{relative}: {reason}") from error


def _provenance(cells: Mapping[str, str]) -> dict[str, Any]:
    provenance: dict[str, Any] = {}
    if cells.get("provenance"):
        try:
            provenance = json.loads(cells["provenance"])
        except ValueError as error:
            raise UserError("the provenance is not JSON") from error
        if not isinstance(provenance, dict):
            raise UserError("the provenance is not a JSON object")
    for column, value in cells.items():
        if column not in _KNOWN and not _PICTURES.fullmatch(column) and value:
            provenance[column] = value
    return provenance


def _named_in(csv_file: Path) -> str:
    """The data set that the first row names, or an empty text."""
    delimiter = "\t" if csv_file.suffix.lower() == ".tsv" else ","
    try:
        for row in stream_table(csv_file, csv_file.name, delimiter=delimiter):
            if not isinstance(row, Skip):
                return row[1].get("dataset", "")
    except UserError:
        return ""  # said again, with its reason, when the items are read
    return ""


# ---------------------------------------------------------------- outputs


def outputs_from_folder(
    directory: Path, editor: str, intake: Intake, shelf: DatasetIndex, *, within: Folder | None = None
) -> Iterator[Output | Skip]:
    """One editor's pictures: `<key>.png` for the items on the shelf. Links may not lead out of `within`."""
    folder = within or Folder(directory)
    try:
        directory = folder.file(folder.name(directory)) if within else folder.root
    except UserError as error:
        yield Skip(folder.name(directory), "", str(error).splitlines()[0])
        return
    for path in sorted(directory.iterdir()):
        name = folder.name(path)
        if path.name.startswith("."):
            continue
        if path.is_dir() or path.suffix.lower() not in IMAGE_SUFFIXES:
            yield Skip(name, "", "not a picture, by its name")
            continue
        key = _key_of(path, shelf)
        if key is None:
            yield Skip(name, "", f"there is no item with the key '{path.stem}'")
            continue
        try:
            image = intake.keep(folder.read_bytes(name), name=name)
        except UserError as error:
            yield Skip(name, "", str(error).splitlines()[0])
            continue
        output = Output(item_id=shelf.item_id(key) or "", editor=editor, image=image)
        yield shelf.place_output(key, output, name, "")


def _key_of(path: Path, shelf: DatasetIndex) -> str | None:
    for key in (path.stem, path.name, unescape_name(path.stem)):
        if shelf.item_id(key) is not None:
            return key
    return None


def _listed_outputs(folder: Folder, intake: Intake, shelf: DatasetIndex) -> Iterator[Output | Skip]:
    name = "outputs.csv"
    try:
        for row in stream_table(folder.file(name), name, required=("key", "editor", "file")):
            if isinstance(row, Skip):
                yield row
                continue
            number, cells = row
            where = f"line {number}"
            try:
                output = _listed_output(folder, cells, intake, shelf)
            except ValidationError as error:
                yield Skip(name, where, first_error(error))
            except (UserError, ValueError) as error:
                yield Skip(name, where, str(error).splitlines()[0])
            else:
                plain = output.status is Status.OK and output.sample == 0
                yield shelf.place_output(cells["key"], output, name, where) if plain else output
    except UserError as error:
        yield Skip(name, "", " ".join(str(error).splitlines()))


def _listed_output(folder: Folder, cells: Mapping[str, str], intake: Intake, shelf: DatasetIndex) -> Output:
    item_id = shelf.item_id(cells["key"])
    if item_id is None:
        raise UserError(f"there is no item with the key '{cells['key']}'")
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
    directories = _folders(folder.root) if folder.root.is_dir() else []
    sources = next((d for name in SOURCE_FOLDERS for d in directories if d.name.lower() == name), None)
    editors = [directory for directory in directories if directory != sources]
    if not editors:
        raise UserError(
            f"{folder.root} has neither an items.csv nor folders of pictures.",
            hint="See docs/reference/formats-2.md, 'table', for what the folder should hold.",
        )
    shelf = DatasetIndex(intake, options.get("dataset") or folder.root.name)
    source_files = {path.stem: path for path in folder.images(sources)} if sources else {}
    keys = sorted({path.stem for directory in editors for path in folder.images(directory)} | set(source_files))
    for key in keys:
        yield from _bare_item(folder, key, source_files.get(key), intake, shelf)
    for directory in editors:
        yield from outputs_from_folder(directory, directory.name, intake, shelf, within=folder)


def _bare_item(
    folder: Folder, key: str, source: Path | None, intake: Intake, shelf: DatasetIndex
) -> Iterator[Item | Skip]:
    """An item without an instruction: the folder does not say what was asked for."""
    name = folder.name(source) if source else key
    try:
        sources = (_picture(folder, name, intake),) if source else ()
    except UserError as error:
        yield Skip(name, "", str(error).splitlines()[0])
        return
    item = Item(
        dataset=shelf.dataset,
        key=key,
        turns=(Turn(instruction=""),),
        sources=sources,
        absent=() if sources else (key,),
        origin=None if sources else Origin(source=shelf.dataset, row=key),
    )
    yield shelf.place_item(item, name, "")


def _folders(directory: Path) -> list[Path]:
    return [path for path in sorted(directory.iterdir()) if path.is_dir() and not path.name.startswith(".")]
