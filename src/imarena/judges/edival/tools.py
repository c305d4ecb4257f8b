"""The tools of EdiVal's scores by role and by name: what each can tell, and what it cannot."""

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

from imarena.core import Detection, EditType, Pixels, UnknownName, UserError, sha256_hex, suggestion
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

ShareBox = tuple[float, float, float, float]
"""Left, top, right, bottom as shares of the image's sides."""
FLOOR = 0.2
"""Detectors are asked for everything above this score; rules have thresholds of their own, which cost nothing then."""


@dataclass(frozen=True)
class Thresholds:
    """The scores above which a detector's boxes count, by what is asked."""

    remove: float = 0.30
    position: float = 0.40
    other: float = 0.35

    def for_type(self, edit_type: EditType | None) -> float:
        """The paper's three thresholds (appendix C.2); None: for no edit, as consistency asks."""
        return {"subject_remove": self.remove, "position_change": self.position}.get(edit_type or "", self.other)


class EdiValTool(Protocol):
    """What every tool has: the two are part of the identity of what it measures."""

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
        """An object that is not found before the edit fails the edit, as in the paper; else it leaves it undecided."""
        ...

    def params(self, phrase: str) -> JsonDict | None:
        """What a search depends on beside the image; None where it cannot look for this."""
        ...

    def search(self, pixels: Pixels, phrase: str) -> Sequence[Detection]:
        """(height, width, 3) in, boxes in pixels out."""
        ...

    def chosen(self, found: Sequence[Detection], phrase: str) -> Sequence[Detection]:
        """Those of the boxes found that this phrase names."""
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
    """Answers yes-or-no questions; None where it cannot tell."""

    @property
    def compares(self) -> bool:
        """It looks at the image before the edit too."""
        ...

    async def answer(self, question: YesNoQuestion, after: Pixels, before: Pixels) -> bool | None:
        """(height, width, 3) each in."""
        ...


class TextReader(EdiValTool, Protocol):
    """Reads the text in an image, or in a part of it."""

    async def read(self, pixels: Pixels, box: ShareBox | None) -> Sequence[TextLine]:
        """(height, width, 3) in, lines out."""
        ...


class PartComparer(EdiValTool, Protocol):
    """How alike two image parts of the same size look, 0 to 1; None where they are too small for it."""

    def likeness(self, base: Pixels, now: Pixels, shown_share: float) -> float | None:
        """(height, width, 3) each; `shown_share`: the share of pixels that are not covered by a mask."""
        ...


@dataclass(frozen=True)
class QualityMeter:
    """One number for the quality of an image; higher is better."""

    name: str
    version: str
    measure: Callable[[Pixels], float | Awaitable[float]]
    scale: tuple[float, float] | None = None

    async def grade(self, pixels: Pixels) -> float:
        """(height, width, 3) in."""
        value = self.measure(pixels)
        return await value if inspect.isawaitable(value) else value


@dataclass(frozen=True)
class Toolbox:
    """One tool for each role."""

    finder: ObjectFinder
    answerer: Answerer
    reader: TextReader
    comparer: PartComparer
    meter: QualityMeter
    also: tuple[QualityMeter, ...] = ()
    """Measures of quality beside `meter`."""

    @property
    def names(self) -> JsonDict:
        """Role to tool and version: what a figure was made with."""
        tools: dict[str, EdiValTool] = {
            "detector": self.finder, "answers": self.answerer, "reader": self.reader, "features": self.comparer,
            "quality": self.meter,
        }  # fmt: skip
        tools |= {f"quality: {meter.name}": meter for meter in self.also}
        return {role: f"{tool.name}@{tool.version}" for role, tool in tools.items()}


# ---------------------------------------------------------------- detectors


@dataclass(frozen=True)
class KindFinder:
    """The bundled detector of 80 kinds. Other objects it cannot look for; colours and materials it does not see."""

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
        wanted = {kinds[at] for at in kinds_in_phrase(phrase)}
        return [one for one in found if one.label in wanted]


@dataclass(frozen=True)
class PhraseFinder:
    """A detector by phrase of the catalog, such as Grounding DINO."""

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
    """RapidOCR: what is printed, not what it means."""

    name: str = "rapidocr"
    version: str = field(default_factory=lambda: find_picture_tool("words").version())

    async def read(self, pixels: Pixels, box: ShareBox | None) -> Sequence[TextLine]:
        """A part is read enlarged."""
        return read_lines(Image.fromarray(pixels), box)


@dataclass(frozen=True)
class PerceptualComparer:
    """1 minus shift-tolerant LPIPS. A mask that covers most of the image hides nothing: the distance grows to match."""

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
    """Cosine of two image features, such as those of DINOv3."""

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
    """BRISQUE (0 clean, 100 badly damaged) turned round: 10 clean, 0 badly damaged."""
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


def tool_name(role: str, asked: str, *, chat: bool) -> str:
    """The tool of a role: the one asked for; with `auto` the paper's where it is installed, else the offline one."""
    if asked != AUTO:
        return asked
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


def find_meter(name: str) -> QualityMeter:
    """The measure of quality called `name`."""
    if name == "brisque":
        return QualityMeter(name, "1", _brisque, (0.0, 10.0))
    if name == "hpsv3":
        return QualityMeter(name, find_picture_tool(name).version(), partial(_metric, name))
    if name in HEAD_NAMES:
        return QualityMeter(name, rate_quality.version, partial(_head, name))
    raise _unknown("quality", name, QUALITIES)


def _unknown(role: str, name: str, known: Sequence[str]) -> UnknownName:
    return UnknownName(f"There is no tool called '{name}' for {role}.", hint=suggestion(name, list(known)))


def settle_names(settings: EdiValSettings, *, chat: bool) -> EdiValSettings:
    """The settings with every `auto` replaced by the tool that it selects here."""
    roles = ("detector", "answers", "reader", "features", "quality")
    names = {role: tool_name(role, getattr(settings, role), chat=chat) for role in roles}
    names["also_quality"] = ",".join(_also(settings.also_quality, names["quality"], chat=chat)) or _NONE
    return settings.model_copy(update=names)


def _also(asked: str, quality: str, *, chat: bool) -> list[str]:
    """The measures beside the main one, by name."""
    if asked != AUTO:
        names = [name.strip() for name in asked.split(",") if name.strip() not in ("", _NONE)]
    else:
        names = list(HEAD_NAMES) if _is_installed(QUALITY_HEADS) else []
        names += [VLM] if chat else []
    for name in names:
        if name not in QUALITIES:
            raise _unknown("also_quality", name, [*QUALITIES, _NONE])
    return [name for name in dict.fromkeys(names) if name != quality]


def gpus_of(settings: EdiValSettings) -> float:
    """GPUs for each worker on a cluster: one where a tool of the settings, which are without `auto`, needs torch."""
    names = {settings.detector, settings.features, settings.quality, *also_names(settings)}
    return float(not names <= _WITHOUT_TORCH)


def also_names(settings: EdiValSettings) -> list[str]:
    """The measures of quality beside the main one, of settings without `auto`."""
    return [name for name in settings.also_quality.split(",") if name not in ("", _NONE, AUTO)]
