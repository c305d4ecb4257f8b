"""ImagenHub: output trees (the museum) and the raters' tables.

    Text-Guided_IE/dataset_lookup.json      {uid: {"instruction", "source_global_caption", "target_global_caption"}}
    Text-Guided_IE/input/<uid>              the originals (none for text-to-image)
    Text-Guided_IE/<editor>/<uid>
    Text-Guided_IE/Text-Guided_IE_rater1.tsv    uid, one column an editor; a cell is the text "[SC, PQ]"

The data set is `imagenhub/<folder>`. Import the pixels first: ratings and VIEScore's scores then refer to them. An
editor that has only ratings gets outputs without pixels, as do all editors if no pixels were imported.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, counted, file_sha256, first_line
from imarena.core.records import ImageRef, Item, Origin, Output, Rater, Turn, Vote
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, read_json, stream_table
from imarena.datasets.imported import check_storable, keep_file
from imarena.datasets.options import check_options

SOURCE = "imagenhub"
LOOKUP = "dataset_lookup.json"
VALUES = (0.0, 0.5, 1.0)
_CELL = re.compile(r"\[\s*([0-9]+(?:\.[0-9]+)?)\s*,\s*([0-9]+(?:\.[0-9]+)?)\s*\]")
_RATER = re.compile(r"(?:(?P<task>.+)_)?(?P<rater>rater[0-9]+)", re.IGNORECASE)


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import trees first, then rating tables. Option: task (if the folder does not name it)."""
    check_options("imagenhub", options, task=None)
    folder = Folder(path)
    trees = _trees(folder)
    tables = list(folder.walk("*.tsv")) if folder.root.is_dir() else [folder.root]
    if not trees and not tables:
        raise UserError(
            f"{path} holds neither an output tree nor rating tables.",
            hint=f"A tree has a folder input/ or a {LOOKUP}; rating tables end in .tsv.",
        )
    indexes: dict[str, DatasetIndex] = {}
    yield from folder.unexpected_files("*.tsv")
    for tree in trees:
        yield from _read_tree(folder, tree, dataset_of(options.get("task") or tree.name), intake, indexes)
    raters: set[str] = set()
    for table in tables:
        yield from _read_ratings(folder, table, options.get("task"), intake, indexes, raters)


def dataset_of(task: str) -> str:
    """The data set of a task's items, shared with VIEScore."""
    return f"{SOURCE}/{task}"


def dataset_index(intake: Intake, dataset: str, indexes: dict[str, DatasetIndex]) -> DatasetIndex:
    """The index of a data set, made once per import."""
    if dataset not in indexes:
        indexes[dataset] = DatasetIndex(intake, dataset)
    return indexes[dataset]


# ---------------------------------------------------------------- pixels


def _trees(folder: Folder) -> list[Path]:
    if not folder.root.is_dir():
        return []
    trees = {file.parent for file in folder.walk(LOOKUP)}
    trees |= {path.parent for path in folder.root.rglob("input") if path.is_dir()}
    if (folder.root / "input").is_dir():
        trees.add(folder.root)
    return sorted(trees)


def _read_tree(
    folder: Folder, tree: Path, dataset: str, intake: Intake, indexes: dict[str, DatasetIndex]
) -> Iterator[Importable]:
    lookup: dict[str, Any] = {}
    name = folder.name(tree / LOOKUP)
    try:
        lookup = _lookup(folder, tree)
    except UserError as error:
        yield Skip(name, "", first_line(error))
    stored_items = intake.items(dataset)
    index = dataset_index(intake, dataset, indexes)
    inputs = {file.name: file for file in folder.images(tree / "input")} if (tree / "input").is_dir() else {}
    refused: set[str] = set()
    for uid in sorted({*lookup, *inputs}):
        item = _item(folder, dataset, uid, lookup.get(uid), inputs.get(uid), intake, name)
        if isinstance(item, Skip):
            yield item
            continue
        before = stored_items.get(uid)
        if before is not None and before.absent and before.item_id != item.item_id:
            refused.add(uid)
            yield Skip(
                name, uid,
                "the item is in the workspace without its pixels: ratings or scores were imported before them; "
                "import the pixels first, into a new workspace",
            )  # fmt: skip
            continue
        yield index.place_item(item, name, uid)
    for directory in sorted(path for path in tree.iterdir() if path.is_dir() and path.name != "input"):
        if not directory.name.startswith("."):
            yield from _outputs(folder, directory, intake, index, refused)


def _lookup(folder: Folder, tree: Path) -> dict[str, Any]:
    path = folder.file(folder.name(tree / LOOKUP))
    if not path.is_file():
        return {}
    lookup = read_json(path)
    if not isinstance(lookup, dict):
        raise UserError("expected an object with one entry per uid")
    return lookup


def _item(
    folder: Folder, dataset: str, uid: str, entry: object, source: Path | None, intake: Intake, file: str
) -> Item | Skip:
    try:
        check_storable([uid, entry])
    except UserError as error:
        return Skip(file, ascii(uid), str(error))
    if not uid:
        return Skip(file, "", "a uid is empty")
    fields = entry if isinstance(entry, dict) else {}
    if entry is not None and not isinstance(entry, dict):
        return Skip(file, uid, f"expected an object, got {type(entry).__name__}")
    instruction = fields.get("instruction") or fields.get("prompt") or fields.get("caption") or ""
    expected = fields.get("target_global_caption")
    if not isinstance(instruction, str) or not (expected is None or isinstance(expected, str)):
        return Skip(file, uid, "the instruction or the caption is not a text")
    if not instruction:
        return Skip(file, uid, "there is no instruction for it")
    sources: tuple[ImageRef, ...] = ()
    if source is not None:
        name = folder.name(source)
        try:
            sources = (keep_file(intake, folder, name),)
        except UserError as error:
            return Skip(name, uid, first_line(error))
    elif dataset.lower().endswith(("_ie", "_editing")):
        return Skip(file, uid, f"input/{uid} is not there")
    before = fields.get("source_global_caption")
    return Item(
        dataset=dataset,
        key=uid,
        turns=(Turn(instruction=instruction, expected=expected),),
        sources=sources,
        task=dataset.removeprefix(f"{SOURCE}/"),
        provenance={"benchmark": "ImagenHub", **({"source_caption": before} if isinstance(before, str) else {})},
    )


