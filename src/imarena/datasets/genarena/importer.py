"""GenArena: benchmark Parquet, model outputs, battle logs and audit logs.

    <subset>/data-*.parquet                            index, task_type, instruction, input_images, ...
    <subset>/models/<experiment>/<model>/<index>.png   one image per model and entry
    <subset>/pk_logs/<experiment>/<a>_vs_<b>.jsonl     one verdict a line, both orders combined
    <subset>/pk_logs/<experiment>/raw_outputs/...      the same battles with both raw replies

The benchmark and the arena may be in one folder or in two folders below it. A subset becomes a track, and an item's
key is `<subset>/<index>`. Model names come from the folders and the JSON lines, never from a log's file name.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, Skip, UserError, canonical_json, file_sha256
from imarena.core.records import Item, JsonDict, Origin, Output, Turn
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, read_json
from imarena.datasets.genarena.exporter import NAMES_FILE
from imarena.datasets.genarena.logs import SOURCE, check_count, placeholder, read_experiment
from imarena.datasets.hf_parquet import picture_bytes
from imarena.datasets.imported import BAD_ROW, json_facts, keep_file, one_line, skip_bad_file
from imarena.datasets.options import check_options
from imarena.datasets.rows import labelled_rows, read_each

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")  # in order of preference: GenArena uses .png if both exist
_DIGITS = re.compile(r"\d+")


@dataclass
class Subset:
    """The files that were found for one subset."""

    name: str
    tables: list[Path] = field(default_factory=list)
    strange: list[Path] = field(default_factory=list)
    models: list[Path] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import any files of a GenArena folder. Options: dataset, subset (only this one), judge, licence."""
    check_options("genarena", options, dataset=None, subset=None, judge=None, licence=None)
    folder = Folder(path)
    index = DatasetIndex(intake, options.get("dataset", SOURCE))
    subsets = find_subsets(folder, options.get("subset"))
    if not subsets:
        raise UserError(
            f"{path} holds no GenArena files.",
            hint="Expected <subset>/data-*.parquet, <subset>/models/ or <subset>/pk_logs/.",
        )
    for subset in subsets:
        for table in subset.strange:
            yield Skip(folder.name(table), "", "GenArena reads only files called data-*.parquet")
        for table in subset.tables:
            items = _read_table(table, subset.name, folder, index, intake, options.get("licence"))
            yield from skip_bad_file(folder, folder.name(table), items)
        for root in subset.models:
            yield from skip_bad_file(folder, folder.name(root), _read_models(root, subset.name, folder, index, intake))
        for experiment in subset.logs:
            battles = read_experiment(experiment, subset.name, folder, index, options.get("judge"))
            yield from skip_bad_file(folder, folder.name(experiment), battles)


def find_subsets(folder: Folder, subset_name: str | None = None) -> list[Subset]:
    """The subsets below a folder (at most two levels down), sorted by name."""
    subsets: dict[str, Subset] = {}
    if inside := _inside(folder.root, subset_name):
        return inside
    for path in (folder.root, *sorted(folder.root.glob("*")), *sorted(folder.root.glob("*/*"))):
        if not path.is_dir() or not path.resolve().is_relative_to(folder.base):
            continue
        if path.parent.name in ("models", "pk_logs") or path.name in ("models", "pk_logs"):
            continue
        tables = sorted(path.glob("data-*.parquet"))
        models, logs = path / "models", path / "pk_logs"
        if not (tables or models.is_dir() or logs.is_dir()):
            continue
        name = subset_name if subset_name and path == folder.root else path.name
        if subset_name and name != subset_name:
            continue
        subset = subsets.setdefault(name, Subset(name))
        subset.tables += tables
        subset.strange += sorted(set(path.glob("*.parquet")) - set(tables))
        if models.is_dir():
            subset.models.append(models)
        if logs.is_dir():
            subset.logs += [entry for entry in sorted(logs.iterdir()) if entry.is_dir()]
    return [subsets[name] for name in sorted(subsets)]


def _inside(path: Path, subset_name: str | None) -> list[Subset]:
    """The subset of a single file, or of a folder inside a subset: `pk_logs`, one of its experiments, or `models`."""
    names = [path.name, *(parent.name for parent in path.parents)]
    if path.is_file() and path.suffix == ".parquet":
        return [Subset(subset_name or names[1], tables=[path])]
    depth = names.index("pk_logs") if "pk_logs" in names[:4] else 0
    if path.is_file():
        return [Subset(subset_name or names[depth + 1], logs=[path])] if path.suffix == ".jsonl" else []
    if names[0] == "models":
        return [Subset(subset_name or names[1], models=[path])]
    if names[0] == "pk_logs":
        return [Subset(subset_name or names[1], logs=[entry for entry in sorted(path.iterdir()) if entry.is_dir()])]
    if names[1] == "pk_logs" and any(path.glob("*.jsonl")):
        return [Subset(subset_name or names[2], logs=[path])]
    return []


