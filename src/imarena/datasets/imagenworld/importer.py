"""ImagenWorld: one folder per item, with its outputs, scores, ratings and segment masks.

    <TASK>/<TASK>_<TOPIC>_<nnnnnn>/metadata.json       prompt, prompt_refined, task, cond_images: [names]
                                   <cond image>, ...
                                   model_output/<editor>.png
                                   gemini_result.json   {judge: {editor: {four criteria, 1 to 5}}}
                                   human_result.json    {rater: {editor: {four criteria, objects, segments}}}
                                   SoM/<editor>/*.npz   segment masks

The instruction of an item is the refined prompt; the original prompt is kept as well. In the three editing tasks, the
first condition image is the source; all others are references. The overall score is the mean of the four criteria,
rescaled to 0 .. 1. The project's human_eval.json is not published in a readable form; human_result.json (or
human_eval.json) in an item's folder, in the above form, is this importer's own convention.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, first_line
from imarena.core.records import ImageRef, Issue, Item, JsonDict, Judgment, Origin, Output, Rater, Turn, Vote
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, read_json
from imarena.datasets.imagenworld.masks import segments
from imarena.datasets.imported import check_storable, judgment_facts, keep_file
from imarena.datasets.options import check_options

DATASET = "imagenworld"
CRITERIA = ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts")
SCALE = (1.0, 5.0)
HUMAN_FILES = ("human_result.json", "human_eval.json")
_KEY = re.compile(r"(TIG|TIE|SRIG|SRIE|MRIG|MRIE)_(I|A|S|CG|P|T)_([0-9]+)")
_POINTER = b"version https://git-lfs"


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import items and outputs, folder by folder, with judgments and votes. Option: dataset."""
    check_options("imagenworld", options, dataset=None)
    folder = Folder(path)
    entries = [file.parent for file in folder.walk("metadata.json")]
    if not entries:
        raise UserError(f"{path} holds no metadata.json.", hint="Name the folder that holds the tasks' folders.")
    yield from folder.unexpected_files("*.json")
    index = DatasetIndex(intake, options.get("dataset", DATASET))
    for file in folder.walk("human_eval.json"):
        if file.parent not in entries:
            reason = _unreadable(file) or "one file for all items is not read; put one into each item's folder"
            yield Skip(folder.name(file), "", reason)
    raters: set[str] = set()
    for entry in entries:
        yield from _Entry(folder, entry, intake, index).read(raters)


