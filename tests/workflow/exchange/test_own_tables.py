"""A benchmark of one's own through the command line: every type of table, columns by other names, turns, groups."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imarena.core.records import Item
from imarena.storage import open_workspace
from tests import samples
from tests.command import Ended, Imarena

ROWS = [
    {"uid": "cat", "prompt": "make it red", "image": "pics/cat.png", "task": "color", "artist": "Ann", "year": 1999},
    {"uid": "dog", "prompt": "remove the ball", "image": "pics/dog.png", "task": "remove", "artist": "Bob", "year": 2001},
    {"uid": "hat", "prompt": "add a feather", "image": "pics/hat.png", "task": "add", "artist": "Ann", "year": 2001},
]  # fmt: skip
THEIRS = "key=uid,instruction=prompt,source=image"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures of three items; the table is made by each test."""
    (tmp_path / "own" / "pics").mkdir(parents=True)
    for number, row in enumerate(ROWS):
        (tmp_path / "own" / str(row["image"])).write_bytes(samples.png(number))
    return tmp_path / "own"


def as_text(rows: list[dict[str, Any]], mark: str = ",") -> str:
    lines = [mark.join(rows[0]), *(mark.join(str(value) for value in row.values()) for row in rows)]
    return "\n".join(lines) + "\n"


def as_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def with_bytes(folder: Path) -> list[dict[str, Any]]:
    """The rows as the `datasets` library stores pictures: bytes and the name of the file."""
    return [
        row | {"image": {"bytes": (folder / str(row["image"])).read_bytes(), "path": Path(str(row["image"])).name}}
        for row in ROWS
    ]


def take(imarena: Imarena, *words: object, code: int = 0) -> Ended:
    imarena("init", "arena")
    ended = imarena("-w", "arena", "--json", "import", "table", *words, code=code)
    assert "Traceback" not in ended.err
    return ended


def items(root: Path) -> list[Item]:
    with open_workspace(root) as workspace:
        return list(workspace.store.records(Item))


def write(folder: Path, kind: str) -> Path:
    """The table in one of its types; returns what to name on the command line."""
    path = folder / f"bench.{kind.partition(' ')[0]}"
    if kind == "csv":
        path.write_text(as_text(ROWS))
    elif kind == "csv utf-16":
        path.write_bytes(as_text(ROWS).encode("utf-16"))
    elif kind == "csv marked":
        path.write_bytes(as_text(ROWS).encode("utf-8-sig"))
    elif kind == "csv semicolons":
        path.write_text(as_text(ROWS, ";"))
    elif kind == "tsv":
        path.write_text(as_text(ROWS, "\t"))
    elif kind == "jsonl":
        path.write_text(as_lines(ROWS))
    elif kind == "jsonl utf-16":
        path.write_bytes(as_lines(ROWS).encode("utf-16"))
    elif kind == "json":
        path.write_text(json.dumps(ROWS))
    elif kind == "parquet paths":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        pq.write_table(pa.Table.from_pylist(with_bytes(folder)), path)
    return path


KINDS = (
    "csv", "csv utf-16", "csv marked", "csv semicolons", "tsv", "jsonl", "jsonl utf-16", "json", "parquet paths",
    "parquet bytes",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_gives_the_same_items(imarena: Imarena, folder: Path, tmp_path: Path, kind: str) -> None:
    table = write(folder, kind)
    report = take(imarena, table, "--columns", THEIRS).json
    assert report["new"] == {"Item": 3}
    cat, dog, hat = items(tmp_path / "arena")
    assert [item.key for item in (cat, dog, hat)] == ["cat", "dog", "hat"]
    assert cat.instruction == "make it red"
    assert [len(item.sources) for item in (cat, dog, hat)] == [1, 1, 1]
    assert (cat.task, cat.provenance["artist"], str(cat.provenance["year"])) == ("color", "Ann", "1999")
    again = imarena("-w", "arena", "--json", "import", "table", table, "--columns", THEIRS).json
    assert (again["new"].get("Item", 0), again["same"]) == (0, {"Item": 3})


def test_the_columns_may_be_named_one_by_one(imarena: Imarena, folder: Path) -> None:
    words = [word for pair in THEIRS.split(",") for word in ("--columns", pair)]
    assert take(imarena, write(folder, "csv"), *words).json["new"] == {"Item": 3}


def test_a_missing_column_says_what_to_type(imarena: Imarena, folder: Path) -> None:
    ended = take(imarena, write(folder, "jsonl"), code=2)
    assert "the columns key and instruction are missing" in ended.err
    assert f"--columns {THEIRS}" in ended.err


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ("instruction=promt", "there is no column 'promt'"),
        ("instrction=prompt", "Did you mean 'instruction'?"),
        ("key=uid,key=image", "names 'key' twice"),
        ("prompt", "does not name two columns"),
    ],
)
def test_wrong_columns_are_refused(imarena: Imarena, folder: Path, columns: str, complaint: str) -> None:
    ended = take(imarena, write(folder, "csv"), "--columns", columns, code=2)
    assert complaint in ended.err


