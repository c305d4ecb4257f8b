"""Upgrades while others are at work: one at a time, a clear message to those who are too old."""

import pytest
from sqlalchemy import text

from imarena.core.errors import UserError
from imarena.core.records import Item
from imarena.storage import Workspace, migrate
from imarena.storage.database import connect, writing
from imarena.storage.schema_versions import newest_version
from tests import samples
from tests.servers.postgres import new_database


def test_a_process_that_is_too_old_is_told(any_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    any_workspace.store.add([samples.item("one")])
    with writing(any_workspace.store.engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    monkeypatch.setattr("imarena.storage.store.CHECK_S", 0.0)
    with pytest.raises(UserError, match="upgraded to schema 9999 while this process was running") as refused:
        any_workspace.store.add([samples.item("two")])
    assert "pip install -U imarena" in refused.value.hint
    assert len(list(any_workspace.store.records(Item))) == 1


def test_two_upgrades_at_once(postgres: str) -> None:
    engine, other = connect(new_database(postgres)), connect(new_database(postgres))
    migrate.upgrade(engine, "0006")
    with writing(engine) as connection:
        migrate._lock_out_others(connection)
        with pytest.raises(UserError, match="Another process is upgrading this database"):
            migrate._run(engine, "0007")
        migrate.upgrade(other)  # locks are of one database
    migrate._run(engine, "0007")
    assert migrate.current_version(engine) == "0007"


def test_an_upgrade_does_not_wait_for_ever(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "LOCK_WAIT_S", 1)
    engine = connect(new_database(postgres))
    migrate.upgrade(engine, "0006")
    with writing(engine) as reader:
        reader.execute(text("LOCK TABLE leases IN ACCESS SHARE MODE"))
        with pytest.raises(UserError, match="waited 1 seconds"):
            migrate.upgrade(engine)
    assert migrate.current_version(engine) == "0006"
    migrate.upgrade(engine)
    assert migrate.current_version(engine) == newest_version()
