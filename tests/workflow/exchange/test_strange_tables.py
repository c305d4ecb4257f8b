"""Strange and hostile tables: each is refused by name with the next step, or read by a stated rule."""

import gzip
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import samples
from tests.command import Ended, Imarena

GOOD = "key,instruction,source\na,make it red,a.png\n"


def take(imarena: Imarena, *words: object, code: int) -> Ended:
    imarena("init", "arena")
    ended = imarena("-w", "arena", "--json", "import", "table", *words, code=code)
    assert "Traceback" not in ended.err
    assert imarena("-w", "arena", "--json", "verify", "--deep").json["clean"] is True
    return ended


def workbook(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("items.csv", GOOD)


def database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table items (key text)")


def arrow(path: Path) -> None:
    table = pa.table({"key": ["a"]})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


Write = Callable[[Path], object]
BINARY: dict[str, tuple[str, Write, str, str]] = {
    "workbook": ("items.xlsx", workbook, "an Excel workbook", "Save the sheet as CSV"),
    "workbook named csv": ("items.csv", workbook, "an Excel workbook", "Save the sheet as CSV"),
    "zip": ("items.csv", archive, "a ZIP archive", "Unpack it"),
    "gzip": ("items.csv", lambda p: p.write_bytes(gzip.compress(GOOD.encode())), "a gzip file", "Unpack it"),
    "png": ("items.csv", lambda p: p.write_bytes(samples.png(1)), "a PNG image", "folder that holds the images"),
    "pdf": ("items.csv", lambda p: p.write_bytes(b"%PDF-1.7\n\x00"), "a PDF document", "Export the table"),
    "sqlite": ("items.csv", database, "an SQLite database", "Export the table"),
    "arrow": ("items.jsonl", arrow, "an Arrow file", "to_parquet"),
    "pickle": ("items.csv", lambda p: p.write_bytes(b"\x80\x04\x95\x00"), "never opened", "Export the table"),
    "lfs": ("items.parquet", lambda p: p.write_text("version https://git-lfs.github.com/spec/v1\n"), "LFS", "git lfs"),
    "html": ("items.csv", lambda p: p.write_text("<!DOCTYPE html><html>"), "an HTML page", "fetch the file again"),
    "parquet named csv": ("items.csv", lambda p: pq.write_table(pa.table({"key": ["a"]}), p), "Parquet", ".parquet"),
    "csv named parquet": ("items.parquet", lambda p: p.write_text(GOOD), "not a Parquet file", "PAR1"),
    "unmarked utf-16": ("items.csv", lambda p: p.write_bytes(GOOD.encode("utf-16-le")), "UTF-16", "UTF-8"),
    "noise": ("items.csv", lambda p: p.write_bytes(bytes([200, 0, 255]) * 99), "binary file", "Export the table"),
    "noise without zeros": ("items.csv", lambda p: p.write_bytes(bytes(range(1, 256)) * 9), "binary file", "Export"),
    "noise after a mark": ("items.csv", lambda p: p.write_bytes(bytes(range(255, 0, -1))), "binary file", "Export"),
    "nothing": ("items.csv", lambda p: p.write_bytes(b""), "the file is empty", "column names and rows"),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("as_folder", [False, True])
def test_a_file_that_is_no_table_is_named_with_the_next_step(
    imarena: Imarena, tmp_path: Path, name: str, as_folder: bool
) -> None:
    file, make, kind, step = BINARY[name]
    (tmp_path / "own").mkdir()
    make(tmp_path / "own" / file)
    ended = take(imarena, "own" if as_folder else f"own/{file}", code=2)
    assert file in ended.err
    assert kind in ended.err
    assert step in ended.err


def test_a_spreadsheet_beside_pictures_is_not_passed_over(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "own" / "images").mkdir(parents=True)
    (tmp_path / "own" / "images" / "a.png").write_bytes(samples.png(1))
    workbook(tmp_path / "own" / "prompts.xlsx")
    assert "prompts.xlsx is an Excel workbook" in take(imarena, "own", code=2).err


# ---------------------------------------------------------------- rows and cells


@pytest.mark.parametrize(
    ("ending", "content", "reason"),
    [
        ("csv", "b,make it blue,../a.png\n", "out of the folder"),
        ("csv", "b,make it blue,/etc/hostname\n", "out of the folder"),
        ("csv", "b,make it blue,https://example.org/a.png\n", "is an address; download the image"),
        ("csv", "b,make it blue,none.png\n", "'none.png' is not there"),
        ("csv", "a,make it blue,a.png\n", "the key 'a' appears twice"),
        ("csv", f"b,{'x' * 140_000},a.png\n", "a cell is too long, or a quote is not closed"),
        ("csv", 'b,"make it blue,a.png\n' + "z,z,a.png\n" * 20_000, "a cell is too long, or a quote is not closed"),
        ("csv", "b," + "x," * 3_000_000 + "\n", "a line is longer than"),
        ("jsonl", '{"key": "b", "key": "c", "instruction": "make it blue"}\n', "the field 'key' appears twice"),
        ("jsonl", '{"key": "b", "instruction": NaN}\n', "NaN is not JSON"),
        ("jsonl", '{"key": 1.5, "instruction": "make it blue"}\n', "the key is 1.5"),
        ("jsonl", '{"key": "b", "instruction": {"x": 1}}\n', "the column instruction holds dict, not text"),
        ("jsonl", '{"key": "b", "instruction": "make it blue", "source": 3}\n', "an image is missing"),
        ("jsonl", '{"key": "b", "instruction": "\\ud800"}\n', "half of a character pair"),
        ("jsonl", '{"key": "b", "instruction": "' + "x" * 140_000 + '"}\n', "more than 131,072 characters"),
        ("jsonl", '{"key": "b", "instruction": "i", "more": "' + "x" * 140_000 + '"}\n', "more than 131,072"),
        ("jsonl", '{"key": "b", "instruction": "' + "x" * (17 << 20) + '"}\n', "the line is longer than"),
        ("jsonl", "[" * 100_000 + "\n", "not JSON"),
        ("jsonl", '{"key": "b", "instruction": ' + json.dumps(["x"] * 101) + "}\n", "at most 100 are turns"),
    ],
)
def test_a_strange_row_is_left_out_and_the_others_stay(
    imarena: Imarena, tmp_path: Path, ending: str, content: str, reason: str
) -> None:
    first = GOOD if ending == "csv" else '{"key": "a", "instruction": "make it red", "source": "a.png"}\n'
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.png").write_bytes(samples.png(1))
    (tmp_path / "a.png").write_bytes(samples.png(2))
    (tmp_path / "own" / f"items.{ending}").write_text(first + content)
    report = take(imarena, "own", code=3).json
    assert report["new"] == {"Item": 1}
    assert reason in report["skips"][0]["reason"]
    assert report["skipped"] == 1


def test_a_picture_cell_that_is_no_picture(imarena: Imarena, tmp_path: Path) -> None:
    rows = [
        {"key": "a", "instruction": "i", "source": {"bytes": samples.png(1), "path": None}},
        {"key": "b", "instruction": "i", "source": {"bytes": b"no picture", "path": "b.png"}},
        {"key": "c", "instruction": "i", "source": {"bytes": None, "path": "../c.png"}},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "items.parquet")
    report = take(imarena, "items.parquet", code=3).json
    assert report["new"] == {"Item": 1}
    assert "b.png" in report["skips"][0]["reason"]
    assert "out of the folder" in report["skips"][1]["reason"]


def test_a_parquet_bomb_is_refused_before_it_is_unpacked(imarena: Imarena, tmp_path: Path) -> None:
    zeros = pa.array([b"\0" * (8 << 20)] * 64, pa.binary())  # 512 MiB
    table = pa.table({"key": [str(n) for n in range(64)], "instruction": ["i"] * 64, "source": zeros})
    pq.write_table(table, tmp_path / "items.parquet", compression="zstd", use_dictionary=False)
    assert (tmp_path / "items.parquet").stat().st_size < 1 << 20
    ended = take(imarena, "items.parquet", code=2)
    assert "looks like a decompression bomb" in ended.err


def test_a_file_too_large_for_a_picture_is_not_read(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with (tmp_path / "own" / "a.png").open("wb") as file:
        file.truncate(300 << 20)
    (tmp_path / "own" / "items.csv").write_text(GOOD)
    (skip,) = take(imarena, "own", code=2).json["skips"]
    assert "larger than 256 MiB" in skip["reason"]


def test_a_table_that_is_a_link_out_of_the_folder(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "secret.csv").write_text(GOOD)
    (tmp_path / "own" / "items.csv").symlink_to(tmp_path / "secret.csv")
    assert "leads out of the folder" in take(imarena, "own", code=2).err


# ---------------------------------------------------------------- by cause


def test_each_cause_is_printed_once_with_its_count(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "own" / "outputs" / "new").mkdir(parents=True)
    (tmp_path / "own" / "a.png").write_bytes(samples.png(1))
    rows = [GOOD, *(f"k{n},make it blue,none-{n}.png\n" for n in range(30)), *("a,again,a.png\n" for _ in range(7))]
    (tmp_path / "own" / "items.csv").write_text("".join(rows))
    for n in range(12):
        (tmp_path / "own" / "outputs" / "new" / f"x{n}.png").write_bytes(samples.png(n))
    imarena("init", "arena")
    ended = imarena("-w", "arena", "import", "table", "own", code=3)
    assert [line for line in ended.out.splitlines() if line.startswith("left out")] == [
        "left out: 30 x the file … is not there, such as items.csv, line 3 and items.csv, line 4",
        "left out: 12 x there is no item with the key …, such as outputs/new/x0.png and outputs/new/x1.png",
        "left out: 7 x the key 'a' appears twice, such as items.csv, line 33 and items.csv, line 34",
    ]
    report = imarena("-w", "arena", "--json", "import", "table", "own", code=3).json
    assert len(report["skips"]) == report["skipped"] == 49
    assert [cause["count"] for cause in report["causes"]] == [30, 12, 7]
    assert report["skips"][0] == {"file": "items.csv", "row": "line 3", "reason": "the file 'none-0.png' is not there"}
