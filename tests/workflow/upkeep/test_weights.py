"""`imarena weights`: list, add and verify, on folders of this machine."""

import json
from pathlib import Path

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.core.ids import sha256_hex
from imarena.vision.local_models import model_folder
from imarena.vision.model_weights.entries import weights_entries
from imarena.vision.model_weights.safetensors_file import StoredTensor, write_safetensors
from tests.command import Imarena
from tests.conftest import ROOT
from tests.models.torch_pickles import call, state_dict, text, write_pt


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path / "weights"))
    return tmp_path / "weights"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny model with what lies beside one."""
    made = tmp_path / "model"
    (made / "sub").mkdir(parents=True)
    write_safetensors(made / "model.safetensors", {"a": StoredTensor("F32", np.arange(6, dtype=np.float32))})
    (made / "config.json").write_text("{}")
    (made / "sub" / "merges.txt").write_text("a b\n")
    (made / "code.py").write_text("raise SystemExit")
    return made


def test_the_list_names_licence_source_and_hashes(imarena: Imarena, root: Path) -> None:
    listed = {entry["name"]: entry for entry in imarena("--json", "weights", "list").json}
    assert {"clip-vit-large-patch14", "dinov2-base", "grounding-dino-tiny", "mobile-sam", "hpsv3"} <= listed.keys()
    assert listed["mobile-sam"]["hashes"] == "listed"
    assert listed["clip-vit-large-patch14"]["hashes"] == "at first download"
    assert not listed["dinov3-vitb16"]["permissive"]
    assert not any(entry["installed"] for entry in listed.values())
    assert "DINOv3 License (--accept)" in imarena("weights", "list").out
    assert not root.exists(), "looking makes no folder"


def test_every_tool_names_listed_weights() -> None:
    from imarena.vision import catalog

    tools = (
        catalog.DETECTOR_TOOLS, catalog.SEGMENTER_TOOLS, catalog.EMBEDDER_TOOLS, catalog.DEPTH_TOOLS,
        catalog.METRIC_TOOLS,
    )  # fmt: skip
    named = {tool.weights for registry in tools for tool in registry.values() if tool.weights}
    assert (
        {"clip-vit-large-patch14", "grounding-dino-tiny", "mobile-sam", "depth-anything-v2-small"}
        <= named
        <= weights_entries().keys()
    )


def test_a_folder_is_copied_checked_and_found_by_its_name(imarena: Imarena, root: Path, folder: Path) -> None:
    added = imarena("--json", "weights", "add", "mine", folder, "--licence", "MIT").json
    assert added["fresh"]
    assert added["files"].keys() == {"model.safetensors", "config.json", "sub/merges.txt"}
    assert added["files"]["config.json"]["sha256"] == sha256_hex(b"{}")
    assert (added["licence"], added["licence_accepted"], added["source"]) == ("MIT", False, "folder")
    assert model_folder("mine", "The judge 'dino'") == root / "mine"
    assert not imarena("--json", "weights", "add", "mine", folder, "--licence", "MIT").json["fresh"]
    assert imarena("--json", "weights", "list").json[-1]["name"] == "mine"
    assert imarena("--json", "weights", "verify").json == {"names": ["mine"], "clean": True, "findings": []}
    assert "nothing to download" in imarena("weights", "get", "mine", code=2).err


def test_other_weights_need_replace(imarena: Imarena, root: Path, folder: Path) -> None:
    imarena("weights", "add", "mine", folder, "--licence", "MIT")
    write_safetensors(folder / "model.safetensors", {"b": StoredTensor("F32", np.ones(3, np.float32))})
    assert "--replace" in imarena("weights", "add", "mine", folder, "--licence", "MIT", code=2).err
    assert imarena("--json", "weights", "add", "mine", folder, "--licence", "MIT", "--replace").json["fresh"]
    assert (root / "mine" / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert imarena("--json", "weights", "verify", "mine").json["clean"]


def test_a_licence_that_is_not_permissive_needs_accept(imarena: Imarena, root: Path, folder: Path) -> None:
    for options in ((), ("--licence", "CC-BY-NC-4.0")):
        assert "--accept" in imarena("weights", "add", "mine", folder, *options, code=2).err
    assert not (root / "mine").exists()
    added = imarena("--json", "weights", "add", "mine", folder, "--accept").json
    assert (added["licence"], added["licence_accepted"]) == ("not stated", True)
    refused = imarena("weights", "get", "dinov3-vitb16", code=2).err
    assert "DINOv3 License" in refused
    assert "--accept" in refused


@pytest.mark.parametrize("name", ["pytorch_model.bin", "x.pt", "x.pth", "x.ckpt", "sub/x.pkl"])
def test_pickles_are_refused(imarena: Imarena, root: Path, folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\x80\x02N.")
    refused = imarena("weights", "add", "mine", folder, "--licence", "MIT", code=2).err
    assert "can run code" in refused
    assert not (root / "mine").exists()


def test_files_that_are_not_what_their_names_say_are_refused(imarena: Imarena, root: Path, folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    wrong = {
        "cut": whole[:-1], "longer": whole + b"x", "pickle": b"\x80\x02N." * 10, "empty": b"",
        "gap": whole.replace(b"[0,24]", b"[1,25]"), "shape": whole.replace(b"[6]", b"[7]"),
    }  # fmt: skip
    for label, data in wrong.items():
        (folder / "model.safetensors").write_bytes(data)
        refused = imarena("weights", "add", "mine", folder, "--licence", "MIT", code=2)
        assert "not a whole safetensors file" in refused.err, label
    (folder / "model.safetensors").unlink()
    onnx = (ROOT / "src/imarena/vision/weights/u2netp.onnx").read_bytes()
    for data in (onnx[:-1], b"\x80\x02N.", b"PK\x03\x04"):
        (folder / "model.onnx").write_bytes(data)
        assert "ONNX file" in imarena("weights", "add", "mine", folder, "--licence", "MIT", code=2).err
    (folder / "model.onnx").write_bytes(onnx)
    assert "model.onnx" in imarena("--json", "weights", "add", "mine", folder, "--licence", "MIT").json["files"]


def test_a_link_out_of_the_folder_is_refused(imarena: Imarena, root: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("x")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert "leads out" in imarena("weights", "add", "mine", folder, "--licence", "MIT", code=2).err


def test_verify_names_each_file_that_does_not_fit(imarena: Imarena, root: Path, folder: Path) -> None:
    imarena("weights", "add", "mine", folder, "--licence", "MIT")
    data = bytearray((root / "mine" / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (root / "mine" / "model.safetensors").write_bytes(data)
    (root / "mine" / "config.json").unlink()
    (root / "mine" / "evil.pt").write_bytes(b"x")
    found = imarena("--json", "weights", "verify", code=1).json["findings"]
    kinds = {finding["file"]: finding["kind"] for finding in found}
    assert kinds == {"model.safetensors": "changed", "config.json": "missing", "evil.pt": "unknown"}
    (root / "mine" / ".imarena" / "manifest.json").write_text("{")
    assert [f["kind"] for f in imarena("--json", "weights", "verify", code=1).json["findings"]] == ["manifest"]
    assert "not installed" in imarena("weights", "verify", "other", code=2).err


def test_names_that_are_wrong_or_unknown(imarena: Imarena, root: Path, folder: Path) -> None:
    for name in ("../x", "Mine", "a/b", ".x", "pins"):
        assert "cannot be a name" in imarena("weights", "add", name, folder, "--licence", "MIT", code=2).err
    assert "Did you mean 'mobile-sam'" in imarena("weights", "get", "mobile-sm", code=2).err
    assert "is not a folder" in imarena("weights", "add", "mine", "nowhere", "--licence", "MIT", code=2).err


def test_a_listed_name_takes_only_the_listed_file(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    """`.pt` of a listed package is converted; another file of that name has another hash, and an attack is refused."""
    other = tmp_path / "other"
    other.mkdir()
    write_pt(other / "mobile_sam.pt", *state_dict({"a": np.arange(3, dtype=np.float32)}))
    assert "is pinned to another model.safetensors" in imarena("weights", "add", "mobile-sam", other, code=1).err
    write_pt(other / "mobile_sam.pt", call("os", "system", text(f"touch {tmp_path}/ran")))
    assert "it names os.system" in imarena("weights", "add", "mobile-sam", other, code=2).err
    assert not (tmp_path / "ran").exists()
    assert not (root / "mobile-sam").exists()


def test_the_own_list_adds_names(imarena: Imarena, root: Path) -> None:
    root.mkdir()
    entry = {"name": "ours", "purpose": "x", "licence": "MIT", "licence_url": "https://x.example/l",
             "hub": {"repository": "lab/ours"}}  # fmt: skip
    (root / "weights.yaml").write_text(json.dumps({"weights": [entry]}))
    assert imarena("--json", "weights", "list").json[-1]["source"] == "hub:lab/ours"
    (root / "weights.yaml").write_text(json.dumps({"weights": [{**entry, "name": "hpsv3"}]}))
    assert "which imarena lists itself" in imarena("weights", "list", code=2).err
    for wrong in ("weights: [", "[]", json.dumps({"weights": [{"name": "x"}]})):
        (root / "weights.yaml").write_text(wrong)
        assert "is not a list of weights" in imarena("weights", "list", code=2).err


def test_weights_that_are_not_installed_name_the_command(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs the hub extra")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    for name in ("dinov2-base", "mobile-sam", "hpsv3"):
        with pytest.raises(UserError, match=f"imarena weights get {name}"):
            model_folder(name, "The judge 'dino'")
    commit = weights_entries()["dinov2-base"].hub
    assert commit is not None
    cached = tmp_path / "hub" / "models--facebook--dinov2-base" / "snapshots" / str(commit.revision)
    cached.mkdir(parents=True)
    (cached / "config.json").write_text("{}")
    (cached / "model.safetensors").write_bytes(b"")
    assert model_folder("dinov2-base", "The judge 'dino'") == cached, "another program has downloaded this commit"
