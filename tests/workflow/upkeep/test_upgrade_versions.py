"""A workspace of every earlier schema comes up with the same records, byte for byte, and the same boards."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Ranking
from imarena.storage import migrate, open_workspace
from imarena.storage.backup import restore
from imarena.storage.schema_versions import newest_version, schema_versions
from tests.command import ROOT, Imarena
from tests.fixtures.old_workspaces import (
    FOLDER,
    VERSIONS,
    differences,
    load_sqlite,
    move_to_postgres,
    plain_board,
    rows_of,
)
from tests.servers.postgres import new_database

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database; empty for a SQLite file in the workspace."""
    return "" if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))


def old_workspace(version: str, root: Path, url: str) -> Path:
    """A workspace as that version of the software left it."""
    load_sqlite(version, root)
    if url:
        move_to_postgres(root, version, url)
    return root


def held(root: Path) -> Rows:
    """All rows of a workspace, whatever its schema."""
    with open_workspace(root, check_schema=False) as workspace:
        return rows_of(workspace.store.engine)


def as_before(before: Rows, after: Rows) -> Rows:
    """What the tables and columns of `before` hold in `after`."""
    return {
        table: [{name: row[name] for name in rows[0]} for row in after[table]] if rows else after[table]
        for table, rows in before.items()
    }


def test_every_schema_so_far_has_a_fixture() -> None:
    """The newest gets its own when a newer one is made."""
    assert set(schema_versions()[:-1]) <= set(VERSIONS) <= set(schema_versions())


@pytest.mark.slow
def test_a_fixture_of_the_newest_schema_is_one_command_away(tmp_path: Path) -> None:
    """It holds something of everything, and its boards can be made."""
    command = [sys.executable, "-m", "tests.fixtures.make_workspace", "--to", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    rows = held(load_sqlite(newest_version(), tmp_path / "made", tmp_path))
    assert [table for table, found in rows.items() if not found] == []
    assert {row["purpose"] for row in rows["assignments"]} >= {"vote", "gold", "repeat", "practice", "qualification"}
    recorded = json.loads((tmp_path / newest_version() / "boards.json").read_text(encoding="utf-8"))
    assert {"default", "people", "people by task", "pair-judge", "LPIPS"} <= recorded["boards"].keys()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_workspace_of_each_schema_keeps_its_records(version: str, url: str, tmp_path: Path, imarena: Imarena) -> None:
    root = old_workspace(version, tmp_path / "old", url)
    before = held(root)
    newest = newest_version()
    if version != newest:
        assert f"imarena -w {root} upgrade" in imarena("-w", root, "status", code=2).err
    done = imarena("-w", root, "--json", "upgrade").json
    assert (done["from"], done["to"]) == (version, newest)
    assert as_before(before, held(root)) == before
    with open_workspace(root) as workspace:
        assert migrate.schema_drift(workspace.store.engine) == []
        boards = list(workspace.store.records(Ranking))
        assert all(board.warnings for board in boards)
        assert len(boards) == len(before["rankings"])
    assert imarena("-w", root, "--json", "verify", "--deep").json["clean"] is True
    again = imarena("-w", root, "--json", "upgrade").json
    assert (again["from"], again["to"], again["backup"]) == (newest, newest, "")
    if done["backup"]:  # taken before anything was changed
        restore(Path(done["backup"]), tmp_path / "restored", url=new_database_like(url))
        assert held(tmp_path / "restored") == before


ADD_COLUMNS = r"""
import shutil, sys
from pathlib import Path
import sqlalchemy as sa
from imarena.storage import database, migrate, schema, schema_versions

folder, *files = map(Path, sys.argv[1:])
shutil.copytree(migrate.MIGRATIONS, folder)
schema_versions.MIGRATIONS = migrate.MIGRATIONS = folder
last = migrate.newest_version()
for table in schema.metadata.tables.values():
    table.append_column(sa.Column("added_later", sa.Text))
(folder / "versions" / "9999_every_table_gets_a_column.py").write_text(
    f"import sqlalchemy as sa\nfrom alembic import op\nrevision, down_revision = '9999', '{last}'\n"
    f"def upgrade():\n    for name in {sorted(schema.metadata.tables)}:\n"
    "        op.add_column(name, sa.Column('added_later', sa.Text))\n"
)
schema_versions.schema_versions.cache_clear()
for file in files:
    engine = database.connect(database.sqlite_url(file))
    migrate.upgrade(engine)
    assert migrate.current_version(engine) == "9999"
    assert migrate.schema_drift(engine) == [], migrate.schema_drift(engine)
"""


def test_a_column_can_be_added_to_any_table(tmp_path: Path) -> None:
    """A migration may add a column to any table of the newest schema: no earlier step of an upgrade reads it."""
    roots = {version: load_sqlite(version, tmp_path / version) for version in VERSIONS}
    before = {version: held(root) for version, root in roots.items()}
    files = [root / "arena.db" for root in roots.values()]
    command = [sys.executable, "-c", ADD_COLUMNS, str(tmp_path / "migrations"), *map(str, files)]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for version, root in roots.items():
        assert as_before(before[version], held(root)) == before[version]


def new_database_like(url: str) -> str:
    """Another empty database on the same server."""
    return new_database(url) if url else ""


@pytest.mark.slow  # eleven boards for each schema and database
@pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_workspace_of_each_schema_keeps_its_boards(version: str, url: str, tmp_path: Path, imarena: Imarena) -> None:
    """The boards that the code of that time gave, but for those that were changed since, each for a reason."""
    root = old_workspace(version, tmp_path / "old", url)
    imarena("-w", root, "upgrade")
    recorded = json.loads((FOLDER / version / "boards.json").read_text(encoding="utf-8"))
    wrong = {}
    for name, first in recorded["boards"].items():
        expected = recorded["changed"].get(name, first)
        ended = imarena("-w", root, "--json", "rank", *expected["arguments"], code=None)
        found = plain_board(ended.json) if ended.code == 0 else None
        if differs := differences(expected["boards"], found):
            wrong[name] = [*differs, ended.err]
    assert wrong == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_changed_board_has_a_reason_and_differs(version: str) -> None:
    recorded = json.loads((FOLDER / version / "boards.json").read_text(encoding="utf-8"))
    assert recorded["changed"].keys() <= recorded["boards"].keys()
    for name, board in recorded["changed"].items():
        assert board["why"], name
        assert differences(recorded["boards"][name]["boards"], board["boards"]), name
