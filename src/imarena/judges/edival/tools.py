"""The tools of EdiVal's scores, by role and by name, and the limits of each."""

import importlib.util
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal, Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from PIL import Image

from imarena.core import Detection, EditType, Pixels, ShareBox, UnknownName, UserError, sha256_hex, suggestion
from imarena.core.records import JsonDict
from imarena.judges.edival.settings import AUTO, EdiValSettings
from imarena.vision import (
    EMBEDDERS,
    HEAD_NAMES,
    METRICS,
    PHRASE_DETECTORS,
    QUALITY_HEADS,
    TextLine,
    default_phrases,
    find_objects,
    find_picture_tool,
    installed_folder,
    kinds_in_phrase,
    phrase_detector,
    rate_quality,
    read_lines,
    shift_tolerant_lpips,
)

FLOOR = 0.2
"""Detectors return everything above this score, so that changing a rule's own threshold needs no new detection."""


def crop(pixels: Pixels, box: ShareBox) -> Pixels:
    """The part of an image in a box, at least one pixel."""
    height, width = pixels.shape[:2]
    left, top = int(box[0] * width), int(box[1] * height)
    right, bottom = max(left + 1, round(box[2] * width)), max(top + 1, round(box[3] * height))
    return pixels[top:bottom, left:right]


@dataclass(frozen=True)
class Thresholds:
    """The scores above which a detector's boxes count, by type of edit."""

    remove: float = 0.30
    position: float = 0.40
    other: float = 0.35

    def for_type(self, edit_type: EditType | None) -> float:
        """The threshold for an edit type (appendix C.2 of the paper); None: not for an edit but for consistency."""
        return {"subject_remove": self.remove, "position_change": self.position}.get(edit_type or "", self.other)