def test_other_formats_have_no_columns_to_name(imarena: Imarena, folder: Path) -> None:
    imarena("init", "arena")
    ended = imarena("-w", "arena", "import", "genarena", folder, "--columns", "key=uid", code=2)
    assert "--columns goes with" in ended.err


def test_the_columns_that_are_not_used_are_listed(imarena: Imarena, folder: Path) -> None:
    rows = [row | {"thumbnail": row["image"], "instruction": "old words", "mode": "hard"} for row in with_bytes(folder)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "bench.parquet")
    imarena("init", "arena")
    ended = imarena("-w", "arena", "import", "table", folder / "bench.parquet", "--columns", THEIRS)
    (line,) = (line for line in ended.out.splitlines() if line.startswith("warning"))
    assert "other columns are stored with the item: artist, year, mode (`rank --by artist` groups by one)" in line
    assert "thumbnail (it holds images)" in line
    assert "instruction (--columns takes it from prompt)" in line
    assert "rename it with --columns item_mode=mode" in line
    notice = imarena("-w", "arena", "--json", "import", "table", folder / "bench.parquet", "--columns", THEIRS).json
    assert notice["notices"][0]["values"]["kept"] == ["artist", "year", "mode"]


def test_rows_without_a_key_are_numbered(imarena: Imarena, folder: Path, tmp_path: Path) -> None:
    take(imarena, write(folder, "jsonl"), "--columns", "instruction=prompt,source=image", "-o", "key=row")
    assert [item.key for item in items(tmp_path / "arena")] == ["1", "2", "3"]


# ---------------------------------------------------------------- folders


def test_the_shards_of_a_hub_data_set(imarena: Imarena, folder: Path) -> None:
    (folder / "data").mkdir()
    for number, row in enumerate(with_bytes(folder)):
        pq.write_table(pa.Table.from_pylist([row]), folder / "data" / f"train-{number:05}-of-00003.parquet")
    assert take(imarena, folder, "--columns", THEIRS).json["new"] == {"Item": 3}


def test_an_image_folder_with_metadata(imarena: Imarena, folder: Path) -> None:
    (folder / "metadata.jsonl").write_text(as_lines(ROWS))
    assert take(imarena, folder, "--columns", THEIRS).json["new"] == {"Item": 3}


def test_classes_of_the_hub_are_names(imarena: Imarena, folder: Path, tmp_path: Path) -> None:
    rows = [row | {"task": number} for number, row in enumerate(with_bytes(folder))]
    about = {"info": {"features": {"task": {"names": ["recolour", "remove", "add"], "_type": "ClassLabel"}}}}
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"huggingface": json.dumps(about)})
    pq.write_table(table, folder / "items.parquet")
    take(imarena, folder, "--columns", THEIRS)
    assert [item.task for item in items(tmp_path / "arena")] == ["recolour", "remove", "add"]


def test_a_list_of_pictures_is_several_sources(imarena: Imarena, folder: Path, tmp_path: Path) -> None:
    images = [row["image"] for row in with_bytes(folder)]
    rows = [{"key": "a", "instruction": "join them", "source": images}]
    pq.write_table(pa.Table.from_pylist(rows), folder / "items.parquet")
    take(imarena, folder)
    assert len(items(tmp_path / "arena")[0].sources) == 3


def test_two_tables_that_could_be_meant(imarena: Imarena, folder: Path) -> None:
    write(folder, "csv")
    (folder / "more.csv").write_text(as_text(ROWS))
    ended = take(imarena, folder, "--columns", THEIRS, code=2)
    assert "bench.csv, more.csv" in ended.err


# ---------------------------------------------------------------- turns


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("csv", "key,instruction,instruction_2,instruction_3,task,task_2\na,one,two,three,color,add\nb,only,,,,\n"),
        ("csv", 'key,instructions,task,task_2\na,"[""one"", ""two"", ""three""]",color,add\nb,"[""only""]",,\n'),
        (
            "jsonl",
            '{"key": "a", "instruction": ["one", "two", "three"], "task": ["color", "add"]}\n'
            '{"key": "b", "instruction": "only"}\n',
        ),
    ],
)
def test_several_instructions_are_turns(imarena: Imarena, tmp_path: Path, ending: str, text: str) -> None:
    (tmp_path / f"items.{ending}").write_text(text)
    take(imarena, f"items.{ending}")
    long, short = items(tmp_path / "arena")
    assert [turn.instruction for turn in long.turns] == ["one", "two", "three"]
    assert [long.task, *(turn.task for turn in long.turns)] == ["color", None, "add", None]
    assert [turn.instruction for turn in short.turns] == ["only"]


