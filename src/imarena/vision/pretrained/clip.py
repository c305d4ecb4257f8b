"""CLIP and SigLIP: features of images and of texts in a shared space (the `vision` extra)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.core import UserError
from imarena.vision.catalog import EMBEDDER_TOOLS
from imarena.vision.local_models import device_of, import_torch, load_pretrained, unit_vector
from imarena.vision.pretrained.image_features import ImageFeatures, load_features, projected_features
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.registered_tool import PretrainedTool

ImageOrTextEmbedder = Callable[[Image.Image | str], NDArray[np.float32]]
"""Takes an image or a text and returns a vector (d,) of length 1."""
_FEATURE = "The embedder 'clip'"


def clip_embedder(folder: Path, device: str, feature: str) -> ImageOrTextEmbedder:
    """CLIP's projected, normalised features of an image or a text (the text is cut to the model's length)."""
    torch, transformers = import_torch(feature)
    device = device_of(torch, device)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True).to(device).eval()
    processor = load_pretrained(transformers.AutoImageProcessor, folder)
    tokenizer = load_pretrained(transformers.AutoTokenizer, folder)
    if not hasattr(model, "get_text_features"):
        raise UserError(f"{folder} is not a CLIP model: it has no text features.", hint="Give a CLIP or SigLIP folder.")
    longest = model.config.text_config.max_position_embeddings

    def embed(content: Image.Image | str) -> NDArray[np.float32]:
        with torch.inference_mode():
            if isinstance(content, str):
                tokens = tokenizer([content], truncation=True, max_length=longest, return_tensors="pt").to(device)
                features = model.get_text_features(**tokens)
            else:
                pixels = processor(images=[content], return_tensors="pt")["pixel_values"].to(device)
                features = model.get_image_features(pixel_values=pixels)
            return unit_vector(getattr(features, "pooler_output", features)[0])

    return embed


def _load_clip(folder: Path, placement: Placement) -> ImageFeatures:
    return load_features(folder, placement, projected_features, _FEATURE)


embed_clip: PretrainedTool[NDArray[np.float32]] = PretrainedTool(_FEATURE, EMBEDDER_TOOLS["clip"].weights, _load_clip)
"""CLIP image features of pixels (height, width, 3), as a vector of length 1."""
