"""Diffusion pipelines from tiny random models on the CPU: real loading, safetensors only, no code from a model."""

import asyncio
import io
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import JsonValue

torch = pytest.importorskip("torch", reason="needs the vision extra")
diffusers = pytest.importorskip("diffusers", reason="needs the vision extra")

from PIL import Image  # noqa: E402

from imarena.core.errors import UnknownName, UserError  # noqa: E402
from imarena.core.protocols import EditRequest, EditResult  # noqa: E402
from imarena.core.records import Status  # noqa: E402
from imarena.editors.catalog import Ports  # noqa: E402
from imarena.editors.diffusers_pipeline import make  # noqa: E402
from tests.samples import png  # noqa: E402
from tests.unit.editors import tiny_pipelines  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
SOURCE = png(3, (32, 32))


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> None:
    for name in ("diffusers", "transformers"):
        logging.getLogger(name).setLevel(logging.ERROR)
    torch.manual_seed(0)


def run(folder: Path, pipeline: str, request: EditRequest, **call: JsonValue) -> EditResult:
    options: dict[str, JsonValue] = {
        "model": str(folder), "pipeline": pipeline, "device": "cpu", "call": {"num_inference_steps": 2, **call},
    }  # fmt: skip

    async def edit() -> EditResult:
        editor = make("tiny", options, Ports())
        async with editor.opened():
            return await editor.edit(request)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return asyncio.run(edit())


def array(result: EditResult) -> np.ndarray[Any, np.dtype[np.uint8]]:
    assert result.status is Status.OK, result.error
    assert result.image is not None
    return np.asarray(Image.open(io.BytesIO(result.image)).convert("RGB"))


def test_instruct_pix2pix_edits_and_obeys_its_seed(tmp_path: Path) -> None:
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    one = array(run(folder, "instruct-pix2pix", EditRequest("make it red", (SOURCE,), seed=1)))
    again = array(run(folder, "instruct-pix2pix", EditRequest("make it red", (SOURCE,), seed=1)))
    other = array(run(folder, "instruct-pix2pix", EditRequest("make it red", (SOURCE,), seed=2)))
    assert one.shape == (32, 32, 3)
    assert (one == again).all()
    assert (one != other).any()
    refused = run(folder, "instruct-pix2pix", EditRequest("a dog"))
    assert refused.status is Status.REFUSED
    broken = run(folder, "instruct-pix2pix", EditRequest("make it red", (b"no picture",)))
    assert broken.status is Status.INVALID_IMAGE


def test_sdxl_makes_pictures_from_words(tmp_path: Path) -> None:
    folder = tiny_pipelines.sdxl(tmp_path)
    made = array(run(folder, "sdxl", EditRequest("a dog", seed=1), height=32, width=32))
    assert made.shape == (32, 32, 3)
    assert run(folder, "sdxl", EditRequest("x", (SOURCE,))).status is Status.REFUSED


def test_sdxl_from_a_picture(tmp_path: Path) -> None:
    folder = tiny_pipelines.sdxl(tmp_path, from_picture=True)
    assert array(run(folder, "sdxl-img2img", EditRequest("a dog", (SOURCE,), seed=1))).shape == (32, 32, 3)


def test_flux_kontext_edits_and_generates(tmp_path: Path) -> None:
    folder = tiny_pipelines.flux_kontext(tmp_path)
    small: dict[str, JsonValue] = {"height": 8, "width": 8, "max_area": 64, "_auto_resize": False}
    edited = array(
        run(folder, "flux-kontext", EditRequest("a dog", (SOURCE,), seed=1), max_sequence_length=16, **small)
    )
    made = array(run(folder, "flux-kontext", EditRequest("a dog", seed=1), max_sequence_length=16, **small))
    assert edited.shape == made.shape
    assert (edited != made).any()


def test_weights_that_are_not_safetensors_are_not_read(tmp_path: Path) -> None:
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    path = next((folder / "unet").glob("*.safetensors"))
    torch.save({}, folder / "unet" / "diffusion_pytorch_model.bin")
    path.unlink()
    with pytest.raises(UserError, match="cannot be loaded"):
        run(folder, "instruct-pix2pix", EditRequest("x", (SOURCE,)))


def test_code_of_a_model_is_not_run(tmp_path: Path) -> None:
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    index = folder / "model_index.json"
    parts = json.loads(index.read_text())
    parts["unet"] = ["my_unet", "MyUNet"]
    index.write_text(json.dumps(parts))
    (folder / "unet" / "my_unet.py").write_text("raise SystemExit('ran')")
    with pytest.raises(UserError, match="code of its own"):
        run(folder, "instruct-pix2pix", EditRequest("x", (SOURCE,)))


def test_the_wrong_pipeline_or_folder_is_told(tmp_path: Path) -> None:
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    with pytest.raises(UserError, match="not a FluxKontextPipeline"):
        run(folder, "flux-kontext", EditRequest("x", (SOURCE,)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="cannot be read"):
        run(tmp_path / "empty", "sdxl", EditRequest("x"))
    with pytest.raises(UnknownName, match="no pipeline"):
        run(folder, "pix3pix", EditRequest("x"))


def test_qwen_image_edit_takes_our_call() -> None:
    """In memory: loading it needs torchvision, which is not part of the extra."""
    call: dict[str, JsonValue] = {"num_inference_steps": 2, "height": 32, "width": 32, "true_cfg_scale": 2.0}
    editor = make("tiny", {"model": "m", "pipeline": "qwen-image-edit", "device": "cpu", "call": call}, Ports())
    editor._pipe = tiny_pipelines.qwen_image_edit()
    one, other = (array(asyncio.run(editor.edit(EditRequest("a dog", (SOURCE,), seed=seed)))) for seed in (1, 2))
    assert one.shape == (32, 32, 3)
    assert (one != other).any()
