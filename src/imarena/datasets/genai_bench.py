"""GenAI-Bench: pairs with one human vote each, and recorded judge answers.

    image_generation.json     [{"idx", "prompt", "human_vote", "votes": {judge: [label or null, right?]}}]
    image_edition/*.parquet   source_image, left_output_image, right_output_image, instruct_prompt, vote_type,
                              left_model, right_model;   generation: prompt, left_image, right_image, ...
    <judge>.jsonl             idx, response, model_vote, human_vote        (results; the judge is the file's name)

The data set is `genai_bench/<configuration>`; the key is the row's idx. If a file does not name the models, the
outputs have no editor: they can be judged and aligned, but not ranked. A judge's reply without a readable label is a
judgment with the status `unparsable`; a bare [[A=B]] is a tie of unstated kind (`reasons` say so and keep the label).
Files are read in this order, whatever their names: those with images, those with prompts, results.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, first_line
from imarena.core.records import (
    TIE_KIND,
    UNSTATED,
    ImageRef,
    Item,
    JsonDict,
    Judgment,
    Order,
    Origin,
    Outcome,
    Output,
    Rater,
    Reply,
    Status,
    Turn,
    Vote,
)
from imarena.datasets.folder import Folder
from imarena.datasets.imported import judgment_facts
from imarena.datasets.options import check_options
from imarena.datasets.rows import files_of, links_outside, read_each, required_picture, required_text, rows_of

CONFIGURATIONS = ("image_generation", "image_edition", "video_generation")
HUMAN = {
    "leftvote": Outcome.LEFT,
    "rightvote": Outcome.RIGHT,
    "tievote": Outcome.TIE,
    "bothbad_vote": Outcome.BOTH_BAD,
}
LABELS = {
    "[[A>B]]": Outcome.LEFT,
    "[[B>A]]": Outcome.RIGHT,
    "[[A=B=GOOD]]": Outcome.TIE,
    "[[A=B=BAD]]": Outcome.BOTH_BAD,
    "[[A=B]]": Outcome.TIE,
}
"""All known labels. Spaces and case are ignored."""
BARE_TIE = "[[A=B]]"
"""A tie that does not say whether both are good or both bad."""
_PICTURES = ("left_output_image", "right_output_image", "left_image", "right_image")
_PROMPTS = ("prompt", "instruct_prompt")
_FIELDS = (
    "idx", "prompt", "instruct_prompt", "source_prompt", "target_prompt", "source_image", "left_output_image",
    "right_output_image", "left_image", "right_image", "left_model", "right_model", "vote_type", "human_vote", "votes",
    "response", "model_vote",
)  # fmt: skip
_BRACKETS = re.compile(r"\[\[[^\[\]]*\]\]")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import GenAI-Bench. Options: config (if the path does not name the configuration), judge (of a result file)."""
    check_options("genai_bench", options, config=CONFIGURATIONS, judge=None)
    folder = Folder(path)
    readers: dict[str, _ConfigReader] = {}
    yield from links_outside(folder)
    for file in sorted(files_of(folder), key=lambda file: _reading_stage(folder, file)):
        name = folder.name(file)
        config = options.get("config") or _config(file)
        if config is None:
            yield Skip(name, "", f"the path names none of {', '.join(CONFIGURATIONS)}; give config=NAME")
            continue
        if config not in readers:
            readers[config] = _ConfigReader(intake, f"genai_bench/{config}", folder)
            yield readers[config].rater
        yield from readers[config].read(file, name, options.get("judge") or file.stem)


def label_of(text: object) -> Outcome | None:
    """The outcome of a recorded label, or None if it is not one of the known labels."""
    if not isinstance(text, str):
        return None
    return LABELS.get("".join(text.split()).upper())


def label_in(reply: str) -> str | None:
    """The one label in a reply, or None if it has none or several different ones."""
    labels = {"".join(match.split()).upper(): match for match in _BRACKETS.findall(reply)}
    valid = [match for label, match in labels.items() if label in LABELS]
    return valid[0] if len(valid) == 1 else None


