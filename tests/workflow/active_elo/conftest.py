"""What the tests of `imarena route` share."""

from pathlib import Path

import pytest

from imarena.storage import init_workspace
from tests.workflow.active_elo.routed_arena import fill


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace)
    return tmp_path / "arena"
