"""``imarena publish``: what is in the folder, what is not, and that it can be read back."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from imarena.core.records import Item, Judgment, Output, Rater, Turn, Vote
from imarena.storage import init_workspace, open_workspace
from tests.command import Imarena
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.services import Stage
from tests.workflow.publishing.published import (
    LOCAL,
    SECRETS,
    everything_in,
    item_of,
    make_benchmark,
    picture,
    rows_of,
)


@pytest.fixture
def benchmark(imarena: Imarena, tmp_path: Path) -> Imarena:
    make_benchmark(tmp_path / "a")
    return imarena


def test_items_only_is_the_default(benchmark: Imarena, tmp_path: Path) -> None:
    report = benchmark("-w", "a", "--json", "publish", "out").json
    assert report["counts"] == {"item": 6}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "README.md", "SHA256SUMS", "manifest.json", "images", "item.parquet",
    }  # fmt: skip
    benchmark("-w", "a", "publish", "out2", "--items-only")
    assert rows_of(tmp_path / "out2", "item") == rows_of(tmp_path / "out", "item")
    assert "exclude each other" in benchmark("-w", "a", "publish", "x", "--items-only", "--all", code=2).err


def test_pictures_without_a_redistributable_licence_are_left_out_and_counted(
    benchmark: Imarena, tmp_path: Path
) -> None:
    report = benchmark("-w", "a", "--json", "publish", "out", "--all").json
    rows = {row["key"]: row for row in rows_of(tmp_path / "out", "item")}
    assert {key for key, row in rows.items() if row["source"] is not None} == {"free", "zero", "whole", "long"}
    outputs = {row["key"] for row in rows_of(tmp_path / "out", "output") if row["picture"] is not None}
    assert outputs == {"free", "zero"}, "an output follows its source; no derivatives may be shared of 'whole'"
    assert report["images_left_out"] == {
        "no licence is stated": 3,
        "the licence does not permit redistribution, or is unknown": 3,
        "the licence does not permit sharing outputs made from the image": 2,
    }
    assert report["images"] == 8
    assert len(rows) == 6, "the items stay, with the hashes of their pictures"
    with open_workspace(tmp_path / "a") as workspace:
        sources = {item.key: item.sources[0].sha256 for item in workspace.store.records(Item)}
        bytes_of = {key: workspace.blobs.get(sha) for key, sha in sources.items()}
    assert json.loads(rows["closed"]["absent"]) == [f"sha256:{sources['closed']}"]
    written = everything_in(tmp_path / "out")
    assert bytes_of["free"].decode("latin-1") in written
    assert bytes_of["closed"].decode("latin-1") not in written
    assert "3 images" in (tmp_path / "out" / "README.md").read_text()


def test_a_licence_can_be_stated_for_own_items(benchmark: Imarena, tmp_path: Path) -> None:
    report = benchmark("-w", "a", "--json", "publish", "out", "--licence", "cc-by-4.0").json
    rows = {row["key"]: row for row in rows_of(tmp_path / "out", "item")}
    assert rows["silent"]["source"] is not None
    assert rows["silent"]["licence"] == "CC-BY-4.0"
    assert rows["closed"]["source"] is None, "what an item states itself is never overruled"
    assert list(report["images_left_out"].values()) == [1]
    ended = benchmark("-w", "a", "publish", "x", "--licence", "mine", code=2)
    assert "'mine' is not a licence" in ended.err
    assert "CC-BY-4.0" in ended.err
    assert not (tmp_path / "x").exists()


def test_nothing_about_raters_is_in_any_byte(benchmark: Imarena, tmp_path: Path) -> None:
    benchmark("-w", "a", "publish", "out", "--all")
    written = everything_in(tmp_path / "out")
    assert [secret for secret in (*SECRETS, "Alice", "rater-bob-id", "bob@example") if secret in written] == []
    votes = rows_of(tmp_path / "out", "vote")
    assert len(votes) == 2
    assert all(row["comment"] == "" and row["origin"] == "null" and row["assignment_id"] is None for row in votes)
    assert json.loads(votes[0]["issues"])[1]["label"] == "objects", "tags of the form are not a rater's words"
    assert {row["rater_id"] for row in votes} == {row["rater_id"] for row in rows_of(tmp_path / "out", "rater")}


def test_pseudonyms_are_fresh_and_cannot_be_computed(benchmark: Imarena, tmp_path: Path) -> None:
    pseudonyms = []
    for name in ("one", "two"):
        benchmark("-w", "a", "publish", name, "--all")
        pseudonyms.append({row["rater_id"] for row in rows_of(tmp_path / name, "rater")})
    assert len(pseudonyms[0]) == len(pseudonyms[1]) == 2
    assert not pseudonyms[0] & pseudonyms[1]
    for kind in ("md5", "sha1", "sha256"):
        digest = hashlib.new(kind, b"rater-alice-id").hexdigest()
        assert not any(name.removeprefix("rater-") in digest for name in pseudonyms[0] | pseudonyms[1])


def test_comments_are_published_only_when_asked_for(benchmark: Imarena, tmp_path: Path) -> None:
    benchmark("-w", "a", "publish", "out", "--all", "--with-comments")
    votes = rows_of(tmp_path / "out", "vote")
    assert {row["comment"] for row in votes} == {"my cat died, write to [e-mail removed]"}
    assert json.loads(votes[0]["issues"])[0]["label"] == "blurry corner"
    written = everything_in(tmp_path / "out")
    assert "alice@example.org" not in written
    assert "rater-alice-id" not in written
    assert "--all" in benchmark("-w", "a", "publish", "x", "--with-comments", code=2).err


def test_votes_that_do_not_count_are_left_out_and_counted(benchmark: Imarena, tmp_path: Path) -> None:
    report = benchmark("-w", "a", "--json", "publish", "out", "--all").json
    assert report["votes_left_out"] == {"gold": 1, "practice": 1}
    assert report["counts"]["vote"] == 2
    assert "gold" in (tmp_path / "out" / "README.md").read_text()


def test_no_local_path_command_or_key_is_written(benchmark: Imarena, tmp_path: Path) -> None:
    benchmark("-w", "a", "publish", "out", "--all")
    written = everything_in(tmp_path / "out")
    assert [
        local for local in (*LOCAL, str(tmp_path), "safetensors", "My Models", "Some Folder") if local in written
    ] == []
    outputs = rows_of(tmp_path / "out", "output")
    params = json.loads(outputs[0]["params"])
    assert params == {"steps": 20, "url": "[address removed]", "weights": "[path removed]"}
    assert [row["error"] for row in outputs if row["error"]] == ["FileNotFoundError: [path removed]"]
    provenance = json.loads(rows_of(tmp_path / "out", "item")[0]["provenance"])
    assert provenance == {"url": "https://example.org/p/1", "file": "[path removed]"}


def test_the_folder_comes_back_as_it_was(benchmark: Imarena, tmp_path: Path) -> None:
    benchmark("-w", "a", "publish", "out", "--all", "--licence", "CC0-1.0")
    benchmark("init", "b")
    benchmark("-w", "b", "import", "native_parquet", "out")
    again = benchmark("-w", "b", "--json", "import", "native_parquet", "out").json
    assert not any(again["new"].values()), "twice is the same as once"
    assert benchmark("-w", "b", "--json", "verify", "--deep").json["clean"]
    with open_workspace(tmp_path / "a") as here, open_workspace(tmp_path / "b") as there:
        theirs = {item.key: item for item in there.store.records(Item)}
        for item in here.store.records(Item):
            if item.key != "closed":
                assert theirs[item.key].item_id == item.item_id
                assert there.load(theirs[item.key].sources[0]) == here.load(item.sources[0])
        assert there.store.count(Output) == here.store.count(Output)
        assert there.store.count(Judgment) == here.store.count(Judgment)
        assert there.store.count(Vote) == {(): 2}
        assert {rater.name for rater in there.store.records(Rater)} == {""}
    boards = [benchmark("-w", name, "--json", "rank", "--judge", "looker").json["models"] for name in "ab"]
    assert boards[0] == boards[1]
    boards = [benchmark("-w", name, "--json", "rank").json["models"] for name in "ab"]
    assert boards[0] == boards[1]


@pytest.mark.torch  # in its environment is the library
def test_the_datasets_library_shows_the_images(benchmark: Imarena, tmp_path: Path) -> None:
    """As publish.md has it, from the folder in place of the hub; then the other table with images."""
    pytest.importorskip("datasets", reason="the `datasets` library is not installed")
    benchmark("-w", "a", "publish", "out", "--all")
    here = {'"you/cups"': repr(str(tmp_path / "out")), 'split="train"': f"split='train', cache_dir='{tmp_path}/cache'"}
    stage = Stage(tmp_path, here)
    blocks = blocks_of("publish.md", __file__)
    stage.run(blocks)
    assert stage.names["items"][0]["source"].size == (24, 16)
    assert stage.names["items"][0]["instruction"]
    stage.replaced = {**here, '"items"': '"outputs"', '["source"], items[0]["instruction"]': '["picture"]'}
    stage.run(blocks)
    assert stage.names["items"][0]["picture"].size == (24, 16)


def test_checksums_find_every_change(benchmark: Imarena, tmp_path: Path) -> None:
    benchmark("-w", "a", "publish", "out")
    out = tmp_path / "out"
    assert benchmark("publish", "out", "--check").out.strip() == "All 5 files are as they were published."
    subprocess.run(["sha256sum", "--strict", "--quiet", "-c", "SHA256SUMS"], cwd=out, check=True)
    data = bytearray((out / "item.parquet").read_bytes())
    data[100] ^= 1
    (out / "item.parquet").write_bytes(data)
    (out / "manifest.json").unlink()
    (out / "more.txt").write_text("x")
    (out / "README.md").unlink()
    os.mkfifo(out / "README.md")
    report = benchmark("--json", "publish", "out", "--check", code=1).json
    assert (report["changed"], report["missing"], report["extra"]) == (
        ["README.md", "item.parquet"],
        ["manifest.json"],
        ["more.txt"],
    )
    (out / "SHA256SUMS").write_text(f"{'0' * 64}  ../../etc/passwd\n")
    assert "not a checksum of a file in this folder" in benchmark("publish", "out", "--check", code=2).err
    assert "no SHA256SUMS" in benchmark("publish", "a", "--check", code=2).err


def test_the_card_is_a_hugging_face_card(benchmark: Imarena, tmp_path: Path) -> None:
    benchmark("-w", "a", "publish", "out", "--all", "--name", "My bench")
    text = (tmp_path / "out" / "README.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["pretty_name"] == "My bench"
    assert front["license"] == ["cc-by-4.0", "cc-by-nd-4.0", "cc0-1.0", "other"]
    assert {config["config_name"]: config["data_files"] for config in front["configs"]}["items"] == "item.parquet"
    assert all((tmp_path / "out" / config["data_files"]).is_file() for config in front["configs"])
    assert "| recolour | 6 |" in text
    assert "| CC-BY-4.0 | 1 |" in text
    assert "![example](images/example-1.jpg)" in text
    assert (tmp_path / "out" / "images" / "example-1.jpg").read_bytes()[:2] == b"\xff\xd8"


def test_one_data_set_of_several(benchmark: Imarena, tmp_path: Path) -> None:
    with open_workspace(tmp_path / "a") as workspace:
        workspace.store.add([item_of(workspace, "else", "CC0-1.0", dataset="other")])
    report = benchmark("-w", "a", "--json", "publish", "out", "--all", "--dataset", "other").json
    assert report["counts"] == {"item": 1}
    assert report["votes_left_out"] == {}
    assert "Did you mean 'other'" in benchmark("-w", "a", "publish", "x", "--dataset", "othr", code=2).err


def test_a_picture_that_is_gone_is_reported(benchmark: Imarena, tmp_path: Path) -> None:
    with open_workspace(tmp_path / "a") as workspace:
        lost = picture(workspace, "source free").sha256
    benchmark("-w", "a", "withdraw", "image", lost, "--reason", "asked")
    report = benchmark("-w", "a", "--json", "publish", "out", code=3).json
    assert report["images_left_out"]["the image is no longer in the workspace"] == 1


def test_a_changed_publication_is_not_imported(benchmark: Imarena, tmp_path: Path) -> None:
    benchmark("-w", "a", "publish", "out")
    benchmark("init", "b")
    benchmark("-w", "b", "import", "native_parquet", "out")
    with (tmp_path / "out" / "manifest.json").open("a") as file:
        file.write("\n")
    (tmp_path / "out" / "vote.parquet").write_bytes(b"")
    ended = benchmark("-w", "b", "import", "native_parquet", "out", code=2)
    assert "'manifest.json' (changed), 'vote.parquet' (added)" in " ".join(ended.err.split())


def test_items_without_their_images_are_named(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add([item_of(workspace, f"cup-{number:02}", None) for number in range(12)])
    report = imarena("-w", "a", "--json", "publish", "out").json
    assert sorted(report["withheld_items"]) == [f"cup-{number:02}" for number in range(12)]
    assert report["usable_items"] == 0
    text = " ".join(imarena("-w", "a", "publish", "again").out.split())
    assert "items without their images: 'cup-" in text
    assert "and 2 more (--json lists all)" in text
    assert "nobody can take part" in text
    assert "nobody" not in imarena("-w", "a", "publish", "shared", "--licence", "CC0-1.0").out


def test_the_card_states_no_language_that_nobody_stated(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add([item_of(workspace, "cup", None), item_of(workspace, "hat", None)])
        imarena("-w", "a", "publish", "plain")
        turns = (Turn(instruction="\u628a\u676f\u5b50\u53d8\u7ea2"),)
        workspace.store.add([item_of(workspace, "red", None, turns=turns)])
    imarena("-w", "a", "publish", "mixed")
    cards = {name: (tmp_path / name / "README.md").read_text() for name in ("plain", "mixed")}
    assert yaml.safe_load(cards["plain"].split("---\n")[1])["language"] == ["en"]
    assert "language" not in yaml.safe_load(cards["mixed"].split("---\n")[1])
    assert "By language" not in cards["mixed"]
