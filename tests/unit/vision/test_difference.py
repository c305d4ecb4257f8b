"""What changed, how strongly and where."""

import numpy as np
import pytest
from PIL import Image

from imarena.vision import frame_of, measure_difference, structure_change
from tests.unit.vision.pictures import mixed, scene, with_disc


def test_the_same_picture_has_no_change() -> None:
    found = measure_difference(frame_of(scene()), scene())
    assert found.area == 0.0
    assert found.regions == ()
    assert float(found.colour.max()) == 0.0
    assert float(np.abs(found.structure).max()) < 1e-3


def test_a_recoloured_disc_is_found_where_it_is() -> None:
    found = measure_difference(frame_of(scene()), with_disc((30, 60, 210)))
    assert len(found.regions) == 1
    left, top, right, bottom = found.regions[0].box
    assert (left, top, right, bottom) == pytest.approx((60 / 384, 80 / 288, 140 / 384, 160 / 288), abs=0.03)
    # the border is smoothed by a pixel or two, which makes the region a little larger than the disc
    assert found.regions[0].area == pytest.approx(np.pi * 42**2 / (384 * 288), rel=0.1)
    assert found.filling > 0.6
    assert found.raggedness < 12


def test_another_picture_has_another_structure() -> None:
    found = measure_difference(frame_of(scene(0)), scene(5))
    repainted = measure_difference(frame_of(scene(0)), with_disc((30, 60, 210)))
    assert float(np.median(found.structure_blocks)) > 0.2
    assert float(np.median(repainted.structure_blocks)) < 0.01


def test_size_alone_is_no_change() -> None:
    doubled = scene().resize((768, 576), Image.Resampling.LANCZOS)
    found = measure_difference(frame_of(scene()), doubled)
    assert found.aspect_change == 0.0
    assert found.area == 0.0


def test_a_centre_crop_is_recognised() -> None:
    square = scene().crop((48, 0, 336, 288))
    found = measure_difference(frame_of(square), scene())
    assert found.aspect_change == pytest.approx(np.log(384 / 288))
    assert found.area < 0.02


def test_more_change_reads_as_more() -> None:
    source, target = scene(), with_disc((20, 200, 60))
    tops = [
        float(measure_difference(frame_of(source), mixed(source, target, s)).colour_blocks.max())
        for s in (0, 0.25, 0.5, 1)
    ]
    assert tops == sorted(tops)
    assert tops[0] < 1.0 < tops[1]


def test_structure_is_blind_to_brightness_and_sees_inversion() -> None:
    light = frame_of(scene()).light
    assert float(np.abs(structure_change(light, light + 10)).max()) < 1e-2
    assert float(np.quantile(structure_change(light, 100 - light), 0.9)) > 1.0


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (17, 16)])
def test_tiny_pictures_do_not_break_it(size: tuple[int, int]) -> None:
    picture = Image.new("RGB", size, (10, 20, 30))
    assert measure_difference(frame_of(picture), picture).area == 0.0
