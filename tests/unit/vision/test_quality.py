"""Artefacts: each measure rises with the damage it names."""

import io

import numpy as np
import pytest
from PIL import Image, ImageFilter

from imarena.vision import frame_of, measure_artefacts, measure_difference, measure_quality, noise_level
from imarena.vision.quality import blocking
from tests.unit.vision.pictures import scene


def noisy(sigma: float) -> Image.Image:
    rng = np.random.default_rng(1)
    array = np.asarray(scene(), dtype=np.float64) + rng.normal(0, sigma, (288, 384, 1))
    return Image.fromarray(np.clip(array, 0, 255).astype(np.uint8))


def compressed(quality: int) -> Image.Image:
    buffer = io.BytesIO()
    scene().save(buffer, "JPEG", quality=quality)
    return Image.open(io.BytesIO(buffer.getvalue())).convert("RGB")


def test_noise_is_measured_in_its_own_units() -> None:
    rng = np.random.default_rng(0)
    flat = np.full((256, 256), 50.0, dtype=np.float32)
    level = noise_level(np.asarray(flat + rng.normal(0, 2.0, flat.shape), dtype=np.float32))
    assert level == pytest.approx(2.0, rel=0.15)


def test_noise_rises_with_noise() -> None:
    levels = [measure_quality(frame_of(noisy(s))).noise for s in (0, 5, 15, 40)]
    assert levels == sorted(levels)
    assert levels[0] < 0.5 < levels[-1]


def test_blocks_rise_with_compression() -> None:
    found = [blocking(frame_of(compressed(q)).detail) for q in (95, 40, 8)]
    assert found == sorted(found)
    assert blocking(frame_of(scene()).detail) < 0.3 < found[-1]


def test_blur_shows_outside_the_edit() -> None:
    source = noisy(6)
    lost = [
        measure_artefacts(
            measure_difference(frame_of(source), source.filter(ImageFilter.GaussianBlur(r)))
        ).detail_outside
        for r in (0, 1, 3)
    ]
    assert lost == sorted(lost, reverse=True)
    assert lost[0] == pytest.approx(0.0, abs=1e-6)
    assert lost[-1] < -0.3


def test_sharpness_falls_with_blur() -> None:
    sharp = [measure_quality(frame_of(scene().filter(ImageFilter.GaussianBlur(r)))).sharpness for r in (0, 2, 5)]
    assert sharp == sorted(sharp, reverse=True)


def test_an_unchanged_picture_has_no_artefacts() -> None:
    found = measure_artefacts(measure_difference(frame_of(scene()), scene()))
    assert found.edges_outside == 0.0
    assert found.contrast == 0.0
    assert found.blocking == 0.0
    assert found.seam == 0.0
