"""Write a GenArena folder: `data/<subset>/` for the benchmark, `arena/<subset>/` for outputs and logs.

GenArena has one instruction per item, one verdict per pair and no failures. What it cannot represent is left out and
counted, never turned into a tie. A battle with a failed call keeps its audit line (without a winner) but has no battle
line, so that GenArena will run it again.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from imarena.core import Archive, ImarenaError, Skip, UserError, error_line, unknown_name
from imarena.core.records import Item, Mode, Output, Status, Vote, now
from imarena.datasets.folder import safe_name
from imarena.datasets.genarena.battle_logs import NO_SCORES, BattleWriter, OutputLocation
from imarena.datasets.native.columns import RowWriter
from imarena.datasets.native.records import new_directory
from imarena.datasets.options import check_options

NAMES_FILE = "model_names.json"
"""File next to an experiment's model folders: folder -> model, for models whose names cannot be folder names."""
NO_VOTES = ("votes", "GenArena has no place for votes of people")
NO_PLACE = frozenset({NO_VOTES, ("judgments", NO_SCORES)})
"""Kinds of records that the format cannot represent at all."""
_ROWS = 16
_SUFFIX = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
_EXPERIMENT = re.compile(r".+_\d{8}")
_IN_TREE = re.compile(r"(?:^|/)models/([^/]+)/[^/]+/[^/]+$")


def write(directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]:
    """Export one data set. Options: dataset (required if there are several), experiment (ends in _yyyymmdd)."""
    check_options("genarena", options, dataset=None, experiment=None)
    experiment = options.get("experiment") or f"imarena_export_{now():%Y%m%d}"
    if not _EXPERIMENT.fullmatch(experiment) or safe_name(experiment) != experiment:
        raise UserError(
            f"'{experiment}' is no name for a GenArena experiment.",
            hint="It must end in _yyyymmdd, like lab_run_20260131.",
        )
    dataset = _dataset(archive, options.get("dataset"))
    new_directory(directory)
    left_out: Counter[tuple[str, str]] = Counter()
    rows: dict[str, tuple[str, int]] = {}
    yield from _write_items(directory / "data", archive, dataset, rows)
    outputs: dict[str, OutputLocation] = {}
    yield from _write_outputs(directory / "arena", archive, rows, experiment, outputs, left_out)
    battles = BattleWriter(directory / "arena", experiment, outputs, left_out)
    battles.write(archive)
    for vote in archive.records(Vote):
        if vote.item_id in rows:
            left_out[NO_VOTES] += 1
    for (name, why), count in sorted(left_out.items()):
        yield Skip(name, "", f"{count} left out: {why}", by_format=(name, why) in NO_PLACE)


def _dataset(archive: Archive, name: str | None) -> str:
    names = sorted({item.dataset for item in archive.records(Item)})
    if name is not None and name not in names:
        raise unknown_name("There is no data set", name, names)
    if name is None and len(names) != 1:
        raise UserError(
            "A GenArena folder holds one data set." if names else "There are no items to export.",
            hint=f"Choose one with the option dataset=NAME: {', '.join(names)}." if names else "",
        )
    return name if name is not None else names[0]


def _write_items(root: Path, archive: Archive, dataset: str, rows: dict[str, tuple[str, int]]) -> Iterator[Skip]:
    """Write one Parquet file per subset; the subset and index of each item are added to `rows`."""
    numbers: dict[str, set[int]] = {}
    tables: dict[str, _Table] = {}
    with ExitStack() as stack:
        for item in _numbered_first(archive, dataset):
            subset = safe_name(item.track or dataset)
            index = _index(item, numbers.setdefault(subset, set()))
            numbers[subset].add(index)
            rows[item.item_id] = (subset, index)
            if item.absent:
                continue  # known only from logs, which restore it on import
            if len(item.turns) > 1 or item.masks or item.turns[0].masks:
                yield Skip("items", item.key, "GenArena items have one instruction and no masks")
                continue
            if subset not in tables:
                tables[subset] = stack.enter_context(_Table(root / subset / "data-00000-of-00001.parquet"))
            try:
                tables[subset].add(item, index, archive)
            except (ImarenaError, OSError) as error:
                yield Skip("items", item.key, error_line(error))


