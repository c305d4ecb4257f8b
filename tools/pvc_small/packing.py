"""A compact file of training pictures that NumPy and torch can read without an image library.

Pictures are kept as quantised cosine coefficients, as JPEG does (quality about 88), ordered by frequency and deflated.
"""

import hashlib
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.preferences.damage_operations import TABLES, from_coefficients, to_coefficients

_STEPS = np.maximum(np.round(TABLES * 0.24), 1).astype(np.float32)[None, None, :, None, :, :]
"""Quantisation steps for coefficients (n, rows, 8, columns, 8, 3)."""
_ORDER = (2, 4, 5, 0, 1, 3)
_BACK = (3, 4, 0, 5, 1, 2)


def pack_pictures(name: str, pictures: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Pictures (n, height, width, 3), sides multiples of 8, as arrays whose names begin with `name`."""
    whole = [to_coefficients(picture[None].astype(np.float32) / np.float32(255), np) / _STEPS for picture in pictures]
    numbers = np.round(np.concatenate(whole)).astype(np.int16).transpose(_ORDER)
    unsigned = ((numbers << 1) ^ (numbers >> 15)).astype(np.uint16)  # so that few high bytes are not 0
    planes = {"low": (unsigned & 255).astype(np.uint8), "high": (unsigned >> 8).astype(np.uint8)}
    packed = {f"{name}_{k}": np.frombuffer(zlib.compress(v.tobytes(), 5), np.uint8) for k, v in planes.items()}
    return {**packed, f"{name}_shape": np.array(numbers.shape)}


def packed_sha256(arrays: Mapping[str, Any]) -> str:
    """One hash over names, types, shapes and bytes of packed arrays, whatever archive holds them."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        total.update(values.tobytes())
    return total.hexdigest()


def unpack_pictures(name: str, packed: Mapping[str, Any], xp: Any = np, device: str = "cpu") -> Any:
    """The pictures again, bytes (n, height, width, 3), as an array of NumPy or a tensor on a device."""
    shape = tuple(packed[f"{name}_shape"])
    planes = [zlib.decompress(packed[f"{name}_{k}"].tobytes()) for k in ("low", "high")]
    low, high = (np.frombuffer(plane, np.uint8).reshape(shape) for plane in planes)
    found = []
    for number in range(shape[_ORDER.index(0)]):
        one = (low[:, :, :, number].astype(np.int32) | (high[:, :, :, number].astype(np.int32) << 8))[:, :, :, None]
        coefficients = np.ascontiguousarray((one >> 1) ^ -(one & 1)).transpose(_BACK).astype(np.float32) * _STEPS
        image = from_coefficients(xp.asarray(coefficients, device=device), xp)
        found.append(_bytes(xp.round(image * 255.0), xp))
    return xp.concatenate(found)


def _bytes(values: Any, xp: Any) -> Any:
    return values.astype(xp.uint8) if isinstance(values, np.ndarray) else values.to(xp.uint8)
