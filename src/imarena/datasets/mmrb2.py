"""Multimodal RewardBench 2: pairs with people's preferences, and judges' predictions.

    *.json  {"pairs": [{"id", "prompt_content", "response_a", "response_b", "chosen", "human_annotations"}]}
    *.json  {"<id>": {"forward": [{"judgement", "evaluator"}], "reverse": [...]}}

Both the file's `id` and `model_name` and the README's `pair_id` and `model` are read. Annotations are on a scale from 1
(second response much better) to 6 (first much better). Each is a vote; the three raters of a pair are not the same
people for all pairs, so raters are identified only by their position. With `votes=chosen`, or without annotations,
the released label `chosen` is the only vote. The data are CC BY-NC and meant for benchmarking only.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, file_sha256
from imarena.core.records import ImageRef, Item, Judgment, Order, Origin, Outcome, Output, Rater, Status, Turn, Vote
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, read_json
from imarena.datasets.imported import (
    BAD_ROW,
    check_storable,
    json_facts,
    judgment_facts,
    keep_file,
    one_line,
)
from imarena.datasets.options import check_options
from imarena.datasets.rows import read_each

SOURCE = "mmrb2"
LABEL = "mmrb2-label"
UNRECORDED = "mmrb2-judge-not-recorded"
_SIDES = {"A": Outcome.LEFT, "B": Outcome.RIGHT}
_LICENCE = "CC BY-NC 4.0"


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import pairs and predictions. Options: dataset, judge, licence, votes (annotators or chosen)."""
    check_options("mmrb2", options, dataset=None, judge=None, licence=None, votes=("annotators", "chosen"))
    folder = Folder(path)
    pairs = _Pairs(folder, intake, options)
    predictions: list[tuple[str, str, dict[str, Any]]] = []
    is_mmrb2 = False
    yield from folder.unexpected_files()
    for file in folder.walk("*.json"):
        name = folder.name(file)
        try:
            value = read_json(file)
        except BAD_ROW as error:
            yield Skip(name, "", one_line(error))
            continue
        if isinstance(value, dict) and isinstance(value.get("pairs"), list):
            is_mmrb2 = True
            yield from pairs.read_pairs(value["pairs"], name, file_sha256(file), Path(name).stem)
        elif isinstance(value, dict) and any(_is_prediction(entry) for entry in value.values()):
            is_mmrb2 = True
            predictions.append((name, file_sha256(file), value))
        else:
            yield Skip(name, "", "neither pairs nor predictions")
    if not is_mmrb2:
        raise UserError(f"{path} holds no MMRB2 file.", hint='Expected JSON with "pairs", or predictions by pair id.')
    for name, sha256, value in predictions:
        yield from pairs.read_predictions(value, name, sha256)


def _is_prediction(entry: Any) -> bool:
    return isinstance(entry, dict) and ("forward" in entry or "reverse" in entry)


