"""A workspace's life, through the command line."""

import json
from pathlib import Path

from imarena.core.records import Item, Output, Turn
from imarena.storage import init_workspace, open_workspace
from tests import samples
from tests.command import Imarena


def fill(root: Path) -> str:
    with init_workspace(root) as workspace:
        source = samples.kept(workspace, 1)
        item = Item(dataset="d", key="k", turns=(Turn(instruction="x"),), sources=(source,))
        workspace.store.add([item, Output(item_id=item.item_id, editor="e", image=samples.kept(workspace, 2))])
    return source.sha256


def test_init_twice_changes_nothing(imarena: Imarena, tmp_path: Path) -> None:
    assert imarena("--json", "init", "a").json["made"] is True
    before = (tmp_path / "a" / "imarena.toml").read_text()
    assert imarena("init", "a", "--json").json["made"] is False
    assert (tmp_path / "a" / "imarena.toml").read_text() == before


def test_no_workspace_is_one_clear_message(imarena: Imarena) -> None:
    ended = imarena("-w", "nowhere", "status", code=2)
    assert "There is no workspace in" in ended.err
    assert "imarena -w nowhere init" in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_status_counts_by_stage_status_and_editor(imarena: Imarena, tmp_path: Path) -> None:
    fill(tmp_path / "a")
    found = imarena("-w", "a", "--json", "status").json
    assert found["items"] == {"d": 1}
    assert found["outputs"] == {"e": {"ok": 1}}
    assert found["images"] == 2
    assert "outputs by editor" in imarena("-w", "a", "status").out


def test_verify_names_what_is_wrong_and_fails(imarena: Imarena, tmp_path: Path) -> None:
    sha256 = fill(tmp_path / "a")
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
    (tmp_path / "a" / "blobs" / sha256[:2] / sha256[2:4] / sha256).unlink()
    ended = imarena("-w", "a", "verify", code=1)
    assert "missing_blob" in ended.out
    assert sha256 in ended.out


def test_backup_restore_withdraw_gc(imarena: Imarena, tmp_path: Path) -> None:
    sha256 = fill(tmp_path / "a")
    imarena("-w", "a", "backup", "safe")
    imarena("-w", "a", "withdraw", "image", sha256, "--reason", "asked")
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
    imarena("-w", "b", "restore", "safe")
    with open_workspace(tmp_path / "b") as copy:
        assert copy.blobs.size(sha256) is not None
    assert "Would remove" in imarena("-w", "a", "gc").out
    assert "there is no rater" in imarena("-w", "a", "withdraw", "rater", "x", code=2).err.lower()


def test_a_newer_schema_is_refused_and_an_upgrade_says_so(imarena: Imarena, tmp_path: Path) -> None:
    import sqlite3

    fill(tmp_path / "a")
    assert "newest schema" in imarena("-w", "a", "upgrade").out
    with sqlite3.connect(tmp_path / "a" / "arena.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for command in ("status", "upgrade"):
        ended = imarena("-w", "a", command, code=2)
        assert "newer imarena" in ended.err
        assert "Traceback" not in ended.err


def test_a_wrong_settings_file_names_the_key(imarena: Imarena, tmp_path: Path) -> None:
    fill(tmp_path / "a")
    (tmp_path / "a" / "imarena.toml").write_text('nme = "x"\n')
    ended = imarena("-w", "a", "status", code=2)
    assert "nme" in ended.err
    assert "Did you mean 'name'?" in ended.err


def test_json_is_one_document_and_nothing_else(imarena: Imarena, tmp_path: Path) -> None:
    fill(tmp_path / "a")
    for command in (["status"], ["verify"], ["doctor"], ["gc"], ["import", "--list"]):
        json.loads(imarena("-w", "a", "--json", *command).out)
