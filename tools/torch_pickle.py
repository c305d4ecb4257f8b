"""Read the tensors of a file that `torch.save` wrote before version 1.6, with NumPy alone.

Only the names in `ALLOWED` can be called while the file is read; any other one stops the reading, so that a file cannot
run code.
"""

import io
import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
STORAGES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


@dataclass(frozen=True)
class _Storage:
    """The place of a tensor's numbers: they follow at the end of the file, in the order of a list of keys."""

    key: str
    dtype: np.dtype[Any]
    length: int


@dataclass(frozen=True)
class _View:
    """A tensor before its numbers are read."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _view(storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_unused: object) -> _View:
    return _View(storage, offset, shape, strides)


ALLOWED: dict[tuple[str, str], Callable[..., Any] | type] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _view,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed in a file of weights.")
        return ALLOWED[module, name]

    def persistent_load(self, saved: Any) -> _Storage:
        kind, dtype, key, _device, length, _part = saved
        if kind != "storage":
            raise pickle.UnpicklingError(f"'{kind}' is not a storage.")
        return _Storage(key, dtype, length)


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a file by name."""
    stream = io.BytesIO(path.read_bytes())
    if (_Unpickler(stream).load(), _Unpickler(stream).load()) != (MAGIC, PROTOCOL):
        raise pickle.UnpicklingError(f"{path} is not in the format of torch before 1.6.")
    _Unpickler(stream).load()  # sizes of C types, which the storages do not depend on
    views: dict[str, _View] = _Unpickler(stream).load()
    storages = {view.storage.key: view.storage for view in views.values()}
    numbers = {key: _numbers(stream, storages[key]) for key in _Unpickler(stream).load()}
    if stream.read(1):
        raise pickle.UnpicklingError(f"{path} is longer than its tensors.")
    return {name: _tensor(view, numbers[view.storage.key]) for name, view in views.items()}


def _numbers(stream: io.BytesIO, storage: _Storage) -> NDArray[Any]:
    length = int.from_bytes(stream.read(8), "little")
    if length != storage.length:
        raise pickle.UnpicklingError(f"Storage {storage.key} has {length} numbers instead of {storage.length}.")
    return np.frombuffer(stream.read(length * storage.dtype.itemsize), storage.dtype, length)


def _tensor(view: _View, numbers: NDArray[Any]) -> NDArray[Any]:
    last = view.offset + sum((side - 1) * step for side, step in zip(view.shape, view.strides, strict=True))
    if view.offset < 0 or last >= len(numbers) or min(view.strides, default=0) < 0:
        raise pickle.UnpicklingError(f"A tensor reaches beyond its storage {view.storage.key}.")
    steps = [step * numbers.itemsize for step in view.strides]
    return np.lib.stride_tricks.as_strided(numbers[view.offset :], view.shape, steps).copy()
