"""`.pt` files made by hand, step by step, since torch is not needed here: harmless ones and attacks."""

import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TYPES = {"float32": "FloatStorage", "int64": "LongStorage", "float16": "HalfStorage", "uint16": "BFloat16Storage"}


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def several(*parts: bytes) -> bytes:
    """A tuple."""
    return b"(" + b"".join(parts) + b"t"


def named(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def call(module: str, name: str, *arguments: bytes) -> bytes:
    return named(module, name) + several(*arguments) + b"R"


def dictionary(entries: Mapping[str, bytes]) -> bytes:
    return b"}(" + b"".join(text(key) + value for key, value in entries.items()) + b"u"


def tensor(key: str, kind: str, count: int, shape: tuple[int, ...], stride: tuple[int, ...], offset: int = 0) -> bytes:
    """A view of the storage `key`, as torch writes it."""
    storage = several(text("storage"), named("torch", kind), text(key), text("cpu"), number(count)) + b"Q"
    sizes = (several(*map(number, shape)), several(*map(number, stride)))
    hooks = call("collections", "OrderedDict")
    return call("torch._utils", "_rebuild_tensor_v2", storage, number(offset), *sizes, b"\x89", hooks)


def state_dict(arrays: Mapping[str, NDArray[np.generic]]) -> tuple[bytes, dict[str, bytes]]:
    """The pickle of a dictionary of tensors, and its storages."""
    entries = {}
    for key, (name, array) in enumerate(arrays.items()):
        stride = tuple(step // array.itemsize for step in array.strides)
        entries[name] = tensor(str(key), TYPES[array.dtype.name], array.size, array.shape, stride)
    return dictionary(entries), {str(key): array.tobytes() for key, array in enumerate(arrays.values())}


def write_pt(
    path: Path, steps: bytes, storages: Mapping[str, bytes] | None = None, compression: int = zipfile.ZIP_STORED
) -> Path:
    """A file as `torch.save` lays it out: the pickle, the storages and the version."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + steps + b".")
        for key, data in (storages or {}).items():
            archive.writestr(f"archive/data/{key}", data)
        archive.writestr("archive/version", "3\n")
    return path
