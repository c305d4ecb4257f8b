"""The safetensors format with NumPy alone: check a file, read it, and write tensors deterministically.

A file is the length of its header (8 bytes, little-endian), the header as JSON, and the tensors' bytes without gaps.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError

_MAX_HEADER = 100_000_000
_ITEM_BYTES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
    "U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8, "C64": 8,
}  # fmt: skip


@dataclass(frozen=True)
class StoredTensor:
    """A stored tensor: `dtype` uses the names of safetensors, since NumPy has no BF16 (held as uint16)."""

    dtype: str
    values: NDArray[Any]


def check_safetensors(path: Path) -> int:
    """The number of tensors in a file; raises `UserError` if it is truncated, has gaps or is not safetensors."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or not 2 <= length <= min(_MAX_HEADER, size - 8):
            raise _broken(path, "its header does not fit into the file")
        try:
            header = json.loads(file.read(length))
        except (ValueError, RecursionError) as error:
            raise _broken(path, "its header is not JSON") from error
    if not isinstance(header, dict):
        raise _broken(path, "its header is not a JSON object")
    header.pop("__metadata__", None)
    try:
        spans = sorted(_span(name, entry) for name, entry in header.items())
    except (TypeError, KeyError, ValueError) as error:
        raise _broken(path, f"a tensor's entry is wrong ({' '.join(str(error).split())[:100]})") from error
    end = 0
    for start, stop in spans:
        if start != end:
            raise _broken(path, "its tensors overlap or leave a gap")
        end = stop
    if end != size - 8 - length:
        raise _broken(path, f"it should be {8 + length + end:,} bytes and is {size:,}")
    return len(spans)


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The tensors of a file by name, in single precision, read-only; other number formats raise `UserError`."""
    check_safetensors(path)
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "F32":
            raise UserError(f"{path.name} holds {entry['dtype']} and not single precision.", hint="Install it again.")
        first, last = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[start + first : start + last], "<f4").reshape(entry["shape"])
    return tensors


def write_safetensors(path: Path, tensors: Mapping[str, StoredTensor]) -> None:
    """Write tensors in the order of their names: the same tensors always give the same bytes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in sorted(tensors.items()):
        start, end = end, end + tensor.values.nbytes
        header[name] = {"dtype": tensor.dtype, "shape": list(tensor.values.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in sorted(tensors.items()):
            little = tensor.values.astype(tensor.values.dtype.newbyteorder("<"), copy=False)
            file.write(np.ascontiguousarray(little).tobytes())


def _span(name: str, entry: Any) -> tuple[int, int]:
    start, stop = entry["data_offsets"]
    shape = entry["shape"]
    if not all(isinstance(number, int) and number >= 0 for number in [start, stop, *shape]):
        raise ValueError(f"{name!r} has a wrong shape or place")
    if stop - start != math.prod(shape) * _ITEM_BYTES[entry["dtype"]]:
        raise ValueError(f"{name!r} has not the bytes that its shape needs")
    return start, stop


def _broken(path: Path, reason: str) -> UserError:
    return UserError(f"{path.name} is not a whole safetensors file: {reason}.", hint="Download or convert it again.")