class _Pairs:
    """The pairs read so far, so that predictions can refer to them."""

    def __init__(self, folder: Folder, intake: Intake, options: Mapping[str, str]) -> None:
        self._folder = folder
        self._intake = intake
        self._options = options
        self._index = DatasetIndex(intake, options.get("dataset", SOURCE))
        self._raters: set[str] = set()
        self._sides: dict[str, tuple[str, str, str]] = {}
        self._home = Path()

    def read_pairs(self, pairs: list[Any], name: str, sha256: str, task: str) -> Iterator[Importable]:
        self._home = Path(name).parent  # image paths are relative to their file
        rows = ((f"pair {number}", pair) for number, pair in enumerate(pairs))
        return read_each(rows, name, lambda row, pair: self._pair(pair, name, row, sha256, task))

    def _pair(self, pair: Any, name: str, row: str, sha256: str, task: str) -> Iterator[Importable]:
        if not isinstance(pair, dict):
            raise UserError("expected an object")
        check_storable(pair)
        key = _text(pair, "id", "pair_id")
        votes = self._votes(pair)
        responses = [self._response(pair, side) for side in ("response_a", "response_b")]
        item = self._item(pair, key, task, Origin(source=SOURCE, file=name, file_sha256=sha256, row=key))
        entry = self._index.place_item(item, name, row)
        yield entry
        if isinstance(entry, Skip):
            return
        outputs = []
        for number, (model, image) in enumerate(responses):
            sample = int(number == 1 and model == responses[0][0])  # one model against itself: its second sample
            origin = Origin(source=SOURCE, file=name, row=f"{key} {'left' if number == 0 else 'right'}")
            outputs.append(Output(item_id=item.item_id, editor=model, sample=sample, image=image, origin=origin))
        yield from outputs
        sides = (item.item_id, outputs[0].output_id, outputs[1].output_id)
        self._sides[key] = sides
        for rater_id, preference, ratings in votes:
            yield from self._rater(rater_id)
            yield Vote(
                rater_id=rater_id,
                item_id=sides[0],
                left_id=sides[1],
                right_id=sides[2],
                preference=preference,
                ratings=ratings,
                scale=(1, 6) if ratings else None,
                origin=Origin(source=SOURCE, file=name, row=f"{key} {rater_id}"),
            )

    def _item(self, pair: Mapping[str, Any], key: str, task: str, origin: Origin) -> Item:
        texts: list[str] = []
        sources: list[ImageRef] = []
        absent: list[str] = []
        content = pair.get("prompt_content")
        for kind, value in _parts(content, "prompt_content") if content is not None else ():
            if kind == "text":
                texts.append(value)
                continue
            image = self._picture(value)
            if image is None:
                absent.append(value)
            else:
                sources.append(image)
        if content is None:
            absent.append(f"the prompt of {key}")
        metadata = pair.get("prompt_metadata")
        return Item(
            dataset=self._index.dataset,
            key=key,
            turns=(Turn(instruction="\n".join(texts)),),
            sources=tuple(sources),
            absent=tuple(absent),
            task=task.removesuffix("_response_only"),
            licence=self._options.get("licence", _LICENCE),
            provenance={
                "prompt_source": json_facts(pair.get("prompt_source")),
                "prompt_metadata": json_facts(metadata),
            },
            origin=origin,
        )

    def _response(self, pair: Mapping[str, Any], side: str) -> tuple[str, ImageRef | None]:
        response = pair.get(side)
        if not isinstance(response, dict):
            raise UserError(f"the field {side} is missing")
        model = _text(response, "model_name", "model")
        parts = _parts(response.get("response_content"), f"{side}.response_content")
        images = [value for kind, value in parts if kind == "image"]
        if len(images) != 1 or len(parts) != 1:
            raise UserError(f"{side} is not one image; interleaved and text answers are not imported")
        return model, self._picture(images[0])

    def _picture(self, path: str) -> ImageRef | None:
        """The image, or None if it is not in the folder. Raises if it cannot be read."""
        name = str(self._home / path)
        return keep_file(self._intake, self._folder, name) if self._folder.has(name) else None

    def _votes(self, pair: Mapping[str, Any]) -> list[tuple[str, Outcome, dict[str, float]]]:
        side = pair.get("chosen")
        if not isinstance(side, str) or side not in _SIDES:
            raise UserError(f"unknown outcome {side!r}: expected 'A' or 'B'")
        marks = pair.get("human_annotations")
        if self._options.get("votes") == "chosen" or not isinstance(marks, list) or not marks:
            return [(LABEL, _SIDES[side], {})]
        votes = []
        for number, mark in enumerate(marks, start=1):
            if isinstance(mark, bool) or not isinstance(mark, int | float) or not 1 <= mark <= 6:
                raise UserError(f"annotation {number} is {mark!r}, outside the scale 1 to 6")
            outcome = Outcome.TIE if mark == 3.5 else Outcome.LEFT if mark > 3.5 else Outcome.RIGHT
            votes.append((f"mmrb2-annotator-{number}", outcome, {"preference": float(mark)}))
        return votes

    def _rater(self, rater_id: str) -> Iterator[Rater]:
        if rater_id not in self._raters:
            self._raters.add(rater_id)
            note = (
                "The released label of each pair."
                if rater_id == LABEL
                else "A place in the list of annotations; not the same person from pair to pair."
            )
            yield Rater(rater_id=rater_id, params={"note": note}, origin=Origin(source=SOURCE))

    def read_predictions(self, value: Mapping[str, Any], name: str, sha256: str) -> Iterator[Importable]:
        for key, entry in value.items():
            if key not in self._sides:
                yield Skip(name, f"pair {key}", "there is no such pair in this import")
                continue
            for direction, order in (("forward", Order.LEFT_FIRST), ("reverse", Order.RIGHT_FIRST)):
                answers = entry.get(direction) if isinstance(entry, dict) else None
                for number, answer in enumerate(answers if isinstance(answers, list) else ()):
                    origin = Origin(source=SOURCE, file=name, file_sha256=sha256, row=f"{key} {direction} {number}")
                    try:
                        yield self._judgment(answer, self._sides[key], order, number, origin)
                    except BAD_ROW as error:
                        yield Skip(name, f"pair {key} {direction}", one_line(error))

    def _judgment(
        self, answer: Any, sides: tuple[str, str, str], order: Order, repeat: int, origin: Origin
    ) -> Judgment:
        if not isinstance(answer, dict):
            raise UserError("expected an object with judgement")
        check_storable(answer)
        judge = self._options.get("judge") or str(answer.get("evaluator") or UNRECORDED)
        facts = {**judgment_facts(origin, judge, *sides, order), "repeat": repeat}
        label = answer.get("judgement")
        if label is None or label == "":
            return Judgment(**facts, status=Status.UNPARSABLE, error="the prediction holds no judgement")
        outcome = Outcome.TIE if label == "Tie" else _SIDES.get(label) if isinstance(label, str) else None
        if outcome is None:
            raise UserError(f"unknown outcome {label!r}: expected 'A', 'B' or 'Tie'")
        return Judgment(**facts, preference=outcome if order is Order.LEFT_FIRST else outcome.mirrored())


def _text(values: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value:
            return value
    raise UserError(f"the field {' or '.join(names)} is missing")


def _parts(content: Any, name: str) -> list[tuple[str, str]]:
    """[("text", words), ("image", path), ...] in the order of the source."""
    if not isinstance(content, list):
        raise UserError(f"the field {name} is missing")
    parts = []
    for part in content:
        if not (
            isinstance(part, list) and len(part) == 2 and part[0] in ("text", "image") and isinstance(part[1], str)
        ):
            raise UserError(f"{name} holds something that is neither text nor image")
        parts.append((part[0], part[1]))
    return parts
