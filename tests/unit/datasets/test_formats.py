"""Every name in the registry leads to something that reads or writes."""

from pathlib import Path

import pytest

from imarena.core.errors import UnknownName, UserError
from imarena.datasets.formats import DESCRIPTIONS, READERS, WRITERS
from tests.unit.datasets.intake import MemoryIntake


@pytest.mark.parametrize("name", sorted(DESCRIPTIONS))
def test_every_format_can_be_read(name: str, tmp_path: Path) -> None:
    read = READERS.get(name)
    with pytest.raises(UserError, match="does not exist"):
        list(read(tmp_path / "nowhere", MemoryIntake(), {}))


@pytest.mark.parametrize("name", sorted(DESCRIPTIONS))
def test_every_reader_refuses_an_option_it_does_not_know(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no option 'no_such_option'"):
        list(READERS.get(name)(tmp_path, MemoryIntake(), {"no_such_option": "1"}))


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_every_writer_refuses_an_option_it_does_not_know(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no option 'no_such_option'"):
        list(WRITERS.get(name)(tmp_path / "out", MemoryIntake(), {"no_such_option": "1"}))
    assert not (tmp_path / "out").exists()


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'imagenhub'"):
        READERS.get("imagehub")
