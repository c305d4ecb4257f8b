"""Settings of EdiVal's scores. All of them are part of a judgment's identity."""

from typing import Literal

from pydantic import Field

from imarena.core.records import FrozenModel
from imarena.judges.edival.rules import ReplaceRule

ScoreDimension = Literal["overall", "instruction_following", "consistency", "quality"]
EDIVAL_DIMENSIONS: tuple[ScoreDimension, ...] = ("overall", "instruction_following", "consistency", "quality")
AUTO = "auto"


class EdiValSettings(FrozenModel):
    """Tools are given by name; `auto` selects the paper's tool if it is installed, else the offline one."""

    dimension: ScoreDimension = "overall"
    """What the headline score is about; each dimension gets its own judgment."""
    detector: str = AUTO
    """Finds the objects that a phrase names: `grounding-dino`, `owlv2`, `owl-vit`, or `efficientdet` (80 kinds)."""
    answers: str = AUTO
    """Answers yes-or-no questions: `vlm` (needs an endpoint) or `colour-names` (offline)."""
    reader: str = AUTO
    """Reads text: `vlm` (needs an endpoint) or `rapidocr` (offline)."""
    features: str = AUTO
    """Compares image parts: `dinov3`, `dino`, `clip`, `siglip`, or `st-lpips` (offline)."""
    quality: str = AUTO
    """Visual quality: `hpsv3`, `vlm` (a model asked for 0 to 100, appendix N), or `brisque` (offline)."""
    also_quality: str = AUTO
    """Additional quality measures, separated by commas: `vlm`, `plausibility`, `aesthetics`, `hpsv3`,
    `brisque`, or `none`. `auto`: the heads that are installed, and `vlm` if an endpoint is named."""
    threshold: float | None = Field(default=None, ge=0, lt=1)
    """One threshold for all edit types; None: the detector's (0.30 for removals, 0.40 for positions, else 0.35)."""
    largest_side: float | None = Field(default=0.98, gt=0, le=1)
    """Ignore boxes with both sides longer than this share; None keeps them."""
    smallest_crop: float = Field(default=0.05, ge=0, le=1)
    """Enlarge crops to at least this share of the image's sides."""
    epsilon: float = Field(default=0.0, ge=0, lt=1)
    """Minimum distance of two centres for a position to count, as a share of the image's sides."""
    replace_rule: ReplaceRule = "algorithm-3"
    """Which of the paper's three replacement rules decides; all three are reported."""
    model: str = ""
    """The model at the endpoint, if there is one; part of the judge's name."""
    images: str = ""
    """How images are prepared for that endpoint."""
