"""Image and text features of SigLIP (Zhai et al. 2023), through transformers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels
from imarena.vision.local_models import import_torch, load_pretrained, unit_vector
from imarena.vision.pretrained.image_features import ImageFeatures, processor_preparation, projected_features
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.registered_tool import PretrainedTool

FEATURE = "The embedder 'siglip'"


class SiglipEmbedder(ImageFeatures):
    """The model, its image processor and its tokenizer in memory."""

    def __init__(
        self, model: Any, prepare: Callable[[Pixels], NDArray[np.float32]], tokenizer: Any, placement: Placement
    ) -> None:
        super().__init__(model, prepare, projected_features, placement, FEATURE)
        self._tokenizer = tokenizer

    def embed_texts(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The features of each text. SigLIP was trained on lower-case texts, padded to its maximum text length."""
        longest = self._model.config.text_config.max_position_embeddings
        tokens = self._tokenizer(
            [text.lower() for text in texts],
            padding="max_length",
            max_length=longest,
            truncation=True,
            return_tensors="pt",
        )
        with self._placement.inference(self._torch):
            features = self._model.get_text_features(input_ids=tokens["input_ids"].to(self._device))
        return [unit_vector(row) for row in getattr(features, "pooler_output", features)]


def load_siglip(folder: Path, placement: Placement) -> SiglipEmbedder:
    """The embedder of a local folder: safetensors, config, preprocessor and tokenizer files."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True)
    tokenizer = load_pretrained(transformers.AutoTokenizer, folder)
    return SiglipEmbedder(model, processor_preparation(transformers, folder), tokenizer, placement)


embed_siglip: PretrainedTool[NDArray[np.float32]] = PretrainedTool(FEATURE, "siglip-base-patch16-224", load_siglip)
