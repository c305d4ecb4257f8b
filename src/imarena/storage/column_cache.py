"""Columns of a large workspace on disk, so that commands and servers start without reading millions of rows.

A file holds arrays and a document that states what they were made from; the reader compares it with the database.
Files can be deleted at any time. A file that is damaged, truncated or of another layout counts as missing.
"""

import json
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.tables import empty_column, row_slices

_SIGN = b"imarena columns 1\n"
_ALIGN = 64
_AT_ONCE = 1 << 23
_KINDS = "biufS"
"""Kinds of NumPy types that may be stored: plain numbers and bytes, never objects."""


@dataclass(frozen=True)
class CachedColumns:
    """Arrays, and what they were made from. The arrays are read-only, because several threads share them."""

    metadata: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


class ColumnCache:
    """Column files by name, in a folder."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        """Larger columns are not stored."""

    def read(self, name: str) -> CachedColumns | None:
        """The columns with this name; None if there are none or the file is damaged, in which case it is deleted."""
        path = self.folder / name
        try:
            data = _content(path)
        except OSError:
            return None
        try:
            columns = _parsed(data)
        except (ValueError, KeyError, TypeError, AttributeError):
            with suppress(OSError):
                path.unlink()  # it will be written again
            return None
        with suppress(OSError):
            os.utime(path)  # the least recently used files are deleted first
        return columns

    def metadata(self, name: str) -> dict[str, Any] | None:
        """What the columns with this name were made from, without reading them."""
        try:
            with (self.folder / name).open("rb") as file:
                size = _header_size(file.read(len(_SIGN) + 8))
                return dict(_header(file.read(size))["about"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, name: str, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store columns, replacing those with the same name. If that fails, nothing is stored: they are only a copy."""
        if sum(array.nbytes for array in arrays.values()) > self.most_bytes:
            return
        part = self.folder / f"{name}.{secrets.token_hex(4)}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write(part, metadata, arrays)
            part.replace(self.folder / name)
        except OSError:  # disk full, no permission, or another process has cleared the cache
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _write(path: Path, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    columns, crc, at = [], 0, 0
    for name, array in arrays.items():
        columns.append([name, array.dtype.str, array.size, at])
        for part in _bytes_of(array):
            crc = zlib.crc32(part, crc)
            at += len(part)
    header = json.dumps({"about": dict(metadata), "columns": columns, "bytes": at, "crc": crc}).encode()
    header += b" " * (-(len(_SIGN) + 8 + len(header) + 4) % _ALIGN)
    header += zlib.crc32(header).to_bytes(4, "little")
    with path.open("wb") as file:
        file.write(_SIGN + len(header).to_bytes(8, "little") + header)
        for array in arrays.values():
            file.writelines(_bytes_of(array))


def _bytes_of(array: NDArray[Any]) -> Iterator[Any]:
    """The bytes of a column, padded with zeros to the next multiple of `_ALIGN`."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
    for rows in row_slices(flat.size, _AT_ONCE):
        yield flat[rows].data
    yield b"\0" * (-flat.nbytes % _ALIGN)


def _header_size(start: bytes) -> int:
    if not start.startswith(_SIGN):
        raise ValueError("not a file of columns")
    return int.from_bytes(start[len(_SIGN) :], "little")


def _header(data: bytes) -> dict[str, Any]:
    text, crc = data[:-4], data[-4:]
    if zlib.crc32(text).to_bytes(4, "little") != crc:
        raise ValueError("the header is damaged")
    return dict(json.loads(text))


def _content(path: Path) -> NDArray[np.uint8]:
    """The bytes of a file. Large files are copied to a private file that nobody can replace while it is in use."""
    with path.open("rb") as file:
        data = empty_column(os.fstat(file.fileno()).st_size, np.uint8)
        for rows in row_slices(data.size, _AT_ONCE):
            if file.readinto(data[rows].data) < rows.stop - rows.start:
                raise OSError("the file became shorter")
    return data


def _parsed(data: NDArray[np.uint8]) -> CachedColumns:
    begin = len(_SIGN) + 8
    end = begin + _header_size(data[:begin].tobytes())
    header = _header(data[begin:end].tobytes())
    body = data[end:]
    crc = 0
    for rows in row_slices(body.size, _AT_ONCE):
        crc = zlib.crc32(body[rows].data, crc)
    if body.size != header["bytes"] or crc != header["crc"]:
        raise ValueError("the columns are damaged")
    arrays = {}
    for name, kind, size, at in header["columns"]:
        dtype = np.dtype(kind)
        if dtype.kind not in _KINDS:
            raise ValueError("such columns are never stored")
        arrays[name] = body[at : at + size * dtype.itemsize].view(dtype)
        arrays[name].flags.writeable = False
    return CachedColumns(header["about"], arrays)
