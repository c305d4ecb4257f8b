"""Plain tables: every form gives the same table, and what is wrong is named with its file and row."""

import gzip
import io
import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from imarena.core.errors import UserError
from imarena.tables.plain import as_table, read_table

ROWS = {"left": ["007", "NA", "1e5"], "right": ["b,c", 'say "x"', "ü\nd"], "winner": ["left", None, "tie"]}
NAMES = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), min_size=1, max_size=12)


def write(folder: Path, ending: str) -> Path:
    frame = pl.DataFrame(ROWS)
    path = folder / f"battles{ending}"
    if ending == ".parquet":
        frame.write_parquet(path)
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    else:
        buffer = io.BytesIO()
        frame.write_csv(buffer, separator="\t" if ".tsv" in ending else ",")
        data = buffer.getvalue()
        path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".jsonl", ".parquet"])
def test_every_form_keeps_names_as_they_are(tmp_path: Path, ending: str) -> None:
    table = read_table(write(tmp_path, ending), "battles")
    assert table.to_pydict() == ROWS
    assert all(pa.types.is_dictionary(kind) for kind in table.schema.types)


def test_every_kind_of_memory_gives_the_same() -> None:
    frame = pl.DataFrame(ROWS)
    for data in (ROWS, frame, frame.to_arrow(), frame.to_dicts()):
        assert as_table(data, "battles").to_pydict() == ROWS


@given(rows=st.lists(st.tuples(NAMES, NAMES, st.sampled_from(["left", "right", "tie", "both_bad", ""])), min_size=1))
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read(rows: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("t") / "b.jsonl"
    names = ("left", "right", "winner")
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows), encoding="utf-8")
    assert read_table(path, "battles").to_pydict() == {
        name: [row[i] or None for row in rows] for i, name in enumerate(names)
    }


