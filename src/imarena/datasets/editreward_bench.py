"""TIGER-Lab's EditReward: EditReward-Bench (not EditScore's, which has the same name) and its training JSON.

    2pair/*.parquet, 3pair/..., 4pair/...   id, instruction, source_image, candidate_1..4, ranking, model_i, score_i,
                                            comparison_type
    valid_dataset_1.json                    prompt, path_src, path1, path2, model1, model2, tie_case, ...

`ranking` names the candidates A, B, C, D ("A>B", "A>B=C"); every pair of them is one vote. Where `comparison_type`
says "AvsC", candidate_1 is A and candidate_2 is C of a larger group. In the training JSON `model1` always won
(unless `tie_case`), so the winner's side is drawn from a hash of the row; its `*_overall_score` fields are noise and
are not read.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, first_line, sha256_hex
from imarena.core.records import ImageRef, Item, Origin, Outcome, Rater, Turn, Vote
from imarena.datasets.folder import Folder
from imarena.datasets.options import check_options
from imarena.datasets.pairs import SharedEntries, side_of_winner
from imarena.datasets.rows import (
    files_of,
    find_picture,
    links_outside,
    read_each,
    required_picture,
    required_text,
    rows_of,
)

DATASET = "editreward/EditReward-Bench"
LETTERS = "ABCD"
SCALE = (1.0, 4.0)
_FIELDS = ("id", "instruction", "source_image", "candidate_1", "candidate_2", "ranking")
_OPTIONAL = (
    "candidate_3", "candidate_4", "model_1", "model_2", "model_3", "model_4",
    "score_1", "score_2", "score_3", "score_4", "comparison_type", "dataset",
)  # fmt: skip
_TRAINING = ("prompt", "path_src", "path1", "path2", "model1", "model2")
_VERSUS = re.compile(r"([A-D])vs([A-D])")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import the benchmark from Parquet and training pairs from JSON. Option: dataset."""
    check_options("editreward_bench", options, dataset=None)
    folder = Folder(path)
    entries: dict[str, SharedEntries] = {}
    yield from links_outside(folder)
    for file in files_of(folder):
        training = _is_training(folder, file)
        dataset = options.get("dataset") or (f"editreward/{file.stem}" if training else DATASET)
        rater_id = f"{dataset}/people"
        if dataset not in entries:
            entries[dataset] = SharedEntries(intake, dataset)
            yield Rater(rater_id=rater_id, origin=Origin(source=dataset))
        reader = _training if training else _benchmark
        yield from reader(folder, file, entries[dataset], intake, rater_id)


def _is_training(folder: Folder, file: Path) -> bool:
    if file.suffix.lower() == ".parquet":
        return False
    first = next((row for row in rows_of(folder, file, ()) if not isinstance(row, Skip)), None)
    return first is not None and "path_src" in first[1]


# ---------------------------------------------------------------- the benchmark


def parse_ranking(text: str, letters: str) -> dict[str, int]:
    """Rank by letter, from 0 (best); equal candidates share a rank. Every letter must occur exactly once."""
    compact = "".join(text.split()).upper()
    ranks: dict[str, int] = {}
    for rank, group in enumerate(compact.split(">")):
        for letter in group.split("="):
            if letter in ranks or letter not in letters or len(letter) != 1:
                raise UserError(f"the ranking '{text}' is not a ranking of {', '.join(letters)}")
            ranks[letter] = rank
    if len(ranks) != len(letters):
        raise UserError(f"the ranking '{text}' is not a ranking of {', '.join(letters)}")
    return ranks


def _benchmark(folder: Folder, file: Path, pairs: SharedEntries, intake: Intake, rater_id: str) -> Iterator[Importable]:
    name = folder.name(file)
    marks: set[str] = set()

    def read_row(place: str, values: dict[str, Any]) -> Iterator[Importable]:
        letters = _letters(values)
        ranks = parse_ranking(required_text(values, "ranking"), letters)
        group = _group(values, file, letters, marks)
        source = required_picture(values, "source_image", folder, intake)
        fields = {letter: f"candidate_{n}" for n, letter in enumerate(letters, start=1)}
        images = {letter: required_picture(values, field, folder, intake) for letter, field in fields.items()}
        item = _item(pairs.dataset, group, values, source)
        if pairs.holds_other(item):  # IDs that only look as if they belong to one group
            item = _item(pairs.dataset, f"{group.split('/')[0]}/{values['id']}", values, source)
        if (yield from pairs.item(item, name, place)):
            yield from _votes(pairs, item, images, ranks, values, rater_id)

    return read_each(rows_of(folder, file, _FIELDS, _OPTIONAL), name, read_row, first_line)


def _item(dataset: str, key: str, values: Mapping[str, Any], source: ImageRef) -> Item:
    return Item(
        dataset=dataset,
        key=key,
        turns=(Turn(instruction=required_text(values, "instruction")),),
        sources=(source,),
        provenance={"benchmark": "EditReward-Bench (TIGER-Lab)"},
    )


def _letters(values: Mapping[str, Any]) -> str:
    """The letters of candidate_1, candidate_2, ... in that order."""
    required_text(values, "instruction")
    count = sum(values.get(f"candidate_{n}") is not None for n in range(1, 5))
    versus = _VERSUS.fullmatch(str(values.get("comparison_type") or ""))
    if versus and count == 2:
        if versus.group(1) == versus.group(2):
            raise UserError(f"the comparison {versus.group(0)} is of one candidate with itself")
        return versus.group(1) + versus.group(2)
    if any(values.get(f"candidate_{n}") is None for n in range(1, count + 1)) or count < 2:
        raise UserError("a candidate is missing")
    return LETTERS[:count]