class _Entry:
    """One item's folder."""

    def __init__(self, folder: Folder, directory: Path, intake: Intake, index: DatasetIndex) -> None:
        self._folder = folder
        self._directory = directory
        self._intake = intake
        self._index = index
        self._key = directory.name
        self._item_id = ""
        self._images: dict[str, ImageRef] = {}

    def read(self, raters: set[str]) -> Iterator[Importable]:
        name = self._folder.name(self._directory / "metadata.json")
        try:
            item = self._item()
        except UserError as error:
            yield Skip(name, "", first_line(error))
            return
        entry = self._index.place_item(item, name, "")
        yield entry
        if isinstance(entry, Skip):
            return
        self._item_id = item.item_id
        yield from self._outputs()
        yield from self._judgments()
        yield from self._votes(raters)
        yield from segments(self._folder, self._directory / "SoM", self._images)

    def _item(self) -> Item:
        match = _KEY.fullmatch(self._key)
        if match is None:
            raise UserError(f"the folder '{self._key}' is not named <TASK>_<TOPIC>_<number>")
        metadata = read_json(self._directory / "metadata.json")
        if not isinstance(metadata, dict):
            raise UserError("expected an object")
        check_storable(metadata)
        prompt, refined = metadata.get("prompt"), metadata.get("prompt_refined")
        instruction = refined or prompt
        if not isinstance(instruction, str) or not instruction.strip():
            raise UserError("there is no prompt")
        task, topic, _ = match.groups()
        names = metadata.get("cond_images") or []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UserError("cond_images is not a list of names")
        images = [self._keep(name) for name in names]
        edits = task.endswith("IE")
        if edits and not images:
            raise UserError("an editing task needs a condition image")
        field_names = {"prompt", "prompt_refined", "cond_images"}
        return Item(
            dataset=self._index.dataset,
            key=self._key,
            turns=(Turn(instruction=instruction, original_instruction=_before(prompt, instruction)),),
            sources=tuple(images[:1] if edits else ()),
            references=tuple(images[1:] if edits else images),
            taxonomy="imagenworld",
            task=task,
            family="editing" if edits else "generation",
            topic=topic,
            provenance={name: value for name, value in metadata.items() if name not in field_names},
        )

    def _keep(self, name: str) -> ImageRef:
        relative = f"{self._folder.name(self._directory)}/{name}" if self._directory != self._folder.root else name
        try:
            return keep_file(self._intake, self._folder, relative)
        except UserError as error:
            reason = first_line(error)
            raise UserError(reason if name in reason else f"{name!r}: {reason}") from error

    def _outputs(self) -> Iterator[Output | Skip]:
        directory = self._directory / "model_output"
        for path in self._folder.images(directory) if directory.is_dir() else ():
            name = self._folder.name(path)
            try:
                image = keep_file(self._intake, self._folder, name)
            except UserError as error:
                yield Skip(name, "", first_line(error))
                continue
            output = Output(item_id=self._item_id, editor=path.stem, image=image)
            entry = self._index.place_output(self._key, output, name, "")
            if isinstance(entry, Output):
                self._images[path.stem] = image
            yield entry

    def _output_id(self, editor: str) -> Iterator[Output]:
        """Yield the output of a score, without pixels, if its image is missing."""
        origin = Origin(source=self._index.dataset, row=f"{self._key}/{editor}")
        entries = self._index.named_output(self._key, editor, origin)
        return (entry for entry in entries if isinstance(entry, Output))

    def _rows(self, name: str) -> Iterator[tuple[str, str, Mapping[str, Any]] | Skip]:
        """(judge or rater, editor, ratings) for each entry of a result file."""
        path = self._directory / name
        file = self._folder.name(path)
        if not path.is_file():
            return
        try:
            reason = _unreadable(path)
            content = None if reason else read_json(self._folder.file(file))
        except UserError as error:
            reason, content = first_line(error), None
        if reason or not isinstance(content, dict):
            yield Skip(file, "", reason or "expected an object")
            return
        for who, editors in content.items():
            for editor, ratings in editors.items() if isinstance(editors, dict) else ((None, None),):
                try:
                    check_storable([who, editor, ratings])
                except UserError as error:
                    yield Skip(file, ascii(f"{who}/{editor}"), str(error))
                    continue
                if editor is None or not isinstance(ratings, dict):
                    yield Skip(file, f"{who}/{editor}" if editor else who, "expected an object")
                else:
                    yield who, editor, ratings

    def _judgments(self) -> Iterator[Importable]:
        name = self._folder.name(self._directory / "gemini_result.json")
        for row in self._rows("gemini_result.json"):
            if isinstance(row, Skip):
                yield row
                continue
            judge, editor, fields = row
            try:
                scores = ratings_of(fields)
            except UserError as error:
                yield Skip(name, f"{judge}/{editor}", str(error))
                continue
            yield from self._output_id(editor)
            output_id = self._index.output_id(self._key, editor) or ""
            # the file grows editor by editor, so the identity is the row's content, not the file's hash
            mark = "/".join([self._key, editor, *(f"{scores[criterion]:g}" for criterion in CRITERIA)])
            origin = Origin(source=self._index.dataset, file=name, row=mark)
            params: JsonDict = {"scale": list(SCALE)}
            yield Judgment(
                **judgment_facts(origin, judge, self._item_id, output_id),
                prompt_id="imagenworld",
                params=params,
                score=imagenworld_overall(scores),
                scores=scores,
            )

    def _votes(self, raters: set[str]) -> Iterator[Importable]:
        for file in HUMAN_FILES:
            name = self._folder.name(self._directory / file)
            for row in self._rows(file):
                if isinstance(row, Skip):
                    yield row
                    continue
                who, editor, fields = row
                try:
                    ratings, issues = ratings_of(fields), issues_of(fields)
                except UserError as error:
                    yield Skip(name, f"{who}/{editor}", str(error))
                    continue
                rater_id = f"{self._index.dataset}/{who}"
                if rater_id not in raters:
                    raters.add(rater_id)
                    yield Rater(rater_id=rater_id, origin=Origin(source=self._index.dataset, row=who))
                yield from self._output_id(editor)
                yield Vote(
                    rater_id=rater_id,
                    item_id=self._item_id,
                    left_id=self._index.output_id(self._key, editor) or "",
                    ratings=ratings,
                    scale=SCALE,
                    issues=issues,
                    origin=Origin(source=self._index.dataset, file=name, row=f"{self._key}/{editor}/{who}"),
                )


def ratings_of(fields: Mapping[str, Any]) -> dict[str, float]:
    """The four criteria, 1 to 5. Raises `UserError` if one is missing or out of range."""
    ratings: dict[str, float] = {}
    for criterion in CRITERIA:
        value = fields.get(criterion)
        if not isinstance(value, int | float) or isinstance(value, bool) or not SCALE[0] <= value <= SCALE[1]:
            raise UserError(f"{criterion} is {value!r}, not a number from 1 to 5")
        ratings[criterion] = float(value)
    return ratings


def imagenworld_overall(scores: Mapping[str, float]) -> float:
    """Mean of the four criteria, rescaled from 1 .. 5 to 0 .. 1."""
    low, high = SCALE
    return sum((scores[criterion] - low) / (high - low) for criterion in CRITERIA) / len(CRITERIA)


def issues_of(fields: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Objects (by name) and segments (by number) that a rater marked."""
    objects, marked = fields.get("objects") or [], fields.get("segments") or []
    if not isinstance(objects, list) or not all(isinstance(name, str) for name in objects):
        raise UserError("objects is not a list of names")
    if not isinstance(marked, list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in marked):
        raise UserError("segments is not a list of numbers")
    issues = [Issue(kind="object", label=name) for name in objects]
    return (*issues, *(Issue(kind="segment", segment=number) for number in marked))


def _before(prompt: object, instruction: str) -> str | None:
    return prompt if isinstance(prompt, str) and prompt != instruction else None


def _unreadable(path: Path) -> str:
    with path.open("rb") as file:
        pointer = file.read(len(_POINTER)) == _POINTER
    return "this is a Git LFS pointer, not the data; fetch it with 'git lfs pull'" if pointer else ""
