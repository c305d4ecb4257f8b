"""Masks by box, by point, or of everything: shared code of SAM, SAM 2 and MobileSAM (Kirillov et al. 2023).

An image is encoded once; each prompt is then decoded to masks at a quarter of the network's input size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels, SegmentMask, UserError
from imarena.vision.local_models import import_torch
from imarena.vision.pretrained.placement import Placement, prepare_images
from imarena.vision.pretrained.preparation import ImagePreparation

Points = Sequence[tuple[float, float]]
"""x and y in pixels of the image."""
Boxes = Sequence[tuple[float, float, float, float]]
"""Left, top, right, bottom in pixels of the image."""
_PROMPTS_AT_ONCE = 64
_POINTS_PER_SIDE = 16
"""Everything in an image is segmented from a grid of points; the most reliable masks are kept."""
_MIN_STABILITY = 0.95
"""IoU of the mask at the thresholds 1 and -1 of its logits: near 1 for a mask with sharp edges."""
_MAX_OVERLAP = 0.7
"""If two masks' boxes have a higher IoU, only the more confident one is kept."""


@dataclass(frozen=True)
class MaskNetwork:
    """The parts that differ between the models."""

    name: str
    preparation: ImagePreparation
    model: Any
    encode: Callable[[Any], list[Any]]
    """Images (n, 3, side, side) to one embedding per image."""
    min_score: float = 0.88
    """Minimum predicted IoU of a mask when everything is segmented."""


