"""LPIPS against the same network written out with SciPy, and against values that others have published."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter
from scipy.signal import correlate

from imarena.core.errors import UserError
from imarena.images import pixels
from imarena.vision import distance_in, lpips_available, lpips_distance
from imarena.vision.catalog import METRICS
from imarena.vision.model_weights.safetensors_file import read_safetensors
from imarena.vision.model_weights.torch_archive import read_torch_archive
from imarena.vision.plain_lpips import Backbone
from tests.contract.vision.conftest import install_tiny_weights
from tests.models.tiny_lpips import make_lpips_alex, make_lpips_vgg
from tests.unit.vision.pictures import two_images

Array = NDArray[np.float64]
DATA = Path(os.environ.get("IMARENA_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
MUSEUM = DATA / "imagenmuseum" / "Text-Guided_IE"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path / "weights"))
    install_tiny_weights("lpips-alex", make_lpips_alex)
    install_tiny_weights("lpips-vgg", make_lpips_vgg)
    return tmp_path / "weights"


def convolved(values: Array, kernel: Array, bias: Array, stride: int, pads: int) -> Array:
    padded = np.pad(values, ((pads, pads), (pads, pads), (0, 0)))
    planes = [
        sum(correlate(padded[..., i], kernel[..., i, o], "valid", "direct") for i in range(kernel.shape[2])) + bias[o]
        for o in range(kernel.shape[3])
    ]
    return np.asarray(np.maximum(np.stack(planes, axis=-1)[::stride, ::stride], 0.0))


def largest(values: Array, side: int) -> Array:
    """Of windows inside the image, each moved by 2. A filter of SciPy centres its window."""
    spread = maximum_filter(values, (side, side, 1), origin=(-(side // 2) if side == 2 else 0,) * 2 + (0,))
    start = 0 if side == 2 else side // 2
    height, width = ((length - side) // 2 + 1 for length in values.shape[:2])
    return np.asarray(spread[start::2, start::2][:height, :width])


def written_out(backbone: Backbone, weights: Path, *images: NDArray[np.uint8]) -> float:
    tensors = {name: value.astype(float) for name, value in read_safetensors(weights / "model.safetensors").items()}
    network = "AlexNet_0" if backbone == "alex" else "VGG16_0"
    compared = (0, 1, 2, 3, 4) if backbone == "alex" else (1, 3, 6, 9, 12)
    pools = {1: 3, 2: 3} if backbone == "alex" else {2: 2, 4: 2, 7: 2, 10: 2}
    features = []
    for image in images:
        values = (image / 127.5 - 1 - (-0.030, -0.088, -0.188)) / (0.458, 0.448, 0.450)
        seen = []
        for number in range(max(compared) + 1):
            if number in pools:
                values = largest(values, pools[number])
            kernel = tensors[f"{network}.Conv_{number}.kernel"]
            first = backbone == "alex" and number == 0
            values = convolved(
                values, kernel, tensors[f"{network}.Conv_{number}.bias"], 4 if first else 1,
                2 if first else kernel.shape[0] // 2,
            )  # fmt: skip
            if number in compared:
                seen.append(values / (np.sqrt((values**2).sum(axis=2, keepdims=True)) + 1e-10))
        features.append(seen)
    return sum(
        float(((one - other) ** 2 @ tensors[f"NetLinLayer_{at}.Conv_0.kernel"].ravel()).mean())
        for at, (one, other) in enumerate(zip(*features, strict=True))
    )


@pytest.mark.parametrize(("height", "width"), [(31, 31), (64, 50), (47, 101)])
@pytest.mark.parametrize("backbone", ["alex", "vgg"])
def test_the_distance_is_that_of_the_network_written_out(
    tiny: Path, backbone: Backbone, height: int, width: int
) -> None:
    source, output = two_images(height, height, width)
    expected = written_out(backbone, tiny / f"lpips-{backbone}", source, output)
    assert expected > 0.01
    assert lpips_distance(source, output, backbone) == pytest.approx(expected, abs=1e-6)
    assert lpips_distance(source, source, backbone) == 0.0


@pytest.mark.usefixtures("tiny")
def test_small_images_have_no_value_and_regions_are_blind_to_each_other() -> None:
    source, output = two_images(1, 30, 80)
    assert lpips_distance(source, output) is None
    assert lpips_distance(source, output, "vgg") is not None
    with pytest.raises(UserError, match="needs 31 pixels a side, and the source has 80 x 30"):
        METRICS.get("lpips")(output, source)
    source, output = two_images(2, 60, 80)
    mask = np.zeros((60, 80), np.bool_)
    mask[10:40, 5:50] = True
    other = output.copy()
    other[~mask] = 0
    inside = distance_in(lpips_distance, source, output, mask)
    assert inside is not None
    assert inside > 0.0
    assert inside == distance_in(lpips_distance, source, other, mask)
    assert distance_in(lpips_distance, source, output, mask & False) is None
    assert distance_in(lpips_distance, source, output, mask | True) == lpips_distance(source, output)


def test_weights_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path))
    assert not lpips_available()
    with pytest.raises(UserError, match="imarena weights get lpips-alex"):
        lpips_distance(*two_images(1, 40, 40))


def test_a_pickle_of_arrays_is_read_and_one_that_calls_is_refused(tmp_path: Path) -> None:
    import pickle

    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    (tmp_path / "arrays.ckpt").write_bytes(pickle.dumps({"net": {"kernel": values}}, protocol=3))
    (read,) = read_torch_archive(tmp_path / "arrays.ckpt").items()
    assert read[0] == "net.kernel"
    assert np.array_equal(read[1].values, values)
    (tmp_path / "calls.ckpt").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(UserError, match=r"calls\.ckpt is refused"):
        read_torch_archive(tmp_path / "calls.ckpt")
    (tmp_path / "cut.ckpt").write_bytes(pickle.dumps({"kernel": values}, protocol=3)[:-20])
    with pytest.raises(UserError, match=r"cut\.ckpt is"):
        read_torch_archive(tmp_path / "cut.ckpt")


@pytest.mark.skipif(not MUSEUM.is_dir(), reason="needs the museum's pictures")
@pytest.mark.skipif(not lpips_available(), reason="needs the weights lpips-alex")
@pytest.mark.parametrize("editor", ["InstructPix2Pix", "MagicBrush", "SDEdit"])
def test_recorded_values_of_others_are_reproduced(editor: str) -> None:
    """VIEScore's values compare an output with the target, which is the source of the item's next turn."""
    recorded = json.loads((DATA / "viescore" / "autometrics.json").read_text(encoding="utf-8"))
    values = recorded[f"ImagenHub_Text-Guided_IE/{editor}.json"]
    for item, following in (("sample_102625_1", "sample_102625_2"), ("sample_104304_2", "sample_104304_3")):
        output = pixels((MUSEUM / editor / f"{item}.jpg").read_bytes())
        target = pixels((MUSEUM / "input" / f"{following}.jpg").read_bytes())
        assert lpips_distance(target, output) == pytest.approx(values[f"{item}.jpg"]["LPIPS"], abs=1e-3)