class EdiValTool(Protocol):
    """Name and version of every tool, which are part of the identity of its evidence."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...


class ObjectFinder(EdiValTool, Protocol):
    """Finds the objects that a phrase names."""

    @property
    def thresholds(self) -> Thresholds: ...

    @property
    def missed_source_fails(self) -> bool:
        """True: an object that is not found before the edit fails the edit, as in the paper. False: it is undecided."""
        ...

    def params(self, phrase: str) -> JsonDict | None:
        """What a search depends on besides the image; None if the detector cannot search for this phrase."""
        ...

    def search(self, pixels: Pixels, phrase: str) -> Sequence[Detection]:
        """Search in pixels of shape (height, width, 3) and return boxes in pixels."""
        ...

    def chosen(self, found: Sequence[Detection], phrase: str) -> Sequence[Detection]:
        """The boxes in `found` that this phrase names."""
        ...


QuestionKind = Literal["color", "material", "background", "replaced"]


@dataclass(frozen=True)
class YesNoQuestion:
    """A question about an edited image, or about the part of it in `box`."""

    kind: QuestionKind
    text: str
    value: str
    box: ShareBox | None = None
    others: tuple[ShareBox, ...] = ()
    """For a question about the background: the boxes of the objects before it."""
    before_box: ShareBox | None = None


class Answerer(EdiValTool, Protocol):
    """Answers yes-or-no questions, or None if it cannot decide."""

    @property
    def compares(self) -> bool:
        """Does it also look at the image before the edit?"""
        ...

    async def answer(self, question: YesNoQuestion, after: Pixels, before: Pixels) -> bool | None:
        """Answer a question; both images have the shape (height, width, 3)."""
        ...


class TextReader(EdiValTool, Protocol):
    """Reads the text in an image, or in a part of it."""

    async def read(self, pixels: Pixels, box: ShareBox | None) -> Sequence[TextLine]:
        """Read the lines in pixels of shape (height, width, 3)."""
        ...


class PartComparer(EdiValTool, Protocol):
    """Measures how similar two image parts of the same size are, 0 to 1; None if they are too small."""

    def likeness(self, base: Pixels, now: Pixels, shown_share: float) -> float | None:
        """Compare two parts of shape (height, width, 3). `shown_share`: the share of pixels not covered by a mask."""
        ...


@dataclass(frozen=True)
class QualityMetric:
    """One number for the quality of an image; higher is better."""

    name: str
    version: str
    measure: Callable[[Pixels], float | Awaitable[float]]
    scale: tuple[float, float] | None = None

    async def grade(self, pixels: Pixels) -> float:
        """Measure the quality of pixels of shape (height, width, 3)."""
        value = self.measure(pixels)
        return await value if inspect.isawaitable(value) else value


@dataclass(frozen=True)
class Toolbox:
    """One tool for each role."""

    finder: ObjectFinder
    answerer: Answerer
    reader: TextReader
    comparer: PartComparer
    metric: QualityMetric
    also: tuple[QualityMetric, ...] = ()
    """Additional quality measures."""

    @property
    def names(self) -> JsonDict:
        """Role -> tool and version, to document what produced a score."""
        tools: dict[str, EdiValTool] = {
            "detector": self.finder, "answers": self.answerer, "reader": self.reader, "features": self.comparer,
            "quality": self.metric,
        }  # fmt: skip
        tools |= {f"quality: {metric.name}": metric for metric in self.also}
        return {role: f"{tool.name}@{tool.version}" for role, tool in tools.items()}


# ---------------------------------------------------------------- detectors


@dataclass(frozen=True)
class KindFinder:
    """The bundled detector of 80 kinds. It cannot search for other objects, and ignores colours and materials."""

    name: str = "efficientdet"
    version: str = field(default_factory=lambda: find_picture_tool("objects").version())
    thresholds: Thresholds = Thresholds()
    missed_source_fails: bool = False

    def params(self, phrase: str) -> JsonDict | None:
        """One search finds all kinds."""
        return {"floor": FLOOR} if kinds_in_phrase(phrase) else None

    def search(self, pixels: Pixels, phrase: str) -> Sequence[Detection]:  # noqa: ARG002
        return find_objects(pixels, FLOOR)

    def chosen(self, found: Sequence[Detection], phrase: str) -> Sequence[Detection]:
        kinds = default_phrases()
        labels = {kinds[at] for at in kinds_in_phrase(phrase)}
        return [detection for detection in found if detection.label in labels]


@dataclass(frozen=True)
class PhraseFinder:
    """A detector from the catalog that searches for phrases, such as Grounding DINO."""

    name: str
    thresholds: Thresholds = Thresholds()
    missed_source_fails: bool = True

    @property
    def version(self) -> str:
        return find_picture_tool(self.name).version()

    def params(self, phrase: str) -> JsonDict | None:
        return {"phrase": phrase}

    def search(self, pixels: Pixels, phrase: str) -> Sequence[Detection]:
        return phrase_detector(self.name, FLOOR)(pixels, [phrase])

    def chosen(self, found: Sequence[Detection], phrase: str) -> Sequence[Detection]:  # noqa: ARG002
        return found


# ---------------------------------------------------------------- text, features, quality


@dataclass(frozen=True)
class OcrReader:
    """Reads text with RapidOCR."""

    name: str = "rapidocr"
    version: str = field(default_factory=lambda: find_picture_tool("words").version())

    async def read(self, pixels: Pixels, box: ShareBox | None) -> Sequence[TextLine]:
        """Read the text; a part is enlarged first."""
        return read_lines(Image.fromarray(pixels), box)


@dataclass(frozen=True)
class PerceptualComparer:
    """1 minus shift-tolerant LPIPS. The distance is divided by the share of the image that is not masked."""

    name: str = "st-lpips"
    version: str = "1"

    def likeness(self, base: Pixels, now: Pixels, shown_share: float) -> float | None:
        if shown_share <= 0:
            return None
        distance = shift_tolerant_lpips(base, now)
        return None if distance is None else max(0.0, 1.0 - distance / shown_share)


_VECTORS: LRUCache[tuple[str, str], NDArray[np.float32]] = LRUCache(512)


@dataclass(frozen=True)
class FeatureComparer:
    """Cosine similarity of two images' features, such as those of DINOv3."""

    name: str

    @property
    def version(self) -> str:
        return find_picture_tool(self.name).version()

    def likeness(self, base: Pixels, now: Pixels, shown_share: float) -> float | None:
        if shown_share <= 0:
            return None
        return max(0.0, float(np.dot(self._vector(base), self._vector(now))))

    def _vector(self, part: Pixels) -> NDArray[np.float32]:
        key = self.name, sha256_hex(repr(part.shape).encode() + np.ascontiguousarray(part).tobytes())
        if key not in _VECTORS:
            _VECTORS[key] = EMBEDDERS.get(self.name)(part)
        return _VECTORS[key]


def _brisque(pixels: Pixels) -> float:
    """BRISQUE (0 clean, 100 badly damaged) reversed and rescaled: 10 clean, 0 badly damaged."""
    return min(10.0, max(0.0, 10.0 - METRICS.get("brisque")(pixels) / 10.0))


def _metric(name: str, pixels: Pixels) -> float:
    return float(METRICS.get(name)(pixels))


