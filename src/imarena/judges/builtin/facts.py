"""The measurements of one output on which all of `builtin`'s rules are based."""

from dataclasses import asdict, dataclass

import cv2
import numpy as np

from imarena.core import Floats
from imarena.core.records import JsonDict
from imarena.vision import Artefacts, Difference, Region, blocks, measure_artefacts, structure_change

_FINE = 32
_TOP = 0.003
_AROUND = 25
"""Kernel size in pixels at working size; the surroundings of a region reach half as far."""
_ENOUGH = 60
"""Texture is only measured on more changed pixels than this."""
SAME_COLOUR = 3.0
"""Below this block difference (Lab), the output counts as the unchanged input; recompression stays below it."""


@dataclass(frozen=True)
class Facts:
    """Change (Lab distance or structure, in blocks of a 16 x 16 grid) and texture, source against output."""

    colour_top: float
    """Colour change that only 3 in 1000 of the 32 x 32 blocks exceed, so that a small object is enough."""
    colour_median: float
    structure_top: float
    structure_median: float
    layout_change: float
    """Median structure change of the large shapes only. 0: each is where it was, even if re-encoding moved
    fine lines by a pixel; 0.25 and more: a different image."""
    structure_inside: float
    """Mean structure change inside the changed regions: near 0 for a tint, near 1 for another object."""
    detail_inside: float
    """Log ratio of fine detail inside the changed regions, output to source: negative means calmer."""
    joint_contrast: float
    """Log ratio of the strongest change (colour and structure together) to the median change."""
    apart_before: float
    """Lab distance between the mean colours of the changed regions and of their surroundings, in the source."""
    apart_after: float
    """The same in the output: an object stands out from its surroundings, a filled area does not."""
    texture_inside: float
    """Log ratio of the output's fine detail inside and outside the changed regions: low is a smear, very high noise."""
    vividness: float
    """Chroma of the changed regions (90th percentile) minus that of the source (99th percentile)."""
    detail_change: float
    """Log ratio of fine detail away from the edit, output to source, at the source's own size."""
    colour_inside: float
    """Mean colour change inside the changed regions; 0 without any."""
    area: float
    raggedness: float
    filling: float
    regions: tuple[Region, ...]
    lightness_shift: float
    """Median change of lightness outside the edit."""
    tint_shift: float
    aspect_change: float
    artefacts: Artefacts

    @property
    def returned_input(self) -> bool:
        """Did nothing change that a person could see?"""
        return self.colour_top < SAME_COLOUR and self.structure_top < 0.1 and self.aspect_change < 0.02

    @property
    def structure_contrast(self) -> float:
        """How far the strongest change stands out from the rest of the image."""
        return self.structure_top - self.structure_median


def _exceeded_by(values: np.ndarray[tuple[int, ...], np.dtype[np.float32]], share: float) -> float:
    ordered = np.sort(values.ravel())[::-1]
    return float(ordered[min(ordered.size - 1, int(ordered.size * share))])


def _joint_contrast(difference: Difference) -> float:
    contrast = np.sqrt(np.maximum(difference.structure, 0.0) * difference.colour)
    raster = blocks(np.asarray(contrast, dtype=np.float32))
    return float(np.log((raster.max() + 0.5) / (np.median(raster) + 0.5)))


def _layout_change(difference: Difference) -> float:
    """Structure change at half the working size and blurred, which leaves only the large shapes."""

    def large(light: Floats) -> Floats:
        half = cv2.resize(light, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.GaussianBlur(half, (0, 0), 1.5), dtype=np.float32)

    return float(np.median(structure_change(large(difference.source.light), large(difference.output.light), 4.0)))


def _detail_inside(difference: Difference) -> float:
    after, before = (float(f.curve[difference.mask].mean()) for f in (difference.output, difference.source))
    return float(np.log((after + 0.3) / (before + 0.3)))


def _apart(difference: Difference) -> tuple[float, float]:
    inside = difference.mask.astype(np.uint8)
    near, far = (cv2.dilate(inside, np.ones((side, side), np.uint8)) for side in (3, _AROUND))
    around = (far > 0) & (near == 0)
    if not around.any():
        return 0.0, 0.0
    frames = (difference.source, difference.output)
    middles = [(f.lab[difference.mask].mean(axis=0), f.lab[around].mean(axis=0)) for f in frames]
    before, after = (float(np.linalg.norm(middle - other)) for middle, other in middles)
    return before, after


def _texture_inside(difference: Difference) -> float:
    curve = difference.output.curve
    return float(np.log((curve[difference.mask].mean() + 0.3) / (curve[difference.outside].mean() + 0.3)))


def _vividness(difference: Difference) -> float:
    strongest = np.quantile(difference.source.chroma, 0.99)
    return float(np.quantile(difference.output.chroma[difference.mask], 0.9) - strongest)


def measure(difference: Difference) -> Facts:
    """Measure all facts about one output."""
    outside, inside = difference.outside, difference.mask
    large = int(inside.sum()) > _ENOUGH
    before, after = _apart(difference) if large else (0.0, 0.0)
    shift = (difference.output.lab - difference.source.lab)[outside]
    middle = np.median(shift, axis=0)
    return Facts(
        colour_top=_exceeded_by(blocks(difference.colour, _FINE), _TOP),
        colour_median=_exceeded_by(difference.colour_blocks, 0.5),
        structure_top=_exceeded_by(blocks(difference.structure, _FINE), _TOP),
        structure_median=_exceeded_by(difference.structure_blocks, 0.5),
        layout_change=_layout_change(difference),
        structure_inside=float(difference.structure[inside].mean()) if large else 0.0,
        detail_inside=_detail_inside(difference) if large else 0.0,
        apart_before=before,
        apart_after=after,
        texture_inside=_texture_inside(difference) if large else 0.0,
        vividness=_vividness(difference) if large else 0.0,
        detail_change=difference.detail_change,
        joint_contrast=_joint_contrast(difference),
        colour_inside=float(difference.colour[inside].mean()) if inside.any() else 0.0,
        area=difference.area,
        raggedness=difference.raggedness,
        filling=difference.filling,
        regions=difference.regions,
        lightness_shift=float(middle[0]),
        tint_shift=float(np.hypot(middle[1], middle[2])),
        aspect_change=difference.aspect_change,
        artefacts=measure_artefacts(difference),
    )


def _rounded(values: dict[str, float]) -> JsonDict:
    return {name: round(value, 4) for name, value in values.items()}


def as_evidence(facts: Facts) -> JsonDict:
    """The facts as JSON, rounded for readability."""
    plain = {name: value for name, value in asdict(facts).items() if isinstance(value, float)}
    return {
        **_rounded(plain),
        "returned_input": facts.returned_input,
        "regions": [
            {"box": [round(v, 3) for v in region.box], "area": round(region.area, 4)} for region in facts.regions[:5]
        ],
        "artefacts": _rounded(asdict(facts.artefacts)),
    }
