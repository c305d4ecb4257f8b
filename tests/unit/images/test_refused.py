"""Bad bytes: one clear reason, one kind of error, and never a bomb."""

import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from imarena import images
from imarena.core.errors import InvalidImage
from imarena.images.inspect import MAX_PIXELS
from tests.unit.images.made import bomb, chunk, encode, photo

KINDS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP")
REAL = {kind: encode(photo(), kind) for kind in KINDS}
REAL["CMYK"] = encode(photo().convert("CMYK"), "JPEG")
REAL["LZW"] = encode(photo(), "TIFF", compression="tiff_lzw")
REAL["APNG"] = encode(photo(), "PNG", save_all=True, append_images=[photo(seed=1)])
REAL["PALETTE"] = encode(photo().convert("P"), "PNG", transparency=1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"hello, world", "not an image"),
        (b"\x00" * 64, "not an image"),
        (b"%PDF-1.7 x", "a PDF document is not read"),
        (b"  <svg xmlns='x'/>", "an SVG drawing is not read"),
        (b"<?xml version='1.0'?>\n<svg/>", "an SVG drawing is not read"),
        (b"<!DOCTYPE html><p>", "an HTML page is not read"),
        (b"\x00\x00\x00\x1cftypavif", "an AVIF image is not read"),
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        (b"\x89PNG\r\n\x1a\n", "truncated image/png"),
        (b"\xff\xd8\xff\xe0", "truncated image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "truncated image/webp"),
    ],
)
def test_one_reason_each(data: bytes, reason: str) -> None:
    for read in (images.inspect, images.check_image, images.decode):
        with pytest.raises(InvalidImage, match=reason):
            read(data)


def test_a_bomb_is_refused_from_its_header() -> None:
    data = bomb()
    assert len(data) < 1_000_000
    tracemalloc.start()
    for read in (images.inspect, images.check_image, images.decode):
        with pytest.raises(InvalidImage, match=r"30000 x 30000, 900,000,000 pixels; at most 80,000,000"):
            read(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert Image.MAX_IMAGE_PIXELS == 89_478_485  # Pillow's own limit is left alone


def test_a_webp_bomb_is_refused_before_its_decoder_starts() -> None:
    body = b"VP8X" + struct.pack("<I", 10) + bytes(4) + (16382).to_bytes(3, "little") * 2
    with pytest.raises(InvalidImage, match="16383 x 16383"):
        images.inspect(b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body)


def test_the_limit_itself() -> None:
    def header(width: int, height: int) -> bytes:
        return (
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", b"")
        )

    assert images.inspect(header(10_000, 8_000)).pixels == MAX_PIXELS
    with pytest.raises(InvalidImage, match="pixels"):
        images.inspect(header(10_000, 8_001))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"])
def test_truncation_is_found(kind: str) -> None:
    data = REAL[kind]
    for share in (0.3, 0.6, 0.9):
        with pytest.raises(InvalidImage, match=r"truncated|damaged"):
            images.check_image(data[: int(len(data) * share)])


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_random_bytes_raise_only_invalid_image(data: bytes) -> None:
    for head in (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"BM", b"II*\x00", b"RIFF\x40\x00\x00\x00WEBP"):
        only_invalid(head + data)


@given(
    st.sampled_from(sorted(REAL)),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=6),
    st.floats(0, 1),
)
@settings(max_examples=400, deadline=None)
def test_damaged_files_raise_only_invalid_image(kind: str, flips: list[tuple[float, int]], keep: float) -> None:
    data = bytearray(REAL[kind])
    for place, value in flips:
        data[int(place * len(data))] = value
    cut = len(data) if keep > 0.5 else int(2 * keep * len(data))
    only_invalid(bytes(data[:cut]))


def only_invalid(data: bytes) -> None:
    try:
        image = images.decode(data)
    except InvalidImage:
        return
    assert image.mode == "RGB"
    assert images.check_image(data).pixels == image.width * image.height
