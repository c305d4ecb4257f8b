"""`imarena see`: what is in pictures, also in those that are none."""

import json
import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import imarena as package
from imarena.core.errors import UserError
from imarena.core.records import JsonDict, Status
from imarena.images import files as image_files
from imarena.vision import PICTURE_TOOLS
from imarena.workflows.questions import seen_picture
from tests.command import Imarena

PHOTOGRAPHS = Path(str(files("imarena.studio") / "photographs"))


def test_objects_faces_colours_and_quality_are_shown_and_drawn(imarena: Imarena, tmp_path: Path) -> None:
    coffee, astronaut = str(PHOTOGRAPHS / "coffee.jpg"), str(PHOTOGRAPHS / "astronaut.jpg")
    asked = ("-t", "objects", "-t", "faces", "-t", "colours", "-t", "quality", "-t", "salient")
    cup, person = imarena("--json", "see", coffee, astronaut, *asked, "--boxes", "drawn").json["pictures"]
    assert {one["label"] for one in cup["objects"]} == {"cup", "spoon", "dining table"}
    assert cup["faces"] == []
    assert cup["colours"][0]["name"] == "brown"
    (salient,) = cup["salient"]
    assert 0.3 < salient["share"] < 0.6
    assert [one["label"] for one in person["objects"]] == ["person"]
    (face,) = person["faces"]
    assert face["box"] == pytest.approx([178, 63, 268, 176], abs=3)
    assert person["quality"]["brisque"] < 30
    assert (person["width"], person["height"], person["status"]) == (512, 512, "ok")
    assert {entry["status"] for entry in person["tools"].values()} == {"ok"}
    drawn = np.asarray(Image.open(tmp_path / person["boxes"]).convert("RGB")).astype(int)
    changed = np.abs(drawn - np.asarray(Image.open(astronaut).convert("RGB"))).sum(axis=2) > 100
    assert changed[100, 178:181].any(), "the left side of the face's box"
    assert not changed[100:130, 200:240].any(), "what is inside stays visible"
    shown = imarena("see", coffee, "-t", "objects").out
    assert "cup" in shown
    assert "0.87" in shown


def test_words_are_read(tmp_path: Path) -> None:
    from tests.contract.vision.tools import shapes

    Image.fromarray(shapes()).save(tmp_path / "hello.png")
    seen = package.see(tmp_path / "hello.png", ["words"])
    assert [word.label for word in seen.boxes("words")] == ["HELLO"]
    left, top, right, bottom = seen.boxes("words")[0].box
    assert (left, top, right, bottom) == pytest.approx((121, 130, 215, 155), abs=8)


@pytest.mark.parametrize("name", ["empty", "text", "cut", "bomb", "folder", "missing", "pipe", "long"])
def test_what_is_no_picture_has_a_status(
    imarena: Imarena, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{name}.png"
    whole = (PHOTOGRAPHS / "cat.jpg").read_bytes()
    if name == "folder":
        path.mkdir()
    elif name == "pipe":
        os.mkfifo(path)
    elif name == "bomb":
        Image.new("1", (20000, 20000)).save(path)
    elif name != "missing":
        path.write_bytes({"empty": b"", "text": b"no picture", "cut": whole[:2000], "long": whole}[name])
    if name == "long":
        monkeypatch.setattr(image_files, "MAX_IMAGE_BYTES", 1000)
    seen = package.see(path)
    assert seen.status is Status.INVALID_IMAGE
    assert seen.error
    assert seen.answers == {}
    if name != "long":
        result = imarena("--json", "see", path.name, code=2)
        assert json.loads(result.out)["pictures"][0]["status"] == "invalid_image"
        good = str(PHOTOGRAPHS / "cat.jpg")
        both = imarena("--json", "see", path.name, good, "-t", "colours", code=3).json["pictures"]
        assert [one["status"] for one in both] == ["invalid_image", "ok"]


def _fail(_: object) -> JsonDict:
    raise ZeroDivisionError("no such number")


def test_a_tool_that_fails_has_a_status_and_the_others_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = dict(PICTURE_TOOLS)
    broken = replace(tools["objects"], look=_fail)
    monkeypatch.setattr(seen_picture, "find_picture_tool", {**tools, "objects": broken}.__getitem__)
    seen = package.see(PHOTOGRAPHS / "cat.jpg", ["objects", "colours"])
    assert seen.status is Status.OK
    assert not seen.complete
    assert "ZeroDivisionError" in seen.answers["objects"].error
    assert seen.to_json()["objects"] is None
    assert seen.to_json()["colours"]


def test_unknown_tools_and_places_are_refused(imarena: Imarena, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'objects'"):
        package.see(PHOTOGRAPHS / "cat.jpg", ["object"])
    (tmp_path / "file").write_text("x")
    assert "is not a folder" in imarena("see", str(PHOTOGRAPHS / "cat.jpg"), "--boxes", "file", code=2).err


def test_one_pixel_is_seen(tmp_path: Path) -> None:
    Image.new("RGB", (1, 1), (255, 0, 0)).save(tmp_path / "dot.png")
    seen = package.see(tmp_path / "dot.png")
    assert seen.complete
    assert seen.to_json()["colours"] == [{"name": "red", "share": 1.0}]
    assert seen.to_json()["quality"]["brisque"] is None