def _reading_stage(folder: Folder, file: Path) -> int:
    """When to read a file: images first, because they define the items that prompts and results refer to."""
    first = next((row[1] for row in rows_of(folder, file, (), _FIELDS) if not isinstance(row, Skip)), {})
    for stage, fields in enumerate((_PICTURES, _PROMPTS)):
        if any(first.get(field) is not None for field in fields):
            return stage
    return len((_PICTURES, _PROMPTS))


def _config(file: Path) -> str | None:
    names = [file.stem, *(parent.name for parent in list(file.parents)[:3])]
    return next((name for word in names for name in CONFIGURATIONS if name in word), None)


class _ConfigReader:
    """One configuration: its items, and the outputs on their two sides."""

    def __init__(self, intake: Intake, dataset: str, folder: Folder) -> None:
        self._intake = intake
        self._folder = folder
        self._dataset = dataset
        self._items = dict(intake.items(dataset))
        self._numbers = count()
        self._fresh: set[str] = set()
        self.rater = Rater(rater_id=f"{dataset}/people", origin=Origin(source=dataset))

    def read(self, file: Path, name: str, judge: str) -> Iterator[Importable]:
        keys: set[str] = set()
        results = count()

        def read_row(_: str, values: dict[str, Any]) -> Iterator[Importable]:
            key = self._key(values, results)
            if key in keys:
                raise UserError(f"the idx {key} appears twice")
            keys.add(key)
            yield from self._row(key, values, name, judge)

        return read_each(rows_of(self._folder, file, (), _FIELDS), name, read_row, first_line)

    def _key(self, values: Mapping[str, Any], results: Iterator[int]) -> str:
        """The row's idx or, without one, its number in the data set or in its file of results."""
        idx, number = values.get("idx"), next(results) if self._is_result(values) else None
        if idx is None or idx == "":
            idx = next(self._numbers) if number is None else number
        if not isinstance(idx, int | str) or isinstance(idx, bool):
            raise UserError(f"the idx is {idx!r}, not a number")
        return str(idx)

    def _row(self, key: str, values: Mapping[str, Any], file: str, judge: str) -> Iterator[Importable]:
        vote = values.get("vote_type") or values.get("human_vote")
        if vote is not None and not (isinstance(vote, str) and vote in HUMAN):
            raise UserError(f"the vote is {vote!r}, not one of {', '.join(HUMAN)}")
        item = self._items.get(key)
        records = None if item is not None and self._is_about(item, values) else self._make(key, values)
        if records is not None:
            if item is not None and item.item_id != records[0].item_id:
                raise UserError(_conflict_text(item))
            if records[1].output_id == records[2].output_id:
                raise UserError("both sides have the same image of the same model")
            item = records[0]
            if key not in self._fresh:
                self._fresh.add(key)
                self._items[key] = item
                yield from records
        if item is None:
            raise UserError("there is no such item")
        left, right = (_output(item, side).output_id for side in ("left", "right"))
        if vote is not None:
            yield Vote(
                rater_id=self.rater.rater_id, item_id=item.item_id, left_id=left, right_id=right,
                preference=HUMAN[vote], origin=Origin(source=self._dataset, row=key),
            )  # fmt: skip
        for name, label, reply in _recorded(values, judge):
            yield from self._judgment(item, (left, right), name, label, reply, file)

    @staticmethod
    def _is_result(values: Mapping[str, Any]) -> bool:
        return "model_vote" in values or "response" in values

    def _is_about(self, item: Item, values: Mapping[str, Any]) -> bool:
        """Does the row only add verdicts to a known item? True for a result, and for a row without images if the
        item has images and the same prompt.
        """
        if self._is_result(values):
            return True
        if any(values.get(field) is not None for field in _PICTURES) or not _has_pictures(item):
            return False
        prompts = {values[field] for field in _PROMPTS if values.get(field)}
        return not prompts or item.turns[0].instruction in prompts

    def _make(self, key: str, values: Mapping[str, Any]) -> tuple[Item, Output, Output]:
        """Make the item and its two outputs, with the images in the row."""
        images: dict[str, ImageRef] = {}
        for side in ("left", "right"):
            for field in (f"{side}_output_image", f"{side}_image"):
                if values.get(field) is not None:
                    images[side] = required_picture(values, field, self._folder, self._intake)
        if len(images) == 1:
            raise UserError("one of the two images is missing")
        source = values.get("source_image")
        sources = (required_picture(values, "source_image", self._folder, self._intake),) if source is not None else ()
        prompt = "instruct_prompt" if values.get("instruct_prompt") else "prompt"
        instruction = "" if self._is_result(values) and not values.get(prompt) else required_text(values, prompt)
        item = Item(
            dataset=self._dataset,
            key=key,
            turns=(Turn(instruction=instruction, expected=values.get("target_prompt") or None),),
            sources=sources,
            absent=() if images else (f"{key}/left", f"{key}/right"),
            origin=None if images else Origin(source=self._dataset, row=key),
            provenance={
                "benchmark": "GenAI-Bench",
                **{
                    side: {"editor": values.get(f"{side}_model") or None, "sha256": image.sha256}
                    for side, image in images.items()
                },
            },
        )
        return item, _output(item, "left", images.get("left")), _output(item, "right", images.get("right"))

    def _judgment(
        self, item: Item, sides: tuple[str, str], judge: str, label: object, reply: str | None, file: str
    ) -> Iterator[Importable]:
        outcome = label_of(label)
        origin = Origin(source=self._dataset, file=file, row=f"{item.key}/{label}")
        facts = judgment_facts(origin, judge, item.item_id, *sides, Order.LEFT_FIRST)
        raw = Reply(work_id=facts["work_id"], raw=reply, model=judge) if reply is not None else None
        if raw is not None:
            yield raw
        yield Judgment(
            **facts,
            status=Status.OK if outcome else Status.UNPARSABLE,
            preference=outcome,
            reasons=_reasons(label),
            error="" if outcome else "no readable label",
            reply_id=raw.reply_id if raw else None,
        )


