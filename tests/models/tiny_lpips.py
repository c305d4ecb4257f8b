"""Random LPIPS networks with the layers of the real ones and few channels."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from imarena.vision.model_weights.safetensors_file import StoredTensor, write_safetensors

ALEX = ((11, 3, 6), (5, 6, 5), (3, 5, 7), (3, 7, 4), (3, 4, 4))
"""Side of the kernel, channels in, channels out."""
VGG_WIDTHS = (4, 4, 5, 5, 6, 6, 6, 4, 4, 4, 3, 3, 3)


def make_lpips_alex(folder: Path) -> None:
    """The file that `lpips-alex` has."""
    _write(folder, "AlexNet_0", ALEX, (0, 1, 2, 3, 4))


def make_lpips_vgg(folder: Path) -> None:
    """The file that `lpips-vgg` has."""
    layers = [(3, into, out) for into, out in zip((3, *VGG_WIDTHS), VGG_WIDTHS, strict=False)]
    _write(folder, "VGG16_0", layers, (1, 3, 6, 9, 12))


def _write(folder: Path, name: str, layers: Sequence[tuple[int, int, int]], compared: Sequence[int]) -> None:
    rng = np.random.default_rng(7)
    arrays = {}
    for number, (side, into, out) in enumerate(layers):
        arrays[f"{name}.Conv_{number}.kernel"] = rng.normal(
            0, (2 / (side * side * into)) ** 0.5, (side, side, into, out)
        )
        arrays[f"{name}.Conv_{number}.bias"] = rng.normal(0.1, 0.1, out)
    for block, number in enumerate(compared):
        arrays[f"NetLinLayer_{block}.Conv_0.kernel"] = rng.uniform(0, 1, (1, 1, layers[number][2], 1))
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: StoredTensor("F32", values.astype(np.float32)) for name, values in arrays.items()}
    write_safetensors(folder / "model.safetensors", tensors)
