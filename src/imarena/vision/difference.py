"""What changed between two images, how strongly and where; colour and structure are measured separately."""

from dataclasses import dataclass, field

import cv2
import numpy as np
from PIL import Image

from imarena.core import Floats, Mask
from imarena.vision.frame import LONG_SIDE, Frame, centre_crop, detail_of, frame_of

GRID = 16
"""The image is also analysed in 16 x 16 blocks, a robust measure of how much of it changed."""
_ASPECT_TOLERANCE = 0.03
_FLOOR = 10.0
"""Smallest colour distance (CIE76) that counts as a change; recompression and latent round trips stay below."""
_OVER_MEDIAN = 2.5
_SMALLEST = 0.0005
_C_STRUCTURE = 9.0
_FINE = 0.3
"""Detail (units of lightness) that is too faint to be compared."""


@dataclass(frozen=True)
class Region:
    """One connected change: its box as fractions of the image (left, top, right, bottom) and its share of the area."""

    box: tuple[float, float, float, float]
    centre: tuple[float, float]
    area: float


@dataclass(frozen=True)
class Difference:
    """Maps of shape (height, width): `colour` is a Lab distance, `structure` 1 minus local correlation (0 to 2)."""

    source: Frame
    output: Frame
    colour: Floats
    structure: Floats
    mask: Mask
    regions: tuple[Region, ...]
    aspect_change: float
    detail_change: float
    """Log ratio of fine detail, output over source, at the source's own size: the median over its textured blocks.
    Negative means blur or a lower resolution, positive means noise or ringing."""
    colour_blocks: Floats = field(repr=False)
    structure_blocks: Floats = field(repr=False)

    @property
    def area(self) -> float:
        """Share of the image inside the changed regions."""
        return float(self.mask.mean())

    @property
    def outside(self) -> Mask:
        """Pixels well outside the changed regions; all pixels if almost none are."""
        grown = cv2.dilate(self.mask.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        return ~grown if (~grown).sum() > 100 else np.ones_like(self.mask)

    @property
    def raggedness(self) -> float:
        """Border length over the square root of the area: about 7 for one disc, 50 for scattered specks, 60 if none."""
        if self.mask.sum() <= 60:
            return 60.0
        border = cv2.morphologyEx(self.mask.astype(np.uint8), cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
        return float(border.sum() / np.sqrt(self.mask.sum()))

    @property
    def filling(self) -> float:
        """Share of the changes' bounding box that changed: 1 for one full rectangle, 0 for no change."""
        rows, columns = np.nonzero(self.mask)
        if rows.size <= 60:
            return 0.0
        return float(rows.size / ((np.ptp(rows) + 1) * (np.ptp(columns) + 1)))


def structure_change(left: Floats, right: Floats, sigma: float = 3.0) -> Floats:
    """1 minus the structure term of SSIM on two lightness maps: 0 same, 1 unrelated, 2 inverted."""

    def mean(values: Floats) -> Floats:
        return np.asarray(cv2.GaussianBlur(values, (0, 0), sigma), dtype=np.float32)

    mu_left, mu_right = mean(left), mean(right)
    var_left = mean(left * left) - mu_left * mu_left
    var_right = mean(right * right) - mu_right * mu_right
    covariance = mean(left * right) - mu_left * mu_right
    return np.asarray(1.0 - (2.0 * covariance + _C_STRUCTURE) / (var_left + var_right + _C_STRUCTURE), dtype=np.float32)


def colour_distance(left: Floats, right: Floats) -> Floats:
    """Lab distance of two lightly smoothed images, (height, width)."""
    a = cv2.GaussianBlur(left, (0, 0), 1.2)
    b = cv2.GaussianBlur(right, (0, 0), 1.2)
    return np.asarray(np.sqrt(((a - b) ** 2).sum(axis=2)), dtype=np.float32)


def blocks(values: Floats, side: int = GRID) -> Floats:
    """Means over a raster of `side` x `side` blocks."""
    method = cv2.INTER_AREA if min(values.shape) >= side else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(values, (side, side), interpolation=method), dtype=np.float32)


def change_regions(colour: Floats) -> tuple[Mask, tuple[Region, ...]]:
    """Connected areas where the colour distance stands out from its median, the largest first."""
    height, width = colour.shape
    threshold = max(_FLOOR, _OVER_MEDIAN * float(np.median(colour)))
    raw = (colour > threshold).astype(np.uint8)
    closed = cv2.morphologyEx(raw, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    count, labels, stats, centres = cv2.connectedComponentsWithStats(closed)
    large = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] > _SMALLEST * closed.size]
    mask = np.isin(labels, large) if large else np.zeros(closed.shape, dtype=bool)
    regions = []
    for i in sorted(large, key=lambda k: -int(stats[k, cv2.CC_STAT_AREA])):
        left, top, w, h, area = (int(v) for v in stats[i])
        regions.append(
            Region(
                box=(left / width, top / height, (left + w) / width, (top + h) / height),
                centre=(float(centres[i][0]) / width, float(centres[i][1]) / height),
                area=area / closed.size,
            )
        )
    return mask, tuple(regions)


def _fitted(source: Frame, output: Image.Image, long_side: int) -> tuple[Frame, float]:
    """The output at the source's size. If the aspect ratios differ: stretched or cropped, whichever is closer."""
    ours = source.full_size[0] / source.full_size[1]
    theirs = output.size[0] / output.size[1]
    change = float(abs(np.log(theirs / ours)))
    stretched = frame_of(output, source.size, long_side)
    if change <= _ASPECT_TOLERANCE:
        return stretched, 0.0
    cropped = frame_of(centre_crop(output, ours), source.size, long_side)
    far = [float(np.abs(source.rgb - f.rgb).mean()) for f in (stretched, cropped)]
    return (cropped if far[1] < far[0] else stretched), change


def _detail_change(source: Frame, output: Image.Image) -> float:
    """Median over textured blocks of the middle, so that neither a small edit nor a flat sky decides."""
    resized = output if output.size == source.full_size else output.resize(source.full_size, Image.Resampling.BICUBIC)
    maps = [np.abs(cv2.Laplacian(light, cv2.CV_32F)) for light in (source.detail, detail_of(resized))]
    before, after = (blocks(np.asarray(values, dtype=np.float32)) for values in maps)
    textured = before >= np.median(before)
    return float(np.median(np.log((after[textured] + _FINE) / (before[textured] + _FINE))))


def measure_difference(source: Frame, output: Image.Image, long_side: int = LONG_SIDE) -> Difference:
    """Compare a source at working size with an output of any size."""
    fitted, aspect_change = _fitted(source, output, long_side)
    colour = colour_distance(source.lab, fitted.lab)
    structure = structure_change(source.light, fitted.light)
    mask, regions = change_regions(colour)
    return Difference(
        source=source,
        output=fitted,
        colour=colour,
        structure=structure,
        mask=mask,
        regions=regions,
        aspect_change=aspect_change,
        detail_change=_detail_change(source, output),
        colour_blocks=blocks(colour),
        structure_blocks=blocks(structure),
    )
