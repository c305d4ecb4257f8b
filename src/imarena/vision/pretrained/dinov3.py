"""Image features of DINOv3 (Siméoni et al. 2025), through transformers; images are preprocessed here, with Pillow."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.image_features import ImageFeatures, class_token
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import ImagePreparation, read_preparation
from imarena.vision.pretrained.registered_tool import PretrainedTool

FEATURE = "The embedder 'dinov3'"


def dinov3_embedder(model: Any, preparation: ImagePreparation, placement: Placement) -> ImageFeatures:
    """The normalised class token of a DINOv3 model in memory."""
    return ImageFeatures(model, preparation, class_token, placement, FEATURE)


def load_dinov3(folder: Path, placement: Placement) -> ImageFeatures:
    """The embedder of a local folder: safetensors, config.json and preprocessor_config.json."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True)
    return dinov3_embedder(model, read_preparation(folder, fit="stretch", rounds=False), placement)


embed_dinov3: PretrainedTool[NDArray[np.float32]] = PretrainedTool(FEATURE, "dinov3-vitb16", load_dinov3)
