"""Decode bytes to 8-bit sRGB pixels, by one documented rule for each kind of image (docs/design/images.md)."""

import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from imarena.core import InvalidImage, error_line, sha256_hex
from imarena.core.records import ImageRef
from imarena.images.formats import PNG, TIFF
from imarena.images.inspect import DECODER_ERRORS, ImageInfo, open_checked, orientation_of

_WHITE = (255, 255, 255)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_PROFILE_SPACES = {"RGB": "RGB", "L": "GRAY", "CMYK": "CMYK", "LAB": "Lab"}


def decode(data: bytes) -> Image.Image:
    """The image as displayed: mode RGB, 8 bits, sRGB. Raises `InvalidImage` with one reason.

    Applies the EXIF orientation, converts the ICC profile (RGB, grey, CMYK), rounds 16 bits to 8, puts alpha on white,
    and takes the first frame of an animation. Metadata is dropped.
    """
    image, info = open_checked(data)
    try:
        with image:
            image.load()
            orientation = orientation_of(image)
            colour, alpha = _split(_eight_bits(image, data, info))
            result = _to_srgb(colour, image.info.get("icc_profile"))
    except DECODER_ERRORS as error:
        raise InvalidImage(f"damaged or truncated {info.media_type} file: {error_line(error, 200)}") from error
    if alpha is not None:
        ground = Image.new("RGB", result.size, _WHITE)
        ground.paste(result, mask=alpha)
        result = ground
    if orientation in _TURNS:
        result = result.transpose(_TURNS[orientation])
    result.info = {}
    return result


def check_image(data: bytes) -> ImageInfo:
    """Decode fully, so that truncation is detected, and describe the image."""
    image = decode(data)
    _, info = open_checked(data)
    if (info.width, info.height) != image.size:
        # a PNG may carry its EXIF block after the pixels, where reading the header does not find it
        info = ImageInfo(info.media_type, *image.size, info.mode, info.frames, info.has_icc, info.bit_depth)
    return info


def describe_image(data: bytes) -> ImageRef:
    """Check an image fully and return a reference with its hash, size and type. Raises `InvalidImage`."""
    info = check_image(data)
    return ImageRef(
        sha256=sha256_hex(data), size_bytes=len(data), media_type=info.media_type, width=info.width, height=info.height
    )


def pixels(data: bytes) -> NDArray[np.uint8]:
    """`decode` as an array, shape (height, width, 3)."""
    return np.asarray(decode(data), dtype=np.uint8)


def _eight_bits(image: Image.Image, data: bytes, info: ImageInfo) -> Image.Image:
    """Convert to 8 bits per channel; the remaining modes are L, LA, RGB, RGBA, CMYK, LAB, YCbCr."""
    mode = image.mode
    if mode == "F" or (mode == "I" and info.media_type == TIFF) or info.bit_depth > 16:
        raise InvalidImage(
            f"{info.bit_depth}-bit pixels have no stated range", hint="Save the image with 8 or 16 bits per channel."
        )
    if mode.startswith("I"):
        return Image.fromarray(_sixteen_to_eight(np.asarray(image).astype(np.uint32)))
    if info.bit_depth == 16 and info.media_type == PNG:
        return _deep_png(data)
    if mode in {"P", "PA"}:
        return image.convert("RGBA")
    if "transparency" in image.info and mode in {"1", "L", "RGB"}:
        return image.convert("RGBA" if mode == "RGB" else "LA")
    if mode == "1":
        return image.convert("L")
    return image


def _sixteen_to_eight(values: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Round v * 255 / 65535, so that 65535 gives 255 and 0 gives 0."""
    return ((np.minimum(values, 65535) + 128) // 257).astype(np.uint8)


def _deep_png(data: bytes) -> Image.Image:
    """A 16-bit PNG with colour or alpha. Pillow would cut off the low byte, which is not rounding."""
    import cv2

    try:
        array = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise ValueError("the 16-bit pixels cannot be read") from error
    if array is None or array.ndim != 3 or array.dtype != np.uint16:
        raise ValueError("the 16-bit pixels cannot be read")
    order = [2, 1, 0, 3][: array.shape[2]]
    return Image.fromarray(np.ascontiguousarray(_sixteen_to_eight(array[:, :, order].astype(np.uint32))))


def _split(image: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    """Separate colour and alpha, because a profile applies to colour only."""
    if image.mode in {"RGBa", "La"}:
        image = image.convert("RGBA" if image.mode == "RGBa" else "LA")
    if image.mode not in {"RGBA", "LA"}:
        return image, None
    return image.convert(image.mode[:-1]), image.getchannel("A")


def _to_srgb(image: Image.Image, profile: object) -> Image.Image:
    if isinstance(profile, bytes) and profile and image.mode in _PROFILE_SPACES:
        transform = _transform(profile, image.mode)
        if transform is None and image.mode == "L":  # a grey image with a colour profile
            image = image.convert("RGB")
            transform = _transform(profile, "RGB")
        if transform is not None:
            return ImageCms.applyTransform(image, transform) or image
    if image.mode == "LAB":
        lab = ImageCms.createProfile("LAB")
        return ImageCms.profileToProfile(image, lab, ImageCms.createProfile("sRGB"), outputMode="RGB") or image
    return image if image.mode == "RGB" else image.convert("RGB")


@lru_cache(maxsize=32)
def _transform(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform | None:
    """Transform from this profile to sRGB: relative colorimetric with black point compensation.

    None if it is sRGB already, or if the profile is broken or for another kind of pixels: such an
    image is treated as sRGB, as in browsers.
    """
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if source.profile.xcolor_space.strip() != _PROFILE_SPACES[mode]:
            return None
        if mode == "RGB" and (source.profile.profile_description or "").startswith("sRGB"):
            return None
        return ImageCms.buildTransform(
            source,
            ImageCms.createProfile("sRGB"),
            mode,
            "RGB",
            renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
        )
    except DECODER_ERRORS:
        return None