class PromptedSegmenter:
    """One of the models, loaded."""

    def __init__(self, network: MaskNetwork, placement: Placement) -> None:
        self._torch, _ = import_torch(f"The segmenter '{network.name}'")
        self._network, self._placement = network, placement
        self._device = placement.torch_device(self._torch)
        self._model = network.model.to(self._device).eval()

    def batch(self, images: Sequence[Pixels]) -> list[tuple[SegmentMask, ...]]:
        """Everything in each image (height, width, 3): masks that do not overlap, small ones on top of large ones."""
        return [self._everything(pixels, code) for pixels, code in zip(images, self._encode(images), strict=True)]

    def masks_in_boxes(self, images: Sequence[Pixels], boxes: Sequence[Boxes]) -> list[tuple[SegmentMask, ...]]:
        """For each image, one mask per box, in the order of the boxes; a mask may be empty, and masks may overlap."""
        return self._prompted(images, boxes, as_boxes=True)

    def masks_at_points(self, images: Sequence[Pixels], points: Sequence[Points]) -> list[tuple[SegmentMask, ...]]:
        """For each image, one mask per point: the most confident of the model's three."""
        return self._prompted(images, points, as_boxes=False)

    def _prompted(
        self, images: Sequence[Pixels], prompts: Sequence[Any], *, as_boxes: bool
    ) -> list[tuple[SegmentMask, ...]]:
        if len(images) != len(prompts):
            raise UserError("There are not as many lists of prompts as images.", hint="Give one list per image.")
        results = []
        for pixels, points, code in zip(images, prompts, self._encode(images), strict=True):
            size = (pixels.shape[0], pixels.shape[1])
            masks: list[SegmentMask] = []
            for chunk in _chunks(np.asarray(points, np.float64).reshape(len(points), -1)):
                logits, scores = self._decode(code, chunk, size, as_boxes=as_boxes)
                best = scores.argmax(dim=1)
                rows = self._torch.arange(len(best), device=best.device)
                masks += [
                    SegmentMask(self._full_size(mask, size), score=_share(score))
                    for mask, score in zip(logits[rows, best], scores[rows, best].tolist(), strict=True)
                ]
            results.append(tuple(masks))
        return results

    def _encode(self, images: Sequence[Pixels]) -> list[Any]:
        codes: list[Any] = []
        size = self._placement.batch_size
        for start in range(0, len(images), size):
            prepared = np.stack(prepare_images(self._network.preparation, images[start : start + size]))
            with self._placement.inference(self._torch):
                codes += self._network.encode(self._torch.from_numpy(prepared).to(self._device))
        return codes

    def _decode(
        self, code: Any, prompts: NDArray[np.float64], size: tuple[int, int], *, as_boxes: bool
    ) -> tuple[Any, Any]:
        """Logits (n, m, h, w) and scores (n, m), in float32: prompts are coordinates."""
        height, width = self._network.preparation.inner_size(*size)
        scale = np.tile([width / size[1], height / size[0]], prompts.shape[1] // 2)
        coordinates = self._torch.from_numpy(np.asarray(prompts * scale, np.float32)).to(self._device)[None]
        with self._torch.inference_mode():
            outputs = self._model(
                image_embeddings=code, input_points=None if as_boxes else coordinates[:, :, None],
                input_boxes=coordinates if as_boxes else None, multimask_output=not as_boxes,
            )  # fmt: skip
        return outputs.pred_masks[0].float(), outputs.iou_scores[0].float()

    def _full_size(self, logits: Any, size: tuple[int, int]) -> NDArray[np.bool_]:
        """Logits (h, w) as a mask (height, width) of the image."""
        resize, preparation = self._torch.nn.functional.interpolate, self._network.preparation
        logits = logits[None, None]
        if preparation.fit == "pad":
            height, width = preparation.inner_size(*size)
            square = (preparation.side, preparation.side)
            logits = resize(logits, square, mode="bilinear", align_corners=False)[..., :height, :width]
        logits = resize(logits, size, mode="bilinear", align_corners=False)
        return np.asarray((logits[0, 0] > 0).cpu().numpy(), np.bool_)

    def _everything(self, pixels: Pixels, code: Any) -> tuple[SegmentMask, ...]:
        size = (pixels.shape[0], pixels.shape[1])
        sure_logits: list[Any] = []
        kept_scores: list[float] = []
        for chunk in _chunks(_grid(_POINTS_PER_SIDE, size)):
            logits, scores = self._decode(code, chunk, size, as_boxes=False)
            logits, scores = logits.flatten(0, 1), scores.flatten()
            sure = (scores >= self._network.min_score) & (_stability(logits) >= _MIN_STABILITY)
            sure_logits += list(logits[sure])
            kept_scores += scores[sure].tolist()
        if not sure_logits:
            return ()
        logits = self._torch.stack(sure_logits)
        positions = _without_doubles((logits > 0).cpu().numpy(), kept_scores)
        masks = [self._full_size(logits[position], size) for position in positions]
        return _apart(masks, [kept_scores[position] for position in positions])


def _chunks(prompts: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [prompts[start : start + _PROMPTS_AT_ONCE] for start in range(0, len(prompts), _PROMPTS_AT_ONCE)]


def _grid(per_side: int, size: tuple[int, int]) -> NDArray[np.float64]:
    """The centres (n, 2) of the cells of a grid over an image (height, width), as x and y."""
    steps = (np.arange(per_side) + 0.5) / per_side
    columns, rows = np.meshgrid(steps * size[1], steps * size[0])
    return np.stack([columns.ravel(), rows.ravel()], axis=1)


def _stability(logits: Any) -> Any:
    """For each mask (n, h, w): the number of pixels above 1 divided by the number above -1; 0 for an empty mask."""
    inner, outer = (logits > 1).flatten(1).sum(dim=1), (logits > -1).flatten(1).sum(dim=1)
    return inner / outer.clamp(min=1)


def _share(score: float) -> float:
    return min(1.0, max(0.0, float(score)))


def _without_doubles(masks: NDArray[np.bool_], scores: Sequence[float]) -> list[int]:
    """Indices of masks (n, h, w), the most confident first, without those whose box overlaps a more confident one's."""
    positions: list[int] = []
    boxes = [_mask_box(mask) for mask in masks]
    for position in sorted(range(len(masks)), key=lambda index: (-scores[index], index)):
        box = boxes[position]
        if box is not None and all(_overlap(box, boxes[other]) <= _MAX_OVERLAP for other in positions):
            positions.append(position)
    return positions


def _mask_box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _overlap(box: tuple[int, int, int, int], other: tuple[int, int, int, int] | None) -> float:
    if other is None:
        return 0.0
    across = min(box[2], other[2]) - max(box[0], other[0])
    down = min(box[3], other[3]) - max(box[1], other[1])
    shared = max(0, across) * max(0, down)
    areas = [(rectangle[2] - rectangle[0]) * (rectangle[3] - rectangle[1]) for rectangle in (box, other)]
    return shared / (sum(areas) - shared)


def _apart(masks: Sequence[NDArray[np.bool_]], scores: Sequence[float]) -> tuple[SegmentMask, ...]:
    """Masks that do not overlap: a pixel belongs to the smallest mask that contains it."""
    order = sorted(range(len(masks)), key=lambda index: (int(masks[index].sum()), index))
    free = np.ones(masks[0].shape, np.bool_)
    segments = []
    for index in order:
        mask = np.asarray(masks[index] & free, np.bool_)
        if mask.any():
            free &= ~mask
            segments.append(SegmentMask(mask, score=_share(scores[index])))
    return tuple(sorted(segments, key=lambda segment: -segment.score))
