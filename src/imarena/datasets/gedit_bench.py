"""GEdit-Bench (Step1X-Edit): benchmark Parquet, result trees and score tables.

    *.parquet                                      key, task_type, instruction, instruction_language, input_image, ...
    <model>/fullset/<task_type>/<language>/<key>.png and <key>_SRCIMG.png
    *.csv                                          edited_image, sementics_score (sic), quality_score, ...

An item's key is `<task_type>/<language>/<key>`; the language folder is `en` or `cn`. Without the Parquet file, an item
gets its source image from the tree and its instruction from the score tables. The tables do not name the judge: it is
read from a folder called gpt... or qwen..., or given by the option `judge`.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, canonical_json, file_sha256
from imarena.core.records import ImageRef, Item, Judgment, Origin, Output, Turn
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, stream_table
from imarena.datasets.hf_parquet import picture_bytes
from imarena.datasets.imported import BAD_ROW, judgment_facts, keep_file, one_line, skip_bad_file
from imarena.datasets.options import check_options
from imarena.datasets.rows import labelled_rows, read_each

SOURCE = "gedit_bench"
UNRECORDED = "gedit-judge-not-recorded"
_SOURCE_MARK = "_SRCIMG"
_LANGUAGES = {"en": "en", "cn": "zh", "zh": "zh"}
_SCALE = (0.0, 10.0)


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import any files of GEdit-Bench. Options: dataset, judge, licence."""
    check_options("gedit_bench", options, dataset=None, judge=None, licence=None)
    folder = Folder(path)
    index = DatasetIndex(intake, options.get("dataset", SOURCE))
    yield from folder.unexpected_files()
    files = list(folder.walk())
    tables = [file for file in files if file.suffix == ".parquet"]
    trees = [file for file in files if _slot(file) is not None]
    scores = [file for file in files if file.suffix.lower() == ".csv"]
    if not (tables or trees or scores):
        raise UserError(
            f"{path} holds nothing of GEdit-Bench.",
            hint="Expected *.parquet, <model>/fullset/... or score tables (*.csv).",
        )
    for table in tables:
        items = _read_items(table, folder, index, intake, options.get("licence"))
        yield from skip_bad_file(folder, folder.name(table), items)
    described = index.is_described()  # the benchmark is known, so an unknown key is an error
    yield from _read_tree(trees, {} if described else _instructions(scores), folder, index, intake, described)
    for file in scores:
        yield from _read_scores(file, folder, index, options.get("judge"), described)


def _slot(path: Path | str) -> tuple[str, str, str] | None:
    """(model, item key, file stem) of a path `.../<model>/fullset/<task>/<language>/<key>.png`."""
    parts = Path(path).parts
    if len(parts) < 5 or parts[-4] != "fullset" or parts[-2] not in _LANGUAGES:
        return None
    stem = Path(parts[-1]).stem
    key = f"{parts[-3]}/{parts[-2]}/{stem.removesuffix(_SOURCE_MARK)}"
    return (parts[-5], key, stem) if Path(parts[-1]).suffix.lower() in (".png", ".jpg", ".jpeg", ".webp") else None


def _read_items(
    path: Path, folder: Folder, index: DatasetIndex, intake: Intake, licence: str | None
) -> Iterator[Importable]:
    name, sha256 = folder.name(path), file_sha256(path)
    required = ("key", "task_type", "instruction", "instruction_language")

    def read_row(row: str, values: dict[str, Any]) -> Iterator[Importable]:
        if not all(isinstance(values[column], str) and values[column].strip() for column in required):
            raise UserError(f"one of {', '.join(required)} is empty")
        language = values["instruction_language"]
        if language not in _LANGUAGES:
            raise UserError(f"unknown instruction_language {language!r}: expected en or cn")
        cell = values.get("input_image") or values.get("input_image_raw")
        source = intake.keep(picture_bytes(cell, folder), name=f"{name} {row}")
        key = f"{values['task_type']}/{language}/{values['key']}"
        item = Item(
            dataset=index.dataset,
            key=key,
            turns=(Turn(instruction=values["instruction"]),),
            sources=(source,),
            task=values["task_type"],
            language=_LANGUAGES[language],
            licence=licence,
            provenance={"intersection_exist": bool(values.get("Intersection_exist"))},
            origin=Origin(source=SOURCE, file=name, file_sha256=sha256, row=f"key {key}"),
        )
        yield index.place_item(item, name, row)

    rows = labelled_rows(path, name, required, ("input_image", "input_image_raw", "Intersection_exist"))
    yield from read_each(rows, name, read_row)


