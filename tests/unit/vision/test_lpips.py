"""Shift-tolerant LPIPS: the original's values, edits in the order in which people see them, sizes of every kind."""

import json
import pickle
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imarena.core import UserError
from imarena.vision import METRICS
from imarena.vision.lpips import MOST_PIXELS, perceptual_distance, shift_tolerant_lpips
from tests.small_data.perceptual_pairs import PAIRS, Pixels, blurred, noisy, perceptual_pair, recoloured, shifted

ROOT = Path(__file__).parents[3]
ORIGINAL = json.loads((ROOT / "tests" / "fixtures" / "st_lpips.json").read_text())
"""Values of the original weights in torch, single precision (tools/compare_st_lpips.py)."""


def distance(source: Pixels, output: Pixels) -> float:
    value = shift_tolerant_lpips(source, output)
    assert value is not None
    return value


def mean_square(left: Pixels, right: Pixels) -> float:
    return float(((left.astype(np.float64) - right) ** 2).mean())


def toward(source: Pixels, edited: Pixels, error: float) -> Pixels:
    """The edit, mixed with its source until the mean squared error is `error`."""
    share = np.sqrt(error / mean_square(source, edited))
    assert share <= 1
    return np.asarray(np.clip(source + share * (edited.astype(np.float64) - source) + 0.5, 0, 255), np.uint8)


@pytest.mark.parametrize("name", PAIRS)
def test_the_converted_network_gives_the_originals_values(name: str) -> None:
    source, output = perceptual_pair(name)
    assert distance(source, output) == pytest.approx(ORIGINAL[name], abs=1e-3)


def test_the_bundled_file_is_the_attributed_one() -> None:
    folder = files("imarena.vision") / "weights"
    assert sha256((folder / "st_lpips.onnx").read_bytes()).hexdigest() in (folder / "ATTRIBUTION.md").read_text()
    assert "Abhijay Ghildyal, Feng Liu" in (folder / "st_lpips.LICENSE").read_text()


def test_a_copy_has_distance_zero_and_values_repeat() -> None:
    source, output = perceptual_pair("00")
    assert distance(source, source.copy()) == 0.0
    assert distance(source, output) == distance(source, output)
    assert distance(source, output) == pytest.approx(distance(output, source), abs=1e-6)


@pytest.mark.parametrize("name", ["00", "07", "08"])
def test_a_shift_counts_far_less_than_blur_or_other_colours_of_no_greater_error(name: str) -> None:
    source, _ = perceptual_pair(name)
    moved = shifted(source)
    error = mean_square(source, moved)
    blur, colours = blurred(source, 6.0), recoloured(source)
    for edited in (blur, colours):
        edited = toward(source, edited, min(error, mean_square(source, edited)))  # noqa: PLW2901
        assert mean_square(source, edited) < 1.1 * error
        assert distance(source, edited) > 2 * distance(source, moved)


def test_more_noise_lies_further_away() -> None:
    source, _ = perceptual_pair("00")
    weak = toward(source, noisy(source), 40)
    assert 0 < distance(source, weak) < distance(source, noisy(source))


@pytest.mark.parametrize(("width", "height"), [(21, 21), (22, 300), (63, 64), (97, 131)])
def test_odd_and_small_sizes_are_measured(width: int, height: int) -> None:
    source = np.asarray(Image.fromarray(perceptual_pair("00")[0]).resize((width, height)))
    assert distance(source, source) == 0.0
    assert 0 < distance(source, noisy(source)) < 1.5


@pytest.mark.parametrize(("width", "height"), [(1, 1), (20, 300), (300, 20)])
def test_what_is_too_small_has_no_value_and_the_metric_says_so(width: int, height: int) -> None:
    source = np.zeros((height, width, 3), np.uint8)
    assert shift_tolerant_lpips(source, source) is None
    with pytest.raises(UserError, match=rf"needs 21 pixels a side, and the source has {width} x {height}"):
        METRICS.get("st-lpips")(source, source)


def test_an_output_of_another_size_is_scaled_to_the_source() -> None:
    source, _ = perceptual_pair("00")
    half = np.asarray(Image.fromarray(source).resize((128, 128), Image.Resampling.LANCZOS))
    back = np.asarray(Image.fromarray(half).resize((256, 256), Image.Resampling.LANCZOS))
    assert distance(source, half) == distance(source, back)
    assert perceptual_distance(half, source) == distance(source, half)
    assert distance(source, np.zeros((1, 1, 3), np.uint8)) > 0.3


@pytest.mark.slow
def test_above_a_megapixel_both_are_shrunk() -> None:
    source, output = perceptual_pair("08")
    wide, edited = (np.tile(image, (5, 120, 1))[:105, :11000] for image in (source[:21], output[:21]))
    assert wide.shape[0] * wide.shape[1] > MOST_PIXELS
    assert distance(wide, wide) == 0.0
    assert distance(wide, edited) == pytest.approx(distance(wide[:, :2000], edited[:, :2000]), rel=0.25)


def test_the_reader_of_weights_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from torch_pickle import MAGIC, PROTOCOL, read_tensors  # type: ignore[import-not-found]

    parts = [MAGIC, PROTOCOL, {}, {"weight": Path("somewhere")}, []]
    (tmp_path / "harmful.pth").write_bytes(b"".join(pickle.dumps(part, protocol=2) for part in parts))
    with pytest.raises(pickle.UnpicklingError, match="is not allowed in a file of weights"):
        read_tensors(tmp_path / "harmful.pth")
    (tmp_path / "other.pth").write_bytes(pickle.dumps(1) * 2)
    with pytest.raises(pickle.UnpicklingError, match="not in the format"):
        read_tensors(tmp_path / "other.pth")
