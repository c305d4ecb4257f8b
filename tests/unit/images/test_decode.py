"""Known answers: each kind of picture by its stated rule."""

import numpy as np
import pytest
from PIL import Image, ImageCms

from imarena import images
from imarena.core.errors import InvalidImage
from imarena.images.formats import SUFFIXES
from tests.unit.images.made import chunk, cmyk_profile, deep_png, encode, photo, png


def pixel(data: bytes, x: int = 0, y: int = 0) -> tuple[int, ...]:
    image = images.decode(data)
    assert image.mode == "RGB"
    value = image.getpixel((x, y))
    assert isinstance(value, tuple)
    return tuple(int(channel) for channel in value)


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def swapped_profile() -> bytes:
    """An sRGB profile whose red and blue primaries are exchanged: converting it exchanges the channels."""
    data = srgb_profile()
    swapped = data.replace(b"rXYZ", b"tmpX").replace(b"bXYZ", b"rXYZ").replace(b"tmpX", b"bXYZ")
    start = swapped.find("sRGB".encode("utf-16-be"))
    while start >= 0:
        swapped = swapped[:start] + "swap".encode("utf-16-be") + swapped[start + 8 :]
        start = swapped.find("sRGB".encode("utf-16-be"))
    return swapped.replace(b"sRGB built-in", b"swap built-in")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF"])
def test_every_type_reads_back_nearly_the_same(kind: str) -> None:
    source = photo()
    data = encode(source, kind)
    info = images.check_image(data)
    assert (info.width, info.height, info.frames, info.bit_depth) == (48, 32, 1, 8)
    assert info.media_type in SUFFIXES
    error = np.abs(images.pixels(data).astype(int) - np.asarray(source).astype(int)).mean()
    assert error == 0 if kind in {"PNG", "BMP", "TIFF"} else error < 12


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_exif_orientation_is_applied_once(kind: str, orientation: int) -> None:
    upright = photo()
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = upright.transpose(undo[orientation]) if orientation in undo else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encode(stored, kind, exif=exif)
    shown = images.pixels(data).astype(int)
    assert shown.shape == (32, 48, 3)
    info = images.inspect(data)
    assert (info.width, info.height) == (48, 32)
    assert np.abs(shown - np.asarray(upright).astype(int)).mean() < 12
    assert np.abs(shown[:6, :6] - [255, 0, 0]).mean() < 40


def test_icc_profile_is_converted_to_srgb() -> None:
    plain = Image.new("RGB", (4, 4), (200, 40, 90))
    data = encode(plain, icc_profile=swapped_profile())
    assert images.inspect(data).has_icc
    assert np.abs(np.array(pixel(data)) - [90, 40, 200]).max() <= 1


def test_an_srgb_profile_changes_nothing() -> None:
    source = photo()
    assert np.array_equal(images.pixels(encode(source, icc_profile=srgb_profile())), np.asarray(source))


def test_a_broken_profile_reads_as_srgb() -> None:
    source = photo()
    assert np.array_equal(images.pixels(encode(source, icc_profile=b"not a profile")), np.asarray(source))


def test_a_profile_keeps_the_alpha_apart() -> None:
    data = encode(Image.new("RGBA", (2, 2), (200, 40, 90, 0)), icc_profile=swapped_profile())
    assert pixel(data) == (255, 255, 255)


def test_grey_with_a_colour_profile() -> None:
    data = encode(Image.new("L", (2, 2), 128), icc_profile=swapped_profile())
    red, green, blue = pixel(data)
    assert red == blue
    assert abs(green - 128) <= 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (128, 0), (129, 1), (255, 1), (32896, 128), (65535, 255), (65406, 254), (65407, 255)],
)
@pytest.mark.parametrize(("colour_type", "channels"), [(0, 1), (2, 3)])
def test_sixteen_bits_are_rounded(value: int, expected: int, colour_type: int, channels: int) -> None:
    data = deep_png(np.full((3, 5, channels), value, dtype=np.uint16), colour_type)
    assert images.inspect(data).bit_depth == 16
    assert pixel(data) == (expected,) * 3


