"""Damage of known kind and strength: levels, units, where it acts, and the same on NumPy and torch."""

import numpy as np
import pytest
from numpy.typing import NDArray

from imarena.core import UserError
from imarena.preferences import DAMAGE_LEVELS, apply_damage, damage_kinds
from imarena.preferences.damage import PLACE_DRAWS, TRIES, choose_places
from imarena.preferences.damage_operations import OPERATIONS, DamageInput, do_damage
from imarena.vision.ciede2000 import colour_difference_map

KINDS = sorted(damage_kinds())
HELD_OUT = {"local_warp", "colour_cast", "texture_swap", "object_drift"}


def picture(height: int = 96, width: int = 128, seed: int = 0) -> NDArray[np.uint8]:
    """Soft hills of colour with fine texture on them, away from black and white."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:height, 0:width] / 12.0
    soft = np.stack([np.sin(rows + 2.1 * k) + np.cos(columns - k) for k in range(3)], axis=2)
    return np.asarray(np.clip(128 + 26 * soft + rng.normal(0, 6, (height, width, 3)), 40, 215), np.uint8)


def edit_region() -> NDArray[np.bool_]:
    region = np.zeros((96, 128), bool)
    region[20:50, 30:70] = True
    return region


def test_levels_are_ten_steps_and_the_held_out_kinds_are_named() -> None:
    assert list(DAMAGE_LEVELS) == list(range(1, 11))
    kinds = damage_kinds()
    assert {name for name, kind in kinds.items() if kind.held_out} == HELD_OUT
    assert all(kind.amount(10) == pytest.approx(10 * kind.amount(1)) and kind.amount(1) > 0 for kind in kinds.values())
    assert kinds["shift"].amount(1) == 1.0
    assert kinds["lightness"].amount(1) == 1.0
    assert kinds["object_drift"].area[1] <= 0.02


@pytest.mark.parametrize("kind", ["lightness", "contrast", "saturation", "colour_cast"])
@pytest.mark.parametrize("level", [1, 4])
def test_a_level_of_a_colour_kind_is_that_much_ciede2000(kind: str, level: int) -> None:
    image = picture()
    means = [colour_difference_map(image, apply_damage(image, kind, level, seed=seed)).mean() for seed in range(4)]
    assert 0.75 * level < np.mean(means) < 1.35 * level


@pytest.mark.parametrize("kind", KINDS)
def test_the_region_of_the_edit_stays_as_it_is(kind: str) -> None:
    image, region = picture(), edit_region()
    damaged = apply_damage(image, kind, 10, seed=3, region=region)
    moved = {"local_warp", "object_drift"}  # these take pixels along, so that the border itself may mix
    inner = np.zeros_like(region)
    inner[31:39, 41:59] = True
    where = inner if kind in moved else region
    assert (damaged[where] == image[where]).all()
    assert (damaged[~region] != image[~region]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_higher_level_differs_more(kind: str) -> None:
    image = picture()
    far = [
        np.mean([colour_difference_map(image, apply_damage(image, kind, level, seed=s)).mean() for s in range(3)])
        for level in (1, 4, 10)
    ]
    assert far[0] < far[1] < far[2]


def test_a_shift_moves_by_whole_pixels() -> None:
    image = picture()[None].astype(np.float32) / 255
    one = np.ones((1, 1, 1, 1), np.float32)
    given = DamageInput(image, 3 * one, np.zeros((1, 1, 1, 4), np.float32), one, image, image)
    assert np.allclose(do_damage("shift", given)[:, :, 3:], image[:, :, :-3], atol=1e-5)


def test_the_same_seed_gives_the_same_damage_and_another_one_does_not() -> None:
    image = picture()
    first = apply_damage(image, "erasure", 8, seed=1)
    assert (first == apply_damage(image, "erasure", 8, seed=1)).all()
    assert (first != apply_damage(image, "erasure", 8, seed=2)).any()


def test_a_thing_that_drifts_is_small() -> None:
    image = picture(128, 160)
    for seed in range(5):
        changed = (apply_damage(image, "object_drift", 1, seed=seed) != image).any(axis=2).mean()
        assert 0 < changed < 0.04  # the thing at its old and its new place, with soft borders


@pytest.mark.parametrize(
    ("kind", "level", "shape", "words"),
    [
        ("rust", 3, (96, 128), "There is no damage 'rust'"),
        ("blur", 11, (96, 128), "0 to 10"),
        ("blur", 3, (5, 5), "The region has 5 x 5"),
    ],
)
def test_bad_input_is_refused(kind: str, level: int, shape: tuple[int, int], words: str) -> None:
    with pytest.raises(UserError, match=words):
        apply_damage(picture(), kind, level, seed=0, region=np.zeros(shape, bool))


@pytest.mark.torch
def test_torch_does_the_same_damage_as_numpy() -> None:
    """Training makes its damage on a GPU; the levels mean the same there."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    images = np.stack([picture(64, 80, seed) for seed in range(2)]).astype(np.float32) / 255
    region = np.zeros((2, 64, 80, 1), np.float32)
    region[:, 20:40, 20:40] = 1
    draws, places = rng.random((2, 1, 1, 4), np.float32), rng.random((2, TRIES, PLACE_DRAWS), np.float32)
    noise, other = rng.standard_normal(images.shape, np.float32), images[:, ::-1].copy()
    for kind in sorted(OPERATIONS):
        known = damage_kinds()[kind]
        amount = np.array([2.0, 9.0], np.float32).reshape(2, 1, 1, 1) * np.float32(known.step)
        arrays = [images, amount, draws, region, noise, other]
        tensors = [torch.from_numpy(array) for array in arrays]
        if known.reach == "patch":
            arrays[3] = choose_places(images, region, known.area, places)
            tensors[3] = choose_places(tensors[0], tensors[3], known.area, torch.from_numpy(places), torch)
            assert np.abs(arrays[3] - tensors[3].numpy()).max() < 1e-3
        ours = do_damage(kind, DamageInput(*arrays))
        theirs = do_damage(kind, DamageInput(*tensors), torch).numpy()
        # A value on the edge between two steps of quantisation may fall either way.
        assert np.mean(np.abs(ours - theirs) > 2e-3) < 1e-3, kind
