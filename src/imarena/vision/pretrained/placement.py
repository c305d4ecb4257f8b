"""The device and the number format of a model, and its batch size."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels, UserError, suggestion

DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE, _DTYPE, _BATCH = "IMARENA_DEVICE", "IMARENA_DTYPE", "IMARENA_BATCH_SIZE"


@dataclass(frozen=True)
class Placement:
    """Where and how a model runs. `auto`: on CUDA in bfloat16 if there is a GPU, else on the CPU in float32.

    Weights stay in float32; torch runs the layers that tolerate it in the shorter format (autocast). Coordinates of
    boxes and points need more than bfloat16's three digits.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch_size: int = 8

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise UserError(f"'{self.dtype}' is not a number format.", hint=suggestion(self.dtype, DTYPES))
        if self.batch_size < 1:
            raise UserError("A batch needs at least one image.", hint=f"Set {_BATCH} to 1 or more.")

    def torch_device(self, torch: Any) -> str:
        """The device's name in torch. Raises if a CUDA device does not exist."""
        has_cuda = bool(torch.cuda.is_available())
        if self.device.startswith("cuda") and not has_cuda:
            raise UserError("torch finds no CUDA device here.", hint=f"Set {_DEVICE} to 'auto' or 'cpu'.")
        if self.device == "auto":
            return "cuda" if has_cuda else "cpu"
        return self.device

    def torch_dtype(self, torch: Any) -> Any:
        """The number format of computations on that device."""
        if self.dtype != "auto":
            return getattr(torch, self.dtype)
        return torch.bfloat16 if self.torch_device(torch).startswith("cuda") else torch.float32

    @contextmanager
    def inference(self, torch: Any) -> Iterator[None]:
        """Run a model without gradients, in the number format."""
        device, dtype = self.torch_device(torch).partition(":")[0], self.torch_dtype(torch)
        with torch.inference_mode():
            if dtype == torch.float32:
                yield
            else:
                with torch.autocast(device, dtype=dtype):
                    yield


def placement_from_environment() -> Placement:
    """The settings IMARENA_DEVICE, IMARENA_DTYPE and IMARENA_BATCH_SIZE; by default `auto` and 8."""
    size = os.environ.get(_BATCH, "8")
    if not size.isdecimal():
        raise UserError(f"{_BATCH} is '{size}', which is not a whole number.", hint="Set it to 8, for example.")
    return Placement(os.environ.get(_DEVICE) or "auto", os.environ.get(_DTYPE) or "auto", int(size))


def prepare_images(
    prepare: Callable[[Pixels], NDArray[np.float32]], images: Sequence[Pixels]
) -> list[NDArray[np.float32]]:
    """The network's input for each image, prepared in threads: Pillow releases the GIL while it resizes."""
    if len(images) < 2:
        return [prepare(pixels) for pixels in images]
    with ThreadPoolExecutor(min(len(images), os.cpu_count() or 1)) as pool:
        return list(pool.map(prepare, images))


def batches_of_one_shape(arrays: Sequence[NDArray[Any]], batch_size: int) -> Iterator[list[int]]:
    """Indices of arrays with the same shape, at most `batch_size` at a time.

    Arrays are never padded to a common shape, so an image's result does not depend on the rest of its batch.
    """
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for position, array in enumerate(arrays):
        by_shape.setdefault(array.shape, []).append(position)
    for positions in by_shape.values():
        for start in range(0, len(positions), batch_size):
            yield positions[start : start + batch_size]
