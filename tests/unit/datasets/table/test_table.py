"""A plain folder of pictures and CSV files: what comes in, what stays out and why, and the way back."""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.protocols import Skip
from imarena.core.records import Item, Judgment, Outcome, Output, Rater, Record, Turn, Vote
from imarena.datasets.folder import escape_name, unescape_name
from imarena.datasets.table import importer as table
from imarena.datasets.table.exporter import PathSegments, write
from imarena.datasets.table.votes import parse_scale
from tests.unit.datasets.any_record import IMAGES, PICTURES
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.intake import MemoryIntake, import_all, picture


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """Three items, two editors, votes and ratings."""
    root = tmp_path / "mybench"
    for name, seed in {"images/cat.png": 1, "images/dog.png": 2, "images/hat.png": 3}.items():
        put(root / name, picture(seed))
    rows = [
        "key,instruction,source,reference,task,photographer",
        'cat,"make it red, please",images/cat.png,images/hat.png,color,Ann',
        "dog,remove the ball,images/dog.png,,remove,",
        "town,a town at night,,,,",
    ]
    (root / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for seed, editor in enumerate(("old", "new"), start=10):
        for shift, key in enumerate(("cat", "dog", "town")):
            put(root / "outputs" / editor / f"{key}.png", picture(seed * 10 + shift))
    (root / "votes.csv").write_text("key,left,right,winner,rater\ncat,old,new,right,ann\ndog,new,old,tie,bob\n")
    (root / "ratings.csv").write_text(
        "key,editor,rater,scale,quality,realism\ncat,old,ann,1-5,4,2\ncat,new,ann,1-5,5,\n"
    )
    return root


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def told(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


def test_a_whole_folder_comes_in(bench: Path) -> None:
    intake = import_all(table.read, bench)
    assert told(intake) == []
    cat, dog, town = intake.all(Item)
    assert (cat.dataset, cat.key, cat.instruction, cat.task) == ("mybench", "cat", "make it red, please", "color")
    assert [len(item.sources) for item in (cat, dog, town)] == [1, 1, 0]
    assert len(cat.references) == 1
    assert cat.provenance == {"photographer": "Ann"}
    assert {output.editor for output in intake.all(Output)} == {"old", "new"}
    assert len(intake.all(Output)) == 6
    preferences = [vote for vote in intake.all(Vote) if vote.right_id]
    assert [vote.preference for vote in preferences] == [Outcome.RIGHT, Outcome.TIE]
    assert [vote.ratings for vote in intake.all(Vote) if not vote.right_id] == [
        {"quality": 4.0, "realism": 2.0},
        {"quality": 5.0},
    ]
    assert [rater.rater_id for rater in intake.all(Rater)] == ["ann", "bob"]


def test_a_second_import_gives_the_same_ids(bench: Path) -> None:
    first, second = import_all(table.read, bench), import_all(table.read, bench)
    for kind, name in ((Item, "item_id"), (Output, "output_id"), (Vote, "vote_id")):
        assert [getattr(r, name) for r in first.all(kind)] == [getattr(r, name) for r in second.all(kind)]
        assert len({getattr(r, name) for r in first.all(kind)}) == len(first.all(kind))


def test_the_csv_itself_can_be_named(bench: Path) -> None:
    assert len(import_all(table.read, bench / "items.csv").all(Output)) == 6


def test_just_two_folders_of_outputs(tmp_path: Path) -> None:
    for editor in ("old", "new"):
        for key in ("a", "b"):
            put(tmp_path / "runs" / editor / f"{key}.png", picture(len(editor) + ord(key)))
    intake = import_all(table.read, tmp_path / "runs")
    assert told(intake) == []
    assert [(item.key, item.instruction, item.absent) for item in intake.all(Item)] == [
        ("a", "", ("a",)),
        ("b", "", ("b",)),
    ]
    assert len({item.item_id for item in intake.all(Item)}) == 2
    assert [output.editor for output in intake.all(Output)] == ["new", "new", "old", "old"]


def test_folders_with_sources(tmp_path: Path) -> None:
    put(tmp_path / "inputs" / "a.png", picture(1))
    put(tmp_path / "old" / "a.jpg", picture(2, kind="JPEG"))
    intake = import_all(table.read, tmp_path)
    assert [len(item.sources) for item in intake.all(Item)] == [1]
    assert [output.editor for output in intake.all(Output)] == ["old"]


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nor folders of images"):
        import_all(table.read, tmp_path)


def test_unknown_options_are_refused(bench: Path) -> None:
    with pytest.raises(UserError, match="no option 'data_set'"):
        import_all(table.read, bench, data_set="x")


def test_the_data_set_can_be_named(bench: Path) -> None:
    assert {item.dataset for item in import_all(table.read, bench, dataset="d").all(Item)} == {"d"}


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_source_keeps_its_row_out(bench: Path, name: str) -> None:
    (bench / "images" / "dog.png").write_bytes(BROKEN[name])
    intake = import_all(table.read, bench)
    assert {item.key for item in intake.all(Item)} == {"cat", "town"}
    assert told(intake)[0].startswith("items.csv, line 3: images/dog.png")
    assert any("outputs/old/dog.png: its item was left out: see items.csv, line 3" in line for line in told(intake))


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_output_is_told_and_the_others_stay(bench: Path, name: str) -> None:
    (bench / "votes.csv").unlink()
    (bench / "outputs" / "new" / "dog.png").write_bytes(BROKEN[name])
    intake = import_all(table.read, bench)
    assert len(intake.all(Output)) == 5
    assert len(told(intake)) == 1
    assert told(intake)[0].startswith("outputs/new/dog.png")


@pytest.mark.parametrize("name", sorted(UNUSUAL))
def test_unusual_pictures_are_kept_byte_for_byte(bench: Path, name: str) -> None:
    (bench / "images" / "dog.png").write_bytes(UNUSUAL[name])
    intake = import_all(table.read, bench)
    assert told(intake) == []
    assert UNUSUAL[name] in intake.blobs.values()


@pytest.mark.parametrize("path", ["../outside.png", "images/../../outside.png", "/etc/hostname", "images/link.png"])
def test_paths_that_leave_the_folder_are_refused(bench: Path, path: str) -> None:
    put(bench.parent / "outside.png", picture(9))
    (bench / "images" / "link.png").symlink_to(bench.parent / "outside.png")
    text = (bench / "items.csv").read_text().replace("images/dog.png", path)
    (bench / "items.csv").write_text(text)
    intake = import_all(table.read, bench)
    assert {item.key for item in intake.all(Item)} == {"cat", "town"}
    assert "items.csv, line 3" in told(intake)[0]
    assert "out of the folder" in told(intake)[0]


def test_an_editor_folder_that_is_a_link_out_is_refused(bench: Path) -> None:
    put(bench.parent / "elsewhere" / "cat.png", picture(9))
    (bench / "outputs" / "linked").symlink_to(bench.parent / "elsewhere")
    intake = import_all(table.read, bench)
    assert told(intake) == ["outputs/linked: the path 'outputs/linked' is a link that leads out of the folder"]
    assert len(intake.all(Output)) == 6


@pytest.mark.parametrize(
    ("file", "row", "complaint"),
    [
        ("items.csv", "cat,again,,,,", "the key 'cat' appears twice"),
        ("items.csv", ",no key,,,,", "the key is empty"),
        ("items.csv", "k, ,,,,", "the instruction is empty"),
        ("items.csv", "k,i,images/none.png,,,", "'images/none.png' is not there"),
        ("items.csv", "k,i", "2 cells, the header 6"),
        ("items.csv", "k,i,,,,,,", "more cells"),
        ("votes.csv", "cat,old,new,first,ann", "'first', not one of left, right, tie, both_bad"),
        ("votes.csv", "cat,old,older,left,ann", "'older' has no output"),
        ("votes.csv", "cow,old,new,left,ann", "no item with the key 'cow'"),
        ("votes.csv", "cat,old,old,left,ann", "both sides"),
        ("ratings.csv", "cat,old,bob,1-5,41,2", ": quality is 41, outside the scale 1 to 5"),
        ("ratings.csv", "cat,old,bob,1-5,good,2", "quality is 'good', not a number"),
        ("ratings.csv", "cat,old,bob,1-5,nan,2", "quality is 'nan', not a number"),
        ("ratings.csv", "cat,old,bob,five,3,2", "'five' is not a scale"),
        ("ratings.csv", "cat,old,bob,1-5,,", "no criterion is rated"),
    ],
)
def test_a_bad_row_is_named_and_the_others_stay(bench: Path, file: str, row: str, complaint: str) -> None:
    before = import_all(table.read, bench)
    path = bench / file
    path.write_text(path.read_text() + row + "\n")
    intake = import_all(table.read, bench)
    (line,) = told(intake)
    assert line.startswith(f"{file}, line {len(path.read_text().splitlines())}: ")
    assert complaint in line
    assert len(intake.taken) == len(before.taken) + 1


def test_mixed_encodings_cost_one_row(bench: Path) -> None:
    path = bench / "items.csv"
    path.write_bytes(path.read_bytes() + "k,caf\u00e9,,,,\n".encode("latin-1") + "l,caf\u00e9,,,,\n".encode())
    intake = import_all(table.read, bench)
    assert [item.key for item in intake.all(Item)] == ["cat", "dog", "town", "l"]
    assert told(intake) == ["items.csv, line 5: not UTF-8; save the file in one encoding"]


def test_marked_utf_16_is_read(bench: Path) -> None:
    path = bench / "items.csv"
    path.write_bytes(path.read_text().encode("utf-16"))
    assert len(import_all(table.read, bench).all(Item)) == 3


@pytest.mark.parametrize("file", ["votes.csv", "ratings.csv"])
def test_an_empty_file_is_told(bench: Path, file: str) -> None:
    (bench / file).write_bytes(b"")
    assert f"{file}: the file is empty" in told(import_all(table.read, bench))


def test_an_empty_table_of_items_is_refused(bench: Path) -> None:
    (bench / "items.csv").write_bytes(b"")
    with pytest.raises(UserError, match=r"items\.csv: the file is empty"):
        import_all(table.read, bench)


def test_a_missing_column_is_named_with_what_to_type(bench: Path) -> None:
    path = bench / "items.csv"
    path.write_text(path.read_text().replace("instruction", "prompt", 1))
    with pytest.raises(UserError, match=r"(?s)the column instruction is missing.*--columns instruction=prompt"):
        import_all(table.read, bench)


def test_two_files_for_one_output_are_told(bench: Path) -> None:
    put(bench / "outputs" / "old" / "cat.jpg", picture(77, kind="JPEG"))
    assert told(import_all(table.read, bench)) == ["outputs/old/cat.png: 'old' has an output for 'cat' already"]


def test_other_files_are_told_and_hidden_ones_passed_over(bench: Path) -> None:
    put(bench / "outputs" / "old" / "notes.txt", b"x")
    put(bench / "outputs" / "old" / ".DS_Store", b"x")
    assert told(import_all(table.read, bench)) == ["outputs/old/notes.txt: not an image, by its name"]


@pytest.mark.parametrize("text", ["5", "5-1", "1-1", "", "a-b", "nan-1"])
def test_what_is_not_a_scale(text: str) -> None:
    with pytest.raises(UserError, match="not a scale"):
        parse_scale(text)


# ---------------------------------------------------------------- the way back


def export(directory: Path, archive: MemoryIntake, **options: str) -> list[Skip]:
    return list(write(directory, archive, options))


def same_facts(left: list[Record], right: list[Record]) -> bool:
    return len(left) == len(right) and all(a.same_fact(b) for a, b in zip(left, right, strict=True))


def test_import_export_import_gives_the_same_records(bench: Path, tmp_path: Path) -> None:
    first = import_all(table.read, bench)
    assert export(tmp_path / "out", first) == []
    second = import_all(table.read, tmp_path / "out")
    assert told(second) == []
    for kind in (Item, Output, Vote):
        assert same_facts(list(first.all(kind)), list(second.all(kind)))
    assert [vote.vote_id for vote in first.all(Vote)] == [vote.vote_id for vote in second.all(Vote)]
    assert first.blobs == second.blobs


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(
    ["../../x", "a_vs_b", "CON", "..", "a/b", "A", "a", "%2F", "x" * 300, "é", " ", "tab\t", "line\nbreak", '"', ","]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    keys=st.lists(names, min_size=1, max_size=4, unique=True),
    editors=st.lists(names, min_size=1, max_size=3, unique=True),
    words=names.filter(str.strip),
)
def test_no_name_breaks_the_way_back(keys: list[str], editors: list[str], words: str) -> None:
    archive = MemoryIntake()
    archive.blobs = dict(PICTURES.blobs)
    for key in keys:
        item = Item(
            dataset="d", key=key, turns=(Turn(instruction=words, expected=words),), sources=(IMAGES[0],), task=words
        )
        archive.taken.append(item)
        archive.taken += [
            Output(item_id=item.item_id, editor=editor, image=IMAGES[1 + n % 3], seed=2**64 - 1, params={"n": n})
            for n, editor in enumerate(editors)
        ]
    with TemporaryDirectory() as parent:
        assert export(Path(parent) / "inner" / "out", archive) == []
        assert [path.name for path in Path(parent).iterdir()] == ["inner"]
        assert [path.name for path in (Path(parent) / "inner").iterdir()] == ["out"]
        back = import_all(table.read, Path(parent) / "inner" / "out")
    assert told(back) == []
    for kind in (Item, Output):
        assert same_facts(list(archive.all(kind)), list(back.all(kind)))


def test_what_does_not_fit_is_told(bench: Path, tmp_path: Path) -> None:
    archive = import_all(table.read, bench)
    item = archive.all(Item)[0]
    output = archive.all(Output)[0]
    archive.taken += [
        item.model_copy(update={"key": "two", "turns": item.turns * 2}),
        output.model_copy(update={"turn": 1}),
        Judgment(work_id="w", judge="j", item_id=item.item_id, left_id=output.output_id, score=1.0),
    ]
    reasons = [str(skip) for skip in export(tmp_path / "out", archive)]
    assert len(reasons) == 3
    assert "2 turns" in reasons[0]
    assert "several turns" in reasons[1]
    assert reasons[2].startswith("judgments: 1 are not part of this format")


def test_one_data_set_an_export(bench: Path, tmp_path: Path) -> None:
    archive = import_all(table.read, bench)
    archive.take(table.read(bench, archive, {"dataset": "other"}))
    with pytest.raises(UserError, match="Which data set"):
        export(tmp_path / "out", archive)
    export(tmp_path / "out", archive, dataset="other")
    with (tmp_path / "out" / "items.csv").open(encoding="utf-8", newline="") as file:
        assert {row["dataset"] for row in csv.DictReader(file)} == {"other"}


@given(names)
def test_escaped_names_are_one_segment_and_come_back(name: str) -> None:
    segment = escape_name(name)
    assert "/" not in segment
    assert segment not in {"", ".", ".."}
    assert segment.isascii()
    assert unescape_name(segment) == name


@given(st.lists(names, unique=True, max_size=12))
def test_segments_stay_apart_where_case_does_not_count(some: list[str]) -> None:
    segments = PathSegments()
    assert len({segments.of(name).lower() for name in some}) == len(some)
    assert all(len(segments.of(name)) < 150 for name in some)
