"""A registered tool: what it says where packages or weights are missing, and what its results depend on."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from imarena.core import Pixels
from imarena.core.errors import MissingExtra, UserError
from imarena.vision import DETECTORS, SEGMENTERS
from imarena.vision.pretrained import registered_tool
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.registered_tool import PretrainedTool
from tests.models.tiny_vision_models import noise


class Mean:
    """A model whose answer is plain."""

    def __init__(self, folder: Path, placement: Placement) -> None:
        self.shift = len(list(folder.iterdir()))
        self.placement = placement

    def batch(self, images: Sequence[Pixels]) -> list[float]:
        return [float(image.mean()) + self.shift for image in images]


def test_it_loads_once_and_again_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registered_tool, "import_torch", lambda _feature: None)
    (tmp_path / "model.safetensors").write_bytes(b"1")
    loaded: list[Placement] = []

    def load(folder: Path, placement: Placement) -> Mean:
        loaded.append(placement)
        return Mean(folder, placement)

    tool: PretrainedTool[float] = PretrainedTool("The metric 'mean'", "mean", load, lambda *_: tmp_path, "p1")
    images = [noise(seed, 4, 5) for seed in range(3)]
    assert tool(images[1]) == pytest.approx(images[1].mean() + 1)
    assert tool.batch(images) == pytest.approx([float(np.mean(image)) + 1 for image in images])
    assert tool.batch([]) == []
    assert len(loaded) == 1
    before = tool.version
    assert before.endswith("+auto+p1")
    monkeypatch.setenv("IMARENA_DTYPE", "float32")
    tool(images[0])
    assert [one.dtype for one in loaded] == ["auto", "float32"]
    assert tool.version != before


def test_missing_packages_and_weights_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path))
    detect, segment = DETECTORS.get("owlv2"), SEGMENTERS.get("mobile-sam")

    def no_torch(feature: str) -> None:
        raise MissingExtra(feature, "vision")

    with monkeypatch.context() as patch:
        patch.setattr(registered_tool, "import_torch", no_torch)
        with pytest.raises(MissingExtra, match=r"The detector 'owlv2' needs the 'vision' extra"):
            detect(noise(1, 4, 4))
    monkeypatch.setattr(registered_tool, "import_torch", lambda _feature: None)
    with pytest.raises(UserError, match="imarena weights get owlv2-base-patch16-ensemble"):
        detect(noise(1, 4, 4))
    with pytest.raises(UserError, match="imarena weights get mobile-sam"):
        segment(noise(1, 4, 4))
