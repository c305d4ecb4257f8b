"""Metrics of one region, which the rest of the output does not affect (section 4.2, step II).

Each metric compares the source with a copy of the output in which the other region is taken from the source. So it
cannot see changes there, even if a network looks at the whole image.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, Mask, Pixels, UserError
from imarena.preferences.regions import EditRegion
from imarena.vision import (
    DEPTH_ESTIMATORS,
    EMBEDDERS,
    distance_in,
    face_likeness,
    lpips_distance,
    patch_features,
    shift_tolerant_lpips,
    ssim_in,
)

_PATCH = 16
_BINS = 8


@dataclass(frozen=True)
class RegionView:
    """Input of a metric: the source, the output with only this region changed, and the region's mask."""

    source: Pixels
    output: Pixels
    mask: Mask
    region: EditRegion


@dataclass(frozen=True)
class MeasuredRegion:
    """Metric values of one region, and the reasons for missing ones: a missing value is never a number."""

    values: Mapping[str, float]
    missing: Mapping[str, str] = field(default_factory=dict)


def measure_region(
    source: Pixels, output: Pixels, mask: Mask, region: EditRegion, metrics: Sequence[str]
) -> MeasuredRegion:
    """Measure one region. `source`, `output`: (height, width, 3); `mask`: (height, width), true in the region."""
    if output.shape != source.shape:
        raise ValueError("the output has another size than the source")
    view = RegionView(source, np.where(mask[..., None], output, source), mask, region)
    values: dict[str, float] = {}
    missing: dict[str, str] = {}
    for name in metrics:
        try:
            value = MEASURES[name](view)
        except UserError as error:
            missing[name] = str(error).partition("\n")[0]
            continue
        if value is None:
            missing[name] = UNDEFINED[name]
        else:
            values[name] = float(value)
    return MeasuredRegion(values, missing)


def _ssim(view: RegionView) -> float | None:
    return ssim_in(view.source, view.output, view.mask)


def _distance(measure: Callable[[Pixels, Pixels], float | None]) -> Callable[[RegionView], float | None]:
    """The distance divided by the region's share of the image, so that a large region does not hide a change."""
    return lambda view: distance_in(measure, view.source, view.output, view.mask)


def lightness(pixels: Pixels) -> NDArray[np.uint8]:
    """CIE lightness, 0 to 255, (height, width)."""
    return np.ascontiguousarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB)[..., 0])


