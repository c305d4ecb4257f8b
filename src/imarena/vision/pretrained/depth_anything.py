"""Depth of each pixel: Depth Anything (Yang et al. 2024), through transformers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels
from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.image_features import processor_preparation
from imarena.vision.pretrained.placement import Placement, batches_of_one_shape, prepare_images
from imarena.vision.pretrained.registered_tool import PretrainedTool

FEATURE = "The depth estimator 'depth-anything'"


class DepthAnythingEstimator:
    """The model in memory; `prepare` gives its input for an image."""

    def __init__(self, model: Any, prepare: Callable[[Pixels], NDArray[np.float32]], placement: Placement) -> None:
        self._torch, _ = import_torch(FEATURE)
        self._device, self._placement = placement.torch_device(self._torch), placement
        self._model = model.to(self._device).eval()
        self._prepare = prepare

    def batch(self, images: Sequence[Pixels]) -> list[NDArray[np.float32]]:
        """The depth map of each image, (height, width). A relative model gives an inverse depth without a unit."""
        torch = self._torch
        prepared = prepare_images(self._prepare, images)
        maps: dict[int, NDArray[np.float32]] = {}
        for positions in batches_of_one_shape(prepared, self._placement.batch_size):
            pixel_values = np.stack([prepared[position] for position in positions])
            with self._placement.inference(torch):
                inputs = torch.from_numpy(pixel_values).to(self._device)
                depths = self._model(pixel_values=inputs).predicted_depth.float()
                for position, depth in zip(positions, depths, strict=True):
                    size = images[position].shape[:2]
                    fitted = torch.nn.functional.interpolate(
                        depth[None, None], size=size, mode="bicubic", align_corners=False
                    )
                    maps[position] = np.asarray(fitted[0, 0].cpu().numpy(), np.float32)
        return [maps[position] for position in range(len(images))]


def load_depth_anything(folder: Path, placement: Placement) -> DepthAnythingEstimator:
    """The estimator of a local folder: safetensors, config.json and preprocessor_config.json."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.AutoModelForDepthEstimation, folder, use_safetensors=True)
    return DepthAnythingEstimator(model, processor_preparation(transformers, folder), placement)


estimate_depth: PretrainedTool[NDArray[np.float32]] = PretrainedTool(
    FEATURE, "depth-anything-v2-small", load_depth_anything
)
