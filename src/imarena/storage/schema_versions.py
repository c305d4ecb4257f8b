"""Schema version numbers: those that this software knows, and the one of a database."""

from functools import cache
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, Table, Text, select

from imarena.core import UserError

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE = Table("alembic_version", MetaData(), Column("version_num", Text))


@cache
def schema_versions() -> tuple[str, ...]:
    """All schema versions, oldest first: the number prefixes of the migration files."""
    return tuple(sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py")))


def newest_version() -> str:
    """The schema version that this software writes."""
    if not schema_versions():
        raise UserError("This installation has no schema.", hint="Install imarena again.")
    return schema_versions()[-1]


def is_known_version(revision: str) -> bool:
    """Is this a version that this software can read or upgrade?"""
    return revision in schema_versions()


def check_not_newer(connection: Connection) -> None:
    """Raise `UserError` if another process has upgraded the database beyond what this software knows."""
    version = connection.execute(select(VERSION_TABLE.c.version_num)).scalar()
    if version is not None and version > newest_version() and not is_known_version(version):
        raise UserError(
            f"This workspace was upgraded to schema {version} while this process was running; it knows up to "
            f"{newest_version()}. Nothing was written.",
            hint="Stop it, update imarena on this machine (pip install -U imarena), and run the same command again.",
        )
