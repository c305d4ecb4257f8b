"""Where a model runs, in which number format, and how many images it takes at once."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels, UserError

DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE, _DTYPE, _BATCH = "IMARENA_DEVICE", "IMARENA_DTYPE", "IMARENA_BATCH_SIZE"


@dataclass(frozen=True)
class Placement:
    """How a model runs. `auto`: on CUDA in bfloat16 where there is a GPU, else on the processor in float32.

    Weights stay in float32, and torch computes layers that bear it in the shorter format (autocast): coordinates of
    boxes and points need more than bfloat16's three digits.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch_size: int = 8

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise UserError(f"'{self.dtype}' is not a number format.", hint=f"Choose from: {', '.join(DTYPES)}.")
        if self.batch_size < 1:
            raise UserError("A batch needs at least one image.", hint=f"Set {_BATCH} to 1 or more.")

    def torch_device(self, torch: Any) -> str:
        """The device's name in torch. A CUDA device that is not there raises."""
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
    """The settings IMARENA_DEVICE, IMARENA_DTYPE and IMARENA_BATCH_SIZE; `auto` and 8 where they are not set."""
    size = os.environ.get(_BATCH, "8")
    if not size.isdecimal():
        raise UserError(f"{_BATCH} is '{size}', which is not a whole number.", hint="Set it to 8, for example.")
    return Placement(os.environ.get(_DEVICE) or "auto", os.environ.get(_DTYPE) or "auto", int(size))


def prepare_images(
    prepare: Callable[[Pixels], NDArray[np.float32]], images: Sequence[Pixels]
) -> list[NDArray[np.float32]]:
    """The network's input for each image, made in threads: Pillow resizes without Python's lock."""
    if len(images) < 2:
        return [prepare(pixels) for pixels in images]
    with ThreadPoolExecutor(min(len(images), os.cpu_count() or 1)) as pool:
        return list(pool.map(prepare, images))


def batches_of_one_shape(arrays: Sequence[NDArray[Any]], batch_size: int) -> Iterator[list[int]]:
    """Positions of arrays with one shape, at most `batch_size` at a time.

    Arrays are never padded to a common shape: what else is in a batch does not change an image's result.
    """
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for position, array in enumerate(arrays):
        by_shape.setdefault(array.shape, []).append(position)
    for positions in by_shape.values():
        for start in range(0, len(positions), batch_size):
            yield positions[start : start + batch_size]
