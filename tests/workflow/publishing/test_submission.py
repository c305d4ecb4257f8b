"""``imarena submission``: check a folder, make a pack, add it; as a participant and as the host."""

import json
import unicodedata
import zipfile
from pathlib import Path

import pytest

from imarena.core.records import Item, Mode, Output, Run, Status, Turn
from imarena.storage import open_workspace
from tests import samples
from tests.command import Imarena
from tests.workflow.publishing.published import item_of, make_benchmark

FILES = ("free.png", "zero.png", "whole.png", "long/1.png", "long/2.png")
"""What the published benchmark asks for; two items are published without pictures."""


def write_outputs(folder: Path, names: tuple[str, ...] = FILES, start: int = 500) -> None:
    """A folder of outputs, each with a picture of its own."""
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(samples.png(start + number))


@pytest.fixture
def host(imarena: Imarena, tmp_path: Path) -> Imarena:
    """A workspace `a`, its publication `bench`, and a participant's folder `mine`."""
    make_benchmark(tmp_path / "a")
    imarena("-w", "a", "publish", "bench")
    write_outputs(tmp_path / "mine")
    return imarena


def outputs_of(root: Path, editor: str) -> list[Output]:
    with open_workspace(root) as workspace:
        return list(workspace.store.records(Output, editor=editor))


def test_a_clean_folder_is_clean(host: Imarena) -> None:
    report = host("--json", "submission", "check", "mine", "--items", "bench").json
    assert report["clean"]
    assert (report["expected"], report["usable"]) == (5, 5)
    assert set(report["counts"].values()) == {0}


def test_files_of_items_without_their_images_are_explained(host: Imarena, tmp_path: Path) -> None:
    write_outputs(tmp_path / "mine", ("closed.png", "other.png"))
    report = host("--json", "submission", "check", "mine", "--items", "bench", code=3).json
    assert {wrong["file"]: wrong["reason"] for wrong in report["extra"]} == {
        "closed.png": "belongs to an item whose image is not in the publication",
        "other.png": "no item asks for it",
    }
    printed = host("submission", "check", "mine", "--items", "bench", code=3).out
    assert "complete; extra files are not packed" in printed


def test_the_items_may_be_those_of_a_workspace(host: Imarena) -> None:
    report = host("-w", "a", "--json", "submission", "check", "mine", code=3).json
    assert report["missing"] == ["closed.png", "silent.png"], "the host has all pictures"


def test_everything_that_is_wrong_is_listed_at_once(host: Imarena, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "free.png").unlink()
    (mine / "long" / "2.png").unlink()
    (mine / "zero.png").write_bytes(samples.png(1)[:60])
    (mine / "whole.png").write_bytes(samples.png(2, (30, 16)))
    (mine / "long" / "1.jpg").write_bytes(samples.png(3))
    (mine / "Free.PNG").write_bytes(samples.png(4))
    (mine / "notes.txt").write_text("x")
    (mine / "out.png").symlink_to("/etc/hostname")
    (mine / ".DS_Store").write_text("x")
    report = host("--json", "submission", "check", "mine", "--items", "bench", code=3).json
    assert report["missing"] == ["free.png", "long/2.png"]
    assert {wrong["file"]: wrong["reason"] for wrong in report["extra"]} == {
        "Free.PNG": "'free.png' is expected: the name differs in case or Unicode form",
        "long/1.jpg": "no item asks for it",
        "notes.txt": "no item asks for it",
        "out.png": "a link",
    }
    assert [wrong["file"] for wrong in report["broken"]] == ["zero.png"]
    assert report["wrong_size"] == [{"file": "whole.png", "reason": "30 x 16 pixels, the source image has 24 x 16"}]
    text = host("submission", "check", "mine", "--items", "bench", code=3).out
    assert "missing: 2 files" in text
    assert "wrong size: 1 file" in text
    sizes = host("--json", "submission", "check", "mine", "--items", "bench", "--any-size", code=3).json
    assert sizes["wrong_size"] == []


def test_wrong_use_is_exit_2(host: Imarena, tmp_path: Path) -> None:
    assert "no folder" in host("submission", "check", "nowhere", "--items", "bench", code=2).err
    assert "not a published benchmark" in host("submission", "check", "mine", "--items", "a", code=2).err
    assert "no workspace" in host("submission", "check", "mine", code=2).err
    assert "no file" in host("-w", "a", "submission", "add", "nothing.zip", code=2).err
    (tmp_path / "x.zip").write_text("hello")
    assert "not a ZIP archive" in host("-w", "a", "submission", "add", "x.zip", code=2).err