def _group(values: Mapping[str, Any], file: Path, letters: str, marks: set[str]) -> str:
    """The item's key, which all rows about candidates of one larger group share."""
    row = str(values["id"])
    part = str(values.get("dataset") or file.parent.name)
    versus = _VERSUS.fullmatch(str(values.get("comparison_type") or ""))
    group = f"{part}/{row.split('_', maxsplit=1)[0] if versus and part != '2pair' else row}"
    mark = f"{part}/{row}/{letters}"
    if mark in marks:
        raise UserError(f"the id '{row}' appears twice")
    marks.add(mark)
    return group


def _votes(
    pairs: SharedEntries,
    item: Item,
    images: Mapping[str, ImageRef],
    ranks: Mapping[str, int],
    values: Mapping[str, Any],
    rater_id: str,
) -> Iterator[Importable]:
    ids: dict[str, str] = {}
    scores: dict[str, float] = {}
    for number, (letter, image) in enumerate(images.items(), start=1):
        editor = values.get(f"model_{number}")
        origin = Origin(source=pairs.dataset, row=f"{item.key}/{letter}")
        ids[letter] = yield from pairs.output(item, str(editor) if editor else None, image, origin)
        score = values.get(f"score_{number}")
        if isinstance(score, int | float) and not isinstance(score, bool):
            scores[letter] = float(score)
    for left, right in combinations(images, 2):
        gap = ranks[right] - ranks[left]
        scored = left in scores and right in scores
        yield Vote(
            rater_id=rater_id,
            item_id=item.item_id,
            left_id=ids[left],
            right_id=ids[right],
            preference=Outcome.TIE if gap == 0 else Outcome.LEFT if gap > 0 else Outcome.RIGHT,
            ratings={"left.score": scores[left], "right.score": scores[right]} if scored else {},
            origin=Origin(source=pairs.dataset, row=f"{item.key}/{left}-{right}"),
        )


# ---------------------------------------------------------------- training pairs


def _training(folder: Folder, file: Path, pairs: SharedEntries, intake: Intake, rater_id: str) -> Iterator[Importable]:
    name = folder.name(file)
    marks: set[str] = set()

    def read_row(place: str, values: dict[str, Any]) -> Iterator[Importable]:
        texts = {field: required_text(values, field) for field in _TRAINING}
        mark = f"{texts['path_src']}/{texts['path1']}/{texts['path2']}/{_digest(texts['prompt'])}"
        tie = _tie(values, mark, marks)
        ratings = _ratings(values)
        images = {field: find_picture(texts[field], folder, intake) for field in ("path_src", "path1", "path2")}
        key = f"{texts['path_src']}#{_digest(texts['prompt'])}"
        source = images["path_src"]
        item = Item(
            dataset=pairs.dataset,
            key=key,
            turns=(Turn(instruction=texts["prompt"]),),
            sources=(source,) if source else (),
            absent=() if source else (texts["path_src"],),
            origin=None if source else Origin(source=pairs.dataset, row=key),
            provenance={"benchmark": "EditReward"},
        )
        if not (yield from pairs.item(item, name, place)):
            return
        ids = []
        for number in ("1", "2"):
            origin = Origin(source=pairs.dataset, row=texts[f"path{number}"])
            output_id = yield from pairs.output(item, texts[f"model{number}"], images[f"path{number}"], origin)
            ids.append(output_id)
        yield _preference(item, ids, tie, ratings, mark, rater_id)

    return read_each(rows_of(folder, file, _TRAINING), name, read_row, first_line)


def _preference(
    item: Item, ids: list[str], tie: bool, ratings: Mapping[tuple[str, str], float], mark: str, rater_id: str
) -> Vote:
    side = side_of_winner(mark)
    sides = {"1": side.value, "2": side.mirrored().value}
    return Vote(
        rater_id=rater_id,
        item_id=item.item_id,
        left_id=ids[0] if side is Outcome.LEFT else ids[1],
        right_id=ids[1] if side is Outcome.LEFT else ids[0],
        preference=Outcome.TIE if tie else side,
        ratings={f"{sides[number]}.{meaning}": value for (number, meaning), value in ratings.items()},
        scale=SCALE if ratings else None,
        origin=Origin(source=item.dataset, row=mark),
    )


def _tie(values: Mapping[str, Any], mark: str, marks: set[str]) -> bool:
    tie = values.get("tie_case") or False
    if not isinstance(tie, bool):
        raise UserError(f"tie_case is {tie!r}, not true or false")
    if mark in marks:
        raise UserError("the same pair appears twice")
    marks.add(mark)
    return tie


def _ratings(values: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Instruction following (dim1) and visual quality (dim2), 1 to 4, by model number."""
    ratings: dict[tuple[str, str], float] = {}
    for number in ("1", "2"):
        for dimension, meaning in (("dim1", "instruction_following"), ("dim2", "visual_quality")):
            value = values.get(f"model{number}_{dimension}_score")
            if value is None:
                continue
            if not isinstance(value, int | float) or isinstance(value, bool) or not SCALE[0] <= value <= SCALE[1]:
                raise UserError(f"model{number}_{dimension}_score is {value!r}, not a number from 1 to 4")
            ratings[number, meaning] = float(value)
    return ratings


def _digest(text: str) -> str:
    return sha256_hex(text.encode("utf-8", "surrogatepass"))[:12]
