"""Schema versions: create, check and upgrade a database."""

from typing import Any

from sqlalchemy import Connection, Engine, func, inspect, select
from sqlalchemy.exc import OperationalError

from imarena.core import Progress, UserError, command_line
from imarena.storage.database import reading, writing
from imarena.storage.schema import metadata
from imarena.storage.schema_versions import (
    MIGRATIONS,
    VERSION_TABLE,
    is_known_version,
    newest_version,
    schema_versions,
)

# Alembic is slow to import and every command opens a workspace: it is loaded only to upgrade.


def current_version(engine: Engine) -> str | None:
    """The schema version of a database; None if it is empty."""
    with reading(engine) as connection:
        if not inspect(connection).has_table(VERSION_TABLE.name):
            return None
        return connection.execute(select(VERSION_TABLE.c.version_num)).scalar()


def check_schema(engine: Engine) -> None:
    """Raise `UserError` with the next step if the database's version differs from this software's."""
    version = current_version(engine)
    if version == newest_version():
        return
    if version is None:
        raise UserError("The database is empty.", hint=f"Make a workspace with `{command_line('init')}`.")
    if not is_known_version(version):
        raise UserError(
            f"This workspace was written by a newer imarena (schema {version}; "
            f"this one knows up to {newest_version()}).",
            hint="Update imarena: pip install -U imarena",
        )
    raise UserError(
        f"This workspace has schema {version}; this imarena needs {newest_version()}.",
        hint=f"Run `{command_line('upgrade')}`: it backs up the database first.",
    )


LOCK_WAIT_S = 30
_LOCKED = "55P03"
_UPGRADING = 0x696D6172656E61
"""Number of the PostgreSQL advisory lock that is held during an upgrade."""
DERIVED = "0005"
"""The version that added derived columns: they are filled in batches before its migration, which only adds indexes."""


def upgrade(engine: Engine, to: str = "head", progress: Progress | None = None) -> None:
    """Bring a database to a schema version (default: the newest). If interrupted, it can be called again."""
    target = newest_version() if to == "head" else to
    if (current_version(engine) or "") < DERIVED <= target:
        from imarena.storage.derive import derive_columns

        _run(engine, schema_versions()[schema_versions().index(DERIVED) - 1])
        derive_columns(engine, progress)
    _run(engine, target)


def _run(engine: Engine, to: str) -> None:
    """Run the migrations up to a version, in one transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    with writing(engine, links_checked_at_end=True) as connection:
        if engine.dialect.name == "postgresql":
            _lock_out_others(connection)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, to)
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", "") != _LOCKED:
                raise
            raise UserError(
                f"The upgrade waited {LOCK_WAIT_S} seconds for processes that use the database; nothing was changed.",
                hint="Stop `serve` and the runs on this database, then run the same command again.",
            ) from error


def _lock_out_others(connection: Connection) -> None:
    """Allow one upgrade at a time. It waits a limited time for users of the tables, and they wait for it."""
    if not connection.execute(select(func.pg_try_advisory_xact_lock(_UPGRADING))).scalar():
        raise UserError(
            "Another process is upgrading this database.", hint="Run the same command again when that one has ended."
        )
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_WAIT_S}s'")


def schema_drift(engine: Engine) -> list[Any]:
    """Differences between the database and the tables in ``schema.py``; empty if the migrations are complete."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with reading(engine) as connection:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))
