"""Pictures that trouble importers: broken ones, and whole ones of unusual kinds."""

import io
import struct
import zlib

from PIL import Image, ImageCms

from tests.unit.datasets.intake import picture


def bomb(side: int = 30_000) -> bytes:
    """A PNG of a few kilobytes that unpacks to `side` x `side` pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(side // 8 + 1) * 64)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


BROKEN = {
    "truncated": picture(5, size=(64, 64), kind="JPEG")[:300],
    "bomb": bomb(),
    "text": b"this is not a picture",
    "empty": b"",
}
"""Refused, each with a reason."""

UNUSUAL = {
    "icc": _saved(
        Image.new("RGB", (8, 8), "red"),
        "PNG",
        icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
    ),
    "sixteen_bit": _saved(Image.new("I;16", (8, 8), 40_000), "PNG"),
    "cmyk": _saved(Image.new("CMYK", (8, 8), (10, 200, 30, 40)), "JPEG"),
    "animation": _saved(
        Image.new("RGB", (8, 8), "red"), "GIF", save_all=True, append_images=[Image.new("RGB", (8, 8), "blue")]
    ),
}
"""Kept byte for byte; how they are shown is the business of the images room."""
