"""Inspect an image from its header, so that no pixel is decoded before its size is known to be safe."""

import io
import struct
import zlib
from dataclasses import dataclass

from PIL import Image, ImageCms, ImageFile

from imarena.core import InvalidImage, error_line
from imarena.images.formats import BMP, GIF, JPEG, PNG, TIFF, WEBP, media_type_of

MAX_PIXELS = 80_000_000
"""Larger images are refused as decompression bombs. Slightly below the size at which Pillow itself warns, so that its
global limit is neither changed nor reached."""

_ORIENTATION_TAG = 0x0112
_BITS_TAG = 258

DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
    EOFError,
    MemoryError,
    UserWarning,
    struct.error,
    zlib.error,
    ImageCms.PyCMSError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)
"""Exceptions that Pillow's plug-ins raise on damaged files. They parse bytes in plain Python, so a flipped bit can
cause almost any built-in error."""


@dataclass(frozen=True)
class ImageInfo:
    """Information from the header. Width and height are as displayed, after the EXIF orientation."""

    media_type: str
    width: int
    height: int
    mode: str
    frames: int
    has_icc: bool
    bit_depth: int
    orientation: int = 1

    @property
    def animated(self) -> bool:
        """Are there several frames or pages? Only the first one is ever judged."""
        return self.frames > 1

    @property
    def pixels(self) -> int:
        """Width times height."""
        return self.width * self.height


def inspect(data: bytes) -> ImageInfo:
    """Read the header. Raises `InvalidImage` with one reason; detects truncation only within the header."""
    image, info = open_checked(data)
    image.close()
    return info


def open_checked(data: bytes) -> tuple[ImageFile.ImageFile, ImageInfo]:
    """An opened, not yet decoded image of safe size, and the information from its header."""
    media_type = media_type_of(data)
    try:
        if media_type == WEBP:
            _refuse_bomb(*_webp_size(data))  # its decoder allocates the canvas on opening
        image = _plugin(media_type)(io.BytesIO(data))
        _refuse_bomb(*image.size)
        return image, _describe(image, data, media_type)
    except DECODER_ERRORS as error:
        raise InvalidImage(f"damaged or truncated {media_type} file: {error_line(error, 200)}") from error


def orientation_of(image: Image.Image) -> int:
    """The EXIF orientation, 1 to 8; 1 if it is missing or unreadable."""
    try:
        value = image.getexif().get(_ORIENTATION_TAG, 1)
    except DECODER_ERRORS:
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _plugin(media_type: str) -> type[ImageFile.ImageFile]:
    """The decoder class, called directly: `Image.open` would try others and warn about size on its own."""
    from PIL import BmpImagePlugin, GifImagePlugin, JpegImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin

    plugins: dict[str, type[ImageFile.ImageFile]] = {
        PNG: PngImagePlugin.PngImageFile,
        JPEG: JpegImagePlugin.JpegImageFile,
        WEBP: WebPImagePlugin.WebPImageFile,
        GIF: GifImagePlugin.GifImageFile,
        BMP: BmpImagePlugin.BmpImageFile,
        TIFF: TiffImagePlugin.TiffImageFile,
    }
    return plugins[media_type]


def _refuse_bomb(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise InvalidImage(f"the image is {width} x {height}: it has no pixels")
    if width * height > MAX_PIXELS:
        raise InvalidImage(
            f"the image is {width} x {height}, {width * height:,} pixels; at most {MAX_PIXELS:,} are decoded",
            hint="Scale it down first.",
        )


def _describe(image: ImageFile.ImageFile, data: bytes, media_type: str) -> ImageInfo:
    width, height = image.size
    orientation = 1
    # Pillow returns a TIFF's size as displayed; asking a PNG without EXIF for it would decode all of its pixels.
    if media_type != TIFF and (media_type != PNG or "exif" in image.info):
        orientation = orientation_of(image)
    if orientation >= 5:
        width, height = height, width
    return ImageInfo(
        media_type=media_type,
        width=width,
        height=height,
        mode=image.mode,
        frames=int(getattr(image, "n_frames", 1)),
        has_icc=bool(image.info.get("icc_profile")),
        bit_depth=_bit_depth(image, data, media_type),
        orientation=orientation,
    )


def _bit_depth(image: ImageFile.ImageFile, data: bytes, media_type: str) -> int:
    if media_type == PNG:
        return data[24]
    if media_type == TIFF:
        bits = getattr(image, "tag_v2", {}).get(_BITS_TAG, 1)
        return max(bits) if isinstance(bits, tuple) else int(bits)
    return 1 if image.mode == "1" else 8


def _webp_size(data: bytes) -> tuple[int, int]:
    """Canvas size by the WebP container specification: extended, lossless or lossy header."""
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("no image chunk in the WebP file")
