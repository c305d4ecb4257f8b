"""What all tests share."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from imarena.storage import Workspace, init_workspace
from tests.command import Imarena
from tests.servers.new_databases import copy_new_databases
from tests.servers.postgres import new_database, newest_database, server
from tests.servers.s3 import server as s3_server

ROOT = Path(__file__).resolve().parents[1]
# no test is timed: a slow machine is no bug
settings.register_profile("imarena", deadline=None)
settings.load_profile("imarena")
copy_new_databases()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m 'slow and …'`` a file that does not name the mark has none of its tests, and is not even imported."""
    mark = config.getoption("markexpr").split(" ")[0]
    if mark not in ("slow", "torch", "ray", "browser", "fuzz") or not collection_path.match("test_*.py"):
        return None
    return f"mark.{mark}" not in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_finish() -> None:
    """What was imported stays: the collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public human data; it is not part of the repository, so that tests skip where it is missing."""
    named = os.environ.get("IMARENA_SHARED_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set IMARENA_SHARED_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the test session."""
    with server() as uri:
        yield uri


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3 server that lives as long as the test session."""
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture(params=["sqlite", "postgresql"])
def any_workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace on each kind of database."""
    url = ""
    if request.param == "postgresql":
        postgres = request.getfixturevalue("postgres")
        url = new_database(postgres, like=newest_database(postgres))
    with init_workspace(tmp_path / "arena", url=url) as made:
        yield made


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace on SQLite."""
    with init_workspace(tmp_path / "arena") as made:
        yield made


@pytest.fixture
def imarena(tmp_path: Path) -> Imarena:
    """Run the command line as a user does: ``imarena("-w", "x", "status")``."""
    return Imarena(tmp_path)
