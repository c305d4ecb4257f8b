"""Prepared pictures: bounded, bare, the same every time, made once."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from imarena import images
from imarena.core.errors import UserError
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
