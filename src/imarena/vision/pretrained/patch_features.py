"""Patch features from the image encoders of CLIP and DINOv2: what is shown where (the `vision` extra)."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.vision.catalog import EMBEDDER_TOOLS
from imarena.vision.local_models import import_torch, load_pretrained, model_folder
from imarena.vision.pretrained.image_features import processor_preparation

FEATURE = "A metric of patch features"
SMALLEST_SHARE = 0.1
"""A patch counts if more than this share of it lies in the mask."""


@lru_cache(maxsize=2)
def _encoder(folder: Path) -> tuple[Any, Any, Any]:
    torch, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True)
    return torch, getattr(model, "vision_model", model).eval(), processor_preparation(transformers, folder)


def patch_features(
    pixels: NDArray[np.uint8], mask: NDArray[np.bool_], model: str = EMBEDDER_TOOLS["clip"].weights
) -> NDArray[np.float64]:
    """Features (n, d) of length 1 of the patches in a mask (height, width); raises if weights are missing.

    The image is stretched to the encoder's square input, so that nothing is cropped.
    """
    import_torch(FEATURE)
    import cv2

    torch, encoder, prepare = _encoder(model_folder(model, FEATURE))
    side = int(encoder.config.image_size)
    square = np.asarray(cv2.resize(pixels, (side, side), interpolation=cv2.INTER_AREA), np.uint8)
    with torch.inference_mode():
        states = encoder(pixel_values=torch.from_numpy(prepare(square))[None]).last_hidden_state[0, 1:]
    cells = side // int(encoder.config.patch_size)
    shares = cv2.resize(mask.astype(np.float32), (cells, cells), interpolation=cv2.INTER_AREA)
    rows = np.asarray(states.float().numpy(), np.float64)[shares.ravel() > SMALLEST_SHARE]
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
