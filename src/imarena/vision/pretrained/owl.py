"""Boxes of things named by phrases: OWL-ViT and OWLv2 (Minderer et al. 2022, 2023), through transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, Pixels, UserError
from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.open_vocabulary import OpenVocabularyModel, checked_phrases, to_detections
from imarena.vision.pretrained.placement import Placement, batches_of_one_shape, prepare_images
from imarena.vision.pretrained.preparation import load_image_processor, with_bounded_aspect
from imarena.vision.pretrained.registered_tool import PretrainedTool

FEATURE = "The detectors 'owl-vit' and 'owlv2'"
THRESHOLD = 0.1
"""The default of transformers; these models give low scores."""


class OwlDetector(OpenVocabularyModel):
    """An OWL-ViT or OWLv2 model, its image processor and its tokenizer in memory."""

    feature = FEATURE
    default_threshold = THRESHOLD

    def __init__(self, model: Any, processor: Any, tokenizer: Any, placement: Placement) -> None:
        super().__init__(model, processor, tokenizer, placement)
        self._pads = model.config.model_type == "owlv2"
        self._longest = model.config.text_config.max_position_embeddings

    def batch(
        self, images: Sequence[Pixels], phrases: Sequence[str] | None = None, threshold: float | None = None
    ) -> list[tuple[Detection, ...]]:
        """The detections in each image; see `OpenVocabularyModel.batch`."""
        above = self.default_threshold if threshold is None else threshold
        labels = checked_phrases(phrases)
        encoded = self._encode(labels)
        prepared = prepare_images(self._prepare, images)
        detections: list[tuple[Detection, ...]] = [() for _ in images]
        for positions in batches_of_one_shape(prepared, self._placement.batch_size):
            pixel_values = np.stack([prepared[position] for position in positions])
            for position, (boxes, scores) in zip(positions, self._boxes(pixel_values, encoded), strict=True):
                best = [labels[index] for index in scores.argmax(axis=1).tolist()]
                scaled = boxes * self._scale(images[position])
                size = (images[position].shape[0], images[position].shape[1])
                detections[position] = to_detections(scaled, best, scores.max(axis=1), size, above)
        return detections

    def _encode(self, phrases: Sequence[str]) -> Any:
        encoded = self._tokenizer(
            list(phrases), padding="max_length", max_length=self._longest, truncation=True, return_tensors="pt"
        )
        if bool((encoded["input_ids"][:, 0] == 0).any()):
            # the model treats a phrase that starts with id 0 as padding and never finds it
            raise UserError("The model's tokenizer starts phrases with the id 0.", hint="Use its original tokenizer.")
        return {name: encoded[name] for name in ("input_ids", "attention_mask")}

    def _scale(self, pixels: Pixels) -> NDArray[np.float32]:
        """Convert fractions of the input to pixels. OWLv2 pads an image to a square, on the right or below."""
        height, width = pixels.shape[:2]
        if not self._pads:
            return np.array([width, height, width, height], np.float32)
        shown_height, shown_width = with_bounded_aspect(pixels).shape[:2]
        side = max(shown_height, shown_width)
        across, down = side * width / shown_width, side * height / shown_height
        return np.array([across, down, across, down], np.float32)


def load_owl(folder: Path, placement: Placement) -> OwlDetector:
    """The detector of a local folder: safetensors, config, preprocessor and tokenizer files."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.AutoModelForZeroShotObjectDetection, folder, use_safetensors=True)
    if model.config.model_type not in ("owlvit", "owlv2"):
        raise UserError(f"{folder} is not an OWL model.", hint="Give the folder of an OWL-ViT or OWLv2 model.")
    tokenizer = load_pretrained(transformers.AutoTokenizer, folder)
    return OwlDetector(model, load_image_processor(transformers, folder), tokenizer, placement)


detect_owl_vit: PretrainedTool[tuple[Detection, ...]] = PretrainedTool(
    "The detector 'owl-vit'", "owlvit-base-patch32", load_owl
)
detect_owlv2: PretrainedTool[tuple[Detection, ...]] = PretrainedTool(
    "The detector 'owlv2'", "owlv2-base-patch16-ensemble", load_owl
)
