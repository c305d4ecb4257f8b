"""What the pickle of a `.pt` file may build: our own types for storages, tensors, NumPy arrays and dictionaries.

None of them has a method that a pickle could misuse, and the results of calls are checked: sizes, strides, bytes.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import ImarenaError
from imarena.vision.model_weights.safetensors_file import StoredTensor

_MAX_DIMENSIONS = 16


class UnsafePickle(ImarenaError):
    """The pickle uses something that no file of tensors needs."""


@dataclass(frozen=True)
class StorageType:
    """An element type of torch. NumPy has no bfloat16: its bits are held as uint16."""

    safetensors: str
    numpy: str


@dataclass(frozen=True)
class Storage:
    """The elements (n,) that tensors are views of."""

    kind: StorageType
    values: NDArray[Any]


@dataclass(frozen=True)
class AllowedCall:
    """A function that a pickle may call. Frozen, so that a pickle cannot change it for later files."""

    run: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Call it with the arguments from the pickle."""
        return self.run(*arguments)


STORAGE_TYPES = MappingProxyType(
    {
        "FloatStorage": StorageType("F32", "<f4"),
        "DoubleStorage": StorageType("F64", "<f8"),
        "HalfStorage": StorageType("F16", "<f2"),
        "BFloat16Storage": StorageType("BF16", "<u2"),
        "LongStorage": StorageType("I64", "<i8"),
        "IntStorage": StorageType("I32", "<i4"),
        "ShortStorage": StorageType("I16", "<i2"),
        "CharStorage": StorageType("I8", "|i1"),
        "ByteStorage": StorageType("U8", "|u1"),
        "BoolStorage": StorageType("BOOL", "|b1"),
    }
)
_SAFETENSORS_OF = {
    "f4": "F32", "f8": "F64", "f2": "F16", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8", "u1": "U8", "u2": "U16",
    "u4": "U32", "u8": "U64", "b1": "BOOL",
}  # fmt: skip


class PickledDict(dict[Any, Any]):
    """A dictionary whose keys must be strings or integers: hashing a deep tuple can crash the process."""

    def __setitem__(self, key: Hashable, value: Any) -> None:
        if type(key) not in (str, int):
            raise UnsafePickle("it has a dictionary whose keys are not texts")
        super().__setitem__(key, value)

    def set_state(self, state: Any) -> None:
        """Torch stores layer versions as an attribute of the dictionary; they are not needed."""


class PickledDtype:
    """A NumPy number type, built in the three steps of NumPy's pickles."""

    def __init__(self, name: Any, *_: Any) -> None:
        if not isinstance(name, str) or name.lstrip("<|=") not in _SAFETENSORS_OF:
            raise UnsafePickle(f"it has an array of {name!r}"[:100])
        self.name = name.lstrip("<|=")

    def set_state(self, state: Any) -> None:
        """The second field of the state is the byte order."""
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", "|", "="):
            raise UnsafePickle("it has an array that is not little-endian")


class PickledArray:
    """A NumPy array, empty until its state is set."""

    def __init__(self, *_: Any) -> None:
        self._tensor: StoredTensor | None = None

    def set_state(self, state: Any) -> None:
        """Version, shape, type, Fortran order, bytes: as NumPy pickles an array."""
        if not isinstance(state, tuple) or len(state) != 5:
            raise UnsafePickle("it has an array in an unknown form")
        _, shape, dtype, fortran, data = state
        if not isinstance(dtype, PickledDtype) or not isinstance(data, bytes | str):
            raise UnsafePickle("it has an array that is not of numbers")
        raw = data.encode("latin1") if isinstance(data, str) else data
        checked = _sizes(shape)
        values = np.frombuffer(raw, f"<{dtype.name}")
        if math.prod(checked) != len(values):
            raise UnsafePickle("it has an array whose shape does not fit its bytes")
        shaped = values.reshape(checked, order="F" if fortran is True else "C")
        self._tensor = StoredTensor(_SAFETENSORS_OF[dtype.name], shaped)

    def tensor(self) -> StoredTensor:
        """The array; refused if its state was never set."""
        if self._tensor is None:
            raise UnsafePickle("it has an array without values")
        return self._tensor


def _rebuild_tensor(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> StoredTensor:
    """A view of a storage. It must lie inside the storage and cannot have more elements."""
    if not isinstance(storage, Storage):
        raise UnsafePickle("it has a tensor without a storage")
    shape, steps = _sizes(size), _sizes(stride)
    (start,) = _sizes((offset,))
    if len(shape) != len(steps):
        raise UnsafePickle("it has a tensor with more sizes than strides")
    count = math.prod(shape)
    last = start + sum((n - 1) * step for n, step in zip(shape, steps, strict=True)) if count else start
    if count > len(storage.values) or (count and last >= len(storage.values)):
        raise UnsafePickle("it has a tensor that reaches out of its storage")
    item = storage.values.itemsize
    window = storage.values[start:]
    view = np.lib.stride_tricks.as_strided(window, shape, [step * item for step in steps], writeable=False)
    return StoredTensor(storage.kind.safetensors, view)


def _rebuild_parameter(tensor: Any, *_: Any) -> StoredTensor:
    if not isinstance(tensor, StoredTensor):
        raise UnsafePickle("it has a parameter that is no tensor")
    return tensor


def _sizes(numbers: Any) -> tuple[int, ...]:
    if not isinstance(numbers, tuple | list) or len(numbers) > _MAX_DIMENSIONS:
        raise UnsafePickle("it has a shape that is none")
    if not all(type(number) is int and 0 <= number < 1 << 40 for number in numbers):
        raise UnsafePickle("it has a shape that is not of whole numbers")
    return tuple(numbers)


def _ordered_dict(*pairs: Any) -> PickledDict:
    ordered = PickledDict()
    for key, value in pairs[0] if pairs else ():
        ordered[key] = value
    return ordered


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """How old pickles store bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise UnsafePickle("it encodes something that is no text")
    return text.encode("latin1")


def _array(*_: Any) -> PickledArray:
    return PickledArray()


def _size(*values: Any) -> tuple[int, ...]:
    return _sizes(values[0] if values else ())


_NOT_CALLED = AllowedCall(_array)
"""`numpy.ndarray` is only an argument of `_reconstruct`."""
ALLOWED_CALLS = MappingProxyType(
    {
        ("collections", "OrderedDict"): AllowedCall(_ordered_dict),
        ("torch._utils", "_rebuild_tensor_v2"): AllowedCall(_rebuild_tensor),
        ("torch._utils", "_rebuild_tensor"): AllowedCall(_rebuild_tensor),
        ("torch._utils", "_rebuild_parameter"): AllowedCall(_rebuild_parameter),
        ("torch", "Size"): AllowedCall(_size),
        ("numpy.core.multiarray", "_reconstruct"): AllowedCall(_array),
        ("numpy._core.multiarray", "_reconstruct"): AllowedCall(_array),
        ("numpy", "ndarray"): _NOT_CALLED,
        ("numpy", "dtype"): AllowedCall(PickledDtype),
        ("_codecs", "encode"): AllowedCall(_encode),
    }
)
