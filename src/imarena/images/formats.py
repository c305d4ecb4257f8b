"""Supported image file types, detected from their first bytes; the file name is ignored."""

from imarena.core import InvalidImage

PNG = "image/png"
JPEG = "image/jpeg"
WEBP = "image/webp"
GIF = "image/gif"
BMP = "image/bmp"
TIFF = "image/tiff"

SUFFIXES = {PNG: ".png", JPEG: ".jpg", WEBP: ".webp", GIF: ".gif", BMP: ".bmp", TIFF: ".tif"}
"""The supported types. All others are refused: fewer decoders mean fewer risks."""

_ADVICE = "Convert it to PNG, JPEG or WebP."
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"BM", BMP),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"II+\x00", TIFF),
    (b"MM\x00+", TIFF),
)
_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"%pdf", "a PDF document"),
    (b"<svg", "an SVG drawing"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"8bps", "a Photoshop document"),
    (b"%!ps", "a PostScript document"),
    (b"pk\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x00\x00\x01\x00", "an icon file"),
    (b"version https://git-lfs", "a Git LFS pointer, not the image itself"),
)
_FTYP_BRANDS = {b"avif": "an AVIF image", b"avis": "an AVIF image", b"heic": "a HEIC image"}


def media_type_of(data: bytes) -> str:
    """The media type by magic numbers; raises `InvalidImage` for an unsupported type."""
    if not data:
        raise InvalidImage("the file is empty")
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return WEBP
    kind = _refused_kind(data)
    if kind:
        raise InvalidImage(f"{kind} is not read", hint=_ADVICE)
    raise InvalidImage("not an image: the first bytes belong to no known image type")


def _refused_kind(data: bytes) -> str:
    if data[4:8] == b"ftyp":
        return _FTYP_BRANDS.get(data[8:12], "an ISO media file (HEIC, AVIF or video)")
    head = data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for signature, kind in _REFUSED:
        if head.startswith(signature):
            return kind
    if head.startswith((b"<?xml", b"<!--", b"<!doctype svg")):
        return "an SVG drawing" if b"<svg" in head or b"svg" in head[:64] else "an XML document"
    return ""
