"""Pixels: decode safely, colour-manage, resize, hash, masks, regions."""

from imarena.images.decode import check, decode, pixels
from imarena.images.formats import MEDIA_TYPES, SUFFIXES, media_type_of
from imarena.images.inspect import MAX_PIXELS, ImageInfo, inspect

__all__ = [
    "MAX_PIXELS",
    "MEDIA_TYPES",
    "SUFFIXES",
    "ImageInfo",
    "check",
    "decode",
    "inspect",
    "media_type_of",
    "pixels",
]