def _read_tree(
    files: list[Path],
    instructions: Mapping[str, str],
    folder: Folder,
    index: DatasetIndex,
    intake: Intake,
    described: bool,
) -> Iterator[Importable]:
    sources = {slot[1]: file for file in reversed(files) if (slot := _slot(file)) and slot[2].endswith(_SOURCE_MARK)}
    for file in files:
        model, key, stem = _slot(file) or ("", "", "")
        if stem.endswith(_SOURCE_MARK):
            continue
        name = folder.name(file)
        try:
            if index.item_id(key) is None:
                if described:
                    raise UserError(f"there is no item '{key}'")
                source = keep_file(intake, folder, sources[key]) if key in sources else None
                yield index.place_item(_item_of_tree(key, source, instructions.get(key), index.dataset, name), name, "")
            image = keep_file(intake, folder, file)
        except BAD_ROW as error:
            yield Skip(name, "", one_line(error))
            continue
        item_id = index.item_id(key)
        if item_id is not None:
            origin = Origin(source=SOURCE, file=name, row=canonical_json([key, model]))
            yield index.place_output(key, Output(item_id=item_id, editor=model, image=image, origin=origin), name, "")


def _item_of_tree(key: str, source: ImageRef | None, instruction: str | None, dataset: str, file: str) -> Item:
    """An item known only from a result tree or a score table; missing parts are listed as absent."""
    task, language, _ = key.split("/", 2)
    missing = [] if source else [f"the source image of {key}"]
    missing += [] if instruction else [f"the instruction of {key}"]
    return Item(
        dataset=dataset,
        key=key,
        turns=(Turn(instruction=instruction or ""),),
        sources=(source,) if source else (),
        absent=tuple(missing),
        task=task,
        language=_LANGUAGES[language],
        origin=Origin(source=SOURCE, file=file, row=key),
    )


def _instructions(tables: list[Path]) -> dict[str, str]:
    """Instructions by item key, from the score tables. Errors in the tables are reported when scores are read."""
    instructions: dict[str, str] = {}
    for path in tables:
        try:
            for entry in stream_table(path, path.name, required=("edited_image", "instruction")):
                row = {} if isinstance(entry, Skip) else entry[1]
                slot = _slot(row.get("edited_image", ""))
                if slot is not None and row["instruction"]:
                    instructions.setdefault(slot[1], row["instruction"])
        except UserError:
            continue
    return instructions


def _read_scores(
    path: Path, folder: Folder, index: DatasetIndex, judge: str | None, described: bool
) -> Iterator[Importable]:
    name, sha256 = folder.name(path), file_sha256(path)
    judge = judge or _judge_of(folder.base.name, name)

    def read_row(line: str, row: dict[str, Any]) -> Iterator[Importable]:
        slot = _slot(row["edited_image"])
        if slot is None:
            raise UserError(f"edited_image '{row['edited_image']}' is not <model>/fullset/<task>/<en|cn>/<key>")
        scores = {"semantics": _score(row, "sementics_score"), "quality": _score(row, "quality_score")}
        origin = Origin(source=SOURCE, file=name, file_sha256=sha256, row=canonical_json([slot[1], slot[0]]))
        if described and index.item_id(slot[1]) is None:
            raise UserError(f"there is no item '{slot[1]}'")
        yield from _judgments(slot, row.get("instruction", ""), scores, origin, index, judge, line)

    try:
        yield from read_each(
            labelled_rows(path, name, ("edited_image", "sementics_score", "quality_score")), name, read_row
        )
    except BAD_ROW as error:
        yield Skip(name, "", one_line(error))


def _judgments(
    slot: tuple[str, str, str],
    instruction: str,
    scores: dict[str, float],
    origin: Origin,
    index: DatasetIndex,
    judge: str,
    line: str,
) -> Iterator[Importable]:
    model, key, _ = slot
    if index.item_id(key) is None:
        yield index.place_item(_item_of_tree(key, None, instruction, index.dataset, origin.file), origin.file, line)
    unseen = Origin(source=SOURCE, file=origin.file, row=canonical_json([key, model]))
    yield from index.named_output(key, model, unseen, line)
    yield Judgment(
        **judgment_facts(origin, judge, index.item_id(key) or "", index.output_id(key, model) or ""),
        prompt_id="viescore",
        score=math.sqrt(scores["semantics"] * scores["quality"]),
        scores=scores,
    )


def _score(row: Mapping[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        raise UserError(f"{column} is {row[column]!r}, not a number") from None
    if not _SCALE[0] <= value <= _SCALE[1]:
        raise UserError(f"{column} is {value:g}, outside the scale 0 to 10")
    return value


def _judge_of(root: str, name: str) -> str:
    for part in reversed((root, *Path(name).parts[:-1])):
        if part.lower().startswith(("gpt", "qwen")):
            return part
    return UNRECORDED
