"""The three native formats give every record back as it was, and tell what was changed on the way."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.protocols import ReadFormat, WriteFormat
from imarena.core.records import ImageRef, Item, Output, Rater, Record, Tombstone, Turn, Vote
from imarena.datasets.native import folder as native
from imarena.datasets.native import jsonl as native_jsonl
from imarena.datasets.native import parquet as native_parquet
from imarena.datasets.native.records import KINDS, blob_path
from tests.unit.datasets.any_record import IMAGES, PICTURES, any_record, records_of
from tests.unit.datasets.intake import MemoryIntake

FORMATS: dict[str, tuple[ReadFormat, WriteFormat, dict[str, str]]] = {
    "native": (native.read, native.write, {}),
    "native_jsonl": (native_jsonl.read, native_jsonl.write, {}),
    "native_jsonl beside": (native_jsonl.read, native_jsonl.write, {"images": "beside"}),
    "native_parquet": (native_parquet.read, native_parquet.write, {}),
    "native_parquet beside": (native_parquet.read, native_parquet.write, {"images": "beside"}),
}
every_format = pytest.mark.parametrize("name", sorted(FORMATS))


def memory(*records: Record) -> MemoryIntake:
    intake = MemoryIntake()
    intake.blobs = dict(PICTURES.blobs)
    intake.taken = list(records)
    return intake


def export(name: str, directory: Path, archive: MemoryIntake) -> list[str]:
    _, write, options = FORMATS[name]
    return [str(skip) for skip in write(directory, archive, options)]


def bring_back(name: str, directory: Path) -> MemoryIntake:
    intake = MemoryIntake()
    return intake.take(FORMATS[name][0](directory, intake, {}))


@pytest.fixture
def small() -> MemoryIntake:
    item = Item(
        dataset="d", key="k", turns=(Turn(instruction="make it red", masks=(IMAGES[1],)),), sources=(IMAGES[0],)
    )
    output = Output(item_id=item.item_id, editor="../../x", image=IMAGES[2])
    rater = Rater(rater_id="r")
    vote = Vote(rater_id="r", item_id=item.item_id, left_id=output.output_id, ratings={"SC": 0.5}, scale=(0, 1))
    return memory(rater, item, output, vote)


@every_format
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(any_record, max_size=8))
def test_any_records_come_back_exactly(name: str, records: list[Record]) -> None:
    archive = memory(*records)
    with TemporaryDirectory() as directory:
        assert export(name, Path(directory) / "out", archive) == []
        back = bring_back(name, Path(directory) / "out")
    assert back.skips == []
    for model in KINDS.values():
        assert back.all(model) == archive.all(model)
        assert [record.created_at for record in back.all(model)] == [r.created_at for r in archive.all(model)]


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_each_kind_survives_parquet_columns(kind: str, data: st.DataObject) -> None:
    record = data.draw(records_of(kind))
    with TemporaryDirectory() as directory:
        export("native_parquet", Path(directory) / "out", memory(record))
        assert bring_back("native_parquet", Path(directory) / "out").taken == [record]


@every_format
def test_two_exports_are_the_same_bytes(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    for directory in ("one", "two"):
        export(name, tmp_path / directory, small)
    first, second = (
        {path.relative_to(tmp_path / d): path.read_bytes() for path in (tmp_path / d).rglob("*") if path.is_file()}
        for d in ("one", "two")
    )
    assert first == second


@every_format
def test_an_export_needs_an_empty_folder(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not an empty folder"):
        export(name, tmp_path, small)


@every_format
def test_unknown_options_are_refused(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    read, write, _ = FORMATS[name]
    with pytest.raises(UserError, match="no option 'colour'"):
        list(write(tmp_path / "out", small, {"colour": "red"}))
    export(name, tmp_path / "out", small)
    with pytest.raises(UserError, match="no option 'colour'"):
        list(read(tmp_path / "out", MemoryIntake(), {"colour": "red"}))


@every_format
def test_a_missing_picture_is_told_and_its_records_stay_out(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    del small.blobs[IMAGES[2].sha256]
    told = export(name, tmp_path / "out", small)
    assert len(told) == 1
    assert "not in the workspace" in told[0]
    back = bring_back(name, tmp_path / "out")
    assert [type(record).__name__ for record in back.taken if not hasattr(record, "reason")] == [
        "Rater",
        "Item",
        "Vote",
    ]
    assert len(back.skips) == 1
    assert IMAGES[2].sha256[:12] in str(back.skips[0])


@every_format
def test_a_withdrawn_picture_keeps_its_record_and_tombstone(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    del small.blobs[IMAGES[2].sha256]
    small.taken.append(Tombstone(subject=IMAGES[2].sha256, kind="image", reason="asked for"))
    export(name, tmp_path / "out", small)
    back = bring_back(name, tmp_path / "out")
    assert back.skips == []
    assert [output.image for output in back.all(Output)] == [IMAGES[2]]


@pytest.mark.parametrize("name", ["native", "native_jsonl beside", "native_parquet beside"])
def test_a_changed_picture_is_told(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    export(name, tmp_path / "out", small)
    (tmp_path / "out" / blob_path(IMAGES[2].sha256)).write_bytes(PICTURES.blobs[IMAGES[3].sha256])
    back = bring_back(name, tmp_path / "out")
    assert back.all(Output) == []
    assert "do not match their hash" in str(back.skips[0])
    assert len(back.all(Item)) == 1


@pytest.mark.parametrize("name", ["native", "native_jsonl beside", "native_parquet beside"])
def test_a_truncated_picture_is_told(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    export(name, tmp_path / "out", small)
    blob = tmp_path / "out" / blob_path(IMAGES[2].sha256)
    blob.write_bytes(blob.read_bytes()[:40])
    back = bring_back(name, tmp_path / "out")
    assert len(back.skips) == 1
    assert "not a picture" in str(back.skips[0])


@pytest.mark.parametrize("name", ["native", "native_jsonl beside"])
def test_a_link_out_of_the_folder_is_not_followed(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    export(name, tmp_path / "out", small)
    blob = tmp_path / "out" / blob_path(IMAGES[2].sha256)
    (tmp_path / "secret").write_bytes(blob.read_bytes())
    blob.unlink()
    blob.symlink_to(tmp_path / "secret")
    back = bring_back(name, tmp_path / "out")
    assert back.all(Output) == []
    assert "out of the folder" in str(back.skips[0])


def _lines(path: Path) -> Iterator[dict[str, object]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@pytest.mark.parametrize(("name", "file"), [("native", "records/vote.jsonl"), ("native_jsonl", "records.jsonl")])
def test_bad_lines_are_named_and_the_good_ones_stay(name: str, file: str, tmp_path: Path, small: MemoryIntake) -> None:
    export(name, tmp_path / "out", small)
    path = tmp_path / "out" / file
    good = path.read_text(encoding="utf-8")
    vote = next(line for line in _lines(path) if line["kind"] == "vote")
    record = vote["record"]
    assert isinstance(record, dict)
    bad = [
        json.dumps({**vote, "kind": "opinion"}),
        json.dumps({**vote, "record": {**record, "rater_id": "another"}}),
        json.dumps({"kind": "vote", "record": {**record, "ratings": {"SC": 41}}}),
        json.dumps({"kind": "vote", "record": {**record, "preference": "first"}}),
        "[1, 2]",
        "{",
    ]
    path.write_text(good + "\n".join(bad) + "\n", encoding="utf-8")
    back = bring_back(name, tmp_path / "out")
    assert len(back.all(Vote)) == 1
    start = len(good.splitlines())
    told = [str(skip) for skip in back.skips if skip.row]
    assert [f"line {start + 1 + i}" in line for i, line in enumerate(told)] == [True] * 6
    for reason, line in zip(
        ("opinion", "does not match its id", "outside the scale", "preference"), told, strict=False
    ):
        assert reason in line


def test_a_folder_without_its_manifest_was_not_finished(tmp_path: Path, small: MemoryIntake) -> None:
    export("native", tmp_path / "out", small)
    (tmp_path / "out" / "manifest.json").unlink()
    with pytest.raises(UserError, match="did not run to its end"):
        bring_back("native", tmp_path / "out")


@pytest.mark.parametrize(
    ("manifest", "complaint"),
    [("", "empty"), ("{}", "format"), ('{"format": "imarena", "version": 99}', "version 99"), ("[", "not JSON")],
)
def test_a_manifest_that_cannot_be_used_is_refused(tmp_path: Path, manifest: str, complaint: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    for read in (native.read, native_parquet.read):
        with pytest.raises(UserError, match=complaint):
            list(read(tmp_path, MemoryIntake(), {}))


@pytest.mark.parametrize("name", ["native", "native_parquet"])
def test_a_lost_file_is_told(name: str, tmp_path: Path, small: MemoryIntake) -> None:
    export(name, tmp_path / "out", small)
    lost = tmp_path / "out" / ("records/vote.jsonl" if name == "native" else "vote.parquet")
    lost.unlink()
    told = [str(skip) for skip in bring_back(name, tmp_path / "out").skips]
    assert told
    assert "vote" in told[0]
    assert "counts 1 record" in told[0]


def test_a_damaged_parquet_file_is_told(tmp_path: Path, small: MemoryIntake) -> None:
    export("native_parquet", tmp_path / "out", small)
    (tmp_path / "out" / "vote.parquet").write_bytes(b"not parquet")
    back = bring_back("native_parquet", tmp_path / "out")
    assert "vote.parquet: not a Parquet file" in str(back.skips[0])
    assert len(back.all(Item)) == 1


def test_a_missing_parquet_column_is_named(tmp_path: Path, small: MemoryIntake) -> None:
    import pyarrow.parquet as pq

    export("native_parquet", tmp_path / "out", small)
    path = tmp_path / "out" / "vote.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["rater_id"]), path)
    assert "the column rater_id is missing" in str(bring_back("native_parquet", tmp_path / "out").skips[0])


def test_an_empty_jsonl_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes(b"")
    assert [str(skip) for skip in bring_back("native_jsonl", tmp_path).skips] == ["records.jsonl: the file is empty"]


def test_a_blob_line_that_is_not_base64_is_told(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text('{"kind": "blob", "sha256": "00", "base64": "?"}\n')
    assert "line 1: the blob is not base64" in str(bring_back("native_jsonl", tmp_path).skips[0])


def test_blob_names_cannot_leave_the_folder() -> None:
    with pytest.raises(ValueError, match="sha256"):
        ImageRef(sha256="../" * 21 + "x", size_bytes=1, media_type="image/png")


def test_a_newer_jsonl_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text('{"kind": "manifest", "format": "imarena", "version": 2}\n')
    with pytest.raises(UserError, match="version 2"):
        bring_back("native_jsonl", tmp_path)
