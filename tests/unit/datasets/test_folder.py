"""Reading folders safely: nothing outside is opened, and every complaint says where."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.protocols import Skip
from imarena.datasets.folder import (
    Folder,
    decode_text,
    escape_name,
    read_json,
    read_jsonl,
    stream_table,
    unescape_name,
)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    (tmp_path / "secret.txt").write_text("s")
    (tmp_path / "in" / "out.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "in" / "loop.txt").symlink_to(tmp_path / "in" / "loop.txt")
    return Folder(tmp_path / "in")


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "x/../../secret.txt", "/etc/hostname", "out.txt", "a\x00b", "loop.txt", "\ud800", "x" * 5000],
)
def test_what_leads_out_or_nowhere_is_refused(folder: Folder, path: str) -> None:
    with pytest.raises(UserError):
        folder.read_bytes(path)


def test_what_is_inside_is_read(folder: Folder) -> None:
    assert folder.read_bytes("a.txt") == b"a"
    assert folder.read_bytes("x/../a.txt") == b"a"
    assert [folder.name(path) for path in folder.walk()] == ["a.txt"]


def test_links_that_lead_out_or_nowhere_are_told(folder: Folder) -> None:
    assert [skip.file for skip in folder.unexpected_files()] == ["loop.txt", "out.txt"]
    assert "out of the folder" in str(next(folder.unexpected_files("out*")))


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        Folder(tmp_path / "none")


def test_text_in_other_encodings() -> None:
    assert decode_text("\u00e9".encode("utf-8-sig")) == "\u00e9"
    assert decode_text("\u00e9".encode("utf-16")) == "\u00e9"
    with pytest.raises(UserError, match="line 2 is not UTF-8"):
        decode_text(b"ok\n\xe9")


def test_broken_json_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{\n"a": }')
    with pytest.raises(UserError, match="line 2 is not JSON"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5000])
def test_json_that_python_will_not_read_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(UserError, match="not JSON that can be read"):
        read_json(tmp_path / "a.json")
    (tmp_path / "a.jsonl").write_text(content)
    (skip,) = read_jsonl(tmp_path / "a.jsonl", "a.jsonl")
    assert "line 1: not JSON" in str(skip)


def test_json_lines_keep_what_is_good(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n\n[1]\n{\n"\xe9"\n{"b": 2}')
    assert list(read_jsonl(path, "a.jsonl")) == [
        (1, {"a": 1}),
        Skip("a.jsonl", "line 3", "expected an object, got list"),
        Skip("a.jsonl", "line 4", "not JSON (Expecting property name enclosed in double quotes)"),
        Skip("a.jsonl", "line 5", "not UTF-8"),
        (6, {"b": 2}),
    ]


def test_tables_keep_what_is_good(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\n1,"two\nlines"\n1\n1,2,3\n1,\xe9\n3,4\n')
    assert list(stream_table(path, "a.csv")) == [
        (3, {"a": "1", "b": "two\nlines"}),
        Skip("a.csv", "line 4", "the row has 1 cells, the header 2"),
        Skip("a.csv", "line 5", "the row has more cells than the header's 2"),
        Skip("a.csv", "line 6", "not UTF-8; save the file in one encoding"),
        (7, {"a": "3", "b": "4"}),
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty"),
        (b"b\n1\n", "the column a is missing"),
        (b"a,a\n", "appears twice"),
        (b"\xff\xfea", "starts like UTF-16"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(UserError, match=complaint):
        list(stream_table(tmp_path / "a.csv", "a.csv", required=("a",)))


@given(st.text())
def test_names_become_one_safe_segment_and_come_back(name: str) -> None:
    segment = escape_name(name)
    assert segment
    assert segment.isascii()
    assert not set(segment) & set('/\\:*?"<>| \x00')
    assert not segment.startswith(".")
    assert not segment.endswith(".")
    assert unescape_name(segment) == name