def test_a_gap_between_instructions_is_refused(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("key,instruction,instruction_2,instruction_3\na,one,,three\nb,one,two,\n")
    (skip,) = take(imarena, "items.csv", code=3).json["skips"]
    assert (skip["row"], skip["reason"]) == ("line 2", "an instruction between others is empty")


def test_outputs_of_several_turns_name_the_next_step(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "own" / "outputs" / "new" / "a").mkdir(parents=True)
    (tmp_path / "own" / "items.csv").write_text("key,instruction,instruction_2\na,one,two\n")
    for turn in (1, 2):
        (tmp_path / "own" / "outputs" / "new" / "a" / f"{turn}.png").write_bytes(samples.png(turn))
    (skip,) = take(imarena, "own", code=3).json["skips"]
    assert "imarena -w arena edit -e folder:PATH --mode all" in skip["reason"]
    done = imarena("-w", "arena", "--json", "edit", "-e", "folder:own/outputs/new", "--mode", "multi-turn")
    assert done.json["report"]["outputs"] == {"ok": 2}


def test_another_licence_of_a_stored_item_is_reported(imarena: Imarena, folder: Path) -> None:
    table = folder / "bench.csv"
    table.write_text(as_text([row | {"rights": "CC-BY-4.0"} for row in ROWS]))
    take(imarena, table, "--columns", THEIRS)
    again = ("-w", "arena", "--json", "import", "table", table, "--columns")
    assert imarena(*again, THEIRS).json["skipped"] == 0
    report = imarena(*again, f"{THEIRS},licence=rights", code=3).json
    assert report["skipped"] == 3
    assert report["same"]["Item"] == 0
    assert "the stored item has another licence; records are never changed" in report["causes"][0]["reason"]
    assert imarena(
        "-w", "arena", "import", "table", table, "--columns", f"{THEIRS},licence=rights", "-o", "dataset=two"
    )


def test_an_export_of_a_campaign_is_not_taken_for_a_table_of_votes(imarena: Imarena, folder: Path) -> None:
    (folder / "items.csv").write_text(as_text(ROWS))
    (folder / "votes.csv").write_text("left,right,winner,item,rater,purpose\na,b,left,cat,Ann,vote\n")
    (skip,) = take(imarena, folder, "--columns", THEIRS, code=3).json["skips"]
    assert skip["reason"].startswith(
        "the column key is missing. The file has: left, right, winner, item, rater, purpose. "
    )
    assert "`imarena -w arena agree --from`" in skip["reason"]


def test_license_is_read_as_the_licence(imarena: Imarena, folder: Path, tmp_path: Path) -> None:
    (folder / "t.jsonl").write_text(as_lines([row | {"license": "CC0-1.0"} for row in ROWS]))
    ended = take(imarena, folder, "--columns", THEIRS)
    assert {item.licence for item in items(tmp_path / "arena")} == {"CC0-1.0"}
    assert "license" not in ended.err


def test_the_proposed_columns_hold_the_task(imarena: Imarena, folder: Path) -> None:
    (folder / "t.jsonl").write_text(as_lines([{"id": row["uid"], "prompt": "x", "category": "add"} for row in ROWS]))
    refused = take(imarena, folder, code=2).err
    assert "Name them: --columns key=id,instruction=prompt,task=category. Items with a source image also" in refused
    warnings = take(imarena, folder, "--columns", "key=id,instruction=prompt").json["warnings"]
    assert any(text.startswith("t.jsonl: no column `source`: its items are text to image.") for text in warnings)


def test_lists_of_prompts_are_proposed_as_turns(imarena: Imarena, folder: Path) -> None:
    (folder / "t.jsonl").write_text(as_lines([{"uid": "cat", "prompts": ["x", "y"], "n": 1}]))
    refused = take(imarena, folder, code=2)
    assert "t.jsonl: the columns key and instruction are missing." in refused.err
    assert "Name them: --columns key=uid,instructions=prompts. Items with a source image" in refused.err


def test_a_table_with_a_rating_per_row_names_its_readers(imarena: Imarena, folder: Path) -> None:
    (folder / "t.jsonl").write_text(as_lines(ROWS))
    (folder / "ratings.csv").write_text("unit,model,rater,value\ncat,m,ann,3\n")
    (skip,) = take(imarena, folder, "--columns", THEIRS, code=3).json["skips"]
    assert "the columns key and editor are missing" in skip["reason"]
    assert "`imarena -w arena agree --from` and `imarena -w arena align --against`" in skip["reason"]