def _numbered_first(archive: Archive, dataset: str) -> Iterator[Item]:
    """Items with a number in their key come first, so that no other item takes that number."""
    for numbered in (True, False):
        for item in archive.records(Item):
            if item.dataset == dataset and (_number(item) is not None) == numbered:
                yield item


def _number(item: Item) -> int | None:
    track, _, digits = item.key.rpartition("/")
    return int(digits) if track == (item.track or "") and digits.isascii() and digits.isdigit() else None


def _index(item: Item, numbers: set[int]) -> int:
    number = _number(item)
    if number is not None and number not in numbers:
        return number
    return max(numbers, default=-1) + 1


class _Table(RowWriter):
    """A benchmark file that is written in small row groups."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        path.parent.mkdir(parents=True, exist_ok=True)
        picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        schema = pa.schema(
            [
                ("index", pa.int64()),
                ("task_type", pa.string()),
                ("instruction", pa.string()),
                ("input_images", pa.list_(picture)),
                ("prompt_source", pa.string()),
                ("original_metadata", pa.string()),
            ]
        )
        super().__init__(path, schema, "snappy")

    def add(self, item: Item, index: int, archive: Archive) -> None:
        images = (*item.sources, *item.references, *item.turns[0].references)
        metadata = item.provenance.get("original_metadata")
        source = item.provenance.get("prompt_source")
        self._rows.append(
            {
                "index": index,
                "task_type": item.task or "edit",
                "instruction": item.instruction,
                "input_images": [{"bytes": archive.load(image), "path": None} for image in images],
                "prompt_source": source if isinstance(source, str) else None,
                "original_metadata": metadata
                if metadata is None or isinstance(metadata, str)
                else json.dumps(metadata),
            }
        )
        if len(self._rows) == _ROWS:
            self._flush()


def _write_outputs(
    root: Path,
    archive: Archive,
    rows: Mapping[str, tuple[str, int]],
    experiment: str,
    outputs: dict[str, OutputLocation],
    left_out: Counter[tuple[str, str]],
) -> Iterator[Skip]:
    """Write images to folders with the model's (safe) name; each output's location is added to `outputs`."""
    names: dict[Path, dict[str, str]] = {}
    homes: dict[tuple[str, str], str] = {}
    for output in archive.records(Output):
        if output.item_id not in rows:
            continue
        reason = _cannot(output)
        if output.editor is None or reason:
            left_out["outputs", reason] += 1
            continue
        subset, index = rows[output.item_id]
        outputs[output.output_id] = OutputLocation(subset, index, output.editor)
        if output.image is None:
            continue  # imported without pixels; its battles name it
        suffix = _SUFFIX.get(output.image.media_type)
        if suffix is None:
            left_out["outputs", f"GenArena does not read {output.image.media_type}"] += 1
            continue
        home = homes.setdefault((subset, output.editor), _experiment_of(output) or experiment)
        folder = root / subset / "models" / home / safe_name(output.editor)
        folder.mkdir(parents=True, exist_ok=True)
        if folder.name != output.editor:
            names.setdefault(folder.parent, {})[folder.name] = output.editor
        try:
            (folder / f"{index:06d}{suffix}").write_bytes(archive.load(output.image))
        except (ImarenaError, OSError) as error:
            yield Skip("outputs", output.output_id, error_line(error))
    for parent, model_names in names.items():
        (parent / NAMES_FILE).write_text(json.dumps(model_names, indent=1, sort_keys=True), encoding="utf-8")


def _cannot(output: Output) -> str:
    if output.editor is None:
        return "the model is not named"
    if output.status is not Status.OK:
        return "the attempt failed"
    if output.mode is not Mode.SINGLE or output.turn or output.sample:
        return "GenArena has one image per model and item"
    return ""


def _experiment_of(output: Output) -> str | None:
    """The experiment that an output was imported from."""
    if output.origin is None or output.origin.source != "genarena":
        return None
    match = _IN_TREE.search(output.origin.file)
    return match[1] if match and safe_name(match[1]) == match[1] else None
