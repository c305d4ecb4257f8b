"""Prepare images for a judge or a screen: limited size, one type, no metadata, reproducible bytes."""

import io
import math
from dataclasses import asdict, dataclass

import numpy as np
from PIL import Image

from imarena.core import Pixels, UserError, content_id, sha256_hex
from imarena.images.decode import decode
from imarena.images.formats import JPEG, PNG

_RULES_VERSION = 1  # increase it when the same bytes and settings would give different pixels
_PREVIEW_QUALITY = 85


@dataclass(frozen=True)
class Preparation:
    """Settings for preparing images. They are part of a judgment's identity; `label` names them."""

    max_side: int | None = None
    max_pixels: int | None = None
    media_type: str = JPEG
    quality: int = 92

    def __post_init__(self) -> None:
        if self.media_type not in {JPEG, PNG}:
            raise UserError(f"Images are prepared as {JPEG} or {PNG}, not '{self.media_type}'.")
        if not 1 <= self.quality <= 100:
            raise UserError(f"JPEG quality goes from 1 to 100, not {self.quality}.")
        for name, limit in (("max_side", self.max_side), ("max_pixels", self.max_pixels)):
            if limit is not None and limit < 1:
                raise UserError(f"{name} must be 1 or more, not {limit}.")

    @property
    def label(self) -> str:
        """A stable id of these settings and of the decoding rules."""
        return content_id("preparation", _RULES_VERSION, asdict(self))

    def key(self, source_sha256: str) -> str:
        """A stable id of one image prepared with these settings."""
        return content_id("prepared", _RULES_VERSION, source_sha256, asdict(self))


@dataclass(frozen=True)
class PreparedImage:
    """An encoded image, ready to send; `key` identifies the source bytes and the preparation."""

    data: bytes
    media_type: str
    width: int
    height: int
    key: str


def prepare(
    data: bytes,
    *,
    max_side: int | None = None,
    max_pixels: int | None = None,
    media_type: str = JPEG,
    quality: int = 92,
) -> PreparedImage:
    """Decode, scale down (never up) to fit both limits, encode. Raises `InvalidImage`."""
    return prepare_with(Preparation(max_side, max_pixels, media_type, quality), data)


def prepare_with(preparation: Preparation, data: bytes) -> PreparedImage:
    """`prepare` with all settings in one value."""
    image = scale_to_fit(decode(data), max_side=preparation.max_side, max_pixels=preparation.max_pixels)
    return PreparedImage(
        data=encode_image(image, preparation.media_type, quality=preparation.quality),
        media_type=preparation.media_type,
        width=image.width,
        height=image.height,
        key=preparation.key(sha256_hex(data)),
    )


def preview(data: bytes, side: int) -> PreparedImage:
    """A small JPEG whose longer side is at most `side`, for lists and reports."""
    return prepare(data, max_side=side, media_type=JPEG, quality=_PREVIEW_QUALITY)


def scale_to_fit(image: Image.Image, *, max_side: int | None = None, max_pixels: int | None = None) -> Image.Image:
    """The image scaled down (Lanczos) to fit both limits; unchanged if it fits already."""
    size = fitted_size(image.width, image.height, max_side=max_side, max_pixels=max_pixels)
    # the gap lets Pillow average whole pixels first: previews take half the time; noise differs by at most 4 levels
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def fitted_size(
    width: int, height: int, *, max_side: int | None = None, max_pixels: int | None = None
) -> tuple[int, int]:
    """The largest size with the same aspect ratio within the limits: at least 1 x 1, never larger than the original."""
    scale = 1.0
    if max_side is not None:
        scale = min(scale, max_side / max(width, height))
    if max_pixels is not None:
        scale = min(scale, math.sqrt(max_pixels / (width * height)))
    if scale >= 1.0:
        return width, height
    new_width, new_height = max(1, round(width * scale)), max(1, round(height * scale))
    if max_pixels is not None and new_width * new_height > max_pixels:  # rounding up may exceed the limit
        if new_width >= new_height:
            new_width = max(1, max_pixels // new_height)
        else:
            new_height = max(1, max_pixels // new_width)
    return new_width, new_height


def shrink_pixels(pixels: Pixels, side: int) -> Pixels:
    """Scale down to at most `side` pixels per side by averaging; unchanged if it fits already."""
    import cv2

    height, width = pixels.shape[:2]
    size = fitted_size(width, height, max_side=side)
    if size == (width, height):
        return pixels
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def encode_image(image: Image.Image, media_type: str = PNG, *, quality: int = 92) -> bytes:
    """An 8-bit image as PNG or JPEG (full-resolution colour, no metadata), byte-for-byte reproducible."""
    buffer = io.BytesIO()
    clean = Image.frombytes(image.mode, image.size, image.tobytes()) if image.info else image
    if media_type == JPEG:
        clean.save(buffer, "JPEG", quality=quality, subsampling=0)
    elif media_type == PNG:
        clean.save(buffer, "PNG", compress_level=6)
    else:
        raise UserError(f"Images are encoded as {JPEG} or {PNG}, not '{media_type}'.")
    return buffer.getvalue()
