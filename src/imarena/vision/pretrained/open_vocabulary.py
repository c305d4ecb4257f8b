"""Shared code of phrase-based detectors: the default phrases, and network boxes as detections."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, Pixels, UserError
from imarena.vision.local_models import import_torch
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import run_image_processor


@cache
def default_phrases() -> tuple[str, ...]:
    """COCO's 80 categories, which a detector looks for if no phrases are given."""
    from imarena.vision.nouns import KINDS

    return KINDS


def checked_phrases(phrases: Sequence[str] | None) -> tuple[str, ...]:
    """Phrases in lower case, without full stops and extra spaces; default: COCO's. Raises if one is empty."""
    clean = tuple(" ".join(phrase.lower().replace(".", " ").split()) for phrase in phrases or default_phrases())
    if not all(clean):
        raise UserError("A phrase to look for is empty.", hint="Give nouns such as 'red mug'.")
    return clean


def corners(boxes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Convert boxes (n, 4) from centre and size to left, top, right and bottom."""
    centre, half = boxes[:, :2], boxes[:, 2:] / 2
    return np.concatenate([centre - half, centre + half], axis=1)


def to_detections(
    boxes: NDArray[np.float32],
    labels: Sequence[str],
    scores: NDArray[np.float32],
    size: tuple[int, int],
    threshold: float,
) -> tuple[Detection, ...]:
    """Boxes (n, 4) in pixels, clipped to an image (height, width); the most confident first.

    A box below the threshold, or without area inside the image, is left out. Raises for numbers that are not finite.
    """
    if not (np.isfinite(boxes).all() and np.isfinite(scores).all()):
        raise UserError("The detector gives a number that is not finite.", hint="Check its weights.")
    height, width = size
    limits = np.array([width, height, width, height], np.float64)
    inside = np.clip(boxes.astype(np.float64), 0, limits)
    detections = []
    for box, label, score in zip(inside.tolist(), labels, scores.tolist(), strict=True):
        left, top, right, bottom = box
        if score > threshold and left < right and top < bottom:
            detections.append(Detection((left, top, right, bottom), label, min(1.0, float(score))))
    return tuple(sorted(detections, key=lambda detection: (-detection.score, detection.label, detection.box)))


class OpenVocabularyModel(ABC):
    """A phrase-based detector with its image processor and its tokenizer in memory."""

    feature: ClassVar[str]
    default_threshold: ClassVar[float]

    def __init__(self, model: Any, processor: Any, tokenizer: Any, placement: Placement) -> None:
        self._torch, _ = import_torch(self.feature)
        self._device, self._placement = placement.torch_device(self._torch), placement
        self._model = model.to(self._device).eval()
        self._processor, self._tokenizer = processor, tokenizer

    @abstractmethod
    def batch(
        self, images: Sequence[Pixels], phrases: Sequence[str] | None = None, threshold: float | None = None
    ) -> list[tuple[Detection, ...]]:
        """The detections in each image (height, width, 3); without phrases, COCO's 80 categories.

        `threshold`: minimum score of a box, instead of the model's default.
        """

    def _prepare(self, pixels: Pixels) -> NDArray[np.float32]:
        return np.asarray(run_image_processor(self._processor, [pixels])["pixel_values"][0], np.float32)

    def _boxes(
        self, pixel_values: NDArray[np.float32], encoded: Mapping[str, Any]
    ) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """For each image: boxes (n, 4) as shares of the input, and scores (n, columns of the network)."""
        pixels = self._torch.from_numpy(pixel_values).to(self._device)
        texts = {name: ids.to(self._device).repeat(len(pixels), 1) for name, ids in encoded.items()}
        with self._placement.inference(self._torch):
            outputs = self._model(pixel_values=pixels, **texts)
        scores = outputs.logits.float().sigmoid().cpu().numpy()
        boxes = outputs.pred_boxes.float().cpu().numpy()
        yield from zip(map(corners, boxes), scores, strict=True)
