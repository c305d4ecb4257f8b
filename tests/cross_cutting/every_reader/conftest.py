"""One workspace for all readers, and what they should find in it."""

from pathlib import Path

import pytest

from imarena.web.app import create_app
from tests.command import Imarena
from tests.cross_cutting.every_reader.arena import build
from tests.cross_cutting.every_reader.truth import Truth
from tests.web.people import Person, administrator, settings_of


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace. No reader changes what counts in it."""
    return build(tmp_path_factory.mktemp("readers") / "arena")


@pytest.fixture(scope="session")
def truth(arena: Path) -> Truth:
    """What counts, from the records alone."""
    return Truth(arena)


@pytest.fixture(scope="session")
def admin(arena: Path) -> Person:
    """A lead at the web application."""
    return administrator(create_app(settings_of(arena)))


@pytest.fixture
def asked(arena: Path, imarena: Imarena) -> "Asked":
    """Commands on the workspace."""
    return Asked(arena, imarena)


class Asked:
    """``asked("rank", ...)`` gives the JSON document of a command."""

    def __init__(self, root: Path, imarena: Imarena) -> None:
        self.root = root
        self.imarena = imarena

    def __call__(self, *arguments: object, code: int = 0) -> dict:  # type: ignore[type-arg]
        return self.imarena("-w", self.root, "--json", *arguments, code=code).json  # type: ignore[no-any-return]

    def text(self, *arguments: object) -> str:
        """What it prints without ``--json``."""
        return self.imarena("-w", self.root, *arguments).out
