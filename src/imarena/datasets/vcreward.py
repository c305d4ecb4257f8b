"""VCReward-Bench: pairs of edits with the one that experts found more consistent, and judges' answers about them.

    *.parquet or metadata.jsonl   key (<task>_pair_<n>), instruction, source_image, edited_images[2], winner, task
    *.jsonl with results          {"key", "results": {"winner", "gt_winner", "raw_responses"}}

The experts' choice becomes a vote on visual consistency; the models behind the images are not named. In result files,
a recorded answer becomes a judgment; `Failed` becomes a status, not an answer.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, file_sha256
from imarena.core.records import Item, Origin, Outcome, Output, Rater, Turn, Vote
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder
from imarena.datasets.geditbench_results import CONSISTENCY, is_result, outcome_of, result_judgment
from imarena.datasets.hf_parquet import picture_bytes
from imarena.datasets.imported import check_storable, skip_bad_file
from imarena.datasets.options import check_options
from imarena.datasets.rows import labelled_rows, read_each

SOURCE = "vcreward"
EXPERTS = "vcreward-experts"
_COLUMNS = ("key", "instruction", "source_image", "edited_images", "winner")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import VCReward-Bench. Options: dataset, judge (of the result files), licence."""
    check_options("vcreward", options, dataset=None, judge=None, licence=None)
    folder = Folder(path)
    pairs = _Pairs(folder, intake, options)
    yield from folder.unexpected_files()
    files = list(folder.walk())
    tables = [file for file in files if file.suffix == ".parquet" or file.name == "metadata.jsonl"]
    results = [file for file in files if file.suffix == ".jsonl" and file not in tables]
    if not tables and not results:
        raise UserError(
            f"{path} holds nothing of VCReward-Bench.", hint="Expected *.parquet, metadata.jsonl or results."
        )
    if tables:
        note = "The experts behind VCReward-Bench's labels, as one: the source does not tell them apart."
        yield Rater(rater_id=EXPERTS, role="expert", params={"note": note}, origin=Origin(source=SOURCE))
    for table in tables:
        yield from skip_bad_file(folder, folder.name(table), pairs.read_table(table))
    for file in results:
        yield from pairs.read_results(file)


class _Pairs:
    """The pairs read so far, so that result files can refer to them."""

    def __init__(self, folder: Folder, intake: Intake, options: Mapping[str, str]) -> None:
        self._folder = folder
        self._intake = intake
        self._shelf = DatasetIndex(intake, options.get("dataset", SOURCE))
        self._licence = options.get("licence")
        self._judge = options.get("judge")
        self._sides: dict[str, tuple[str, str, str]] = {}

    def read_table(self, path: Path) -> Iterator[Importable]:
        name, sha256 = self._folder.name(path), file_sha256(path)
        rows = labelled_rows(path, name, _COLUMNS, ("task",))
        return read_each(rows, name, lambda row, values: self._pair(values, name, row, sha256))

    def _pair(self, values: Mapping[str, Any], name: str, row: str, sha256: str) -> Iterator[Importable]:
        key, winner = _key_and_winner(values)
        check_storable([value for value in values.values() if isinstance(value, str)])
        edited = values["edited_images"]
        cells = [values["source_image"], *(edited if isinstance(edited, list) else ())]
        if len(cells) != 3:
            raise UserError(f"expected two edited images, got {len(cells) - 1}")
        images = [self._intake.keep(picture_bytes(cell, self._folder), name=f"{name} {row}") for cell in cells]
        task = values.get("task") or key.rpartition("_pair_")[0] or None
        item = Item(
            dataset=self._shelf.dataset,
            key=key,
            turns=(Turn(instruction=values["instruction"]),),
            sources=(images[0],),
            taxonomy="geditbench_v2",
            task=task,
            licence=self._licence,
            origin=Origin(source=SOURCE, file=name, file_sha256=sha256, row=f"key {key}"),
        )
        entry = self._shelf.place_item(item, name, row)
        yield entry
        if isinstance(entry, Skip):
            return
        outputs = [
            Output(
                item_id=item.item_id,
                editor=None,
                image=image,
                origin=Origin(source=SOURCE, file=name, row=f"{key} {side}"),
            )
            for side, image in zip(("left", "right"), images[1:], strict=True)
        ]
        yield from outputs
        left_id, right_id = (output.output_id for output in outputs)
        self._sides[key] = (item.item_id, left_id, right_id)
        yield Vote(
            rater_id=EXPERTS,
            item_id=item.item_id,
            left_id=left_id,
            right_id=right_id,
            dimension=CONSISTENCY,
            preference=winner,
            origin=Origin(source=SOURCE, file=name, row=f"key {key}"),
        )

    def read_results(self, path: Path) -> Iterator[Importable]:
        name = self._folder.name(path)
        return read_each(labelled_rows(path, name), name, lambda _, values: self._result(values, name))

    def _result(self, values: Mapping[str, Any], name: str) -> Iterator[Importable]:
        key = values.get("key")
        if not is_result(values) or not isinstance(key, str):
            raise UserError("expected an object with key and results")
        if key not in self._sides:
            raise UserError(f"there is no pair '{key}' in this import")
        check_storable(values)
        origin = Origin(source=SOURCE, file=name, row=f"{Path(name).parent.name} {key}")
        yield from result_judgment(values["results"], self._sides[key], origin, CONSISTENCY, self._judge)


def _key_and_winner(values: Mapping[str, Any]) -> tuple[str, Outcome]:
    for column in _COLUMNS:
        if column not in values:
            raise UserError(f"the field {column} is missing")
    key, instruction = values["key"], values["instruction"]
    if not isinstance(key, str) or not key or not isinstance(instruction, str):
        raise UserError("the key or the instruction is not a text")
    winner = outcome_of(values["winner"])
    if winner is None:
        raise UserError(f"unknown outcome {values['winner']!r}: expected 'Image A', 'Image B' or 'Tie'")
    return key, winner
