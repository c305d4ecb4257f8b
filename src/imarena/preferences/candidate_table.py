"""Choose candidates from a table of images, instructions and tasks, and write them as a table for import."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imarena.core import InvalidImage, Progress, UserError, sha256_hex, unknown_name
from imarena.images import check_image, pixels, read_image_file
from imarena.preferences.candidates import CANDIDATE_TASKS, PER_TASK, hashed_words, joint_features, k_center
from imarena.tables import read_file
from imarena.vision import EMBEDDERS, clip_embedder, embed_sentences, model_folder

COLUMNS = frozenset({"key", "image", "instruction", "task"})
TEXT_FEATURES = ("words", "minilm", "clip")


@dataclass(frozen=True)
class CandidateOptions:
    """How candidates are chosen."""

    per_task: int = PER_TASK
    tasks: tuple[str, ...] = ()
    """Tasks to choose from; empty: all tasks of the table for which pairs are made."""
    image_features: str = "colour-layout"
    text_features: str = "words"


@dataclass(frozen=True)
class TaskCandidates:
    """The choice for one task. `radius`: the largest distance from a row to its nearest chosen one."""

    task: str
    rows: int
    chosen: int
    radius: float


@dataclass(frozen=True)
class CandidateReport:
    """The chosen rows, and which rows were left out and why."""

    tasks: tuple[TaskCandidates, ...]
    skipped: tuple[str, ...]
    options: CandidateOptions
    folder: str


@dataclass(frozen=True)
class _Row:
    key: str
    file: Path
    instruction: str
    task: str


def choose_candidates(
    table: Path, folder: Path, options: CandidateOptions, progress: Progress | None = None
) -> CandidateReport:
    """Choose rows by greedy k-center, task by task, and write `items.jsonl` with copies of the images.

    The table has the columns image (a path relative to it), instruction and task, and may have key.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty.", hint="Give a new folder.")
    rows, skipped = _read_rows(table, options)
    vectors = _image_vectors(rows, options.image_features, skipped, progress)
    rows = [row for row in rows if row.key in vectors]
    (folder / "sources").mkdir(parents=True, exist_ok=True)
    candidates, reports = [], []
    for task in sorted({row.task for row in rows}):
        of_task = [row for row in rows if row.task == task]
        texts = _text_vectors([row.instruction for row in of_task], options.text_features)
        features = joint_features(np.stack([vectors[row.key] for row in of_task]), texts)
        places, radius = k_center(features, [row.key for row in of_task], options.per_task)
        candidates += [of_task[index] for index in places]
        reports.append(TaskCandidates(task, len(of_task), len(places), radius))
    with (folder / "items.jsonl").open("w", encoding="utf-8") as stream:
        for row in candidates:
            copy = f"sources/{sha256_hex(row.file.read_bytes())[:32]}{row.file.suffix.lower()}"
            shutil.copyfile(row.file, folder / copy)
            values = {"key": row.key, "instruction": row.instruction, "source": copy, "task": row.task}
            stream.write(json.dumps(values, ensure_ascii=False) + "\n")
    report = CandidateReport(tuple(reports), tuple(skipped), options, str(folder))
    (folder / "candidates.json").write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    return report


def _read_rows(table: Path, options: CandidateOptions) -> tuple[list[_Row], list[str]]:
    columns = read_file(table, text=COLUMNS, wanted=None)
    for name in ("image", "instruction", "task"):
        if name not in columns.column_names:
            raise UserError(f"{table} has no column {name}.", hint="It needs the columns image, instruction and task.")
    tasks = set(options.tasks or CANDIDATE_TASKS)
    rows: list[_Row] = []
    skipped: list[str] = []
    keys: set[str] = set()
    for number, values in enumerate(columns.to_pylist(), start=1):
        file = table.parent / str(values["image"] or "")
        key = str(values.get("key") or sha256_hex(f"{values['image']}\n{values['instruction']}".encode())[:16])
        reason = ""
        if values["task"] not in tasks:
            reason = f"the task '{values['task']}' is not among those chosen"
        elif not values["instruction"]:
            reason = "the instruction is empty"
        elif not file.is_file():
            reason = f"there is no image {values['image']}"
        elif key in keys:
            reason = f"the key '{key}' was there before"
        if reason:
            skipped.append(f"row {number}: {reason}")
            continue
        keys.add(key)
        rows.append(_Row(key, file, str(values["instruction"]), str(values["task"])))
    if not rows:
        raise UserError(
            f"No row of {table} can be used: {skipped[0] if skipped else 'it has none'}.",
            hint="Tasks have the names of GEditBench v2, such as subject_add; see docs/guide/pvc.md.",
        )
    return rows, skipped


def _image_vectors(
    rows: Sequence[_Row], name: str, skipped: list[str], progress: Progress | None
) -> dict[str, NDArray[np.float32]]:
    embed = EMBEDDERS.get(name)
    vectors = {}
    for at, row in enumerate(rows, start=1):
        try:
            data = read_image_file(row.file)
            check_image(data)
            vectors[row.key] = embed(pixels(data))
        except InvalidImage as error:
            skipped.append(f"{row.key}: {str(error).partition(chr(10))[0]}")
        if progress is not None:
            progress("image features", at, len(rows))
    if not vectors:
        raise UserError("None of the images can be read.", hint="Check the files that the table names.")
    return vectors


def _text_vectors(texts: Sequence[str], name: str) -> NDArray[np.float32]:
    if name == "words":
        return hashed_words(texts)
    if name == "minilm":
        return embed_sentences(texts)
    if name == "clip":
        embed = clip_embedder(model_folder("clip-vit-large-patch14", "Text features"), "auto", "Text features")
        return np.stack([embed(text) for text in texts])
    raise unknown_name("There are no text features called", name, TEXT_FEATURES)
