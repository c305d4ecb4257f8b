"""``kill -9`` in the middle of ``imarena upgrade``: the same command again finishes it, with the same outcome."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from imarena.core.ids import content_id
from imarena.storage import migrate, open_workspace
from imarena.storage.backup import backup, restore, snapshots
from imarena.storage.schema_versions import newest_version
from tests.command import Imarena, run_to_step
from tests.fixtures.old_workspaces import VERSIONS, load_sqlite, move_to_postgres, rows_of
from tests.killed import BATCH, moments
from tests.servers.postgres import new_database

OLDER = [version for version in VERSIONS if version != newest_version()]
COPIES = 10 * BATCH
"""Judgments, and a tenth as many votes: many batches for a migration that works in batches."""
SEED = 12


@dataclass(frozen=True)
class Upgrade:
    """A workspace of an older schema, and how an upgrade of it ends that nothing stops."""

    version: str
    root: Path
    before: dict[str, list[dict[str, Any]]]
    after: dict[str, list[dict[str, Any]]]
    steps: int
    backed_up: int
    """The first step after the backup: from here on the workspace is changed."""


def grown(version: str, root: Path, copies: int) -> Path:
    """A fixture with hundreds of judgments and dozens of votes more, as its software would have written them."""
    load_sqlite(version, root)
    with sqlite3.connect(root / "arena.db") as database:
        database.row_factory = sqlite3.Row
        _grow(database, "judgments", copies, _judgment)
        _grow(database, "votes", copies // 10, _vote)
    database.close()
    return root


def _grow(database: sqlite3.Connection, table: str, count: int, copy: Any) -> None:
    found = database.execute(f"SELECT * FROM {table} WHERE supersedes IS NULL ORDER BY seq")  # noqa: S608
    rows = [row for row in map(dict, found) if "origin" not in json.loads(row["body"])]
    names = ", ".join(f'"{name}"' for name in rows[0])
    values = ", ".join(f":{name}" for name in rows[0])
    changed = {"seq": None, **({"superseded": 0} if "superseded" in rows[0] else {})}  # no record names a copy
    copies = [copy({**rows[n % len(rows)], **changed}, n) for n in range(count)]
    database.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", copies)  # noqa: S608


def _judgment(row: dict[str, Any], n: int) -> dict[str, Any]:
    work = f"{row['work_id']}-{n}"
    parser = json.loads(row["body"]).get("parser_version", "")
    sides = (row["left_id"], row["right_id"], row["order"])
    return {**row, "id": content_id("judgment", work, row["attempt"], parser, *sides), "work_id": work}


def _vote(row: dict[str, Any], n: int) -> dict[str, Any]:
    key, turn = f"copy-{n}", json.loads(row["body"]).get("turn", 0)
    about = (row["item_id"], turn, row["left_id"], row["right_id"], None, False, None)
    identity = content_id("vote", row["rater_id"], None, key, *about)
    return {**row, "id": identity, "assignment_id": None, "idempotency_key": key}


def held(root: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows of a workspace, whatever its schema."""
    with open_workspace(root, check_schema=False) as workspace:
        return rows_of(workspace.store.engine)


def schema_of(root: Path) -> str | None:
    """The schema that a workspace has now."""
    with open_workspace(root, check_schema=False) as workspace:
        return migrate.current_version(workspace.store.engine)


def killed(root: Path, step: int, backups: Path) -> tuple[int, dict[str, int]]:
    """Upgrade, and end the process at a step of its database work (0: never)."""
    ended = run_to_step(step, "-w", root, "upgrade", "--backup-to", backups, folder=root.parent)
    return ended.code, {} if step else json.loads(ended.err.splitlines()[-1])


def prepared(version: str, folder: Path, url: str = "", copies: int = COPIES) -> Upgrade:
    """Grow a fixture and see how its upgrade ends."""
    root, whole = grown(version, folder / "grown", copies), folder / "whole"
    before = held(root)
    shutil.copytree(root, whole)
    if url:
        move_to_postgres(whole, version, url)
    code, told = killed(whole, 0, folder / "whole-backup")
    assert code == 0
    return Upgrade(version, root, before, held(whole), told["steps"], told["backed_up"])


def check_finished(upgrade: Upgrade, root: Path, backups: Path, imarena: Imarena, step: str) -> None:
    """After a kill: the same command ends well, with what an upgrade gives that nothing stopped."""
    done = imarena("-w", root, "--json", "upgrade", "--backup-to", backups).json
    assert done["to"] == newest_version() == schema_of(root), step
    assert held(root) == upgrade.after, step
    assert imarena("-w", root, "--json", "verify", "--deep").json["clean"] is True, step