def test_sixteen_bit_channels_keep_their_order_and_alpha() -> None:
    values = np.zeros((1, 2, 4), dtype=np.uint16)
    values[0, 0] = (65535, 32896, 0, 65535)
    values[0, 1] = (0, 0, 0, 0)
    data = deep_png(values, 6)
    assert pixel(data, 0) == (255, 128, 0)
    assert pixel(data, 1) == (255, 255, 255)


def test_sixteen_bit_grey_with_alpha() -> None:
    values = np.array([[[32896, 65535], [0, 0]]], dtype=np.uint16)
    data = deep_png(values, 4)
    assert pixel(data, 0) == (128, 128, 128)
    assert pixel(data, 1) == (255, 255, 255)


def test_sixteen_bit_grey_tiff() -> None:
    data = encode(Image.fromarray(np.full((2, 2), 32896, dtype=np.uint16)), "TIFF")
    assert images.inspect(data).bit_depth == 16
    assert pixel(data) == (128, 128, 128)


@pytest.mark.parametrize("mode", ["F", "I"])
def test_pixels_without_a_range_are_refused(mode: str) -> None:
    with pytest.raises(InvalidImage, match="no stated range"):
        images.decode(encode(Image.new(mode, (2, 2)), "TIFF"))


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_without_a_profile(kind: str) -> None:
    data = encode(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), kind)
    assert np.abs(np.array(pixel(data)) - [255, 0, 0]).max() <= 4
    data = encode(Image.new("CMYK", (16, 16), (0, 0, 0, 255)), kind)
    assert max(pixel(data)) <= 4


@pytest.mark.parametrize(("inks", "expected"), [((255, 0, 0, 0), 119), ((0, 0, 0, 0), 255), ((0, 0, 0, 255), 0)])
@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_goes_through_its_profile(kind: str, inks: tuple[int, int, int, int], expected: int) -> None:
    """Lab (50, 0, 0) is 119 in sRGB; without the profile pure cyan would be (0, 255, 255)."""
    data = encode(Image.new("CMYK", (16, 16), inks), kind, icc_profile=cmyk_profile())
    assert images.inspect(data).has_icc
    assert np.abs(np.array(pixel(data)) - expected).max() <= 3


def test_alpha_lies_on_white() -> None:
    assert pixel(encode(Image.new("RGBA", (2, 2), (0, 0, 0, 0)))) == (255, 255, 255)
    assert pixel(encode(Image.new("RGBA", (2, 2), (0, 0, 0, 128)))) == (127, 127, 127)
    assert pixel(encode(Image.new("LA", (2, 2), (50, 255)))) == (50, 50, 50)


def test_palette_with_and_without_a_clear_colour() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.putpixel((1, 0), 1)
    assert pixel(encode(image), 1) == (200, 100, 50)
    data = encode(image, transparency=1)
    assert pixel(data, 0) == (10, 20, 30)
    assert pixel(data, 1) == (255, 255, 255)


def test_a_transparent_colour_key() -> None:
    rows = b"\x00" + bytes([1, 2, 3, 9, 9, 9])
    data = png(2, 1, 8, 2, rows, chunk(b"tRNS", bytes([0, 1, 0, 2, 0, 3])))
    assert pixel(data, 0) == (255, 255, 255)
    assert pixel(data, 1) == (9, 9, 9)


def test_one_bit_and_grey() -> None:
    assert pixel(encode(Image.new("1", (3, 3), 1))) == (255, 255, 255)
    assert pixel(encode(Image.new("L", (3, 3), 77))) == (77, 77, 77)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_an_animation_is_its_first_frame_and_says_so(kind: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255))]
    options = {"lossless": True} if kind == "WEBP" else {}
    data = encode(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    info = images.inspect(data)
    assert info.frames == 3
    assert info.animated
    assert pixel(data) == (255, 0, 0)
