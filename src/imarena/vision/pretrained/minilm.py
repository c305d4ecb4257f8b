"""Text features of all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020), through transformers: sentences of
similar meaning are close to each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError
from imarena.vision.local_models import import_torch, load_pretrained, model_folder, weights_sha256
from imarena.vision.model_weights.installed import installed_folder
from imarena.vision.pretrained.placement import Placement, placement_from_environment

WEIGHTS = "all-minilm-l6-v2"
FEATURE = "The text features 'minilm'"
_LONGEST = 256
"""Maximum number of tokens read per text, as in training."""


class SentenceEncoder:
    """The model and its tokenizer in memory."""

    def __init__(self, folder: Path, placement: Placement) -> None:
        self._torch, transformers = import_torch(FEATURE)
        self._device, self._placement = placement.torch_device(self._torch), placement
        self._model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True).to(self._device).eval()
        self._tokenizer = load_pretrained(transformers.AutoTokenizer, folder)
        self._longest = min(_LONGEST, int(self._model.config.max_position_embeddings))

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, (n, d): the mean over the tokens of each text, ignoring padding."""
        rows = []
        for start in range(0, len(texts), self._placement.batch_size):
            batch = list(texts[start : start + self._placement.batch_size])
            tokens = self._tokenizer(
                batch, padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
            ).to(self._device)
            with self._placement.inference(self._torch):
                states = self._model(**tokens).last_hidden_state.float()
            mask = tokens["attention_mask"].unsqueeze(-1).float()
            rows.append(((states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)).cpu().numpy())
        vectors = np.concatenate(rows) if rows else np.zeros((0, int(self._model.config.hidden_size)))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise UserError("The model gives an embedding without a direction.", hint="Check its weights.")
        return np.asarray(vectors / lengths, np.float32)


@cache
def _encoder(folder: Path, placement: Placement) -> SentenceEncoder:
    return SentenceEncoder(folder, placement)


def embed_sentences(texts: Sequence[str]) -> NDArray[np.float32]:
    """The features of texts by the installed weights (`imarena weights get all-minilm-l6-v2`), (n, d)."""
    import_torch(FEATURE)
    return _encoder(model_folder(WEIGHTS, FEATURE), placement_from_environment()).embed_texts(texts)


@dataclass(frozen=True)
class TextEmbedder:
    """A model that maps texts to vectors, and the versions that its results depend on."""

    version: str
    """The name of the weights and the hash of their files."""
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    """Vectors of length 1, (n, d)."""


def installed_text_embedder() -> TextEmbedder | None:
    """MiniLM if its weights and the `vision` extra are installed, else None. It is loaded on first use."""
    folder = installed_folder(WEIGHTS)
    if folder is None or any(find_spec(package) is None for package in ("torch", "transformers")):
        return None
    return TextEmbedder(f"{WEIGHTS} {weights_sha256(folder)[:16]}", embed_sentences)
