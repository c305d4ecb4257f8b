"""What `builtin` measures on one output: a handful of numbers that every later rule reads."""

from dataclasses import asdict, dataclass

import numpy as np

from imarena.core.records import JsonDict
from imarena.vision import Artefacts, Difference, Region, blocks, measure_artefacts

_FINE = 32
_TOP = 0.003
SAME_COLOUR = 3.0
"""Largest block difference (Lab) of a picture that was handed back: recompression stays below."""


@dataclass(frozen=True)
class Facts:
    """Change (Lab distance or structure, by blocks of a 16 x 16 raster) and texture, source against output."""

    colour_top: float
    """Colour change that only 3 in 1000 of the 32 x 32 blocks exceed: a small object is enough."""
    colour_median: float
    structure_top: float
    structure_median: float
    """0: the layout is as before; 0.3 and more: another picture."""
    joint_contrast: float
    """Log of the strongest change (colour and structure together) over the median one."""
    colour_inside: float
    """Mean colour change inside the changed regions; 0 where there are none."""
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
        """Nothing that a person could see has changed."""
        return self.colour_top < SAME_COLOUR and self.structure_top < 0.1 and self.aspect_change < 0.02

    @property
    def structure_contrast(self) -> float:
        """How far the strongest change stands out from the rest of the picture."""
        return self.structure_top - self.structure_median


def _exceeded_by(values: np.ndarray[tuple[int, ...], np.dtype[np.float32]], share: float) -> float:
    ordered = np.sort(values.ravel())[::-1]
    return float(ordered[min(ordered.size - 1, int(ordered.size * share))])


def _joint_contrast(difference: Difference) -> float:
    both = np.sqrt(np.maximum(difference.structure, 0.0) * difference.colour)
    raster = blocks(np.asarray(both, dtype=np.float32))
    return float(np.log((raster.max() + 0.5) / (np.median(raster) + 0.5)))


def measure(difference: Difference) -> Facts:
    """All facts about one comparison."""
    outside = difference.outside
    shift = (difference.output.lab - difference.source.lab)[outside]
    middle = np.median(shift, axis=0)
    return Facts(
        colour_top=_exceeded_by(blocks(difference.colour, _FINE), _TOP),
        colour_median=_exceeded_by(difference.colour_blocks, 0.5),
        structure_top=_exceeded_by(blocks(difference.structure, _FINE), _TOP),
        structure_median=_exceeded_by(difference.structure_blocks, 0.5),
        joint_contrast=_joint_contrast(difference),
        colour_inside=float(difference.colour[difference.mask].mean()) if difference.mask.any() else 0.0,
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
    """The facts as JSON, rounded for reading."""
    plain = {name: value for name, value in asdict(facts).items() if isinstance(value, float)}
    return {
        **_rounded(plain),
        "returned_input": facts.returned_input,
        "regions": [
            {"box": [round(v, 3) for v in region.box], "area": round(region.area, 4)} for region in facts.regions[:5]
        ],
        "artefacts": _rounded(asdict(facts.artefacts)),
    }
