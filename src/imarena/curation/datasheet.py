"""A data sheet of curated items: size, sources, resolution, tasks, licences, keywords, review and verification."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from imarena.core import JsonDict
from imarena.core.records import Item

_WORD = re.compile(r"[a-z][a-z'-]{2,}")
_COMMON_WORDS = """
the and with that this from into its for are was not but has have only while keep make let more less them they so out
all other than then there what which would like without
"""
_COMMON = frozenset(_COMMON_WORDS.split())
KEYWORDS = 60
BINS = (0, 512, 1024, 2048, 3072, 4096, 6144, 8192)
"""Bins of long sides, in pixels."""


@dataclass(frozen=True)
class Datasheet:
    """Counts over the items of a data set."""

    items: int
    images: int
    instructions: int
    tasks: dict[str, int]
    families: dict[str, int]
    topics: dict[str, int]
    sources: dict[str, int]
    tracks: dict[str, int]
    """By track: base (a person's keywords) and agentic."""
    licences: dict[str, int]
    resolution: dict[str, int]
    """Number of images by long side."""
    long_side: tuple[int, float, int] | None
    """Smallest, median and largest, in pixels."""
    keywords: dict[str, int]
    review: dict[str, int]
    """Flags for review by a person."""
    verified: int

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        value: dict[str, Any] = {**self.__dict__, "long_side": list(self.long_side) if self.long_side else None}
        return value

    @property
    def is_curated(self) -> bool:
        """Did `curate` collect any of the items?"""
        return bool(self.sources)


def summarise_items(items: Iterable[Item]) -> Datasheet:
    """Count what a reader of the benchmark asks about its images."""
    every_item = list(items)
    images = {image.sha256: image for item in every_item for image in item.sources}
    sides = [max(image.width or 0, image.height or 0) for image in images.values()]
    words = Counter(
        word
        for text in {item.instruction for item in every_item}
        for word in set(_WORD.findall(text.casefold()))
        if word not in _COMMON
    )
    curated = [item for item in every_item if "curation" in item.provenance]
    flags = Counter(flag for item in curated for flag in str(item.provenance.get("review") or "").split(", ") if flag)
    return Datasheet(
        len(every_item), len(images), len({item.instruction for item in every_item}),
        _counts(item.task for item in every_item), _counts(item.family for item in every_item),
        _counts(item.topic for item in every_item), _counts(item.provenance.get("source") for item in curated),
        _counts(_track(item) for item in curated), _counts(item.licence for item in every_item),
        _bins(sides), (min(sides), median(sides), max(sides)) if sides else None, dict(words.most_common(KEYWORDS)),
        dict(flags.most_common()), sum("verified" in item.provenance for item in every_item),
    )  # fmt: skip


def _track(item: Item) -> object:
    return item.provenance.get("curation_track") or item.provenance.get("collected_by")  # its name until 0.1


def _counts(values: Iterable[object]) -> dict[str, int]:
    return dict(Counter(str(value) if value else "not stated" for value in values).most_common())


def _bins(sides: list[int]) -> dict[str, int]:
    ends = [*BINS, 10**9]
    bins = {f"{low:,} to {high - 1:,} px" if high < 10**9 else f"{low:,} px or more": (low, high)
             for low, high in pairwise(ends)}  # fmt: skip
    counts = {name: sum(low <= side < high for side in sides) for name, (low, high) in bins.items()}
    return {name: count for name, count in counts.items() if count}