def _reasons(label: object) -> JsonDict:
    """What to record about a label besides its outcome: an unstated kind of tie, and any unusual spelling."""
    if label is None or label in ("[[A>B]]", "[[B>A]]", "[[A=B=Good]]", "[[A=B=Bad]]"):
        return {}
    text = str(label)
    bare = "".join(text.split()).upper() == BARE_TIE
    return {"label": text, TIE_KIND: UNSTATED} if bare else {"label": text}


def _has_pictures(item: Item) -> bool:
    return isinstance(item.provenance.get("left"), dict)


def _conflict_text(item: Item) -> str:
    if _has_pictures(item):
        return f"the item {item.key} is in the workspace with other content"
    return (
        f"the item {item.key} is in the workspace without its images, which cannot be added: "
        "import the whole folder at once into a new workspace"
    )


def _recorded(values: Mapping[str, Any], judge: str) -> Iterator[tuple[str, object, str | None]]:
    """(judge, label, reply) for every judge whose verdict a row records."""
    votes = values.get("votes")
    if isinstance(votes, dict):
        for name, recorded in votes.items():
            yield name, recorded[0] if isinstance(recorded, list) and recorded else recorded, None
    if "model_vote" in values or "response" in values:
        reply = values.get("response")
        label = values.get("model_vote")
        if label is None and isinstance(reply, str):
            label = label_in(reply)
        yield judge, label, reply if isinstance(reply, str) else None


def _output(item: Item, side: str, image: ImageRef | None = None) -> Output:
    """The output on one side. Without `image`, only its ID is valid; it is derived from the item's provenance."""
    pair = {name: item.provenance.get(name) for name in ("left", "right")}
    recorded = pair[side]
    editor: str | None = None
    sample = 0
    if isinstance(recorded, dict):
        editor = recorded["editor"] if isinstance(recorded["editor"], str) else None
        if image is None:
            image = ImageRef(sha256=str(recorded["sha256"]), size_bytes=0, media_type="")
        other = pair["left"]
        repeated = isinstance(other, dict) and other["editor"] == editor and other["sha256"] != recorded["sha256"]
        sample = int(side == "right" and editor is not None and repeated)
    origin = Origin(source=item.dataset, row=f"{item.key}/{side}") if editor is None else None
    return Output(item_id=item.item_id, editor=editor, sample=sample, image=image, origin=origin)
