"""Image preprocessing with Pillow, where transformers' processor needs torchvision (DINOv3, SAM 2) or pads (SAM).

The steps are those of the processors. For DINOv3 and SAM 2, transformers resizes after scaling to 0..1, so that
nothing is rounded; for the others it resizes 8-bit values.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.core import Pixels, UserError

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
MAX_ASPECT = 16
"""Narrower images are stretched to this aspect ratio: a network that keeps the ratio would get a height of zero."""


@dataclass(frozen=True)
class ImagePreparation:
    """How an image becomes the input of a network, shape (3, side, side)."""

    side: int
    fit: Literal["stretch", "pad"]
    """`stretch`: to a square. `pad`: fit the longer side; the rest (right or below) is 0 after normalisation."""
    rounds: bool
    """Resize 8-bit values, rounded, rather than floating-point ones."""
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD
    resample: int = Image.Resampling.BILINEAR.value

    def __call__(self, pixels: Pixels) -> NDArray[np.float32]:
        """The network's input (3, side, side) for pixels (height, width, 3)."""
        height, width = self.inner_size(pixels.shape[0], pixels.shape[1])
        if self.rounds:
            resized = Image.fromarray(pixels).resize((width, height), self.resample)
            scaled = np.asarray(resized, np.float32) / np.float32(255)
        else:
            scaled = _resize_channels(pixels, (width, height), self.resample)
        normal = (scaled - np.asarray(self.mean, np.float32)) / np.asarray(self.std, np.float32)
        prepared = np.zeros((3, self.side, self.side), np.float32)
        prepared[:, :height, :width] = normal.transpose(2, 0, 1)
        return prepared

    def inner_size(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of the image inside the input."""
        if self.fit == "stretch":
            return self.side, self.side
        scale = self.side / max(height, width)
        return max(1, int(height * scale + 0.5)), max(1, int(width * scale + 0.5))


def _resize_channels(pixels: Pixels, size: tuple[int, int], resample: int) -> NDArray[np.float32]:
    """Resize floating-point values 0..1, channel by channel."""
    channels = [
        np.asarray(
            Image.fromarray(np.asarray(pixels[..., channel], np.float32) / np.float32(255)).resize(size, resample)
        )
        for channel in range(3)
    ]
    return np.stack(channels, axis=-1)


def read_preparation(folder: Path, *, fit: Literal["stretch", "pad"], rounds: bool) -> ImagePreparation:
    """The preprocessing that a model's folder declares in preprocessor_config.json (or processor_config.json)."""
    raw = _read_config(folder)
    size = raw.get("size") or {}
    side = size.get("height") or size.get("longest_edge") or size.get("shortest_edge")
    if not isinstance(side, int) or (fit == "stretch" and size.get("width", side) != side):
        raise UserError(
            f"{folder} does not state a square input size.",
            hint="preprocessor_config.json needs size.height and width.",
        )
    return ImagePreparation(
        side,
        fit,
        rounds,
        tuple(raw.get("image_mean") or IMAGENET_MEAN),
        tuple(raw.get("image_std") or IMAGENET_STD),
        int(raw.get("resample", Image.Resampling.BILINEAR.value)),
    )


def _read_config(folder: Path) -> Mapping[str, Any]:
    for name in ("preprocessor_config.json", "processor_config.json"):
        path = folder / name
        if not path.is_file():
            continue
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return dict(raw.get("image_processor", raw))
        except (ValueError, AttributeError, TypeError) as error:
            raise UserError(f"{path} cannot be read: {error}", hint="Download the model's files again.") from error
    raise UserError(f"{folder} holds no preprocessor_config.json.", hint="Copy it from the model's repository.")


def with_bounded_aspect(pixels: Pixels) -> Pixels:
    """The image, or a copy stretched to the ratio 1 to `MAX_ASPECT` if it is narrower.

    A side of one pixel becomes two: OWLv2's processor divides by the number of gaps between pixels.
    """
    height, width = pixels.shape[:2]
    least = max(2, -(-max(height, width) // MAX_ASPECT))
    if min(height, width) >= least:
        return pixels
    size = (max(width, least), max(height, least))
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR), np.uint8)


def load_image_processor(transformers: Any, folder: Path) -> Any:
    """The image processor of a folder, on Pillow: values do not depend on whether torchvision is installed."""
    return transformers.AutoImageProcessor.from_pretrained(
        str(folder), local_files_only=True, trust_remote_code=False, backend="pil"
    )


def run_image_processor(processor: Any, images: Sequence[Pixels]) -> Any:
    """The image processor's output for images (height, width, 3) of any size, as arrays.

    The axis order is passed explicitly: transformers would guess it wrongly for images of one or three rows.
    """
    bounded = [with_bounded_aspect(pixels) for pixels in images]
    return processor(images=bounded, input_data_format="channels_last", return_tensors="np")
