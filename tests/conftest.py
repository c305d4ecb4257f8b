"""What all tests share."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public human data; it is not part of the repository, so that tests skip where it is missing."""
    named = os.environ.get("IMARENA_SHARED_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set IMARENA_SHARED_DATA to its folder")
    return folder
