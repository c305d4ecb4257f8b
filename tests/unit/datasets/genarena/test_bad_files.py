"""GenArena files that are wrong in part or as a whole: what is left out is counted with its place, the rest is kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Output
from imarena.datasets.genarena.importer import read
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.genarena.genarena_sample import (
    EXPERIMENT,
    battle,
    entry,
    make,
    reasons,
    write_benchmark,
    write_lines,
)
from tests.unit.datasets.intake import import_all, picture


def test_bad_lines_are_left_out_with_file_and_line(tmp_path: Path) -> None:
    log = tmp_path / "basic/pk_logs/e_20260101/flux_vs_zeta.jsonl"
    good = battle("flux", "zeta", 0, "flux")
    lines = [
        good, "{broken", json.dumps([1]), {**good, "final_winner": "a tie"}, {**good, "sample_index": "3"},
        {"model_a": "flux"}, {**good, "model_a": 7}, {**good, "model_b": "flux"}, {**good, "is_consistent": "yes"},
        battle("flux", "tie", 0, "tie"), '{"model_a": "\\ud800", "model_b": "b", "sample_index": 1, "final_winner": "b"}',
        {**good, "sample_index": 1},
    ]  # fmt: skip
    write_lines(log, lines)
    with log.open("ab") as file:
        file.write(b'{"model_a": "caf\xe9"}\n')
    write_lines(log.parent / "empty.jsonl", [])
    intake = import_all(read, tmp_path)
    assert len(intake.all(Judgment)) == 2
    name = "basic/pk_logs/e_20260101/flux_vs_zeta.jsonl"
    found = reasons(intake)
    assert found[0] == "basic/pk_logs/e_20260101/empty.jsonl: the file is empty"
    assert [text.split(":")[0] for text in found[1:]] == [
        f"{name}, line {n}" for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13)
    ]
    assert "unknown outcome 'a tie': expected 'flux', 'zeta' or 'tie'" in found[3]
    assert "not UTF-8" in found[-1]


def test_bad_rows_and_pictures_are_left_out_and_the_good_stay(tmp_path: Path) -> None:
    cut = picture(3, size=(200, 200))[:150]
    rows = [
        entry(0), entry(0, instruction="again"), entry(1, input_images=[{"bytes": cut, "path": None}]),
        entry(2, input_images=[{"bytes": None, "path": "../secret.png"}]), entry(3, instruction=" "), entry(-4),
        entry(5, input_images=[{"bytes": b"not a picture", "path": None}]), entry(6),
    ]  # fmt: skip
    (tmp_path / "secret.png").write_bytes(picture(1))
    root = tmp_path / "in"
    write_benchmark(root / "basic/data-0.parquet", rows)
    folder = root / "basic/models/e_20260101/flux"
    folder.mkdir(parents=True)
    (folder / "0.png").write_bytes(picture(7))
    (folder / "000000.jpg").write_bytes(picture(8, kind="JPEG"))
    (folder / "6.png").write_bytes(cut)
    (folder / "9.png").write_bytes(picture(9))
    (folder / "notes.txt").write_text("x")
    (folder / "5.png").symlink_to(tmp_path / "secret.png")
    write_lines(root / "basic/pk_logs/e_20260101/x.jsonl", [battle("a", "flux", 6, "a"), battle("a", "flux", 77, "a")])
    intake = import_all(read, root)
    assert [item.key for item in intake.all(Item)] == ["basic/0", "basic/6"]
    assert [(output.editor, output.image is not None) for output in intake.all(Output)] == [
        ("flux", True), ("a", False), ("flux", False),
    ]  # fmt: skip
    assert len(intake.all(Judgment)) == 1
    found = reasons(intake)
    rows_named = [text for text in found if "data-0.parquet" in text]
    assert [text.split(":")[0].split(", ")[1] for text in rows_named] == [f"row {n}" for n in (1, 2, 3, 4, 5, 6)]
    assert "leads out of the folder" in rows_named[2]
    for part in (
        "notes.txt: not an image",
        "000000.jpg: 0.png is the image",
        "6.png: ",
        "no item 'basic/9'",
        "no item 'basic/77'",
        "5.png: ",
    ):
        assert any(part in text for text in found), part


def test_whole_file_problems_raise_one_clear_error(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "basic").mkdir()
    table = tmp_path / "basic/data-0.parquet"
    pq.write_table(pa.table({"index": [1], "prompt": ["x"]}), table)
    with pytest.raises(UserError, match=r"data-0.parquet: the columns instruction and input_images are missing"):
        import_all(read, table)
    table.write_bytes(b"")
    with pytest.raises(UserError, match=r"data-0.parquet: the file is empty"):
        import_all(read, table)
    table.write_bytes(b"PAR1 but not really")
    with pytest.raises(UserError, match="cannot be read as Parquet"):
        import_all(read, table)
    table.unlink()
    with pytest.raises(UserError, match="holds no GenArena files"):
        import_all(read, tmp_path)
    with pytest.raises(UserError, match="no option 'datset'"):
        import_all(read, tmp_path, datset="x")


def test_a_file_that_is_no_use_leaves_the_others_in(tmp_path: Path) -> None:
    root = make(tmp_path)
    (root / "data/basic/data-9.parquet").write_bytes(b"")
    (root / "data/basic/old.parquet").write_bytes(b"")
    (root / "arena/multiref/pk_logs" / EXPERIMENT / "config.json").write_text("{")
    (root / "arena/multiref/models" / EXPERIMENT / "model_names.json").write_text("[]")
    intake = import_all(read, root)
    assert reasons(intake) == [
        "data/basic/old.parquet: GenArena reads only files called data-*.parquet",
        "data/basic/data-9.parquet: the file is empty.",
        f"arena/multiref/models: arena/multiref/models/{EXPERIMENT}/model_names.json: "
        "expected an object of folder names and model names.",
        f"arena/multiref/pk_logs/{EXPERIMENT}: arena/multiref/pk_logs/{EXPERIMENT}/config.json: "
        "line 1 is not JSON (Expecting property name enclosed in double quotes)",
    ]
    assert len(intake.all(Item)) == 5
    assert len(intake.all(Judgment)) == 12


@pytest.mark.parametrize("kind", sorted(BROKEN))
def test_a_broken_picture_leaves_one_row_out(tmp_path: Path, kind: str) -> None:
    rows = [entry(0, input_images=[{"bytes": BROKEN[kind], "path": None}]), entry(1)]
    write_benchmark(tmp_path / "basic/data-0.parquet", rows)
    intake = import_all(read, tmp_path)
    assert [item.key for item in intake.all(Item)] == ["basic/1"]
    assert [(skip.file, skip.row) for skip in intake.skips] == [("basic/data-0.parquet", "row 0")]


@pytest.mark.parametrize("kind", sorted(UNUSUAL))
def test_an_unusual_picture_is_kept_byte_for_byte(tmp_path: Path, kind: str) -> None:
    write_benchmark(
        tmp_path / "basic/data-0.parquet", [entry(0, input_images=[{"bytes": UNUSUAL[kind], "path": None}])]
    )
    intake = import_all(read, tmp_path)
    (source,) = intake.all(Item)[0].sources
    assert intake.blobs[source.sha256] == UNUSUAL[kind]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    field=st.sampled_from(
        ["model_a", "model_b", "sample_index", "final_winner", "is_consistent", "timestamp", "imarena_repeat"]
    ),
    value=JSON,
)
def test_any_value_in_a_line_gives_a_record_that_can_be_stored_or_a_skip(
    tmp_path: Path, field: str, value: Any
) -> None:
    log = write_lines(tmp_path / "pk_logs/e_20260101/x.jsonl", [{**battle("a", "b", 0, "a"), field: value}])
    intake = import_all(read, log)
    assert len(intake.all(Judgment)) + len(intake.skips) == 1
    for judgment in intake.all(Judgment):
        assert Judgment.from_json(judgment.to_json()).same_fact(judgment)


def test_a_table_that_is_a_link_out_is_not_opened(tmp_path: Path) -> None:
    root = make(tmp_path / "in")
    write_benchmark(tmp_path / "outside.parquet", [entry(7)])
    (root / "data/basic/data-7.parquet").symlink_to(tmp_path / "outside.parquet")
    intake = import_all(read, root)
    link = "data/basic/data-7.parquet"
    assert reasons(intake) == [f"{link}: the path '{link}' is a link that leads out of the folder"]
    assert len(intake.all(Item)) == 5


def test_other_content_under_a_known_key_is_refused(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path / "one"))
    write_benchmark(tmp_path / "two/basic/data-0.parquet", [entry(0, instruction="something else")])
    intake.take(read(tmp_path / "two", intake, {}))
    assert "has an item 'basic/0' with other content already" in reasons(intake)[0]
    assert import_all(read, tmp_path / "two", dataset="mine").all(Item)[0].dataset == "mine"
