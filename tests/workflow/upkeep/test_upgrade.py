"""A workspace of an older schema comes up, with all that it holds."""

import shutil
import sqlite3
from pathlib import Path

from imarena.core.records import Assignment, Item, Vote
from imarena.storage import migrate, open_workspace
from imarena.storage.database import reading
from imarena.storage.schema import leases
from imarena.storage.schema_versions import newest_version
from imarena.workflows.upkeep import upgrade_workspace
from tests.command import Imarena
from tests.fixtures.old_workspaces import load_sqlite


def test_an_old_workspace_is_upgraded_after_a_backup(tmp_path: Path, imarena: Imarena) -> None:
    """The first schema, whose leases did not say what they are for."""
    version = "0001"
    root = load_sqlite(version, tmp_path / "old")
    refused = imarena("-w", root, "status", code=2)
    assert f"imarena -w {root} upgrade" in refused.err
    done = imarena("-w", root, "--json", "upgrade").json
    assert done["from"] == version
    assert done["to"] == newest_version()
    assert Path(done["backup"]).exists()
    with open_workspace(root) as workspace:
        assert migrate.schema_drift(workspace.store.engine) == []
        assert workspace.store.count(Item) == {(): 2}
        (vote,) = workspace.store.records(Vote)
        (assignment,) = workspace.store.records(Assignment)
        assert vote.assignment_id == assignment.assignment_id
        with reading(workspace.store.engine) as connection:
            (lease,) = connection.execute(leases.select()).mappings()
        assert (lease["unit"], lease["purpose"], lease["state"]) == ("u1", "vote", "done")
    assert imarena("-w", root, "--json", "verify", "--deep").json
    again = imarena("-w", root, "--json", "upgrade").json
    assert again["from"] == again["to"]


def test_the_backup_of_an_upgrade_holds_no_images_and_can_be_restored(tmp_path: Path, imarena: Imarena) -> None:
    """Migrations do not change images; if they are gone at the restore, it says so."""
    root = load_sqlite("0001", tmp_path / "old")
    ended = imarena("-w", root, "upgrade", "--backup-to", tmp_path / "safe")
    assert "The backup of the database is in" in " ".join(ended.out.split())
    assert not (tmp_path / "safe" / "blobs").exists()
    imarena("-w", tmp_path / "back", "restore", tmp_path / "safe")
    imarena("-w", tmp_path / "back", "upgrade", "--no-backup")
    assert imarena("-w", tmp_path / "back", "--json", "verify", "--deep").json["clean"]
    shutil.rmtree(root)
    lacking = imarena("-w", tmp_path / "again", "restore", tmp_path / "safe", code=3)
    assert "This backup holds the database only" in " ".join(lacking.out.split())
    assert str(root / "blobs") in "".join(lacking.out.split("\n"))


def test_an_upgrade_can_leave_the_backup_out(tmp_path: Path, imarena: Imarena) -> None:
    root = load_sqlite("0001", tmp_path / "old")
    both = imarena("-w", root, "upgrade", "--no-backup", "--backup-to", tmp_path / "safe", code=2)
    assert "contradict" in both.err
    done = imarena("-w", root, "--json", "upgrade", "--no-backup").json
    assert (done["to"], done["backup"]) == (newest_version(), "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]


def test_the_backup_of_an_upgrade_shows_its_progress(tmp_path: Path) -> None:
    root = load_sqlite("0001", tmp_path / "old")
    stages: list[tuple[str, int, int | None]] = []
    upgrade_workspace(root, progress=lambda *told: stages.append(told))
    records = [told for told in stages if told[0] == "records"]
    assert records
    assert all(total is not None and 0 < done <= total for _, done, total in records)


def test_an_upgrade_names_the_damaged_record(tmp_path: Path, imarena: Imarena) -> None:
    """A body that is not JSON stops the upgrade; nothing of the record is changed, and the next upgrade says the same."""
    root = load_sqlite("0004", tmp_path / "old")
    with sqlite3.connect(root / "arena.db") as database:
        ((identity, body),) = database.execute(
            "SELECT id, body FROM judgments ORDER BY seq LIMIT 1 OFFSET 3"
        ).fetchall()
        database.execute("UPDATE judgments SET body = '{broken' WHERE id = ?", (identity,))
    for number in range(2):
        ended = imarena("-w", root, "upgrade", "--backup-to", tmp_path / f"backup-{number}", code=None)
        assert ended.code != 0
        assert f"The record {identity} of judgments is damaged" in " ".join(ended.err.split())
        assert "Traceback" not in ended.err
    with sqlite3.connect(root / "arena.db") as database:
        database.execute("UPDATE judgments SET body = ? WHERE id = ?", (body, identity))
    done = imarena("-w", root, "--json", "upgrade", "--backup-to", tmp_path / "last").json
    assert done["to"] == newest_version()
    assert imarena("-w", root, "--json", "verify", "--deep").json["clean"]
