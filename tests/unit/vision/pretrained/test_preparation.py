"""Our image preparation against the steps of the processors, written again with NumPy, and against transformers."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from imarena.core.errors import UserError
from imarena.vision.pretrained.placement import Placement, batches_of_one_shape, placement_from_environment
from imarena.vision.pretrained.preparation import ImagePreparation, read_preparation, with_bounded_aspect
from tests.models.tiny_vision_models import noise

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
SIZES = [(37, 53), (200, 31), (1, 1), (3, 90), (64, 64)]


def triangle_weights(before: int, after: int) -> NDArray[np.float64]:
    """Bilinear resampling with antialiasing as a matrix (after, before): a triangle as wide as a new pixel."""
    scale = before / after
    width = max(scale, 1.0)
    weights = np.zeros((after, before))
    for new in range(after):
        centre = (new + 0.5) * scale
        for old in range(before):
            weights[new, old] = max(0.0, 1 - abs((old + 0.5 - centre) / width))
        weights[new] /= weights[new].sum()
    return weights


def plain_stretch(pixels: NDArray[np.uint8], side: int) -> NDArray[np.float64]:
    """Scale to 0..1, resize, normalise: what the processors of DINOv3 and SAM 2 do, in their order."""
    rows, columns = triangle_weights(pixels.shape[0], side), triangle_weights(pixels.shape[1], side)
    resized = np.einsum("ab,bcd,ec->aed", rows, pixels / 255, columns)
    return np.asarray((resized - MEAN) / STD).transpose(2, 0, 1)


@pytest.mark.parametrize("size", SIZES)
def test_stretching_equals_the_plain_steps(size: tuple[int, int]) -> None:
    pixels = noise(1, *size)
    prepared = ImagePreparation(48, "stretch", rounds=False)(pixels)
    assert prepared.shape == (3, 48, 48)
    assert prepared.dtype == np.float32
    assert np.abs(prepared - plain_stretch(pixels, 48)).max() < 1e-5


@pytest.mark.torch
@pytest.mark.parametrize("size", SIZES)
def test_padding_equals_the_processor_of_sam(size: tuple[int, int]) -> None:
    transformers = pytest.importorskip("transformers", reason="needs the vision extra")
    pixels = noise(2, *size)
    processor = transformers.SamImageProcessorPil(size={"longest_edge": 48}, pad_size={"height": 48, "width": 48})
    theirs = processor(images=[pixels], input_data_format="channels_last", return_tensors="np")["pixel_values"][0]
    assert np.abs(ImagePreparation(48, "pad", rounds=True)(pixels) - theirs).max() < 1e-6


def test_settings_are_read_from_either_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"preprocessor_config\.json"):
        read_preparation(tmp_path, fit="stretch", rounds=False)
    settings = {
        "size": {"height": 96, "width": 96},
        "image_mean": [0.5, 0.4, 0.3],
        "image_std": [1, 1, 2],
        "resample": 3,
    }
    (tmp_path / "processor_config.json").write_text(json.dumps({"image_processor": settings}))
    read = read_preparation(tmp_path, fit="stretch", rounds=False)
    assert (read.side, read.mean, read.std, read.resample) == (96, (0.5, 0.4, 0.3), (1, 1, 2), 3)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**settings, "size": {"height": 96, "width": 48}}))
    with pytest.raises(UserError, match="square"):
        read_preparation(tmp_path, fit="stretch", rounds=False)


def test_only_very_narrow_images_are_stretched() -> None:
    plain = noise(3, 10, 160)
    assert with_bounded_aspect(plain) is plain
    narrow = np.full((1, 90, 3), 7, np.uint8)
    assert with_bounded_aspect(narrow).shape == (6, 90, 3)
    assert (with_bounded_aspect(narrow) == 7).all()
    assert with_bounded_aspect(narrow[:, :1]).tolist() == [[[7] * 3] * 2] * 2
    assert with_bounded_aspect(narrow.transpose(1, 0, 2).copy()).shape == (90, 6, 3)


def test_batches_have_one_shape_and_lose_nothing() -> None:
    arrays = [np.zeros(shape) for shape in [(2, 2), (3, 2), (2, 2), (2, 2), (3, 2)]]
    assert list(batches_of_one_shape(arrays, 2)) == [[0, 2], [3], [1, 4]]


def test_the_place_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert placement_from_environment() == Placement("auto", "auto", 8)
    monkeypatch.setenv("IMARENA_DEVICE", "cpu")
    monkeypatch.setenv("IMARENA_DTYPE", "bfloat16")
    monkeypatch.setenv("IMARENA_BATCH_SIZE", "3")
    assert placement_from_environment() == Placement("cpu", "bfloat16", 3)
    monkeypatch.setenv("IMARENA_DTYPE", "int8")
    with pytest.raises(UserError, match="number format"):
        placement_from_environment()
    monkeypatch.setenv("IMARENA_BATCH_SIZE", "many")
    with pytest.raises(UserError, match="whole number"):
        placement_from_environment()
