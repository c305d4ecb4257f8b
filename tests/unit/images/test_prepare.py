"""Prepared pictures: bounded, bare, the same every time, made once."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from imarena import images
from imarena.core.errors import InvalidImage, UserError
from imarena.images.prepare import fitted_size
from tests.unit.images.made import encode, photo


@given(
    st.integers(1, 9000),
    st.integers(1, 9000),
    st.none() | st.integers(1, 9000),
    st.none() | st.integers(1, 10_000_000),
)
def test_the_fitted_size_keeps_both_limits(width: int, height: int, side: int | None, area: int | None) -> None:
    new = fitted_size(width, height, max_side=side, max_pixels=area)
    assert 1 <= new[0] <= width
    assert 1 <= new[1] <= height
    assert side is None or max(new) <= side
    assert area is None or new[0] * new[1] <= area
    if (side is None or max(width, height) <= side) and (area is None or width * height <= area):
        assert new == (width, height)


@pytest.mark.parametrize("media_type", [images.JPEG, images.PNG])
def test_prepared_bytes_are_bare_and_repeatable(media_type: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = "a secret caption"
    data = encode(photo(400, 300), "JPEG", exif=exif, comment=b"another secret")
    first = images.prepare(data, max_side=100, media_type=media_type)
    assert first == images.prepare(data, max_side=100, media_type=media_type)
    assert (first.width, first.height, first.media_type) == (100, 75, media_type)
    assert b"secret" not in first.data
    again = images.inspect(first.data)
    assert (again.width, again.height, again.media_type) == (100, 75, media_type)


def test_the_key_names_source_and_settings() -> None:
    data, other = encode(photo()), encode(photo(seed=1))
    keys = {
        images.prepare(data, max_side=16).key,
        images.prepare(data, max_side=17).key,
        images.prepare(data, max_side=16, media_type=images.PNG).key,
        images.prepare(data, max_side=16, quality=80).key,
        images.prepare(other, max_side=16).key,
    }
    assert len(keys) == 5


def test_a_png_keeps_every_pixel() -> None:
    source = photo()
    result = images.prepare(encode(source), media_type=images.PNG)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(result.data))), np.asarray(source))


@pytest.mark.parametrize("bad", [{"media_type": "image/gif"}, {"quality": 0}, {"max_side": 0}, {"max_pixels": -1}])
def test_wrong_settings_are_refused(bad: dict[str, str | int]) -> None:
    with pytest.raises(UserError):
        images.Preparation(**bad)  # type: ignore[arg-type]


def test_a_preview_is_small() -> None:
    result = images.preview(encode(photo(300, 900)), 64)
    assert (result.width, result.height) == (21, 64)


def test_the_cache_keeps_its_cap_and_drops_the_oldest() -> None:
    settings = images.Preparation(media_type=images.PNG)
    files = [encode(photo(seed=seed)) for seed in range(6)]
    size = max(len(images.prepare_with(settings, data).data) for data in files)
    cache = images.PreparedCache(max_bytes=3 * size)
    for data in files:
        cache.get(data, settings)
        assert cache.size_bytes <= 3 * size
    kept = cache.get(files[5], settings)
    assert cache.get(files[5], settings) is kept
    assert cache.get(files[0], settings) == images.prepare_with(settings, files[0])
    assert images.PreparedCache(max_bytes=1).get(files[0], settings).width == 48


def test_the_folder_is_read_back_and_repaired(tmp_path: Path) -> None:
    settings = images.Preparation(max_side=20)
    data = encode(photo())
    made = images.PreparedCache(folder=tmp_path).get(data, settings)
    (path,) = (file for file in tmp_path.rglob("*") if file.is_file())
    assert path.read_bytes() == made.data
    assert images.PreparedCache(folder=tmp_path).get(data, settings) == made
    path.write_bytes(b"damaged")
    assert images.PreparedCache(folder=tmp_path).get(data, settings) == made
    assert path.read_bytes() == made.data


def test_the_folder_keeps_its_cap(tmp_path: Path) -> None:
    settings = images.Preparation(media_type=images.PNG)
    cache = images.PreparedCache(folder=tmp_path, folder_max_bytes=20_000)
    for seed in range(12):
        cache.get(encode(photo(seed=seed)), settings)
    total = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    assert 0 < total <= 20_000


def test_a_bad_picture_is_not_cached(tmp_path: Path) -> None:
    cache = images.PreparedCache(folder=tmp_path)
    with pytest.raises(InvalidImage):
        cache.get(b"no picture", images.Preparation())
    assert len(cache) == 0
    assert not list(tmp_path.iterdir())