def _head(name: str, pixels: Pixels) -> float:
    numbers = rate_quality(pixels)
    if name not in numbers:
        raise UserError(f"The weights '{QUALITY_HEADS}' have no head '{name}'.")
    return numbers[name]


# ---------------------------------------------------------------- by name

_PAPER: Mapping[str, tuple[str, str]] = {
    "detector": ("grounding-dino", "grounding-dino-tiny"),
    "features": ("dinov3", "dinov3-vitb16"),
    "quality": ("hpsv3", "hpsv3"),
}
_OFFLINE = {
    "detector": "efficientdet", "answers": "colour-names", "reader": "rapidocr", "features": "st-lpips",
    "quality": "brisque",
}  # fmt: skip
FEATURES = ("dinov3", "dino", "clip", "siglip", "colour-layout")
VLM = "vlm"
QUALITIES = ("brisque", "hpsv3", VLM, *HEAD_NAMES)
_NONE = "none"
_WITHOUT_TORCH = {*_OFFLINE.values(), "colour-layout", VLM}


def tool_name(role: str, setting: str, *, chat: bool) -> str:
    """The tool for a role: the given one; for `auto`, the paper's if it is installed, else the offline one."""
    if setting != AUTO:
        return setting
    if role in ("answers", "reader"):
        return VLM if chat else _OFFLINE[role]
    name, weights = _PAPER[role]
    return name if _is_installed(weights) else _OFFLINE[role]


def _is_installed(weights: str) -> bool:
    return importlib.util.find_spec("torch") is not None and installed_folder(weights) is not None


def find_finder(name: str) -> ObjectFinder:
    """The detector called `name`."""
    if name == "efficientdet":
        return _kind_finder()
    if name in PHRASE_DETECTORS:
        return PhraseFinder(name)
    raise _unknown("detector", name, ["efficientdet", *PHRASE_DETECTORS])


@lru_cache(maxsize=1)
def _kind_finder() -> KindFinder:
    return KindFinder()


def find_comparer(name: str) -> PartComparer:
    """The comparer of image parts called `name`."""
    if name == "st-lpips":
        return PerceptualComparer()
    if name in FEATURES:
        return FeatureComparer(name)
    raise _unknown("features", name, ["st-lpips", *FEATURES])


def find_metric(name: str) -> QualityMetric:
    """The quality measure called `name`."""
    if name == "brisque":
        return QualityMetric(name, "1", _brisque, (0.0, 10.0))
    if name == "hpsv3":
        return QualityMetric(name, find_picture_tool(name).version(), partial(_metric, name))
    if name in HEAD_NAMES:
        return QualityMetric(name, rate_quality.version, partial(_head, name))
    raise _unknown("quality", name, QUALITIES)


def _unknown(role: str, name: str, choices: Sequence[str]) -> UnknownName:
    return UnknownName(f"There is no tool called '{name}' for {role}.", hint=suggestion(name, list(choices)))


def settle_names(settings: EdiValSettings, *, chat: bool) -> EdiValSettings:
    """The settings with every `auto` replaced by the tool that it selects on this machine."""
    roles = ("detector", "answers", "reader", "features", "quality")
    names = {role: tool_name(role, getattr(settings, role), chat=chat) for role in roles}
    names["also_quality"] = ",".join(_also(settings.also_quality, names["quality"], chat=chat)) or _NONE
    return settings.model_copy(update=names)


def _also(setting: str, quality: str, *, chat: bool) -> list[str]:
    """The names of the additional quality measures."""
    if setting != AUTO:
        names = [name.strip() for name in setting.split(",") if name.strip() not in ("", _NONE)]
    else:
        names = list(HEAD_NAMES) if _is_installed(QUALITY_HEADS) else []
        names += [VLM] if chat else []
    for name in names:
        if name not in QUALITIES:
            raise _unknown("also_quality", name, [*QUALITIES, _NONE])
    return [name for name in dict.fromkeys(names) if name != quality]


def gpus_of(settings: EdiValSettings) -> float:
    """GPUs per worker on a cluster: 1 if a tool needs torch, else 0. The settings must not contain `auto`."""
    names = {settings.detector, settings.features, settings.quality, *secondary_metrics(settings)}
    return float(not names <= _WITHOUT_TORCH)


def secondary_metrics(settings: EdiValSettings) -> list[str]:
    """The names of the additional quality measures, from settings without `auto`."""
    return [name for name in settings.also_quality.split(",") if name not in ("", _NONE, AUTO)]
