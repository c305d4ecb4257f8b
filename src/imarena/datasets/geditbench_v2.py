"""GEditBench v2: benchmark Parquet, gallery of outputs, candidate lists and pair results.

    data/*.parquet            key, instruction, source_image, task
    <Model>/<key>.png         gallery, anywhere below the folder
    metadata*.jsonl           {"key", "candidates": [{"model", "image"}]}, maybe with instruction and source_image
    *eval_if*/...jsonl        {"key": "<key>_pair_<A>_vs_<B>", "results": {"input_dict", "winner", "raw_responses"}}

Model names in pair results are taken from the images' folders if the line gives them. Otherwise the key is split by
the known models; a key that can be read in two ways is skipped.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, canonical_json, file_sha256
from imarena.core.records import ImageRef, Item, Origin, Output, Turn
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import IMAGE_SUFFIXES, Folder
from imarena.datasets.geditbench_results import DIMENSIONS, is_result, result_judgment
from imarena.datasets.hf_parquet import picture_bytes
from imarena.datasets.imported import BAD_ROW, check_storable, keep_file, one_line, skip_bad_file
from imarena.datasets.options import check_options
from imarena.datasets.rows import labelled_rows, read_each
from imarena.datasets.taxonomy import load_taxonomy

SOURCE = "geditbench_v2"
_NUMBER = re.compile(r"_\d+$")
_DIMENSION = re.compile(r"(?:^|[/_-])eval_(if|vq|vc)(?:[/_.-]|$)")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import any files of GEditBench v2. Options: dataset, judge, dimension (of all pair results), licence."""
    check_options("geditbench_v2", options, dataset=None, judge=None, dimension=None, licence=None)
    folder = Folder(path)
    gallery = _Gallery(folder, intake, options)
    yield from folder.unexpected_files()
    files = list(folder.walk())
    tables = [file for file in files if file.suffix == ".parquet"]
    lists = [file for file in files if file.suffix == ".jsonl" and file.name.startswith("metadata")]
    results = [file for file in files if file.suffix == ".jsonl" and file not in lists]
    pictures = [file for file in files if file.suffix.lower() in IMAGE_SUFFIXES]
    if not (tables or lists or results or pictures):
        raise UserError(
            f"{path} holds nothing of GEditBench v2.", hint="Expected data/*.parquet, <Model>/<key>.png or *.jsonl."
        )
    for table in tables:
        yield from skip_bad_file(folder, folder.name(table), gallery.read_items(table))
    gallery.note_described()
    for file in lists:
        yield from gallery.read_list(file)
    gallery.note_described()
    for file in pictures:
        yield from gallery.read_picture(file)
    for file in results:
        yield from gallery.read_results(file)


