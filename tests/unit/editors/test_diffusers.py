"""Diffusion pipelines from tiny random models on the CPU: real loading, safetensors only, no code from a model."""

import asyncio
import io
import json
import logging
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

torch = pytest.importorskip("torch", reason="needs the vision extra")
diffusers = pytest.importorskip("diffusers", reason="needs the vision extra")

from PIL import Image  # noqa: E402

from imarena.core.errors import UnknownName, UserError  # noqa: E402
from imarena.core.protocols import EditRequest, EditResult  # noqa: E402
from imarena.core.records import Status  # noqa: E402
from imarena.editors.catalog import Ports  # noqa: E402
from imarena.editors.diffusers_pipeline import make  # noqa: E402
from imarena.vision.pretrained.qwen_processor import fill_placeholders  # noqa: E402
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


class _Runs:
    """A pickle that runs code where it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Path.touch, (self.mark,)  # type: ignore[return-value]


BAD_WEIGHTS = ("unet/diffusion_pytorch_model", "vae/diffusion_pytorch_model", "text_encoder/pytorch_model")


@pytest.mark.parametrize("part", BAD_WEIGHTS)
@pytest.mark.parametrize("disguised", [False, True])
def test_a_pickle_is_not_read(tmp_path: Path, part: str, disguised: bool) -> None:
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    weights = next((folder / part).parent.glob("*.safetensors"))
    weights.unlink()
    mark = tmp_path / "ran"
    bad = weights if disguised else (folder / f"{part}.bin")
    bad.write_bytes(pickle.dumps({"weight": _Runs(mark)}))
    with pytest.raises(UserError, match="cannot be loaded") as told:
        run(folder, "instruct-pix2pix", EditRequest("x", (SOURCE,)))
    assert "safetensors" in told.value.hint
    assert not mark.exists()
    pickle.loads(bad.read_bytes())  # noqa: S301 - the bait works where it is read
    assert mark.exists()


def _custom_part(folder: Path, mark: Path) -> None:
    parts = json.loads((folder / "model_index.json").read_text())
    parts["unet"] = ["my_unet", "MyUNet"]
    (folder / "model_index.json").write_text(json.dumps(parts))
    (folder / "unet" / "my_unet.py").write_text(f"open({str(mark)!r}, 'w')\nclass MyUNet: pass\n")


def _custom_pipeline(folder: Path, mark: Path) -> None:
    parts = json.loads((folder / "model_index.json").read_text())
    parts["_class_name"] = ["pipeline", "MyPipeline"]
    (folder / "model_index.json").write_text(json.dumps(parts))
    (folder / "pipeline.py").write_text(f"open({str(mark)!r}, 'w')\nclass MyPipeline: pass\n")


@pytest.mark.parametrize("spoil", [_custom_part, _custom_pipeline])
def test_code_of_a_model_is_not_run(tmp_path: Path, spoil: Callable[[Path, Path], None]) -> None:
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    mark = tmp_path / "ran"
    spoil(folder, mark)
    with pytest.raises(UserError, match="code of its own"):
        run(folder, "instruct-pix2pix", EditRequest("x", (SOURCE,)))
    assert not mark.exists()


def test_code_that_a_part_of_a_model_names_is_not_run(tmp_path: Path) -> None:
    """`auto_map` is how models of the hub bring classes of their own: the class that we name is used instead."""
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    mark = tmp_path / "ran"
    config = folder / "text_encoder" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "auto_map": {"AutoModel": "mine.Mine"}}))
    (folder / "text_encoder" / "mine.py").write_text(f"open({str(mark)!r}, 'w')\nclass Mine: pass\n")
    array(run(folder, "instruct-pix2pix", EditRequest("make it red", (SOURCE,), seed=1)))
    assert not mark.exists()


def test_the_wrong_pipeline_or_folder_is_told(tmp_path: Path) -> None:
    folder = tiny_pipelines.instruct_pix2pix(tmp_path)
    with pytest.raises(UserError, match="not a FluxKontextPipeline"):
        run(folder, "flux-kontext", EditRequest("x", (SOURCE,)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="cannot be read"):
        run(tmp_path / "empty", "sdxl", EditRequest("x"))
    with pytest.raises(UnknownName, match="no pipeline"):
        run(folder, "pix3pix", EditRequest("x"))


SMALL: dict[str, JsonValue] = {"height": 32, "width": 32, "true_cfg_scale": 2.0}


def test_qwen_image_edit_is_loaded_without_torchvision(tmp_path: Path) -> None:
    folder = tiny_pipelines.qwen_image_edit(tmp_path)
    made = array(run(folder, "qwen-image-edit", EditRequest("a dog", (SOURCE,), seed=1), **SMALL))
    assert made.shape == (32, 32, 3)


@given(st.lists(st.lists(st.integers(1, 9), max_size=3), min_size=1, max_size=3))
def test_every_placeholder_is_repeated_as_often_as_its_picture_has_tokens(sizes: list[list[int]]) -> None:
    texts = ["a".join(["", *["<|image_pad|>"] * len(group), ""]) for group in sizes]
    made = fill_placeholders(texts, [size for group in sizes for size in group])
    assert [text.count("<|image_pad|>") for text in made] == [sum(group) for group in sizes]
    assert [text.replace("<|image_pad|>", "") for text in made] == ["a" * (len(group) + 1) for group in sizes]
