"""DINO, DINOv2 and other ViT encoders: the class token of an image (the `vision` extra)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.vision.catalog import EMBEDDER_TOOLS
from imarena.vision.local_models import device_of, import_torch, load_pretrained, unit_vector
from imarena.vision.pretrained.image_features import ImageFeatures, class_token, load_features
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.registered_tool import PretrainedTool

ImageEmbedder = Callable[[Image.Image], NDArray[np.float32]]
"""Takes an image and returns a vector (d,) of length 1."""
_FEATURE = "The embedder 'dino'"


def dino_embedder(folder: Path, device: str, feature: str) -> ImageEmbedder:
    """The normalised class token of a DINO, DINOv2 or other ViT encoder."""
    torch, transformers = import_torch(feature)
    device = device_of(torch, device)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True).to(device).eval()
    processor = load_pretrained(transformers.AutoImageProcessor, folder)

    def embed(image: Image.Image) -> NDArray[np.float32]:
        with torch.inference_mode():
            pixels = processor(images=[image], return_tensors="pt")["pixel_values"].to(device)
            return unit_vector(model(pixel_values=pixels).last_hidden_state[0, 0])

    return embed


def _load_dino(folder: Path, placement: Placement) -> ImageFeatures:
    return load_features(folder, placement, class_token, _FEATURE)


embed_dino: PretrainedTool[NDArray[np.float32]] = PretrainedTool(_FEATURE, EMBEDDER_TOOLS["dino"].weights, _load_dino)
"""The class token of pixels (height, width, 3), as a vector of length 1."""