def _read_table(
    path: Path, subset: str, folder: Folder, index: DatasetIndex, intake: Intake, licence: str | None
) -> Iterator[Importable]:
    name, sha256 = folder.name(path), file_sha256(folder.file(folder.name(path)))

    def read_row(row: str, values: dict[str, Any]) -> Iterator[Importable]:
        entry, instruction = values["index"], values["instruction"]
        check_count("index", entry)
        if not isinstance(instruction, str) or not instruction.strip():
            raise UserError("the instruction is empty")
        pictures = [picture_bytes(cell, folder) for cell in values["input_images"] or ()]
        sources = tuple(intake.keep(data, name=f"{name} {row}") for data in pictures)
        item = Item(
            dataset=index.dataset,
            key=f"{subset}/{entry}",
            turns=(Turn(instruction=instruction),),
            sources=sources,
            taxonomy="genarena",
            task=values.get("task_type") or "edit",
            track=subset,
            licence=licence,
            provenance=_provenance(values),
            origin=Origin(source=SOURCE, file=name, file_sha256=sha256, row=f"index {entry}"),
        )
        yield index.place_item(item, name, row)

    optional = ("task_type", "prompt_source", "original_metadata")
    yield from read_each(labelled_rows(path, name, ("index", "instruction", "input_images"), optional), name, read_row)


def _provenance(values: Mapping[str, Any]) -> JsonDict:
    """Source benchmark and metadata as JSON, whatever their type in the file."""
    provenance: JsonDict = {}
    if values.get("prompt_source"):
        provenance["prompt_source"] = str(values["prompt_source"])
    metadata = values.get("original_metadata")
    if isinstance(metadata, str):
        try:
            loaded = json.loads(metadata)
        except ValueError:
            loaded = None
        metadata = loaded if isinstance(loaded, dict | list) else metadata
    if metadata:
        provenance["original_metadata"] = json_facts(metadata)
    return provenance


def _read_models(root: Path, subset: str, folder: Folder, index: DatasetIndex, intake: Intake) -> Iterator[Importable]:
    first_folder: dict[str, str] = {}
    for experiment in sorted(root.iterdir()):
        if not experiment.is_dir():
            continue
        names = _model_names(experiment, folder)
        for path in sorted(experiment.iterdir()):
            if not path.is_dir():
                continue
            model = names.get(path.name, path.name)
            if model in first_folder:
                yield Skip(folder.name(path), "", f"the model '{model}' is in {first_folder[model]} already")
                continue
            first_folder[model] = folder.name(experiment)
            yield from _read_model(path, model, subset, folder, index, intake)


def _model_names(experiment: Path, folder: Folder) -> dict[str, str]:
    path = experiment / NAMES_FILE
    if not path.is_file():
        return {}
    try:
        names = read_json(folder.file(folder.name(path)))
    except UserError as error:
        raise UserError(f"{folder.name(path)}: {error}") from error
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise UserError(f"{folder.name(path)}: expected an object of folder names and model names.")
    return names


def _read_model(
    directory: Path, model: str, subset: str, folder: Folder, index: DatasetIndex, intake: Intake
) -> Iterator[Importable]:
    images: dict[int, Path] = {}
    for path in sorted(directory.iterdir(), key=_preference):
        digits = _DIGITS.match(path.name)
        name = folder.name(path)
        if path.suffix.lower() not in _SUFFIXES or digits is None:
            yield Skip(name, "", "not an image named by its index")
        elif int(digits[0]) in images:
            yield Skip(name, "", f"{images[int(digits[0])].name} is the image for index {int(digits[0])}")
        else:
            images[int(digits[0])] = path
    described = index.is_described(f"{subset}/")
    for number, path in sorted(images.items()):
        name, key = folder.name(path), f"{subset}/{number}"
        item_id = index.item_id(key)
        if item_id is None:
            if described:
                yield Skip(name, "", f"there is no item '{key}'")
                continue
            item = placeholder(key, subset, name, index.dataset)
            item_id = item.item_id
            yield index.place_item(item, name, "")
        try:
            image = keep_file(intake, folder, path)
            output = Output(
                item_id=item_id,
                editor=model,
                image=image,
                origin=Origin(source=SOURCE, file=name, row=canonical_json([key, model])),
            )
        except BAD_ROW as error:
            yield Skip(name, "", one_line(error))
            continue
        yield index.place_output(key, output, name, "")


def _preference(path: Path) -> tuple[int, str]:
    suffix = path.suffix.lower()
    return (_SUFFIXES.index(suffix) if suffix in _SUFFIXES else len(_SUFFIXES), path.name)
