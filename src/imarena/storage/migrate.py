"""Schema versions: make, check and upgrade a database."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from imarena.core.errors import UserError
from imarena.storage.database import reading, writing
from imarena.storage.schema import metadata


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def newest() -> str:
    """The schema version that this software writes."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise UserError("This installation has no schema.", hint="Install imarena again.")
    return head


def current(engine: Engine) -> str | None:
    """The schema version of a database; None where it is empty."""
    with reading(engine) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def known(revision: str) -> bool:
    """Is this a version that this software can read or upgrade?"""
    return any(script.revision == revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


def check(engine: Engine) -> None:
    """Raise `UserError` where the database's version is not ours, with what to do."""
    found = current(engine)
    if found == newest():
        return
    if found is None:
        raise UserError("The database is empty.", hint="Make a workspace with 'imarena init'.")
    if not known(found):
        raise UserError(
            f"This workspace was written by a newer imarena (schema {found}; this one knows up to {newest()}).",
            hint="Update imarena: pip install -U imarena",
        )
    raise UserError(
        f"This workspace has schema {found}; this imarena needs {newest()}.",
        hint="Run 'imarena upgrade': it makes a backup first.",
    )


def upgrade(engine: Engine, to: str = "head") -> None:
    """Bring a database to a schema version (the newest by default), in one transaction."""
    config = _config()
    with writing(engine, links_checked_at_end=True) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def drift(engine: Engine) -> list[Any]:
    """Differences between the database and the tables in ``schema.py``; empty where the migrations tell the truth."""
    with reading(engine) as connection:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))
