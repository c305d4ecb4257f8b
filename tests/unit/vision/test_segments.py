"""The bundled segmenter finds what a person would click on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from imarena.vision.segments import MAX_REGIONS, segment


def test_plain_shapes_become_one_region_each() -> None:
    image = Image.new("RGB", (900, 600), (90, 140, 220))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 400, 900, 600), fill=(60, 150, 60))
    draw.ellipse((150, 200, 400, 450), fill=(220, 40, 40))
    draw.rectangle((550, 150, 700, 500), fill=(240, 220, 60))
    regions = segment(np.asarray(image))
    assert [region.number for region in regions] == [1, 2, 3, 4]
    boxes = {region.box for region in regions}
    for wanted in ((150, 200, 400, 450), (550, 150, 700, 500)):
        assert any(max(abs(a - b) for a, b in zip(box, wanted, strict=True)) <= 6 for box in boxes)
    colours = {image.getpixel(region.label) for region in regions}
    assert len(colours) == 4


@pytest.mark.parametrize("shape", [(1, 1), (1, 700), (2, 5), (3, 3)])
def test_tiny_pictures_have_one_region(shape: tuple[int, int]) -> None:
    (region,) = segment(np.zeros((*shape, 3), np.uint8))
    assert region.box == (0, 0, shape[1], shape[0])


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**31), st.integers(3, 90), st.integers(3, 90))
def test_any_picture_gives_a_few_numbered_regions_the_same_every_time(seed: int, width: int, height: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    regions = segment(picture)
    assert 1 <= len(regions) <= MAX_REGIONS
    assert [region.number for region in regions] == list(range(1, len(regions) + 1))
    assert regions == segment(picture)
    for region in regions:
        assert 0 <= region.label[0] <= width
        assert 0 <= region.label[1] <= height
