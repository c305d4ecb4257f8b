"""A workspace of an older schema comes up, with all that it holds."""

import sqlite3
from pathlib import Path

from imarena.core.records import Assignment, Item, Vote
from imarena.storage import migrate, open_workspace
from imarena.storage.database import reading
from imarena.storage.schema import leases
from tests.command import Imarena
from tests.fixtures.old_workspaces import load_sqlite


def test_an_old_workspace_is_upgraded_after_a_backup(tmp_path: Path, imarena: Imarena) -> None:
    """The first schema, whose leases did not say what they are for."""
    version = "0001"
    root = load_sqlite(version, tmp_path / "old")
    refused = imarena("-w", root, "status", code=2)
    assert "imarena upgrade" in refused.err
    done = imarena("-w", root, "--json", "upgrade").json
    assert done["from"] == version
    assert done["to"] == migrate.newest_version()
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
    assert done["to"] == migrate.newest_version()
    assert imarena("-w", root, "--json", "verify", "--deep").json["clean"]