def _outputs(
    folder: Folder, directory: Path, intake: Intake, index: DatasetIndex, refused: set[str]
) -> Iterator[Output | Skip]:
    left_out = 0
    for path in folder.images(directory):
        name = folder.name(path)
        if path.name in refused:
            left_out += 1
            continue
        item_id = index.item_id(path.name)
        if item_id is None:
            yield Skip(name, "", f"there is no item '{path.name}'")
            continue
        try:
            image = keep_file(intake, folder, name)
        except UserError as error:
            yield Skip(name, "", first_line(error))
            continue
        output = Output(item_id=item_id, editor=directory.name, image=image)
        yield index.place_output(path.name, output, name, "")
    if left_out:
        yield Skip(folder.name(directory), "", f"{counted(left_out, 'output')} of items that were left out above")


# ---------------------------------------------------------------- ratings


def parse_cell(cell: str) -> tuple[float, float]:
    """Parse SC and PQ from text such as ``[0.5, 0]``, without evaluating it; anything else raises `UserError`."""
    match = _CELL.fullmatch(cell.strip())
    if match is None:
        raise UserError(f"'{cell}' is not of the form [SC, PQ]")
    pair = float(match.group(1)), float(match.group(2))
    for criterion, value in zip(("SC", "PQ"), pair, strict=True):
        if value not in VALUES:
            raise UserError(f"{criterion} is {value:g}, not one of 0, 0.5, 1")
    return pair


def _read_ratings(
    folder: Folder, path: Path, task: str | None, intake: Intake, indexes: dict[str, DatasetIndex], raters: set[str]
) -> Iterator[Importable]:
    name = folder.name(path)
    match = _RATER.fullmatch(path.stem)
    if match is None:
        yield Skip(name, "", "the file name does not say which rater it is (such as Text-Guided_IE_rater1.tsv)")
        return
    dataset = dataset_of(task or match.group("task") or path.parent.name)
    index = dataset_index(intake, dataset, indexes)
    rater_id = f"{dataset}/{match.group('rater').lower()}"
    if rater_id in raters:
        yield Skip(name, "", f"the rater {rater_id} has a table already")
        return
    raters.add(rater_id)
    yield Rater(rater_id=rater_id, origin=Origin(source=dataset, row=match.group("rater").lower()))
    digest = file_sha256(path)
    uids: set[str] = set()
    try:
        for row in stream_table(path, name, delimiter="\t", required=("uid",)):
            if isinstance(row, Skip):
                yield row
                continue
            number, cells = row
            uid = cells.pop("uid")
            if not uid or uid in uids:
                yield Skip(name, f"line {number}", f"the uid '{uid}' appears twice" if uid else "the uid is empty")
                continue
            uids.add(uid)
            origin = Origin(source=dataset, file=name, file_sha256=digest)
            yield from _read_row(uid, cells, f"line {number}", rater_id, origin, index)
    except UserError as error:
        yield Skip(name, "", " ".join(str(error).splitlines()))


def _read_row(
    uid: str, cells: Mapping[str, str], where: str, rater_id: str, origin: Origin, index: DatasetIndex
) -> Iterator[Importable]:
    for editor, cell in cells.items():
        if not editor:
            yield Skip(origin.file, where, "a column has no name")
            continue
        if not cell.strip():
            continue  # not rated
        try:
            sc, pq = parse_cell(cell)
        except UserError as error:
            yield Skip(origin.file, f"{where}, column {editor}", first_line(error))
            continue
        yield from without_pixels(uid, editor, index)
        item_id, output_id = index.item_id(uid), index.output_id(uid, editor)
        if item_id is None or output_id is None:
            yield Skip(origin.file, f"{where}, column {editor}", f"the item '{uid}' was left out above")
            continue
        yield Vote(
            rater_id=rater_id,
            item_id=item_id,
            left_id=output_id,
            ratings={"SC": sc, "PQ": pq},
            scale=(0.0, 1.0),
            origin=origin.model_copy(update={"row": f"{uid}/{editor}"}),
        )


def without_pixels(uid: str, editor: str, index: DatasetIndex) -> Iterator[Item | Output]:
    """Yield the item and the output of a rating or score, without pixels, if the workspace does not have them."""
    if index.item_id(uid) is None:
        item = Item(
            dataset=index.dataset,
            key=uid,
            turns=(Turn(instruction=""),),
            absent=(uid,),
            task=index.dataset.removeprefix(f"{SOURCE}/"),
            provenance={"benchmark": "ImagenHub"},
            origin=Origin(source=index.dataset, row=uid),
        )
        entry = index.place_item(item, "", uid)
        if isinstance(entry, Item):
            yield entry
    if index.item_id(uid) is not None:
        outputs = index.named_output(uid, editor, Origin(source=index.dataset, row=f"{uid}/{editor}"), uid)
        yield from (output for output in outputs if isinstance(output, Output))
