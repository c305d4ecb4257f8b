"""Boxes of things named by phrases: Grounding DINO (Liu et al. 2023), through transformers."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from imarena.core import Detection, Pixels, UserError
from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.open_vocabulary import OpenVocabularyModel, checked_phrases, to_detections
from imarena.vision.pretrained.placement import Placement, batches_of_one_shape, prepare_images
from imarena.vision.pretrained.preparation import load_image_processor
from imarena.vision.pretrained.registered_tool import PretrainedTool

FEATURE = "The detector 'grounding-dino'"
THRESHOLD = 0.35
"""The box threshold of the authors' demonstration."""


class GroundingDinoDetector(OpenVocabularyModel):
    """The model, its image processor and its tokenizer in memory.

    A box gets the phrase whose tokens score highest, and that score. (transformers joins every token above a second
    threshold, which can produce a label that nobody asked for.)
    """

    feature = FEATURE
    default_threshold = THRESHOLD

    def batch(
        self, images: Sequence[Pixels], phrases: Sequence[str] | None = None, threshold: float | None = None
    ) -> list[tuple[Detection, ...]]:
        """The detections in each image; see `OpenVocabularyModel.batch`."""
        above = self.default_threshold if threshold is None else threshold
        prepared = prepare_images(self._prepare, images)
        detections: list[list[Detection]] = [[] for _ in images]
        for group in self._prompts(checked_phrases(phrases)):
            encoded = self._tokenizer(" . ".join(group) + " .", return_offsets_mapping=True, return_tensors="pt")
            spans = _token_spans(group, encoded.pop("offset_mapping")[0].tolist())
            for positions in batches_of_one_shape(prepared, self._placement.batch_size):
                pixel_values = np.stack([prepared[position] for position in positions])
                for position, (boxes, by_token) in zip(positions, self._boxes(pixel_values, encoded), strict=True):
                    height, width = images[position].shape[:2]
                    scores = np.stack([by_token[:, list(span)].max(axis=1) for span in spans], axis=1)
                    best = scores.argmax(axis=1)
                    scaled = boxes * np.array([width, height, width, height], np.float32)
                    labels = [group[index] for index in best.tolist()]
                    from_group = to_detections(scaled, labels, scores.max(axis=1), (height, width), above)
                    detections[position].extend(from_group)
        return [tuple(sorted(hits, key=lambda hit: (-hit.score, hit.label, hit.box))) for hits in detections]

    def _prompts(self, phrases: Sequence[str]) -> Iterator[list[str]]:
        """Split the phrases into groups that fit the model's maximum text length."""
        longest = self._model.config.max_text_len - 2
        group: list[str] = []
        n_tokens = 0
        for phrase in phrases:
            length = len(self._tokenizer(phrase, add_special_tokens=False)["input_ids"]) + 1
            if length > longest:
                raise UserError(f"The phrase '{phrase[:60]}' is too long.", hint="Use a few nouns.")
            if group and n_tokens + length > longest:
                yield group
                group, n_tokens = [], 0
            group.append(phrase)
            n_tokens += length
        if group:
            yield group


def _token_spans(phrases: Sequence[str], offsets: Sequence[Sequence[int]]) -> list[list[int]]:
    """Token positions of each phrase in the text that joins the phrases with ' . '."""
    spans, start = [], 0
    for phrase in phrases:
        end = start + len(phrase)
        span = [at for at, (first, last) in enumerate(offsets) if first < last and start <= first and last <= end]
        if not span:
            raise UserError(f"The tokenizer has no token for the phrase '{phrase[:60]}'.", hint="Use English nouns.")
        spans.append(span)
        start = end + len(" . ")
    return spans


def load_grounding_dino(folder: Path, placement: Placement) -> GroundingDinoDetector:
    """The detector of a local folder: safetensors, config, preprocessor and tokenizer files."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.GroundingDinoForObjectDetection, folder, use_safetensors=True)
    tokenizer = load_pretrained(transformers.AutoTokenizer, folder)
    return GroundingDinoDetector(model, load_image_processor(transformers, folder), tokenizer, placement)


detect_grounding_dino: PretrainedTool[tuple[Detection, ...]] = PretrainedTool(
    FEATURE, "grounding-dino-tiny", load_grounding_dino
)
