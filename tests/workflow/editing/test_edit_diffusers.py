"""`imarena edit` with diffusion pipelines from the command line: tiny random models, loaded from disk on the CPU."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the vision extra")
pytest.importorskip("diffusers", reason="needs the vision extra")

import torch
from PIL import Image

from imarena.core.records import Item, Output, Status, Turn
from imarena.storage import init_workspace, open_workspace
from tests.command import Imarena
from tests.samples import kept
from tests.unit.editors import tiny_pipelines

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
SMALL = {"num_inference_steps": 2, "height": 32, "width": 32}
FLUX = {"num_inference_steps": 2, "height": 8, "width": 8, "max_area": 64, "_auto_resize": False,
        "max_sequence_length": 16}  # fmt: skip


def six_tasks(root: Path) -> dict[str, str]:
    """One item for each of ImagenWorld's tasks and one of two turns; gives keys by id."""
    with init_workspace(root) as workspace:
        pictures = [kept(workspace, n) for n in range(4)]
        shapes = {"TIG": (0, 0), "TIE": (1, 0), "SRIG": (0, 1), "SRIE": (1, 1), "MRIG": (0, 2), "MRIE": (1, 2)}
        items = [
            Item(
                dataset="six", key=task, task=task, sources=tuple(pictures[:sources]),
                references=tuple(pictures[1 : 1 + references]), turns=(Turn(instruction=f"do {task}"),),
            )
            for task, (sources, references) in shapes.items()
        ]  # fmt: skip
        turns = (Turn(instruction="add a dog"), Turn(instruction="make it red"))
        items.append(Item(dataset="six", key="long", sources=(pictures[0],), turns=turns))
        workspace.store.add(items)
    return {item.item_id: item.key for item in items}


def add(root: Path, name: str, folder: Path, pipeline: str, call: dict[str, Any]) -> None:
    """A table of the workspace's settings."""
    values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in call.items())
    with (root / "imarena.toml").open("a") as file:
        file.write(f'\n[editors.{name}]\nkind = "diffusers"\nmodel = {json.dumps(str(folder))}\n')
        file.write(f'pipeline = "{pipeline}"\ndevice = "cpu"\n[editors.{name}.call]\n{values}')


Made = tuple[str, Path, dict[str, Any]]


def check_outputs(root: Path, keys: dict[str, str], does: dict[str, set[str]]) -> None:
    """Each editor did these items and refused the others; what it did is whole."""
    with open_workspace(root) as workspace:
        for name, expected in does.items():
            mine = list(workspace.store.records(Output, editor=name))
            good = [output for output in mine if output.status is Status.OK]
            assert {keys[output.item_id] for output in good} == expected, name
            assert {output.status for output in mine} <= {Status.OK, Status.REFUSED}, [one.error for one in mine]
            for output in good:
                assert output.image is not None
                with Image.open(io.BytesIO(workspace.load(output.image))) as picture:
                    assert picture.size == (output.image.width, output.image.height)
                assert (output.seed, output.cost_usd, output.params["adapter"]) == (42, 0.0, "diffusers")
                assert output.latency_s


def test_pipelines_from_the_command_line(imarena: Imarena, tmp_path: Path) -> None:
    torch.manual_seed(0)
    root = tmp_path / "w"
    keys = six_tasks(root)
    made: dict[str, Made] = {
        "ip2p": ("instruct-pix2pix", tiny_pipelines.instruct_pix2pix(tmp_path / "i"), {"num_inference_steps": 2}),
        "kontext": ("flux-kontext", tiny_pipelines.flux_kontext(tmp_path / "f"), FLUX),
        "words": ("sdxl", tiny_pipelines.sdxl(tmp_path / "s"), SMALL),
        "picture": ("sdxl-img2img", tiny_pipelines.sdxl(tmp_path / "t", from_picture=True), {"num_inference_steps": 4}),
    }
    for name, (pipeline, folder, call) in made.items():
        add(root, name, folder, pipeline, call)
    chosen = [word for name in made for word in ("-e", name)]
    imarena("-w", root, "edit", *chosen, "--mode", "all", code=3)
    one = {"TIE", "SRIG", "long"}
    does = {"ip2p": one, "kontext": {"TIG", *one}, "words": {"TIG"}, "picture": one}
    check_outputs(root, keys, does)
    with open_workspace(root) as workspace:
        refused = [one.error for one in workspace.store.records(Output, editor="ip2p", status="refused")]
    assert sum("takes one image" in error for error in refused) == 3
    assert sum("this item has none" in error for error in refused) == 1
    again = imarena("-w", root, "--json", "edit", "-e", "words", "-i", "TIG").json["report"]
    assert (again["outputs"], again["done_before"]) == ({}, 1)


def test_qwen_from_the_command_line(imarena: Imarena, tmp_path: Path) -> None:
    """With one picture and with three; these pipelines work at a megapixel whatever they are given, so two items do."""
    torch.manual_seed(0)
    root = tmp_path / "w"
    keys = six_tasks(root)
    add(root, "qwen", tiny_pipelines.qwen_image_edit(tmp_path / "q"), "qwen-image-edit", SMALL)
    add(root, "plus", tiny_pipelines.qwen_image_edit(tmp_path / "p", plus=True), "qwen-image-edit-plus", SMALL)
    imarena("-w", root, "edit", "-e", "qwen", "-e", "plus", "-i", "TIE", "-i", "MRIE", code=3)
    check_outputs(root, keys, {"qwen": {"TIE"}, "plus": {"TIE", "MRIE"}})


def test_what_cannot_be_loaded_is_told_before_anything_is_made(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    six_tasks(root)
    folder = tiny_pipelines.instruct_pix2pix(tmp_path / "i")
    torch.save({}, folder / "unet" / "diffusion_pytorch_model.bin")
    next((folder / "unet").glob("*.safetensors")).unlink()
    add(root, "pickled", folder, "instruct-pix2pix", {"num_inference_steps": 2})
    told = imarena("-w", root, "edit", "-e", "pickled", code=2).err
    assert "safetensors" in told
    assert "Traceback" not in told
    with open_workspace(root) as workspace:
        assert list(workspace.store.records(Output)) == []
