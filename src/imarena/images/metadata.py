"""Remove metadata from an image file without touching its pixels: EXIF, GPS positions, XMP, IPTC, comments, dates.

Everything that affects how the image looks is kept: the coded pixels unchanged, the colour profile (ICC), resolution,
animation, and the EXIF orientation, which becomes the only entry of a new EXIF block.
Unknown parts of a file are removed.
"""

import struct
import zlib
from collections.abc import Iterator

from imarena.core import InvalidImage
from imarena.images.decode import decode
from imarena.images.formats import BMP, GIF, JPEG, PNG, TIFF, WEBP
from imarena.images.inspect import open_checked, orientation_of
from imarena.images.tiff_metadata import strip_tiff

_PNG_KEPT = frozenset(
    {
        b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD", b"pHYs",
        b"sPLT", b"hIST", b"acTL", b"fcTL", b"fdAT", b"cICP", b"mDCV", b"cLLI",
    }
)  # fmt: skip
_WEBP_KEPT = frozenset({b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})
_WEBP_EXIF, _WEBP_XMP = 0x08, 0x04
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD8)})
"""Markers without a length."""
_GIF_KEPT = (b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012")


def strip_metadata(data: bytes) -> bytes:
    """The same image file without metadata; unchanged bytes if it has none.

    Raises `InvalidImage` if the file cannot be read, or if its pixels would change.
    """
    image, info = open_checked(data)
    with image:
        orientation = orientation_of(image)
    try:
        stripped = _STRIP[info.media_type](data, orientation)
    except (struct.error, IndexError, ValueError) as error:
        raise InvalidImage(f"the metadata of the {info.media_type} file cannot be read: {error}") from error
    if stripped == data:
        return data
    before, after = decode(data), decode(stripped)
    if before.size != after.size or before.tobytes() != after.tobytes():
        raise InvalidImage(f"the metadata of the {info.media_type} file cannot be removed without changing its pixels")
    return stripped


def colour_profile(data: bytes) -> bytes:
    """The ICC profile of an image file; empty if there is none. Raises `InvalidImage`."""
    image, _ = open_checked(data)
    with image:
        profile = image.info.get("icc_profile")
    return profile if isinstance(profile, bytes) else b""


def _orientation_block(orientation: int) -> bytes:
    """An EXIF block (a TIFF file) whose only entry is the orientation."""
    return struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def _strip_png(data: bytes, orientation: int) -> bytes:
    parts = [data[:8]]
    if orientation == 1 and _has_only(data, _PNG_KEPT):
        return data
    at = 8
    while at + 12 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IDAT" and orientation > 1:
            parts.append(_png_chunk(b"eXIf", _orientation_block(orientation)))
            orientation = 1
        if kind in _PNG_KEPT:
            parts.append(data[at : at + 12 + size])
        at += 12 + size
        if kind == b"IEND":
            return b"".join(parts)
    raise ValueError("the file ends before its last chunk")


def _has_only(data: bytes, kinds: frozenset[bytes]) -> bool:
    at = 8
    while at + 12 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        at += 12 + size
        if kind not in kinds:
            return False
        if kind == b"IEND":
            return bool(at == len(data))
    return False


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _strip_jpeg(data: bytes, orientation: int) -> bytes:
    parts = [part for marker, part in _jpeg_parts(data) if _is_kept_in_jpeg(marker, part)]
    if orientation > 1:
        body = b"Exif\x00\x00" + _orientation_block(orientation)
        parts.insert(1, b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body)
    return b"".join(parts)


def _is_kept_in_jpeg(marker: int, part: bytes) -> bool:
    if marker == 0xE0:
        return part[4:9] == b"JFIF\x00"
    if marker == 0xE2:
        return part[4:16] == b"ICC_PROFILE\x00"
    if marker == 0xEE:  # tells YCCK from CMYK channels
        return part[4:9] == b"Adobe"
    return not (0xE1 <= marker <= 0xEF or marker == 0xFE)


def _jpeg_parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Every marker with its segment; after the start of a scan also the coded pixels. Stops at the end of the image."""
    yield 0xD8, data[:2]
    at = 2
    while True:
        if data[at] != 0xFF:
            raise ValueError(f"no marker at byte {at}")
        while data[at + 1] == 0xFF:  # fill bytes
            at += 1
        marker = data[at + 1]
        if marker == 0xD9:
            yield marker, data[at : at + 2]
            return
        size = 2 if marker in _JPEG_BARE else 2 + struct.unpack_from(">H", data, at + 2)[0]
        end = at + size
        if marker == 0xDA:
            end = _end_of_scan(data, end)
        yield marker, data[at:end]
        at = end


def _end_of_scan(data: bytes, at: int) -> int:
    """Start of the next marker that is not part of the coded pixels."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            raise ValueError("the file ends inside its pixels")
        if data[at + 1] == 0 or data[at + 1] in _JPEG_BARE:
            at += 2
        elif data[at + 1] == 0xFF:
            at += 1
        else:
            return at


def _strip_webp(data: bytes, orientation: int) -> bytes:
    chunks: list[tuple[bytes, bytes]] = []
    at, end = 12, min(len(data), 8 + struct.unpack_from("<I", data, 4)[0])
    while at + 8 <= end:
        kind, size = struct.unpack_from("<4sI", data, at)
        if kind in _WEBP_KEPT:
            chunks.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size + size % 2
    if not chunks:
        raise ValueError("no image chunk")
    if chunks[0][0] == b"VP8X":
        exif = _WEBP_EXIF if orientation > 1 else 0
        flags = chunks[0][1][0] & ~(_WEBP_EXIF | _WEBP_XMP) | exif
        chunks[0] = (b"VP8X", bytes([flags]) + chunks[0][1][1:])
        if exif:
            chunks.append((b"EXIF", _orientation_block(orientation)))
    body = b"".join(kind + struct.pack("<I", len(part)) + part + b"\x00" * (len(part) % 2) for kind, part in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def _strip_gif(data: bytes, _: int) -> bytes:
    at = 13 + _colour_table(data[10])
    parts = [data[:at]]
    while data[at] != 0x3B:
        start = at
        if data[at] == 0x2C:
            at = _end_of_blocks(data, at + 11 + _colour_table(data[at + 9]))
            keep = True
        elif data[at] == 0x21:
            keep = data[at + 1] in (0xF9, 0x01) or (data[at + 1] == 0xFF and data[at + 3 : at + 14] in _GIF_KEPT)
            at = _end_of_blocks(data, at + 2)
        else:
            raise ValueError(f"no block at byte {at}")
        if keep:
            parts.append(data[start:at])
    return b"".join([*parts, b"\x3b"])


def _colour_table(flags: int) -> int:
    """Size in bytes of the colour table that a block declares."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(data: bytes, at: int) -> int:
    while size := data[at]:
        at += 1 + size
    return at + 1


def _strip_bmp(data: bytes, _: int) -> bytes:
    """A BMP file has no metadata, but bytes after its declared length are cut off."""
    size = struct.unpack_from("<I", data, 2)[0]
    return data[:size] if struct.unpack_from("<I", data, 10)[0] < size < len(data) else data


def _strip_tiff(data: bytes, _: int) -> bytes:
    return strip_tiff(data)


_STRIP = {
    PNG: _strip_png, JPEG: _strip_jpeg, WEBP: _strip_webp, GIF: _strip_gif, BMP: _strip_bmp, TIFF: _strip_tiff,
}  # fmt: skip
