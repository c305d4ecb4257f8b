"""A workspace of an older schema comes up, with all that it holds."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from imarena.core.records import Assignment, Item, Vote
from imarena.storage import migrate, open_workspace
from imarena.storage.database import reading
from imarena.storage.schema import leases
from tests.command import Imarena

OLD = Path(__file__).parents[1] / "fixtures" / "workspaces"


def old_workspace(version: str, to: Path) -> Path:
    """A workspace as that version of the software left it."""
    shutil.copytree(OLD / version, to)
    with sqlite3.connect(to / "arena.db") as database:
        database.executescript((to / "arena.sql").read_text(encoding="utf-8"))
    database.close()
    (to / "arena.sql").unlink()
    return to


@pytest.mark.parametrize("version", sorted(folder.name for folder in OLD.iterdir()))
def test_an_old_workspace_is_upgraded_after_a_backup(version: str, tmp_path: Path, imarena: Imarena) -> None:
    root = old_workspace(version, tmp_path / "old")
    refused = imarena("-w", root, "status", code=2)
    assert "imarena upgrade" in refused.err
    done = imarena("-w", root, "--json", "upgrade").json
    assert done["from"] == version
    assert done["to"] == migrate.newest()
    assert Path(done["backup"]).exists()
    with open_workspace(root) as workspace:
        assert migrate.drift(workspace.store.engine) == []
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