def test_names_of_another_unicode_form_are_pointed_out(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "a")
    with open_workspace(tmp_path / "a") as workspace:
        workspace.store.add([item_of(workspace, "caf\u00e9", "CC0-1.0")])
    write_outputs(tmp_path / "mine", (unicodedata.normalize("NFD", "caf\u00e9.png"),))
    report = imarena("-w", "a", "--json", "submission", "check", "mine", code=3).json
    assert "Unicode form" in report["extra"][0]["reason"]


def test_a_hostile_benchmark_reads_no_file_outside_the_folder(imarena: Imarena, tmp_path: Path) -> None:
    """Keys come from a folder that was downloaded: they lead nowhere and do nothing to the terminal."""
    imarena("init", "a")
    (tmp_path / "secret.png").write_bytes(samples.png(1))
    keys = ("../secret", str(tmp_path / "secret"), "e\x1b[2Jx", "a/../../secret")
    with open_workspace(tmp_path / "a") as workspace:
        workspace.store.add([item_of(workspace, key, "CC0-1.0") for key in keys])
    write_outputs(tmp_path / "mine", ("x.png",))
    ended = imarena("-w", "a", "submission", "check", "mine", code=3)
    assert "missing: 4 files" in ended.out
    assert "\x1b" not in ended.out
    assert "no output of any item" in imarena(
        "-w", "a", "submission", "make", "mine", "--editor", "x", "--out", "x.zip", "--partial", code=2
    ).err  # fmt: skip


def test_keys_that_two_data_sets_share_are_in_folders(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "a")
    with open_workspace(tmp_path / "a") as workspace:
        workspace.store.add([item_of(workspace, "k", "CC0-1.0", dataset=name) for name in ("one", "two")])
    write_outputs(tmp_path / "mine", ("k.png", "two/k.png"))
    report = imarena("-w", "a", "--json", "submission", "check", "mine", code=3).json
    assert report["missing"] == ["one/k.png"]
    assert [wrong["file"] for wrong in report["extra"]] == ["k.png"]


def test_a_pack_names_where_its_outputs_come_from(host: Imarena, tmp_path: Path) -> None:
    report = host(
        "--json", "submission", "make", "mine", "--editor", "gamma", "--version", "1.2", "--seed", "7",
        "--out", "gamma.zip", "--items", "bench",
    ).json  # fmt: skip
    assert (report["files"], report["missing"]) == (5, 0)
    with zipfile.ZipFile(tmp_path / "gamma.zip") as archive:
        manifest = json.loads(archive.read("submission.json"))
        first = manifest["files"][0]
        assert archive.read(first["file"]) == (tmp_path / "mine" / "free.png").read_bytes()
    assert (manifest["editor"], manifest["editor_version"], manifest["seed"]) == ("gamma", "1.2", 7)
    assert manifest["software"].startswith("imarena ")
    assert manifest["made_at"]
    assert (first["dataset"], first["key"], first["mode"]) == ("bench", "free", "single")
    assert str(tmp_path) not in json.dumps(manifest)
    again = host("submission", "make", "mine", "--editor", "g", "--out", "gamma.zip", "--items", "bench", code=2)
    assert "exists already" in again.err


def test_a_folder_that_is_not_ready_is_not_packed(host: Imarena, tmp_path: Path) -> None:
    (tmp_path / "mine" / "long" / "1.png").unlink()
    call = ("submission", "make", "mine", "--editor", "gamma", "--out", "g.zip", "--items", "bench")
    assert "1 output missing" in host(*call, code=2).err
    (tmp_path / "mine" / "free.png").write_bytes(b"no picture")
    assert "1 file broken" in host(*call, "--partial", code=2).err
    assert not list(tmp_path.glob("*g.zip*"))
    (tmp_path / "mine" / "free.png").write_bytes(samples.png(9, (40, 40)))
    assert "wrong size" in host(*call, "--partial", code=2).err
    report = host("--json", *call, "--partial", "--any-size").json
    assert (report["files"], report["missing"], report["cut_off"]) == (3, 2, 1), "turn 2 needs turn 1"
    assert "plain one" in host(*call[:4], " x", "--out", "h.zip", *call[7:], "--partial", "--any-size", code=2).err


