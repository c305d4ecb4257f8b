"""Curation without the weights that this user may have installed: a text embedding finds more images."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_installed_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path / "no-weights"))
