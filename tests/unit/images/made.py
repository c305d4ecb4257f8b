"""Pictures made on the spot, with known answers."""

import io
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def encode(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """A picture as a file of this kind."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def photo(width: int = 48, height: int = 32, seed: int = 0) -> Image.Image:
    """A smooth, colourful picture with an upper left corner that differs from all others."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    channels = [128 + 100 * np.sin(x / (3 + rng.random() * 9) + y / (4 + rng.random() * 9)) for _ in range(3)]
    array = np.stack(channels, axis=-1).clip(0, 255).astype(np.uint8)
    array[:8, :8] = (255, 0, 0)
    return Image.fromarray(array)


def chunk(kind: bytes, body: bytes) -> bytes:
    """One PNG chunk."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, depth: int, colour_type: int, raw: bytes, *extra: bytes) -> bytes:
    """A PNG file from filtered rows; `extra` are chunks placed before the pixels."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    body = chunk(b"IHDR", header) + b"".join(extra) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def deep_png(values: NDArray[np.uint16], colour_type: int) -> bytes:
    """A 16-bit PNG; `values` has shape (height, width, channels)."""
    height, width = values.shape[:2]
    rows = [b"\x00" + row.astype(">u2").tobytes() for row in values]
    return png(width, height, 16, colour_type, b"".join(rows))


def bomb(side: int = 30_000) -> bytes:
    """A one-bit PNG of side x side pixels: a few hundred kilobytes that would fill gigabytes."""
    row = b"\x00" + bytes((side + 7) // 8)
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def cmyk_profile() -> bytes:
    """A CMYK profile with a table of two points a channel: white paper, K is black, and pure C is *middle grey*.

    No real ink does that, so that a picture which was not read through the profile shows.
    """
    white, grey, black = bytes([255, 128, 128]), bytes([128, 128, 128]), bytes([0, 128, 128])  # Lab in 8 bits
    corners = [
        black if k else grey if (c, m, y) == (1, 0, 0) else white
        for c in (0, 1)
        for m in (0, 1)
        for y in (0, 1)
        for k in (0, 1)
    ]
    ramp = bytes(range(256))
    identity = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    table = b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + identity + 4 * ramp + b"".join(corners) + 3 * ramp
    text = b"text" + bytes(4) + b"none\x00"
    name = b"desc" + bytes(4) + struct.pack(">I", 5) + b"test\x00" + bytes(8 + 3 + 67)
    paper = b"XYZ " + bytes(4) + struct.pack(">3i", 63190, 65536, 54061)
    tags = {b"A2B0": table, b"cprt": text, b"desc": name, b"wtpt": paper}
    place = 128 + 4 + 12 * len(tags)
    index, body = struct.pack(">I", len(tags)), b""
    for key, value in tags.items():
        index += key + struct.pack(">II", place + len(body), len(value))
        body += value + bytes(-len(value) % 4)
    size = place + len(body)
    header = struct.pack(">I4sI4s4s4s", size, b"none", 0x02200000, b"prtr", b"CMYK", b"Lab ")
    header += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28) + struct.pack(">3i", 63190, 65536, 54061)
    return header.ljust(128, b"\x00") + index + body