def test_a_pack_is_added_once(host: Imarena, tmp_path: Path) -> None:
    host("submission", "make", "mine", "--editor", "gamma", "--seed", "7", "--out", "g.zip", "--items", "bench")
    rehearsal = host("-w", "a", "--json", "submission", "add", "g.zip", "--dry-run").json
    assert (rehearsal["new"], rehearsal["dry_run"]) == (5, True)
    assert outputs_of(tmp_path / "a", "gamma") == []
    report = host("-w", "a", "--json", "submission", "add", "g.zip").json
    assert (report["new"], report["same"], report["missing"]) == (5, 0, 2)
    outputs = outputs_of(tmp_path / "a", "gamma")
    assert {output.seed for output in outputs} == {7}
    with open_workspace(tmp_path / "a") as workspace:
        keys = {item.item_id: item.key for item in workspace.store.records(Item)}
        for output in outputs:
            name = keys[output.item_id] if output.mode is Mode.SINGLE else f"{keys[output.item_id]}/{output.turn + 1}"
            assert output.image is not None
            assert workspace.load(output.image) == (tmp_path / "mine" / f"{name}.png").read_bytes()
        chain = {output.turn: output for output in outputs if output.mode is Mode.MULTI_TURN}
        assert chain[1].parent_id == chain[0].output_id
        runs = [run for run in workspace.store.records(Run) if run.command == "submission"]
        assert runs[0].settings["editor"] == "gamma"
        assert len(str(runs[0].settings["pack_sha256"])) == 64
        count = workspace.store.count(Output), workspace.store.count(Run)
    again = host("-w", "a", "--json", "submission", "add", "g.zip").json
    assert (again["new"], again["same"]) == (0, 5)
    with open_workspace(tmp_path / "a") as workspace:
        assert (workspace.store.count(Output), workspace.store.count(Run)) == count
    assert host("-w", "a", "--json", "verify", "--deep").json["clean"]


def test_an_editor_that_exists_is_never_added_to(host: Imarena, tmp_path: Path) -> None:
    before = outputs_of(tmp_path / "a", "alpha")
    for name in ("alpha", "ALPHA", "\uff41lpha"):
        host("submission", "make", "mine", "--editor", name, "--out", f"{name}.zip", "--items", "bench")
        ended = host("-w", "a", "submission", "add", f"{name}.zip", code=2)
        assert "--as NAME" in ended.err
    assert outputs_of(tmp_path / "a", "alpha") == before
    host("-w", "a", "submission", "add", "alpha.zip", "--as", "alpha (team B)")
    assert len(outputs_of(tmp_path / "a", "alpha (team B)")) == 5
    write_outputs(tmp_path / "other", start=900)
    host("submission", "make", "other", "--editor", "alpha (team B)", "--out", "b.zip", "--items", "bench")
    host("-w", "a", "submission", "add", "b.zip", code=2)
    assert "not a name" in host("-w", "a", "submission", "add", "b.zip", "--as", "x\u202ey", code=2).err


def test_a_partial_pack_can_be_completed(host: Imarena, tmp_path: Path) -> None:
    (tmp_path / "mine" / "free.png").rename(tmp_path / "kept.png")
    call = ("submission", "make", "mine", "--editor", "gamma", "--items", "bench", "--out")
    host(*call, "one.zip", "--partial")
    host("-w", "a", "submission", "add", "one.zip")
    (tmp_path / "kept.png").rename(tmp_path / "mine" / "free.png")
    host(*call, "two.zip")
    report = host("-w", "a", "--json", "submission", "add", "two.zip").json
    assert (report["new"], report["same"]) == (1, 4)
    assert "does not hold" in host("-w", "a", "submission", "add", "one.zip", code=2).err


def test_a_benchmark_that_changed_is_noticed(host: Imarena, tmp_path: Path) -> None:
    host("submission", "make", "mine", "--editor", "gamma", "--out", "g.zip", "--items", "bench")
    host("init", "c")
    with open_workspace(tmp_path / "c") as workspace:
        workspace.store.add([item_of(workspace, "free", "CC0-1.0", turns=(Turn(instruction="another one"),))])
    ended = host("-w", "c", "submission", "add", "g.zip", code=2)
    assert "other images or instructions here" in ended.err
    assert "no item of this workspace asks for it" in ended.err
    assert outputs_of(tmp_path / "c", "gamma") == []


def test_only_outputs_that_a_pack_can_hold_are_counted_as_lacking(host: Imarena, tmp_path: Path) -> None:
    with open_workspace(tmp_path / "a") as workspace:
        item_id = next(iter(workspace.store.records(Item))).item_id
        failures = [
            Output(item_id=item_id, editor="gamma", sample=number, status=Status.REFUSED, error="gone")
            for number in (1, 2)
        ]
        workspace.store.add(failures)
    host("submission", "make", "mine", "--editor", "gamma", "--out", "g.zip", "--items", "bench")
    assert (
        "has 2 failed outputs of an editor 'gamma'; nothing"
        in host("-w", "a", "submission", "add", "g.zip", code=2).err
    )
    with open_workspace(tmp_path / "a") as workspace:
        image = next(output.image for output in workspace.store.records(Output) if output.image)
        workspace.store.add([Output(item_id=item_id, editor="gamma", image=image)])
    assert (
        "has 1 output of an editor 'gamma' that the pack" in host("-w", "a", "submission", "add", "g.zip", code=2).err
    )
