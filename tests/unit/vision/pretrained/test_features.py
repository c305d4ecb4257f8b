"""DINOv3, SigLIP and Depth Anything on tiny random models: values against the model itself. Needs the vision extra."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch", reason="needs the vision extra")
transformers = pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.vision import Placement, load_depth_anything, load_dinov3  # noqa: E402
from imarena.vision.pretrained.image_features import load_features, projected_features  # noqa: E402
from tests.models.tiny_vision_models import make_depth_anything, make_dinov3, make_siglip  # noqa: E402
from tests.unit.vision.pretrained.odd_images import odd_images  # noqa: E402
from tests.unit.vision.pretrained.test_preparation import plain_stretch  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
CPU = Placement("cpu", "float32", 3)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(4)


def unit(vector: Any) -> NDArray[np.float64]:
    values = np.asarray(vector, np.float64)
    return np.asarray(values / np.sqrt((values**2).sum()))


def test_dinov3_gives_the_class_token_of_the_plainly_prepared_image(tmp_path: Path) -> None:
    folder = make_dinov3(tmp_path / "dinov3")
    images = list(odd_images().values())
    vectors = load_dinov3(folder, CPU).batch(images)
    model = transformers.DINOv3ViTModel.from_pretrained(folder).eval()
    for vector, pixels in zip(vectors, images, strict=True):
        prepared = torch.from_numpy(plain_stretch(pixels, 32)).float()[None]
        with torch.inference_mode():
            token = model(pixel_values=prepared).pooler_output[0]
        assert np.abs(vector - unit(token.numpy())).max() < 1e-5
    assert np.abs(vectors[0] - vectors[-1]).max() > 1e-4, "another image, another vector"


def test_siglip_gives_the_features_of_transformers(tmp_path: Path) -> None:
    folder = make_siglip(tmp_path / "siglip")
    images = odd_images()
    embedder = load_features(folder, CPU, projected_features, "a test")
    vectors = dict(zip(images, embedder.batch(list(images.values())), strict=True))
    model = transformers.SiglipModel.from_pretrained(folder).eval()
    processor = transformers.SiglipImageProcessorPil.from_pretrained(folder)
    for name, pixels in images.items():
        if name == "three rows":
            continue
        inputs = processor(images=[pixels], input_data_format="channels_last", return_tensors="pt")
        with torch.inference_mode():
            features = model.vision_model(pixel_values=inputs["pixel_values"]).pooler_output[0]
        assert np.abs(vectors[name] - unit(features.numpy())).max() < 1e-5


def test_depth_equals_the_post_processing_of_transformers(tmp_path: Path) -> None:
    folder = make_depth_anything(tmp_path / "depth")
    images = odd_images()
    maps = dict(zip(images, load_depth_anything(folder, CPU).batch(list(images.values())), strict=True))
    model = transformers.DepthAnythingForDepthEstimation.from_pretrained(folder).eval()
    processor = transformers.DPTImageProcessorPil.from_pretrained(folder)
    for name, pixels in images.items():
        assert maps[name].shape == pixels.shape[:2]
        if name in ("three rows", "one pixel"):
            assert np.isfinite(maps[name]).all()
            continue
        inputs = processor(images=[pixels], input_data_format="channels_last", return_tensors="pt")
        with torch.inference_mode():
            outputs = model(pixel_values=inputs["pixel_values"])
        (theirs,) = processor.post_process_depth_estimation(outputs, target_sizes=[pixels.shape[:2]])
        assert np.abs(maps[name] - theirs["predicted_depth"].numpy()).max() < 1e-4
        assert maps[name].std() > 0


def test_a_shorter_number_format_gives_nearly_the_same(tmp_path: Path) -> None:
    folder = make_dinov3(tmp_path / "dinov3")
    images = list(odd_images().values())
    exact, short = (load_dinov3(folder, Placement("cpu", dtype, 2)).batch(images) for dtype in ("float32", "bfloat16"))
    distances = [float(1 - one @ other) for one, other in zip(exact, short, strict=True)]
    assert 0 < max(distances) < 1e-2
