"""`pvc-small`: which of two edits kept more of what should not change? A small network, trained from scratch, that runs
on the CPU. It reads no instruction but infers the edit from the pixels. It was trained on damage of known kind and
strength (`imarena.preferences`), not on people's votes.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import cv2
import numpy as np
from cachetools import LRUCache, cachedmethod
from numpy.typing import NDArray
from pydantic import Field, JsonValue

from imarena.core import Chat, Exhibit, InvalidImage, JudgeTraits, Verdict
from imarena.core.records import FrozenModel, JsonDict, Outcome, Status
from imarena.images import decode
from imarena.judges.options import read_judge_options
from imarena.vision import ModelLock, network, network_version

_WEIGHTS = "pvc_small"
_LONGEST = 512
_STRIDE = 32
_SMALLEST = 128
_CELL = 8
_CACHE_SIZE = 4096
_NO_SOURCE = "pvc-small compares an edit with its source, and there is none."


@dataclass(frozen=True)
class EditDamage:
    """The network's result for one output."""

    score: float
    """Higher is worse: about 2 ln(1 + level) for damage of a known level, near 0 without any."""
    edited: NDArray[np.float32]
    """Probability that a cell of 8 x 8 pixels at working size belongs to the intended edit."""

    @property
    def level(self) -> float:
        """The score as a damage level: 1 is just noticeable, 10 is ten times that."""
        return float(np.expm1(max(self.score, 0.0) / 2.0))


def _working_size(height: int, width: int) -> tuple[int, int]:
    scale = min(1.0, _LONGEST / max(height, width))
    return max(1, round(height * scale)), max(1, round(width * scale))


def _ready(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.float32]:
    """Scale to working size and pad with the border to multiples of 32, at least 128: (1, 3, h, w), 0 to 1."""
    height, width = size
    if pixels.shape[:2] != size:
        way = cv2.INTER_AREA if height * width <= pixels.shape[0] * pixels.shape[1] else cv2.INTER_CUBIC
        pixels = np.asarray(cv2.resize(pixels, (width, height), interpolation=way), np.uint8)
    down, right = (max(_SMALLEST, -(-side // _STRIDE) * _STRIDE) - side for side in size)
    if down or right:
        pixels = np.pad(pixels, ((0, down), (0, right), (0, 0)), mode="edge")
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]).astype(np.float32) * np.float32(1 / 255)


def measure_edit_damage(source: NDArray[np.uint8], output: NDArray[np.uint8]) -> EditDamage:
    """Measure the damage that an edit did to `source` (height, width, 3); `output` may have another size.

    Both are scaled to the source's shape, the longer side at most 512 pixels.
    """
    size = _working_size(*source.shape[:2])
    inputs = {"source": _ready(source, size), "output": _ready(output, size)}
    score, logits = network(_WEIGHTS).run(["score", "edit"], inputs)
    cells = logits[0, 0, : -(-size[0] // _CELL), : -(-size[1] // _CELL)]
    return EditDamage(float(score[0]), np.asarray(1.0 / (1.0 + np.exp(-cells)), np.float32))


class PvcSmallSettings(FrozenModel):
    """`margin`: a tie if the probabilities of the two sides differ by at most this. 0: only equal outputs tie."""

    margin: float = Field(default=0.0, ge=0, lt=1)


def _key(_: object, source: bytes, output: bytes) -> bytes:
    return hashlib.sha256(source).digest() + hashlib.sha256(output).digest()


class PvcSmallJudge:
    """Compares two outputs, or scores one with minus its damage level. Swapping sides mirrors the verdict."""

    name = "pvc-small"
    prompt_id = ""
    prompt_version = ""
    traits = JudgeTraits(needs_source=True, cpu_bound=True, seconds=0.03)

    def __init__(self, settings: PvcSmallSettings | None = None) -> None:
        self.settings = settings or PvcSmallSettings()
        self._cache: LRUCache[bytes, EditDamage] = LRUCache(_CACHE_SIZE)
        self._lock = ModelLock()

    @cached_property
    def version(self) -> str:
        """1 plus the weights' hash: different weights make a different judge."""
        return f"1+{network_version(_WEIGHTS)}"

    @property
    def params(self) -> JsonDict:
        """The settings that a verdict depends on."""
        return self.settings.model_dump(mode="json")

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Judge the exhibit. Without a source, the status is `refused`; with an image that cannot be decoded,
        `invalid_image`. Equal outputs are a tie.
        """
        if not exhibit.sources:
            return Verdict(Status.REFUSED, error=_NO_SOURCE)
        try:
            damages = [
                self._measure(exhibit.sources[0], data) for data in (exhibit.left, exhibit.right) if data is not None
            ]
        except InvalidImage as error:
            return Verdict(Status.INVALID_IMAGE, error=str(error))
        if len(damages) == 1:
            reasons: JsonDict = {"damage_score": round(damages[0].score, 6), "edited": _share(damages[0])}
            return Verdict(
                Status.OK, score=-damages[0].level, scores={"damage_level": damages[0].level}, reasons=reasons
            )
        return self._preference(damages[0], damages[1])

    def _preference(self, left: EditDamage, right: EditDamage) -> Verdict:
        gap = right.score - left.score
        certainty = math.tanh(abs(gap) / 2.0)  # difference of the two sides' logistic probabilities
        outcome = Outcome.TIE if certainty <= self.settings.margin else Outcome.LEFT if gap > 0 else Outcome.RIGHT
        scores = {"left.damage_level": left.level, "right.damage_level": right.level}
        reasons: JsonDict = {"gap": round(gap, 6), "left_edited": _share(left), "right_edited": _share(right)}
        return Verdict(Status.OK, preference=outcome, scores=scores, confidence=certainty, reasons=reasons)

    @cachedmethod(attrgetter("_cache"), key=_key, lock=attrgetter("_lock"))
    def _measure(self, source: bytes, output: bytes) -> EditDamage:
        """Measure each output once for all its pairs."""
        before, after = (np.asarray(decode(data).convert("RGB"), np.uint8) for data in (source, output))
        return measure_edit_damage(before, after)


def _share(damage: EditDamage) -> float:
    """Share of the image that the network takes for the edit."""
    return round(float(damage.edited.mean()), 4)


def make(options: Mapping[str, JsonValue], _: Chat | None = None) -> PvcSmallJudge:
    """The judge from a table of options."""
    return PvcSmallJudge(read_judge_options(PvcSmallSettings, options, "pvc-small"))
