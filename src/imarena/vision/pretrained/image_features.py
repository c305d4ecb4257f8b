"""Batched image features: shared code of CLIP, SigLIP, DINOv2 and DINOv3."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels
from imarena.vision.local_models import import_torch, load_pretrained, unit_vector
from imarena.vision.pretrained.placement import Placement, batches_of_one_shape, prepare_images
from imarena.vision.pretrained.preparation import load_image_processor, run_image_processor


class ImageFeatures:
    """A loaded encoder: images to vectors of length 1."""

    def __init__(
        self,
        model: Any,
        prepare: Callable[[Pixels], NDArray[np.float32]],
        features: Callable[[Any, Any], Any],
        placement: Placement,
        feature: str,
    ) -> None:
        """`features` takes the model and images (n, 3, height, width) and returns vectors (n, d)."""
        self._torch, _ = import_torch(feature)
        self._device, self._placement = placement.torch_device(self._torch), placement
        self._model = model.to(self._device).eval()
        self._prepare, self._features = prepare, features

    def batch(self, images: Sequence[Pixels]) -> list[NDArray[np.float32]]:
        """The vector (d,) of each image (height, width, 3)."""
        prepared = prepare_images(self._prepare, images)
        vectors: dict[int, NDArray[np.float32]] = {}
        for positions in batches_of_one_shape(prepared, self._placement.batch_size):
            stacked = self._torch.from_numpy(np.stack([prepared[position] for position in positions]))
            with self._placement.inference(self._torch):
                rows = self._features(self._model, stacked.to(self._device))
            vectors |= {position: unit_vector(row) for position, row in zip(positions, rows, strict=True)}
        return [vectors[position] for position in range(len(images))]


def class_token(model: Any, pixel_values: Any) -> Any:
    """The class tokens (n, d) of a ViT."""
    return model(pixel_values=pixel_values).last_hidden_state[:, 0]


def projected_features(model: Any, pixel_values: Any) -> Any:
    """The image features (n, d) of an image-text model."""
    features = model.get_image_features(pixel_values=pixel_values)
    return getattr(features, "pooler_output", features)


def load_features(
    folder: Path, placement: Placement, features: Callable[[Any, Any], Any], feature: str
) -> ImageFeatures:
    """The encoder of a local folder whose image processor needs no torchvision."""
    _, transformers = import_torch(feature)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True)
    return ImageFeatures(model, processor_preparation(transformers, folder), features, placement, feature)


def processor_preparation(transformers: Any, folder: Path) -> Callable[[Pixels], NDArray[np.float32]]:
    """Preprocess one image with the image processor of a folder."""
    processor = load_image_processor(transformers, folder)

    def prepare(pixels: Pixels) -> NDArray[np.float32]:
        return np.asarray(run_image_processor(processor, [pixels])["pixel_values"][0], np.float32)

    return prepare
