"""VIEScore: recorded scores of judges and automatic metrics for ImagenHub's outputs.

    judge_scores/gpt4o_0shot.json     {task: {editor: {"SC" | "PQ": {uid: score or list of scores}}}}
    autometrics.json                  {"<task>/<editor>.json": {uid: {metric: value}}}

Everything becomes a judgment, including metrics: the judge then has the metric's name (`LPIPS`), so that the same
command aligns metrics and judges with people. A judge's name is that of the file, including shots. `scores` contains
SC and PQ (each the lowest of its list, as VIEScore defines them) and the list itself as SC.1, SC.2, ...; `score` is
sqrt(SC * PQ) if both exist. A missing uid was refused by the judge; it gets no judgment. VIEScore writes a random
number if it could not read a reply; the files do not say where.
"""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, file_sha256, first_line, higher_is_better
from imarena.core.records import Judgment, Origin
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, read_json
from imarena.datasets.imagenhub import dataset_index, dataset_of, without_pixels
from imarena.datasets.imported import check_storable, judgment_facts
from imarena.datasets.options import check_options

SCALE = (0.0, 10.0)
TASKS = {"Text-Guided_IG": "Text-To-Image"}
"""Tasks with another name in ImagenHub's rating tables."""
EDITORS = {("Text-To-Image", "DALLE2"): "DALLE"}
"""Editors with another name in ImagenHub's rating tables."""
_SHOTS = re.compile(r"_([0-9]+)shot$")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import a judgment for every score. Option: judge (if the file name does not name it)."""
    check_options("viescore", options, judge=None)
    folder = Folder(path)
    files = list(folder.walk("*.json"))
    if not files:
        raise UserError(f"{path} holds no JSON files.", hint="Name a result file or the folder of result files.")
    indexes: dict[str, DatasetIndex] = {}
    yield from folder.unexpected_files("*.json")
    for file in files:
        name = folder.name(file)
        try:
            content = read_json(file)
        except UserError as error:
            yield Skip(name, "", first_line(error))
            continue
        if not isinstance(content, dict):
            yield Skip(name, "", "expected an object")
            continue
        reader = _Reader(name, file_sha256(file), intake, indexes)
        if all(isinstance(key, str) and "/" in key for key in content) and content:
            yield from reader.metrics(content)
        else:
            yield from reader.scores(content, options.get("judge") or file.stem)


def imagenhub_names(task: str, editor: str) -> tuple[str, str]:
    """(ImagenHub's task, ImagenHub's editor) for the names in a VIEScore file."""
    task = task.removeprefix("ImagenHub_")
    task = TASKS.get(task, task)
    return task, EDITORS.get((task, editor), editor)


class _Reader:
    def __init__(self, file: str, digest: str, intake: Intake, indexes: dict[str, DatasetIndex]) -> None:
        self._file = file
        self._digest = digest
        self._intake = intake
        self._indexes = indexes

    def _skip(self, row: str, reason: str) -> Skip:
        """Make a `Skip`. Names come from the file, so characters that UTF-8 cannot encode are escaped."""
        where, why = (text.encode("utf-8", "backslashreplace").decode() for text in (row, reason))
        return Skip(self._file, where, why)

    def scores(self, content: Mapping[str, Any], judge: str) -> Iterator[Importable]:
        for task, editors in content.items():
            if not isinstance(editors, dict):
                yield self._skip(task, "expected an object with one entry per editor")
                continue
            for editor, criteria in editors.items():
                if not isinstance(criteria, dict) or not all(isinstance(v, dict) for v in criteria.values()):
                    yield self._skip(f"{task}/{editor}", "expected SC and PQ with one entry per uid")
                    continue
                unknown = sorted(set(criteria) - {"SC", "PQ"})
                if unknown:
                    yield self._skip(f"{task}/{editor}", f"the criterion {', '.join(unknown)} is not SC or PQ")
                yield from self._editor(task, editor, criteria, judge)

    def _editor(self, task: str, editor: str, criteria: Mapping[str, Any], judge: str) -> Iterator[Importable]:
        uids = dict.fromkeys(uid for name in ("SC", "PQ") for uid in criteria.get(name, {}))
        shots = _SHOTS.search(judge)
        for uid in uids:
            row = f"{task}/{editor}/{uid}"
            try:
                scores = _scores({name: criteria[name][uid] for name in ("SC", "PQ") if uid in criteria.get(name, {})})
            except UserError as error:
                yield self._skip(row, str(error))
                continue
            overall = math.sqrt(scores["SC"] * scores["PQ"]) if {"SC", "PQ"} <= set(scores) else None
            yield from self._judgment(
                task, editor, uid, judge, prompt_id="viescore", score=overall, scores=scores,
                params={"scale": list(SCALE), **({"shots": int(shots.group(1))} if shots else {})},
            )  # fmt: skip

    def metrics(self, content: Mapping[str, Any]) -> Iterator[Importable]:
        for place_name, uids in content.items():
            task, _, editor = place_name.removesuffix(".json").partition("/")
            if not isinstance(uids, dict):
                yield self._skip(place_name, "expected an object with one entry per uid")
                continue
            for uid, values in uids.items():
                if not isinstance(values, dict):
                    yield self._skip(f"{place_name}/{uid}", "expected an object with one entry per metric")
                    continue
                for metric, value in values.items():
                    if not _is_number(value):
                        yield self._skip(f"{place_name}/{uid}", f"{metric} is {value!r}, not a number")
                        continue
                    yield from self._judgment(
                        task, editor, uid, metric, score=float(value), scores={metric: float(value)},
                        params={"higher_is_better": higher_is_better(metric)},
                    )  # fmt: skip

    def _judgment(self, task: str, editor: str, uid: str, judge: str, **verdict: Any) -> Iterator[Importable]:
        row = f"{task}/{editor}/{uid}"
        try:
            check_storable([row, judge])
        except UserError as error:
            yield self._skip(row, str(error))
            return
        task_name, editor_name = imagenhub_names(task, editor)
        if not uid or not task_name:
            yield self._skip(row, "the uid or the task is empty")
            return
        index = dataset_index(self._intake, dataset_of(task_name), self._indexes)
        yield from without_pixels(uid, editor_name, index)
        item_id, output_id = index.item_id(uid), index.output_id(uid, editor_name)
        if item_id is None or output_id is None:
            yield self._skip(row, f"the item '{uid}' cannot be placed")
            return
        origin = Origin(source="viescore", file=self._file, file_sha256=self._digest, row=row)
        yield Judgment(**judgment_facts(origin, judge, item_id, output_id), **verdict)


def _scores(values_by_criterion: Mapping[str, Any]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for criterion, value in values_by_criterion.items():
        values = value if isinstance(value, list) else [value]
        if not values:
            raise UserError(f"{criterion} is an empty list")
        for number in values:
            if not _is_number(number) or not SCALE[0] <= number <= SCALE[1]:
                raise UserError(f"{criterion} is {number!r}, not a number from 0 to 10")
        scores[criterion] = float(min(values))
        if isinstance(value, list):
            scores |= {f"{criterion}.{n}": float(number) for n, number in enumerate(values, start=1)}
    return scores


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