def test_a_backup_of_a_workspace_between_two_schemas_is_of_the_older(tmp_path: Path) -> None:
    """A migration that commits as it goes and was killed leaves columns and tables that its schema does not have yet."""
    root = load_sqlite("0001", tmp_path / "old")
    before = held(root)
    with sqlite3.connect(root / "arena.db") as database:
        database.execute("ALTER TABLE leases ADD COLUMN unit TEXT NOT NULL DEFAULT ''")
        database.execute("CREATE TABLE guests (invitation_id TEXT, person TEXT, rater_id TEXT)")
        database.execute("INSERT INTO guests VALUES ('i', 'p', 'r1')")
    database.close()
    with open_workspace(root, check_schema=False) as workspace:
        made = backup(workspace, tmp_path / "backup")
    assert json.loads((made.path / "manifest.json").read_text(encoding="utf-8"))["schema"] == "0001"
    restore(made.path, tmp_path / "restored")
    assert schema_of(tmp_path / "restored") == "0001"
    assert held(tmp_path / "restored") == before


@pytest.fixture(scope="module", params=OLDER)
def upgrade(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Upgrade:
    """An older schema's workspace."""
    return prepared(request.param, tmp_path_factory.mktemp("upgrade"))


@pytest.mark.slow
def test_an_upgrade_killed_in_its_backup_has_changed_nothing(
    upgrade: Upgrade, tmp_path: Path, imarena: Imarena
) -> None:
    for step in moments(1, upgrade.backed_up - 1, 2, random.Random(SEED)):
        root, backups = tmp_path / f"step-{step}", tmp_path / f"step-{step}-backup"
        shutil.copytree(upgrade.root, root)
        assert killed(root, step, backups)[0] == -signal.SIGKILL
        assert schema_of(root) == upgrade.version
        assert held(root) == upgrade.before
        assert snapshots(backups) == [], "half a backup must not look like one"
        check_finished(upgrade, root, backups, imarena, f"killed at {step} of {upgrade.steps}")
        (made,) = snapshots(backups)
        restore(made, tmp_path / f"step-{step}-restored")
        assert held(tmp_path / f"step-{step}-restored") == upgrade.before


@pytest.mark.slow
def test_an_upgrade_killed_in_the_middle_is_finished_by_the_next(
    upgrade: Upgrade, tmp_path: Path, imarena: Imarena
) -> None:
    for step in moments(upgrade.backed_up, upgrade.steps, 3, random.Random(SEED)):
        root, backups = tmp_path / f"step-{step}", tmp_path / f"step-{step}-backup"
        shutil.copytree(upgrade.root, root)
        assert killed(root, step, backups)[0] == -signal.SIGKILL
        assert upgrade.version <= str(schema_of(root)) <= newest_version()
        (first,) = snapshots(backups)
        check_finished(upgrade, root, backups, imarena, f"killed at {step} of {upgrade.steps}")
        for n, made in enumerate(snapshots(backups)):  # also the one that was taken halfway
            copy = tmp_path / f"step-{step}-restored-{n}"
            restore(made, copy)
            if made == first:
                assert held(copy) == upgrade.before
            imarena("-w", copy, "upgrade")
            assert held(copy) == upgrade.after


@pytest.mark.slow
def test_an_upgrade_on_postgresql_killed_in_the_middle_is_finished_by_the_next(
    postgres: str, tmp_path: Path, imarena: Imarena
) -> None:
    upgrade = prepared(OLDER[1], tmp_path, new_database(postgres))
    for step in moments(upgrade.backed_up, upgrade.steps, 2, random.Random(SEED)):
        root, backups = tmp_path / f"step-{step}", tmp_path / f"step-{step}-backup"
        shutil.copytree(upgrade.root, root)
        move_to_postgres(root, upgrade.version, new_database(postgres))
        assert killed(root, step, backups)[0] == -signal.SIGKILL
        check_finished(upgrade, root, backups, imarena, f"killed at {step} of {upgrade.steps}")


@pytest.mark.slow
def test_an_upgrade_killed_at_any_time_is_finished_by_the_next(tmp_path: Path, imarena: Imarena) -> None:
    """Killed from outside, wherever it is: also while it copies pictures or the database writes."""
    upgrade = prepared(OLDER[-1], tmp_path, copies=3_000)  # enough to be killed in
    dice, stopped = random.Random(SEED), 0
    for n in range(5):
        root, backups = tmp_path / f"kill-{n}", tmp_path / f"kill-{n}-backup"
        shutil.copytree(upgrade.root, root)
        command = [sys.executable, "-m", "imarena", "-w", str(root), "upgrade", "--backup-to", str(backups)]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while running.poll() is None and not backups.exists():  # it imports what it needs until then
            time.sleep(0.001)
        time.sleep(dice.uniform(0, 0.3))
        os.kill(running.pid, signal.SIGKILL)
        stopped += running.wait() == -signal.SIGKILL
        check_finished(upgrade, root, backups, imarena, f"kill {n}")
    assert stopped
