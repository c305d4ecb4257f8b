"""The smallest files of each format that have an item, an output or a verdict."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from imarena.core.records import Item, Output, Rater, Record, Turn, Vote
from imarena.datasets.formats import WRITERS
from tests.unit.datasets import (
    test_editreward_bench,
    test_editscore_bench,
    test_gedit_bench,
    test_geditbench_v2,
    test_genai_bench,
    test_imgedit,
    test_mmrb2,
    test_vcreward,
)
from tests.unit.datasets.any_record import IMAGES, PICTURES
from tests.unit.datasets.genarena import genarena_sample
from tests.unit.datasets.imagenworld import test_imagenworld
from tests.unit.datasets.intake import MemoryIntake, picture
from tests.unit.datasets.test_strange_rows import at

Maker = Callable[[Path], Path]


def archive() -> MemoryIntake:
    """A workspace with one data set: an item, two outputs and a vote on them, which every format that is written takes."""
    intake = MemoryIntake()
    intake.blobs = dict(PICTURES.blobs)
    item = Item(dataset="d", key="k", turns=(Turn(instruction="make it red"),), sources=(IMAGES[0],))
    left, right = (Output(item_id=item.item_id, editor=f"e{n}", image=IMAGES[n]) for n in (1, 2))
    vote = Vote(rater_id="r", item_id=item.item_id, left_id=left.output_id, right_id=right.output_id, preference="left")
    records: list[Record] = [Rater(rater_id="r"), item, left, right, vote]
    return intake.take(records)


def written(name: str) -> Maker:
    """The files that the writer of a format makes."""

    def make(root: Path) -> Path:
        list(WRITERS.get(name)(root / "out", archive(), {}))
        return root / "out"

    return make


def imagenhub(root: Path) -> Path:
    """One item with the output of one editor."""
    test_imagenworld.put(root / "Text-Guided_IE/dataset_lookup.json", {"a.png": {"instruction": "make it red"}})
    for seed, folder in enumerate(("input", "Ed")):
        test_imagenworld.put(root / "Text-Guided_IE" / folder / "a.png", picture(seed))
    return root


def content(name: str, value: Any) -> Maker:
    """One JSON file beside three images."""
    return lambda root: at(name)(root, value)


def imagenworld(root: Path) -> Path:
    """One item folder."""
    test_imagenworld.item(root, "SRIE_CG_000002", 2)
    return root


SMALL: dict[str, Maker] = {
    **{name: written(name) for name in WRITERS},
    "genarena": lambda root: genarena_sample.make(root) or root,
    "gedit_bench": test_gedit_bench.make,
    "geditbench_v2": test_geditbench_v2.make,
    "vcreward": lambda root: test_vcreward.make(
        root, [test_vcreward.row(0, "Image A"), test_vcreward.row(1, "Image B")]
    ),
    "imgedit": test_imgedit.make,
    "mmrb2": lambda root: test_mmrb2.make(root, test_mmrb2.PAIRS),
    "editscore_bench": lambda root: test_editscore_bench.parquet(root / "t.parquet", [test_editscore_bench.row(1)]),
    "editreward_bench": lambda root: test_editreward_bench.parquet(
        root / "2pair.parquet", [test_editreward_bench.row(1)]
    ),
    "genai_bench": content("image_generation.json", [test_genai_bench.entry(0)]),
    "imagenhub": imagenhub,
    "imagenworld": imagenworld,
    "viescore": content("j.json", {"Text-Guided_IE": {"Ed": {"SC": {"u": [1, 2]}, "PQ": {"u": 3}}}}),
}
