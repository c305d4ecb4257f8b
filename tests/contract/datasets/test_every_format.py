"""What every reader and every writer of a format does, on small files of its own."""

from pathlib import Path

import pytest

from imarena.core.errors import UnknownName, UserError
from imarena.core.records import Item, Output, Record, Vote
from imarena.datasets.formats import READERS, WRITERS
from tests.contract.datasets.small_files import SMALL, archive
from tests.unit.datasets.intake import MemoryIntake, import_all

OTHERS = ("item_id", "left_id", "right_id", "rater_id", "reply_id", "parent_id", "supersedes")
"""Fields that name another record."""
every_reader = pytest.mark.parametrize("name", sorted(READERS))
every_writer = pytest.mark.parametrize("name", sorted(WRITERS))


def identity(record: Record) -> str:
    return str(getattr(record, f"{type(record).__name__.lower()}_id"))


@every_reader
def test_records_can_be_stored_in_the_order_in_which_they_come(name: str, tmp_path: Path) -> None:
    """None names a record that comes later, all images were stored, and their JSON is read back as the same."""
    intake = import_all(READERS.get(name), SMALL[name](tmp_path))
    records = intake.all(Record)
    assert intake.all(Item)
    assert intake.all(Output)
    places = {identity(record): place for place, record in reversed(list(enumerate(records)))}
    for place, record in enumerate(records):
        assert type(record).from_json(record.to_json()).same_fact(record)
        named = {getattr(record, field, None) for field in OTHERS} - {identity(record), None}
        assert not [other for other in named if places.get(str(other), -1) > place]
    for output in intake.all(Output):
        assert output.image is None or output.image.sha256 in intake.blobs
    assert all(skip.reason and "\n" not in str(skip) for skip in intake.skips)


@every_reader
def test_reading_again_gives_the_same_records(name: str, tmp_path: Path) -> None:
    path = SMALL[name](tmp_path)
    first, again = (import_all(READERS.get(name), path).all(Record) for _ in range(2))
    assert [identity(record) for record in first] == [identity(record) for record in again]
    assert all(one.same_fact(other) for one, other in zip(first, again, strict=True))


@every_reader
def test_files_that_were_read_are_unchanged(name: str, tmp_path: Path) -> None:
    path = SMALL[name](tmp_path)

    def bytes_of() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}

    before = bytes_of()
    import_all(READERS.get(name), path)
    assert bytes_of() == before


@every_writer
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    """Items by data set and key, and outputs by editor with their images; what has no place is told."""
    source = archive()
    left_out = list(WRITERS.get(name)(tmp_path / "out", source, {}))
    found = import_all(READERS.get(name), tmp_path / "out")
    assert [item.turns[0].instruction for item in found.all(Item)] == ["make it red"]
    wanted = {(output.editor, output.image.sha256) for output in source.all(Output) if output.image is not None}
    assert {(output.editor, output.image.sha256) for output in found.all(Output) if output.image is not None} == wanted
    assert len(found.all(Vote)) == 1 or any("vote" in str(skip) for skip in left_out)


@every_writer
def test_a_folder_with_files_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(UserError):
        list(WRITERS.get(name)(tmp_path, archive(), {}))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@every_reader
def test_every_format_can_be_read(name: str, tmp_path: Path) -> None:
    read = READERS.get(name)
    with pytest.raises(UserError, match="does not exist"):
        list(read(tmp_path / "nowhere", MemoryIntake(), {}))


@every_reader
def test_every_reader_refuses_an_option_it_does_not_know(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no option 'no_such_option'"):
        list(READERS.get(name)(tmp_path, MemoryIntake(), {"no_such_option": "1"}))


@every_writer
def test_every_writer_refuses_an_option_it_does_not_know(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no option 'no_such_option'"):
        list(WRITERS.get(name)(tmp_path / "out", MemoryIntake(), {"no_such_option": "1"}))
    assert not (tmp_path / "out").exists()


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'imagenhub'"):
        READERS.get("imagehub")
