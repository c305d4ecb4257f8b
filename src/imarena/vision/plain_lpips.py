"""Perceptual distance of two images: LPIPS (Zhang et al. 2018), version 0.1, with AlexNet or VGG16, in NumPy.

The weights are not bundled: `imarena weights get lpips-alex` (or `lpips-vgg`) takes them from a package. The results
match the authors' package `lpips` for images in -1..1, without any other preprocessing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from imarena.core import Floats, Pixels
from imarena.vision.comparison import required_source, scale_to
from imarena.vision.lpips import at_most_a_megapixel, measured_distance
from imarena.vision.model_weights.installed import installed_folder, weights_folder
from imarena.vision.model_weights.safetensors_file import read_safetensors

Backbone = Literal["alex", "vgg"]

SMALLEST_SIDES = {"alex": 31, "vgg": 16}
"""With a shorter side, nothing of the image is left in the last layer."""
_SHIFT = np.array([-0.030, -0.088, -0.188], np.float32)
_SCALE = np.array([0.458, 0.448, 0.450], np.float32)
_BAND_VALUES = 1 << 22
"""Windows of the image are unrolled for a matrix product, this many values at a time."""


@dataclass(frozen=True)
class _Layer:
    """A convolution and a ReLU; every block after the first begins with max pooling."""

    kernel: Floats
    """(height, width, channels in, channels out)."""
    bias: Floats
    stride: int
    pads: int
    pool: int
    """Side of the max-pooling window before this layer, with stride 2; 0: no pooling."""
    head: Floats | None
    """Weight of each channel, if the output of this layer is compared."""


def lpips_available() -> bool:
    """Are the weights of AlexNet, the default, installed?"""
    return installed_folder("lpips-alex") is not None


def lpips_distance(source: Pixels, output: Pixels, backbone: Backbone = "alex") -> float | None:
    """LPIPS of two images (height, width, 3): 0 for a copy. The output is scaled to the source's size.

    None if a side of the source has fewer than `SMALLEST_SIDES` pixels. Images of more than a megapixel are scaled
    down to one. Raises `UserError` if the weights are not installed.
    """
    layers = _layers(backbone, str(weights_folder(f"lpips-{backbone}", f"The metric '{_metric(backbone)}'")))
    if min(source.shape[:2]) < SMALLEST_SIDES[backbone]:
        return None
    left, right = (_prepared(image, SMALLEST_SIDES[backbone]) for image in (source, scale_to(output, source)))
    distance = 0.0
    for layer in layers:
        left, right = _applied(layer, left), _applied(layer, right)
        if layer.head is not None:
            apart = (_normal(left) - _normal(right)) ** 2
            distance += float((apart @ layer.head).mean(dtype=np.float64))
    return distance


def lpips_alex(pixels: Pixels, against: Pixels | None = None) -> float:
    """LPIPS (AlexNet) to the source, at the source's size; 0 for a copy."""
    return _as_metric(pixels, against, "alex")


def lpips_vgg(pixels: Pixels, against: Pixels | None = None) -> float:
    """LPIPS (VGG16) to the source, at the source's size; 0 for a copy."""
    return _as_metric(pixels, against, "vgg")


def _metric(backbone: Backbone) -> str:
    return "lpips" if backbone == "alex" else "lpips-vgg"


def _as_metric(pixels: Pixels, against: Pixels | None, backbone: Backbone) -> float:
    name = _metric(backbone)
    source = required_source(against, name)
    return measured_distance(lpips_distance(source, pixels, backbone), source, name, SMALLEST_SIDES[backbone])


@lru_cache(maxsize=2)
def _layers(backbone: Backbone, folder: str) -> tuple[_Layer, ...]:
    tensors = read_safetensors(Path(folder) / "model.safetensors")

    def layer(number: int, pads: int, *, stride: int = 1, pool: int = 0, block: int | None = None) -> _Layer:
        network = "AlexNet_0" if backbone == "alex" else "VGG16_0"
        head = None if block is None else tensors[f"NetLinLayer_{block}.Conv_0.kernel"].reshape(-1)
        kernel, bias = (tensors[f"{network}.Conv_{number}.{part}"] for part in ("kernel", "bias"))
        return _Layer(kernel, bias, stride, pads, pool, head)

    if backbone == "alex":
        return (
            layer(0, 2, stride=4, block=0),
            layer(1, 2, pool=3, block=1),
            layer(2, 1, pool=3, block=2),
            layer(3, 1, block=3),
            layer(4, 1, block=4),
        )
    layers: list[_Layer] = []
    for block, count in enumerate((2, 2, 3, 3, 3)):
        for step in range(count):
            pool = 2 if block and step == 0 else 0
            layers.append(layer(len(layers), 1, pool=pool, block=block if step == count - 1 else None))
    return tuple(layers)


def _prepared(pixels: Pixels, least: int) -> Floats:
    """The network's input for an image: (height, width, 3), about -2 to 2."""
    scaled = at_most_a_megapixel(pixels, least).astype(np.float32) / np.float32(127.5) - np.float32(1)
    return np.asarray((scaled - _SHIFT) / _SCALE, np.float32)


def _applied(layer: _Layer, values: Floats) -> Floats:
    """Max pooling, convolution, ReLU: (height, width, channels) to the same axes."""
    if layer.pool:
        values = _maximum(values, layer.pool)
    side, _, channels, out = layer.kernel.shape
    padded = np.pad(values, ((layer.pads, layer.pads), (layer.pads, layer.pads), (0, 0)))
    windows = sliding_window_view(padded, (side, side), axis=(0, 1))[:: layer.stride, :: layer.stride]
    height, width = windows.shape[:2]
    matrix = layer.kernel.transpose(2, 0, 1, 3).reshape(-1, out)
    result = np.empty((height, width, out), np.float32)
    rows = max(1, _BAND_VALUES // (width * side * side * channels))
    for start in range(0, height, rows):
        band = windows[start : start + rows]
        result[start : start + rows] = (band.reshape(-1, len(matrix)) @ matrix).reshape(*band.shape[:2], out)
    result += layer.bias
    return np.maximum(result, np.float32(0), out=result)


def _maximum(values: Floats, side: int) -> Floats:
    """Max pooling with a window of `side` pixels and stride 2; windows that leave the image do not count."""
    ends = [(length - side) // 2 * 2 + 1 for length in values.shape[:2]]
    parts: Sequence[Floats] = [
        values[row : row + ends[0] : 2, column : column + ends[1] : 2] for row in range(side) for column in range(side)
    ]
    return np.asarray(np.maximum.reduce(parts), np.float32)


def _normal(values: Floats) -> Floats:
    """The channels of each position, scaled to length 1."""
    return np.asarray(values / (np.sqrt((values * values).sum(axis=2, keepdims=True)) + np.float32(1e-10)), np.float32)
