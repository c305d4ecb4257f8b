"""ImgEdit-Bench: the list of edits, the outputs of each model, and the judge's raw answers.

    basic_edit.json          {"<id>": {"id": "animal/000342021.jpg", "prompt", "edit_type"}}   (UGE: no edit_type)
    .../animal/000342021.jpg source images, anywhere below the folder
    <model>/<id>.png         outputs
    <model>/result.json      {"<id>": "raw answer"}, or {"<id>": {"error": ...}} where the call failed

An answer has a line such as `Name: 4` (1 to 5) for each criterion. An answer without exactly three is unparsable;
a failed call is an API error. The judge is not recorded: give it with the option `judge`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, canonical_json, file_sha256
from imarena.core.records import ImageRef, Item, Judgment, Origin, Output, Reply, Status, Turn
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import IMAGE_SUFFIXES, Folder, read_json
from imarena.datasets.imported import (
    BAD_ROW,
    check_storable,
    judgment_facts,
    keep_file,
    one_line,
    skip_bad_file,
)
from imarena.datasets.options import check_options

SOURCE = "imgedit"
UNRECORDED = "imgedit-judge-not-recorded"
PARSER = "imgedit-strict-1"
_LISTS = ("basic_edit.json", "UGE_edit.json")
_RESULTS = "result.json"
_LINE = re.compile(r"^[\s*#-]*(?P<name>[^\W\d][^:\n]*?)[\s*]*:[\s*]*(?P<score>\d+)(?:\s*/\s*5)?[\s*.]*$")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import ImgEdit-Bench. Options: dataset, judge, licence."""
    check_options("imgedit", options, dataset=None, judge=None, licence=None)
    folder = Folder(path)
    index = DatasetIndex(intake, options.get("dataset", SOURCE))
    yield from folder.unexpected_files()
    files = list(folder.walk())
    lists = [file for file in files if file.name in _LISTS or (file == folder.root and file.suffix == ".json")]
    if not lists and not index.is_described():
        raise UserError(
            f"{path} has no {' or '.join(_LISTS)}.", hint="Give the folder that holds the list and the outputs."
        )
    origins: set[Path] = set()
    for file in lists:
        items = _read_list(file, files, folder, index, intake, options.get("licence"), origins)
        yield from skip_bad_file(folder, folder.name(file), items)
    for file in files:
        if file.suffix.lower() in IMAGE_SUFFIXES and file not in origins:
            yield from _read_output(file, folder, index, intake)
    for file in files:
        if file.name == _RESULTS:
            yield from _read_results(file, folder, index, options.get("judge") or UNRECORDED)


def _read_list(
    path: Path,
    files: list[Path],
    folder: Folder,
    index: DatasetIndex,
    intake: Intake,
    licence: str | None,
    origins: set[Path],
) -> Iterator[Importable]:
    name = folder.name(path)
    entries = _object(path, name)
    sha256 = file_sha256(path)
    by_tail = _by_tail(files)
    for key, entry in entries.items():
        row = f"entry {key}"
        try:
            path_text = _source_path(key, entry)
            tail = Path(path_text).parts
            source = by_tail.get(tail[-2:]) or by_tail.get(tail[-1:])
            image = keep_file(intake, folder, source) if source else None
            origin = Origin(source=SOURCE, file=name, file_sha256=sha256, row=row)
            item = _item(key, entry, image, index.dataset, licence, origin)
        except BAD_ROW as error:
            yield Skip(name, row.encode("utf-8", "replace").decode(), one_line(error))
            continue
        if source is not None:
            origins.add(source)
        yield index.place_item(item, name, row)


def _source_path(key: str, entry: Any) -> str:
    """The path of the source image according to the list. Raises if the entry is invalid."""
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str) or not isinstance(entry.get("prompt"), str):
        raise UserError("expected an object with id and prompt")
    check_storable([key, entry])
    path: str = entry["id"]
    if ".." in Path(path).parts or Path(path).is_absolute():
        raise UserError(f"the path '{path}' leads out of the folder")
    return path


