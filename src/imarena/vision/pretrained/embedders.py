"""Image features of CLIP, SigLIP, DINOv2 and DINOv3, and text features of CLIP (the `vision` extra)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.core import UserError
from imarena.vision.catalog import EMBEDDER_TOOLS
from imarena.vision.local_models import device_of, import_torch, load_pretrained, unit_vector
from imarena.vision.pretrained.image_features import ImageFeatures, class_token, load_features, projected_features
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import ImagePreparation, read_preparation
from imarena.vision.pretrained.registered_tool import PretrainedTool

ImageOrTextEmbedder = Callable[[Image.Image | str], NDArray[np.float32]]
"""Takes an image or a text and returns a vector (d,) of length 1."""
DINOV3 = "The embedder 'dinov3'"


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


def dino_embedder(folder: Path, device: str, feature: str) -> Callable[[Image.Image], NDArray[np.float32]]:
    """The normalised class token (d,) of an image by a DINO, DINOv2 or other ViT encoder."""
    torch, transformers = import_torch(feature)
    device = device_of(torch, device)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True).to(device).eval()
    processor = load_pretrained(transformers.AutoImageProcessor, folder)

    def embed(image: Image.Image) -> NDArray[np.float32]:
        with torch.inference_mode():
            pixels = processor(images=[image], return_tensors="pt")["pixel_values"].to(device)
            return unit_vector(class_token(model, pixels)[0])

    return embed


def dinov3_embedder(model: Any, preparation: ImagePreparation, placement: Placement) -> ImageFeatures:
    """The normalised class token of a DINOv3 model in memory. Images are preprocessed here, with Pillow."""
    return ImageFeatures(model, preparation, class_token, placement, DINOV3)


def load_dinov3(folder: Path, placement: Placement) -> ImageFeatures:
    """The embedder of a local folder: safetensors, config.json and preprocessor_config.json."""
    _, transformers = import_torch(DINOV3)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True)
    return dinov3_embedder(model, read_preparation(folder, fit="stretch", rounds=False), placement)


def _tool(name: str, features: Callable[[Any, Any], Any]) -> PretrainedTool[NDArray[np.float32]]:
    """The embedder called `name`: takes pixels (height, width, 3) and returns a vector of length 1."""
    feature = f"The embedder '{name}'"

    def load(folder: Path, placement: Placement) -> ImageFeatures:
        return load_features(folder, placement, features, feature)

    return PretrainedTool(feature, EMBEDDER_TOOLS[name].weights, load)


embed_clip = _tool("clip", projected_features)
embed_siglip = _tool("siglip", projected_features)
embed_dino = _tool("dino", class_token)
embed_dinov3: PretrainedTool[NDArray[np.float32]] = PretrainedTool(
    DINOV3, EMBEDDER_TOOLS["dinov3"].weights, load_dinov3
)
