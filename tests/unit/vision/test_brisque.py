"""BRISQUE against scores of the package brisque 0.2.0, recorded once (its libraries are not installed here)."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.vision.brisque import SMALLEST_SIDE, blind_quality, brisque_score
from tests.contract.vision.tools import Pixels, photograph

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "brisque.json").read_text())


def damaged(name: str, damage: str) -> Pixels:
    """The upper left corner of a bundled photograph, as it was when the scores were recorded."""
    clean = np.ascontiguousarray(photograph(name)[:256, :256])
    if damage == "blurred":
        return np.asarray(cv2.GaussianBlur(clean, (0, 0), 2), np.uint8)
    if damage == "noisy":
        return np.clip(clean + np.random.default_rng(0).normal(0, 20, clean.shape), 0, 255).astype(np.uint8)
    return clean


@pytest.mark.parametrize("picture", RECORDED)
def test_the_packages_scores_are_reproduced(picture: str) -> None:
    # The package looks for an exponent by a root finder that stops early: once, it is off by 3e-4.
    assert brisque_score(damaged(*picture.split())) == pytest.approx(RECORDED[picture], abs=5e-4)


def test_most_scores_agree_to_six_digits() -> None:
    apart = sorted(abs((brisque_score(damaged(*name.split())) or 0) - score) for name, score in RECORDED.items())
    assert apart[len(apart) - 2] < 1e-6


def test_damage_is_seen() -> None:
    clean, blurred, noisy = (brisque_score(damaged("cat", damage)) or 0 for damage in ("clean", "blurred", "noisy"))
    assert clean < 20
    assert min(blurred, noisy) > clean + 25


@pytest.mark.parametrize(
    "pixels",
    [
        np.full((64, 64, 3), 120, np.uint8),
        np.zeros((1, 1, 3), np.uint8),
        np.zeros((SMALLEST_SIDE - 1, 400, 3), np.uint8),
    ],
)
def test_an_image_without_statistics_has_no_score(pixels: Pixels) -> None:
    assert brisque_score(pixels) is None
    with pytest.raises(UserError, match="not defined"):
        blind_quality(pixels)