def matched_histogram(values: NDArray[np.uint8], like: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Map values (n,) with one increasing curve so that their distribution becomes that of `like` (m,)."""
    levels, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    target_levels, target_counts = np.unique(like, return_counts=True)
    share = (np.cumsum(counts) - counts / 2) / values.size
    target_share = (np.cumsum(target_counts) - target_counts / 2) / like.size
    curve = np.interp(share, target_share, target_levels)
    return np.asarray(np.rint(curve), np.uint8)[at].reshape(values.shape) if levels.size else values


def _lightness_ssim(view: RegionView) -> float | None:
    """SSIM of lightness inside the region after histogram matching, so that a new colour is not penalised."""
    if not view.mask.any():
        return None
    before, after = lightness(view.source), lightness(view.output)
    after = after.copy()
    after[view.mask] = matched_histogram(after[view.mask], before[view.mask])
    return ssim_in(before[..., None], after[..., None], view.mask)


def gradient_patches(pixels: Pixels, mask: Mask) -> FloatArray | None:
    """Orientation histograms of 16 x 16 patches of which at least half lies in the mask: (n, 8), length 1."""
    light = lightness(pixels).astype(np.float32)
    across, down = cv2.Sobel(light, cv2.CV_32F, 1, 0), cv2.Sobel(light, cv2.CV_32F, 0, 1)
    size = np.hypot(across, down)
    angle = (np.arctan2(down, across) % np.pi) / np.pi * _BINS
    bins = np.minimum(angle.astype(np.int64), _BINS - 1)
    rows = []
    for top in range(0, light.shape[0], _PATCH):
        for left in range(0, light.shape[1], _PATCH):
            at = slice(top, top + _PATCH), slice(left, left + _PATCH)
            inside = mask[at]
            if inside.mean() >= 0.5:
                counts = np.bincount(bins[at][inside], weights=size[at][inside], minlength=_BINS) + 1.0
                rows.append(counts / np.linalg.norm(counts))
    return np.array(rows) if rows else None


def self_similarity_score(before: FloatArray, after: FloatArray) -> float:
    """Compare cosine self-similarity matrices of two sets of patches (n, d): 1 / (1 + 100 MSE), 1 for equal ones."""
    apart = before @ before.T - after @ after.T
    return float(1.0 / (1.0 + 100.0 * np.mean(apart**2)))


def _structure_similarity(view: RegionView) -> float | None:
    """Self-similarity of orientation histograms of gradients; needs no weights."""
    before, after = gradient_patches(view.source, view.mask), gradient_patches(view.output, view.mask)
    return None if before is None or after is None else self_similarity_score(before, after)


def _dino_structure_similarity(view: RegionView) -> float | None:
    before, after = (patch_features(pixels, view.mask, "dinov2-base") for pixels in (view.source, view.output))
    return self_similarity_score(before, after) if len(before) else None


def _clip_patch_distance(view: RegionView) -> float | None:
    """Earth mover's distance of CLIP's patch features in the region: squared Euclidean, uniform weights."""
    from scipy.optimize import linear_sum_assignment

    before, after = (patch_features(pixels, view.mask) for pixels in (view.source, view.output))
    if not len(before):
        return None
    cost = ((before[:, None, :] - after[None, :, :]) ** 2).sum(axis=2)
    rows, columns = linear_sum_assignment(cost)
    return float(cost[rows, columns].mean())


def _depth_ssim(view: RegionView) -> float | None:
    estimate = DEPTH_ESTIMATORS.get("depth-anything")
    maps = [_as_grey(estimate(pixels)) for pixels in (view.source, view.output)]
    return ssim_in(maps[0], maps[1], view.mask)


def _as_grey(depth: NDArray[np.float32]) -> Pixels:
    low, high = float(depth.min()), float(depth.max())
    return np.asarray(np.rint((depth - low) / max(high - low, 1e-12) * 255.0), np.uint8)[..., None]


def _crops(view: RegionView) -> tuple[Pixels, Pixels] | None:
    """The object before and after, each cropped to its own box in that image and placed on a white square."""
    boxes = (view.region.source_boxes or view.region.output_boxes, view.region.output_boxes or view.region.source_boxes)
    crops = []
    for pixels, own_boxes in zip((view.source, view.output), boxes, strict=True):
        rows, columns = np.flatnonzero(view.mask.any(axis=1)), np.flatnonzero(view.mask.any(axis=0))
        if not rows.size:
            return None
        top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
        if own_boxes:
            corners = np.array(own_boxes)
            left, top = (max(0, int(value)) for value in corners[:, :2].min(axis=0))
            right, bottom = (int(np.ceil(value)) for value in corners[:, 2:].max(axis=0))
        cut = pixels[top:bottom, left:right]
        if not cut.size:
            return None
        side = max(cut.shape[:2])
        square = np.full((side, side, 3), 255, np.uint8)
        y, x = (side - cut.shape[0]) // 2, (side - cut.shape[1]) // 2
        square[y : y + cut.shape[0], x : x + cut.shape[1]] = cut
        crops.append(square)
    return crops[0], crops[1]


def _crop_likeness(embedder: str) -> Callable[[RegionView], float | None]:
    def measure(view: RegionView) -> float | None:
        crops = _crops(view)
        if crops is None:
            return None
        embed = EMBEDDERS.get(embedder)
        return float(embed(crops[0]) @ embed(crops[1]))

    return measure


def _face_likeness(view: RegionView) -> float | None:
    crops = _crops(view)
    return None if crops is None else face_likeness(*crops)


MEASURES: Mapping[str, Callable[[RegionView], float | None]] = {
    "ssim": _ssim,
    "st_lpips": _distance(shift_tolerant_lpips),
    "lpips": _distance(lpips_distance),
    "clip_patch_distance": _clip_patch_distance,
    "lightness_ssim": _lightness_ssim,
    "structure_similarity": _structure_similarity,
    "dino_structure_similarity": _dino_structure_similarity,
    "depth_ssim": _depth_ssim,
    "crop_layout": _crop_likeness("colour-layout"),
    "crop_dino": _crop_likeness("dino"),
    "crop_clip": _crop_likeness("clip"),
    "face_likeness": _face_likeness,
}
UNDEFINED: Mapping[str, str] = {
    **dict.fromkeys(MEASURES, "the region is empty"),
    "st_lpips": "the image has fewer than 21 pixels a side, or the region is empty",
    "lpips": "the image has fewer than 31 pixels a side, or the region is empty",
    "structure_similarity": "the region is smaller than one patch of 16 x 16 pixels",
    "clip_patch_distance": "the region is smaller than one patch",
    "dino_structure_similarity": "the region is smaller than one patch",
    "face_likeness": "one of the images has no face",
}
