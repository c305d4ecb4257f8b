"""Plausibility and aesthetics: heads on a tiny random encoder against plain matrix products. Needs the vision extra."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the vision extra")
transformers = pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.core.errors import UserError  # noqa: E402
from imarena.judges.edival.judge import make  # noqa: E402
from imarena.vision import Placement, rate_quality  # noqa: E402
from imarena.vision.pretrained.quality_heads import load_quality_heads  # noqa: E402
from tests.command import Imarena  # noqa: E402
from tests.models.tiny_vision_models import make_quality_heads, noise  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
CPU = Placement("cpu", "float32", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(3)
    return make_quality_heads(tmp_path_factory.mktemp("models") / "heads")


def test_each_head_is_its_layers_on_the_unit_features(folder: Path) -> None:
    images = [noise(seed, 40, 56) for seed in range(3)]
    found = load_quality_heads(folder, CPU).batch(images)
    tensors = {
        n: t.numpy() for n, t in import_module("safetensors.torch").load_file(folder / "heads.safetensors").items()
    }
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    processor = transformers.CLIPImageProcessor.from_pretrained(folder)
    for numbers, pixels in zip(found, images, strict=True):
        inputs = processor(images=[pixels], return_tensors="pt")
        with torch.inference_mode():
            features = model.get_image_features(**inputs)
        vector = getattr(features, "pooler_output", features)[0].numpy()
        unit = vector / np.linalg.norm(vector)
        inner = np.maximum(tensors["plausibility.0.weight"] @ unit + tensors["plausibility.0.bias"], 0)
        plausible = tensors["plausibility.2.weight"] @ inner + tensors["plausibility.2.bias"]
        assert numbers["plausibility"] == pytest.approx(float(plausible[0]), abs=1e-4)
        assert numbers["aesthetics"] == pytest.approx(float((tensors["aesthetics.0.weight"] @ unit)[0]), abs=1e-4)
    assert len({round(one["aesthetics"], 4) for one in found}) == 3


def test_installed_heads_stand_beside_the_main_measure(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path / "weights"))
    options = {"dimension": "quality", "quality": "brisque", "detector": "efficientdet", "features": "st-lpips"}
    assert make(options, None).settings.also_quality == "none"
    Imarena(tmp_path)("weights", "add", "quality-heads", str(folder), "--licence", "Apache-2.0")
    judge = make(options, None)
    assert judge.settings.also_quality == "plausibility,aesthetics"
    assert str(judge.tools.names["quality: plausibility"]).startswith("plausibility@quality-heads@")
    pixels = noise(1, 32, 32)
    numbers = rate_quality(pixels)
    assert [metric.measure(pixels) for metric in judge.tools.also] == [numbers["plausibility"], numbers["aesthetics"]]


def test_what_is_no_head_is_named(folder: Path, tmp_path: Path) -> None:
    save = import_module("safetensors.torch").save_file
    for file in folder.iterdir():
        if file.name != "heads.safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(UserError, match=r"no heads\.safetensors"):
        load_quality_heads(tmp_path, CPU)
    save({"beauty.0.weight": torch.ones(1, 8)}, tmp_path / "heads.safetensors")
    with pytest.raises(UserError, match=r"holds 'beauty\.0\.weight'"):
        load_quality_heads(tmp_path, CPU)
    save({"aesthetics.0.weight": torch.ones(2, 8)}, tmp_path / "heads.safetensors")
    with pytest.raises(UserError, match="gives 2 numbers"):
        load_quality_heads(tmp_path, CPU)


def test_the_encoder_may_have_no_text_part(tmp_path: Path) -> None:
    """A DINO encoder: its class token is read."""
    from tests.models.tiny_encoders import make_dino

    make_dino(tmp_path)
    import_module("safetensors.torch").save_file(
        {"aesthetics.0.weight": torch.eye(16)[:1].contiguous()}, tmp_path / "heads.safetensors"
    )
    (numbers,) = load_quality_heads(tmp_path, CPU).batch([noise(2, 32, 32)])
    assert set(numbers) == {"aesthetics"}
    assert -1 <= numbers["aesthetics"] <= 1