def _item(
    key: str, entry: Mapping[str, Any], image: ImageRef | None, dataset: str, licence: str | None, origin: Origin
) -> Item:
    return Item(
        dataset=dataset,
        key=key,
        turns=(Turn(instruction=entry["prompt"]),),
        sources=(image,) if image else (),
        absent=() if image else (entry["id"],),
        task=entry.get("edit_type") or None,
        track="basic" if entry.get("edit_type") else "uge",
        licence=licence,
        provenance={"source_image": entry["id"]},
        origin=origin,
    )


def _object(path: Path, name: str) -> dict[str, Any]:
    try:
        value = read_json(path)
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    if not isinstance(value, dict):
        raise UserError(f"{name}: expected one JSON object.")
    return value


def _by_tail(files: list[Path]) -> dict[tuple[str, ...], Path]:
    """Images by their last two path segments and by the last one, without ambiguous ones."""
    by_tail: dict[tuple[str, ...], Path] = {}
    doubled: set[tuple[str, ...]] = set()
    for file in files:
        if file.suffix.lower() in IMAGE_SUFFIXES:
            for tail in (file.parts[-2:], file.parts[-1:]):
                doubled |= {tail} if tail in by_tail else set()
                by_tail.setdefault(tail, file)
    return {tail: file for tail, file in by_tail.items() if tail not in doubled}


def _read_output(path: Path, folder: Folder, index: DatasetIndex, intake: Intake) -> Iterator[Importable]:
    name, key, model = folder.name(path), path.stem, path.parent.name
    item_id = index.item_id(key)
    if item_id is None:
        yield Skip(name, "", f"there is no item '{key}'")
        return
    try:
        image = keep_file(intake, folder, path)
    except BAD_ROW as error:
        yield Skip(name, "", one_line(error))
        return
    origin = Origin(source=SOURCE, file=name, row=canonical_json([key, model]))
    yield index.place_output(key, Output(item_id=item_id, editor=model, image=image, origin=origin), name, "")


def _read_results(path: Path, folder: Folder, index: DatasetIndex, judge: str) -> Iterator[Importable]:
    name, model = folder.name(path), path.parent.name
    try:
        answers = _object(path, name)
    except BAD_ROW as error:
        yield Skip(name, "", one_line(error))
        return
    sha256 = file_sha256(path)
    for key, answer in answers.items():
        item_id = index.item_id(key)
        failed = isinstance(answer, dict) and "error" in answer
        if item_id is None:
            yield Skip(name, f"entry {key}", f"there is no item '{key}'")
        elif not isinstance(answer, str) and not failed:
            yield Skip(name, f"entry {key}", f"expected the judge's answer, got {type(answer).__name__}")
        else:
            try:
                check_storable([key, answer])
            except UserError as error:
                yield Skip(name, f"entry {key!r}", one_line(error))
                continue
            unseen = Origin(source=SOURCE, file=name, row=canonical_json([key, model]))
            yield from index.named_output(key, model, unseen, key)
            origin = Origin(source=SOURCE, file=name, file_sha256=sha256, row=canonical_json([key, model]))
            yield from _judgments(answer, item_id, index.output_id(key, model) or "", judge, origin)


def _judgments(answer: Any, item_id: str, left_id: str, judge: str, origin: Origin) -> Iterator[Importable]:
    facts = {**judgment_facts(origin, judge, item_id, left_id), "prompt_id": "imgedit"}
    if not isinstance(answer, str):
        yield Judgment(**facts, status=Status.API_ERROR, error=one_line(UserError(str(answer["error"]))))
        return
    reply = Reply(work_id=facts["work_id"], raw=answer)
    yield reply
    scores = strict_scores(answer)
    facts.update(reply_id=reply.reply_id, parser_version=PARSER)
    if scores is None:
        yield Judgment(**facts, status=Status.UNPARSABLE, error="the answer does not give three scores from 1 to 5")
    else:
        yield Judgment(**facts, score=sum(scores.values()) / len(scores), scores=scores)


def strict_scores(answer: str) -> dict[str, float] | None:
    """The three criteria and their scores, or None if the answer does not have exactly three from 1 to 5."""
    matches = [match for line in answer.splitlines() if (match := _LINE.match(line))]
    scores = {" ".join(match["name"].lower().split()).replace(" ", "_"): float(match["score"]) for match in matches}
    if len(matches) != 3 or len(scores) != 3 or not all(1 <= score <= 5 for score in scores.values()):
        return None
    return scores