@given(data=st.binary(max_size=400), ending=st.sampled_from([".csv", ".tsv", ".jsonl", ".parquet"]))
@settings(max_examples=150, deadline=None)
def test_rubbish_is_refused_and_never_crashes(
    data: bytes, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("t") / f"b{ending}"
    path.write_bytes(data)
    with pytest.raises(UserError):
        read_table(path, "battles")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("battles", "left,right,winner\na,b,left\na,b,won\n", "row 2: unknown winner 'won'"),
        ("battles", "left,right,winner\na,b,left\na,,left\n", "row 2: column 'right' is empty"),
        ("battles", "left,right\na,b\n", "no column 'winner'"),
        ("battles", "a,b,won\nx,y,x\n", "no columns 'left', 'right' and 'winner'"),
        ("battles", "left,right,winner,weight\na,b,left,1\na,b,tie,-1\n", "row 2: column 'weight' is empty or below 0"),
        ("battles", "left,right,winner,weight\na,b,left,1\na,b,tie,inf\n", "row 2: column 'weight' is infinite"),
        ("battles", "left,right,winner,source\na,b,left,robot\n", "row 1: unknown source 'robot'"),
        ("battles", "left,right,winner\na,b,left\na,b\n", "line 3"),
        ("battles", "left,left,winner\na,b,left\n", "'left' appears twice"),
        (
            "battles",
            "left,right,winner\na,b,lefft\na,b,B\n",
            "row 1: unknown winner 'lefft' (and 'B').\nDid you mean 'left'?",
        ),
        ("battles", "left,right,winner\na,b,tie\nAl,b,al\n", "'al' is a model: write 'left' or 'right'"),
        (
            "scores",
            "unit,model,judge,score\n1,a,j,0.5\n2,a,j,high\n",
            "row 2: 'high' in column 'score' is not a number",
        ),
        ("battles", "", "is empty"),
    ],
)
def test_errors_name_file_and_row(tmp_path: Path, kind: str, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_table(path, kind)
    assert message in str(caught.value)
    assert "table.csv" in str(caught.value)


def test_unknown_ending_and_missing_file(tmp_path: Path) -> None:
    (tmp_path / "votes.xlsx").write_bytes(b"x")
    with pytest.raises(UserError, match="Known endings"):
        read_table(tmp_path / "votes.xlsx", "battles")
    with pytest.raises(UserError, match="No file"):
        read_table(tmp_path / "votes.csv", "battles")
    with pytest.raises(UserError, match="is a folder"):
        read_table(tmp_path, "battles")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_columns_may_be_separated_as_spreadsheets_do(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("\ufeffleft,right,winner,weight\na,b,left,2\n".replace(",", separator), encoding="utf-8")
    assert read_table(path, "battles").to_pylist() == [{"left": "a", "right": "b", "winner": "left", "weight": 2.0}]


@pytest.mark.parametrize(("encoding", "where"), [("latin-1", r" \(line 3\)"), ("utf-16", "")])
def test_another_encoding_is_named(tmp_path: Path, encoding: str, where: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner\na,b,left\na,bé,tie\n", encoding=encoding)
    with pytest.raises(UserError, match=rf"votes.csv is not UTF-8{where}\."):
        read_table(path, "battles")


def test_ratings_are_numbers_where_all_are_and_labels_else(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("unit,rater,value\n1,a,3\n2,a,NA\n3,a,\n")
    assert read_table(path, "ratings")["value"].to_pylist() == [3.0, None, None]
    path.write_text("unit,rater,value\n1,a,3\n2,a,good\n")
    assert read_table(path, "ratings")["value"].to_pylist() == ["3", "good"]


def test_columns_labels_and_extra(tmp_path: Path) -> None:
    path = tmp_path / "arena.parquet"
    rows = {"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"], "language": ["en"], "text": ["long"]}
    parquet.write_table(pa.table(rows), path)
    columns = {"left": "model_a", "right": "model_b"}
    table = read_table(path, "battles", columns=columns, labels={"model_a": "left"}, extra=["language"])
    assert table.to_pydict() == {"left": ["x"], "right": ["y"], "winner": ["left"], "language": ["en"]}
    with pytest.raises(UserError, match="no column 'model_c'"):
        read_table(path, "battles", columns={"left": "model_c"})
    with pytest.raises(UserError, match="cannot mean 'won'"):
        read_table(path, "battles", columns=columns, labels={"model_a": "won"})


def test_one_slip_among_numbers_does_not_turn_ratings_into_labels(tmp_path: Path) -> None:
    """Words are nominal labels; 'inf' or '3x' in a column of numbers is a mistake, and its row is named."""
    path = tmp_path / "ratings.csv"
    for slip, told in (("3x", "row 4: '3x'"), ("inf", "row 4: column 'value' is infinite")):
        path.write_text(f"unit,rater,value\nu1,a,1\nu1,b,2\nu2,a,NA\nu2,b,{slip}\nu3,a,4\n", encoding="utf-8")
        with pytest.raises(UserError, match=told):
            read_table(path, "ratings")
    path.write_text("unit,rater,value\nu1,a,good\nu1,b,bad\nu2,a,7\n", encoding="utf-8")
    assert read_table(path, "ratings")["value"].to_pylist() == ["good", "bad", "7"]


def test_bare_carriage_returns_end_a_row_or_are_refused_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_bytes(b"left,right,winner\ra,b,left\rb,a,left\r")
    assert read_table(path, "battles")["left"].to_pylist() == ["a", "b"]


def test_ratings_and_scores_may_have_other_column_names(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("item,editor,metric,score,value\n007,a,j,0.5,9\n")
    scores = read_table(tmp_path / "scores.csv", "scores")
    assert scores.column("unit").to_pylist() == ["007"]
    assert scores.column("model").to_pylist() == ["a"]
    assert scores.column("score").to_pylist() == [0.5], "a synonym counts only where the column itself is missing"
    (tmp_path / "ratings.csv").write_text("key,item,annotator,rating\nk,007,ann,3\n")
    ratings = read_table(tmp_path / "ratings.csv", "ratings")
    assert ratings.column("unit").to_pylist() == ["007"]
    assert ratings.column("value").to_pylist() == [3.0]


def test_an_error_lists_the_columns_as_the_file_names_them(tmp_path: Path) -> None:
    """Not as they are called after other accepted names were translated."""
    path = tmp_path / "ratings.csv"
    path.write_text("uid,model,annotator,rating\n1,a,x,3\n")
    with pytest.raises(UserError, match=r"no column 'unit'\. It has: uid, model, annotator, rating"):
        read_table(path, "ratings")
