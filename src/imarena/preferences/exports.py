"""Pairs as training data: chats, TRL preferences, diffusion DPO, and a benchmark like VCReward-Bench."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imarena.core import unknown_name
from imarena.core.records import ImageRef, Outcome
from imarena.images import SUFFIXES
from imarena.preferences.pair import IMAGES_FOLDER, PreferencePair, write_pair_file
from imarena.preferences.training.examples import ANSWERS, winner_answer

ReadImage = Callable[[ImageRef], bytes]
AskedPair = Callable[[PreferencePair, tuple[bytes, bytes, bytes]], tuple[str, tuple[str | bytes, ...]]]
"""Builds the judge's question from a pair and its source, left and right image: system message and parts."""
EXPORTS = ("training", "trl", "diffusion-dpo", "vcreward", "pairs")


@dataclass(frozen=True)
class ExportReport:
    """Summary of an export."""

    format: str
    rows: Mapping[str, int]
    """Number of rows by part of the split."""
    ties_left_out: int
    images: int


class ImageFolder:
    """The images of an export, each stored once under its hash."""

    def __init__(self, folder: Path, load: ReadImage) -> None:
        self._folder, self._load = folder / IMAGES_FOLDER, load
        self.names: dict[str, str] = {}

    def add(self, image: ImageRef) -> str:
        """Write an image; returns its path relative to the export."""
        if image.sha256 not in self.names:
            self._folder.mkdir(parents=True, exist_ok=True)
            name = image.sha256 + SUFFIXES.get(image.media_type, ".png")
            (self._folder / name).write_bytes(self._load(image))
            self.names[image.sha256] = f"{IMAGES_FOLDER}/{name}"
        return self.names[image.sha256]


def export_pairs(
    form: str, parts: Mapping[str, Sequence[PreferencePair]], folder: Path, load: ReadImage, ask: AskedPair
) -> ExportReport:
    """Write the parts of a split in one format, one file per part. Ties have no preferred image and are left out,
    except in `pairs` and `vcreward`, which support them.
    """
    if form not in EXPORTS:
        raise unknown_name("There is no export called", form, EXPORTS)
    folder.mkdir(parents=True, exist_ok=True)
    images = ImageFolder(folder, load)
    rows: dict[str, int] = {}
    left_out = 0
    for part, pairs in parts.items():
        exported = [pair for pair in pairs if form in ("pairs", "vcreward") or pair.winner is not Outcome.TIE]
        left_out += len(pairs) - len(exported)
        if not exported:
            continue
        rows[part] = len(exported)
        if form == "pairs":
            for pair in exported:
                for image in (pair.source, pair.left, pair.right):
                    images.add(image)
            write_pair_file(folder / f"{part}.jsonl", exported)
        elif form == "training":
            _write_lines(folder / f"{part}.jsonl", (_chat_row(pair, images, load, ask) for pair in exported))
        elif form == "trl":
            _write_lines(folder / f"{part}.jsonl", (_trl_row(pair, images, load, ask) for pair in exported))
        elif form == "diffusion-dpo":
            _write_parquet(folder / f"{part}.parquet", [_dpo_row(pair, load) for pair in exported])
        else:
            _write_benchmark(folder / f"{part}.parquet", exported, load)
    return ExportReport(form, rows, left_out, len(images.names))


def _letters(pair: PreferencePair) -> tuple[str, str]:
    """The correct answer and the wrong one."""
    return ANSWERS if pair.winner is Outcome.LEFT else (ANSWERS[1], ANSWERS[0])


def _question(pair: PreferencePair, images: ImageFolder, load: ReadImage, ask: AskedPair) -> list[dict[str, Any]]:
    """The judge's question as messages, with image paths instead of images."""
    blobs = {ref.sha256: load(ref) for ref in (pair.source, pair.left, pair.right)}
    paths = {data: images.add(ref) for ref in (pair.source, pair.left, pair.right) for data in (blobs[ref.sha256],)}
    system, parts = ask(pair, (blobs[pair.source.sha256], blobs[pair.left.sha256], blobs[pair.right.sha256]))
    content = [
        {"type": "text", "text": part} if isinstance(part, str) else {"type": "image", "image": paths[part]}
        for part in parts
    ]
    return [{"role": "system", "content": [{"type": "text", "text": system}]}, {"role": "user", "content": content}]


def _answer(letter: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": winner_answer(letter)}]}


def _chat_row(pair: PreferencePair, images: ImageFolder, load: ReadImage, ask: AskedPair) -> dict[str, Any]:
    right, _ = _letters(pair)
    return {
        "messages": [*_question(pair, images, load, ask), _answer(right)], "winner": right, "task": pair.task,
        "item": pair.item, "pair": pair.pair_id,
    }  # fmt: skip


def _trl_row(pair: PreferencePair, images: ImageFolder, load: ReadImage, ask: AskedPair) -> dict[str, Any]:
    question = _question(pair, images, load, ask)
    files = [part["image"] for message in question for part in message["content"] if part["type"] == "image"]
    for message in question:
        message["content"] = [part if part["type"] == "text" else {"type": "image"} for part in message["content"]]
    right, wrong = _letters(pair)
    return {
        "prompt": question, "chosen": [_answer(right)], "rejected": [_answer(wrong)], "images": files,
        "task": pair.task, "item": pair.item,
    }  # fmt: skip


def _dpo_row(pair: PreferencePair, load: ReadImage) -> dict[str, Any]:
    return {
        "jpg_0": load(pair.left), "jpg_1": load(pair.right), "label_0": float(pair.winner is Outcome.LEFT),
        "label_1": float(pair.winner is Outcome.RIGHT), "caption": pair.instruction, "jpg_source": load(pair.source),
        "task": pair.task, "item": pair.item,
    }  # fmt: skip


_WINNERS = {Outcome.LEFT: "Image A", Outcome.RIGHT: "Image B", Outcome.TIE: "Tie"}


def _write_benchmark(path: Path, pairs: Sequence[PreferencePair], load: ReadImage) -> None:
    """Rows as in VCReward-Bench: key `<task>_pair_<n>`, numbered within the task."""
    rows, numbers = [], dict.fromkeys({pair.task for pair in pairs}, 0)
    for pair in pairs:
        rows.append(
            {
                "key": f"{pair.task}_pair_{numbers[pair.task]}", "instruction": pair.instruction,
                "source_image": {"bytes": load(pair.source), "path": None},
                "edited_images": [{"bytes": load(side), "path": None} for side in (pair.left, pair.right)],
                "winner": _WINNERS[pair.winner], "task": pair.task,
            }
        )  # fmt: skip
        numbers[pair.task] += 1
    _write_parquet(path, rows)


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