class _Gallery:
    """The items and outputs read so far, so that pair results can refer to them."""

    def __init__(self, folder: Folder, intake: Intake, options: Mapping[str, str]) -> None:
        self._folder = folder
        self._intake = intake
        self._options = options
        self._index = DatasetIndex(intake, options.get("dataset", SOURCE))
        self._taxonomy = load_taxonomy("geditbench_v2")
        self._keys = set(intake.items(self._index.dataset))
        self._models = {editor for _, editor in intake.outputs(self._index.dataset)}
        self._used: set[Path] = set()
        self._seen: dict[str, int] = {}
        self._described = False

    def note_described(self) -> None:
        """From now on, if there are items with images, a key that is not among them is an error."""
        self._described = self._index.is_described()

    # ---------------------------------------------------------------- items

    def read_items(self, path: Path) -> Iterator[Importable]:
        name, sha256 = self._folder.name(path), file_sha256(path)

        def read_row(row: str, values: dict[str, Any]) -> Iterator[Importable]:
            source = self._intake.keep(picture_bytes(values["source_image"], self._folder), name=f"{name} {row}")
            origin = Origin(source=SOURCE, file=name, file_sha256=sha256, row=f"key {values['key']}")
            yield self._index.place_item(self._item(values, source, origin), name, row)

        yield from read_each(
            labelled_rows(path, name, ("key", "instruction", "source_image"), ("task",)), name, read_row
        )

    def _item(self, values: Mapping[str, Any], source: ImageRef | None, origin: Origin) -> Item:
        key, instruction = values.get("key"), values.get("instruction")
        if not isinstance(key, str) or not key:
            raise UserError("the key is empty")
        task_name = values.get("task")
        task = self._taxonomy.task(task_name if isinstance(task_name, str) and task_name else _NUMBER.sub("", key))
        missing = () if source else (f"the source image of {key}",)
        self._keys.add(key)
        return Item(
            dataset=self._index.dataset,
            key=key,
            turns=(Turn(instruction=instruction if isinstance(instruction, str) else ""),),
            sources=(source,) if source else (),
            absent=missing if isinstance(instruction, str) else (*missing, f"the instruction of {key}"),
            taxonomy="geditbench_v2",
            task=task.name if task else (task_name or _NUMBER.sub("", key)),
            family=task.family if task else None,
            licence=self._options.get("licence"),
            origin=origin,
        )

    def _ensure_item(self, values: Mapping[str, Any], file: str, row: str) -> Iterator[Importable]:
        """Add an item that only a candidate list or a pair result names."""
        key = values.get("key")
        if isinstance(key, str) and self._index.item_id(key) is not None:
            return
        source = None
        if isinstance(values.get("source_image"), str):
            source = keep_file(self._intake, self._folder, values["source_image"])
            self._used.add(self._folder.file(values["source_image"]))
        yield self._index.place_item(
            self._item(values, source, Origin(source=SOURCE, file=file, row=str(key))), file, row
        )

    # ---------------------------------------------------------------- outputs

    def read_list(self, path: Path) -> Iterator[Importable]:
        name = self._folder.name(path)
        return read_each(labelled_rows(path, name), name, lambda row, values: self._records(values, name, row))

    def _records(self, values: Mapping[str, Any], name: str, row: str) -> Iterator[Importable]:
        check_storable(values)
        if self._described and self._index.item_id(str(values.get("key"))) is None:
            raise UserError(f"there is no item '{values.get('key')}'")
        yield from self._ensure_item(values, name, row)
        candidates = values.get("candidates")
        for candidate in candidates if isinstance(candidates, list) else ():
            yield self._candidate(candidate, values["key"], name, row)

    def _candidate(self, candidate: Any, key: str, file: str, row: str) -> Importable:
        if not isinstance(candidate, dict):
            return Skip(file, row, "a candidate is not an object")
        model, image = candidate.get("model"), candidate.get("image")
        if not isinstance(model, str) or not model or not isinstance(image, str):
            return Skip(file, row, "a candidate needs model and image")
        try:
            stored = keep_file(self._intake, self._folder, image)
            self._used.add(self._folder.file(image))
            return self._output(key, model, stored, file, row)
        except BAD_ROW as error:
            return Skip(file, row, one_line(error))

    def _output(self, key: str, model: str, image: ImageRef | None, file: str, row: str) -> Importable:
        item_id = self._index.item_id(key)
        if item_id is None:
            return Skip(file, row, f"there is no item '{key}'")
        self._models.add(model)
        origin = Origin(source=SOURCE, file=file, row=canonical_json([key, model]))
        output = Output(item_id=item_id, editor=model, image=image, origin=origin)
        if self._index.output_id(key, model) == output.output_id:
            return output  # two lists name the same output
        return self._index.place_output(key, output, file, row)

    def read_picture(self, path: Path) -> Iterator[Importable]:
        if path.resolve() in self._used:
            return
        name, key = self._folder.name(path), path.stem
        if self._index.item_id(key) is None and self._described:
            yield Skip(name, "", f"there is no item '{key}'")
            return
        try:
            image = keep_file(self._intake, self._folder, path)
            yield from self._ensure_item({"key": key}, name, "")
        except BAD_ROW as error:
            yield Skip(name, "", one_line(error))
            return
        yield self._output(key, path.parent.name, image, name, "")

    # ---------------------------------------------------------------- pair results

    def read_results(self, path: Path) -> Iterator[Importable]:
        name = self._folder.name(path)
        match = _DIMENSION.search(name) or _DIMENSION.search(str(path))
        dimension = self._options.get("dimension") or (DIMENSIONS[match[1]] if match else "overall")
        return read_each(
            labelled_rows(path, name), name, lambda row, values: self._result(values, name, row, dimension)
        )

    def _result(self, values: Mapping[str, Any], file: str, row: str, dimension: str) -> Iterator[Importable]:
        check_storable(values)
        if not is_result(values) or not isinstance(values.get("key"), str):
            raise UserError("expected an object with key and results")
        results = values["results"]
        inputs = results.get("input_dict")
        inputs = inputs if isinstance(inputs, dict) else {}
        key, left, right = self._names(values["key"], inputs.get("edited_images"))
        if self._index.item_id(key) is None:
            if self._described:
                raise UserError(f"there is no item '{key}'")
            yield from self._ensure_item({"key": key, "instruction": inputs.get("instruction")}, file, row)
        for model in (left, right):
            if self._index.output_id(key, model) is None:
                yield self._output(key, model, None, file, row)
        ids = (self._index.item_id(key), self._index.output_id(key, left), self._index.output_id(key, right))
        row_key = canonical_json([dimension, key, left, right])
        repeat = self._seen.get(row_key, 0)
        self._seen[row_key] = repeat + 1
        origin = Origin(source=SOURCE, file=file, row=f"{row_key} {repeat}" if repeat else row_key)
        sides = (ids[0] or "", ids[1] or "", ids[2] or "")
        yield from result_judgment(results, sides, origin, dimension, self._options.get("judge"))

    def _names(self, text: str, images: Any) -> tuple[str, str, str]:
        """(item key, left model, right model) of a pair result."""
        readings = {
            (text[:cut], names[:split], names[split + 4 :])
            for cut in _positions(text, "_pair_")
            for names in (text[cut + 6 :],)
            for split in _positions(names, "_vs_")
        }
        if isinstance(images, list) and len(images) == 2 and all(isinstance(image, str) for image in images):
            fitting = {reading for reading in readings if _fits(reading, images)}
            if len(fitting) == 1:
                return fitting.pop()
            left, right = (Path(image) for image in images)
            if left.stem == right.stem and left.parent.name and right.parent.name:
                return left.stem, left.parent.name, right.parent.name
        matches = {
            reading
            for reading in readings
            if reading[0] in self._keys and reading[1] in self._models and reading[2] in self._models
        }
        names = matches or readings
        if len(names) != 1:
            raise UserError(f"the key '{text}' can be read in {len(names)} ways; import the gallery with the results")
        return names.pop()


def _fits(reading: tuple[str, str, str], images: list[str]) -> bool:
    """Do the images' paths end in <model>/<key> according to this reading of the key?"""
    key, *models = reading
    paths = (re.sub(r"\.\w+$", "", image) for image in images)
    return all(path.endswith(f"/{model}/{key}") for path, model in zip(paths, models, strict=True))


def _positions(text: str, mark: str) -> list[int]:
    return [
        match.start()
        for match in re.finditer(f"(?={re.escape(mark)})", text)
        if 0 < match.start() < len(text) - len(mark)
    ]
