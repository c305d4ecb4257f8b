"""ImagenHub: the museum's pixels and the raters' tables meet on the same items."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import Item, Output, Rater, Vote
from imarena.datasets import imagenhub
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.intake import MemoryIntake, import_all, picture

TASK = "Text-Guided_IE"


@pytest.fixture
def museum(tmp_path: Path) -> Path:
    root = tmp_path / TASK
    uids = ["a.jpg", "b.jpg"]
    for seed, folder in enumerate(("input", "Ed", "../weird"[3:])):
        for shift, uid in enumerate(uids):
            path = root / folder / uid
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture(seed * 10 + shift, kind="JPEG"))
    lookup = {uid: {"instruction": f"change {uid}", "target_global_caption": "changed"} for uid in uids}
    (root / "dataset_lookup.json").write_text(json.dumps(lookup))
    return root


def ratings(folder: Path, number: int, *rows: str, header: str = "uid\tEd\tGone") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{TASK}_rater{number}.tsv"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def told(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


# ---------------------------------------------------------------- the real data


def test_text_guided_editing_and_text_to_image(shared_data: Path) -> None:
    intake = import_all(imagenhub.read, shared_data / "imagenmuseum")
    assert Counter(type(record).__name__ for record in intake.taken) == {"Item": 179, "Output": 1432}
    assert len({output.editor for output in intake.all(Output)}) == 8
    intake.take(imagenhub.read(shared_data / "imagenhub" / "human_ratings", intake, {}))
    assert told(intake) == []
    editing, drawing = ("imagenhub/Text-Guided_IE", "imagenhub/Text-To-Image")
    ids = {name: {item.item_id for item in intake.items(name).values()} for name in (editing, drawing)}
    assert {name: len(found) for name, found in ids.items()} == {editing: 179, drawing: 197}
    outputs = [output for output in intake.all(Output) if output.item_id in ids[editing]]
    assert sum(output.image is not None for output in outputs) == 1432
    assert {output.editor for output in outputs if output.image is None} == {"Imagic"}
    votes = [vote for vote in intake.all(Vote) if vote.item_id in ids[editing]]
    assert len({vote.rater_id for vote in votes}) == 3
    assert len(votes) == 3 * 179 * 9
    assert len(intake.all(Vote)) == 3 * (179 * 9 + 197 * 7)
    assert len({vote.vote_id for vote in intake.all(Vote)}) == len(intake.all(Vote))
    assert len(intake.all(Rater)) == 6


def test_the_published_means_come_out(shared_data: Path) -> None:
    published = json.loads((shared_data / "imagenhub" / "published.json").read_text())
    intake = import_all(imagenhub.read, shared_data / "imagenhub" / "human_ratings")
    editors = {output.output_id: output.editor for output in intake.all(Output)}
    items = {item.item_id: item.task or "" for item in intake.all(Item)}
    overall: dict[tuple[str, str | None], list[float]] = {}
    for vote in intake.all(Vote):
        value = (vote.ratings["SC"] * vote.ratings["PQ"]) ** 0.5
        overall.setdefault((items[vote.item_id], editors[vote.left_id]), []).append(value)
    assert len(overall) == 16
    for (task, editor), values in overall.items():
        assert sum(values) / len(values) == pytest.approx(published[task][editor]["O_avg"], abs=1e-9)


# ---------------------------------------------------------------- made-up trees


def test_ratings_attach_to_pixels_and_the_rest_has_none(museum: Path, tmp_path: Path) -> None:
    intake = import_all(imagenhub.read, museum)
    ratings(tmp_path / "votes", 1, "a.jpg\t[0.5, 0]\t[1 , 1]")
    intake.take(imagenhub.read(tmp_path / "votes", intake, {}))
    assert told(intake) == []
    first, second = intake.all(Vote)
    assert first.left_id == intake.outputs(f"imagenhub/{TASK}")["a.jpg", "Ed"]
    assert (first.ratings, first.scale) == ({"SC": 0.5, "PQ": 0.0}, (0.0, 1.0))
    gone = next(output for output in intake.all(Output) if output.output_id == second.left_id)
    assert (gone.editor, gone.image) == ("Gone", None)
    assert len(intake.all(Item)) == 2


def test_a_second_import_makes_nothing_new(museum: Path) -> None:
    ratings(museum, 1, "a.jpg\t[0,0]\t[1,1]")
    intake = import_all(imagenhub.read, museum)
    votes = {vote.vote_id for vote in intake.all(Vote)}
    outputs = {output.output_id for output in intake.all(Output)}
    intake.take(imagenhub.read(museum, intake, {}))
    assert {vote.vote_id for vote in intake.all(Vote)} == votes
    assert {output.output_id for output in intake.all(Output)} == outputs


def test_three_tables_share_items_without_pixels(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        ratings(tmp_path / "votes", number, "a.jpg\t[0,0]\t[1,1]", "b.jpg\t[0,0.5]\t[1,1]")
    intake = import_all(imagenhub.read, tmp_path / "votes")
    assert Counter(type(r).__name__ for r in intake.taken) == {"Rater": 3, "Item": 2, "Output": 4, "Vote": 12}
    assert all(item.absent for item in intake.all(Item))


def test_pixels_after_ratings_are_a_conflict_told_by_item(museum: Path, tmp_path: Path) -> None:
    ratings(tmp_path / "votes", 1, "a.jpg\t[0,0]\t[1,1]")
    intake = import_all(imagenhub.read, tmp_path / "votes")
    intake.take(imagenhub.read(museum, intake, {}))
    assert any("a.jpg: the item is in the workspace without its pixels" in line for line in told(intake))
    assert any("import the pixels first" in line for line in told(intake))
    assert [item.key for item in intake.all(Item) if not item.absent] == ["b.jpg"]
    assert [line for line in told(intake) if "left out above" in line] == [
        "Ed: 1 output of items that were left out above",
        "weird: 1 output of items that were left out above",
    ]
    assert {output.editor for output in intake.all(Output) if output.image} == {"Ed", "weird"}


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ("[41, 1]", "SC is 41, not one of 0, 0.5, 1"),
        ("[1, 0.7]", "PQ is 0.7"),
        ("[1]", "not of the form"),
        ("__import__('os')", "not of the form"),
        ("[1, 1", "not of the form"),
    ],
)
def test_a_bad_cell_is_named_and_the_others_stay(tmp_path: Path, cell: str, complaint: str) -> None:
    ratings(tmp_path / "votes", 1, "a.jpg\t[0,0]\t[1,1]", f"b.jpg\t{cell}\t[1,1]")
    intake = import_all(imagenhub.read, tmp_path / "votes")
    (line,) = told(intake)
    assert line.startswith(f"{TASK}_rater1.tsv, line 3, column Ed: ")
    assert complaint in line
    assert len(intake.all(Vote)) == 3


@pytest.mark.parametrize(
    ("rows", "header", "complaint"),
    [
        (("a.jpg\t[0,0]\t[1,1]",) * 2, "uid\tEd\tGone", "line 3: the uid 'a.jpg' appears twice"),
        (("a.jpg\t[0,0]",), "id\tEd", "the column uid is missing"),
        (("a.jpg\t[0,0]",), "uid\tEd\tGone", "line 2: the row has 2 cells"),
        (("a.jpg\t[0,0]\t[0,0]",), "uid\tEd\tEd", "the column Ed appears twice"),
    ],
)
def test_a_bad_table_is_named(tmp_path: Path, rows: tuple[str, ...], header: str, complaint: str) -> None:
    ratings(tmp_path / "votes", 1, *rows, header=header)
    (line,) = told(import_all(imagenhub.read, tmp_path / "votes"))
    assert line.startswith(f"{TASK}_rater1.tsv")
    assert complaint in line


def test_mixed_encodings_cost_one_row(tmp_path: Path) -> None:
    path = ratings(tmp_path / "votes", 1, "a.jpg\t[0,0]\t[1,1]")
    path.write_bytes(path.read_bytes() + b"caf\xe9.jpg\t[0,0]\t[1,1]\nc.jpg\t[0,0]\t[1,1]\n")
    intake = import_all(imagenhub.read, tmp_path / "votes")
    assert len(intake.all(Vote)) == 4
    assert "line 3: not UTF-8" in told(intake)[0]


def test_an_empty_table_and_a_nameless_one_are_told(tmp_path: Path) -> None:
    ratings(tmp_path / "votes", 1).write_bytes(b"")
    (tmp_path / "votes" / "votes.tsv").write_text("uid\tEd\n")
    assert [line.split(": ")[1] for line in told(import_all(imagenhub.read, tmp_path / "votes"))] == [
        "the file is empty",
        "the file name does not say which rater it is (such as Text-Guided_IE_rater1.tsv)",
    ]


@pytest.mark.parametrize("editor", ["../../x", "a_vs_b"])
def test_hostile_editor_names_are_only_names(tmp_path: Path, editor: str) -> None:
    ratings(tmp_path / "votes", 1, "a.jpg\t[0,0]", header=f"uid\t{editor}")
    intake = import_all(imagenhub.read, tmp_path / "votes")
    assert [output.editor for output in intake.all(Output)] == [editor]


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_picture_is_named(museum: Path, name: str) -> None:
    (museum / "Ed" / "a.jpg").write_bytes(BROKEN[name])
    (museum / "input" / "b.jpg").write_bytes(BROKEN[name])
    intake = import_all(imagenhub.read, museum)
    assert [item.key for item in intake.all(Item)] == ["a.jpg"]
    assert [output.editor for output in intake.all(Output)] == ["weird"]
    assert any(line.startswith("Ed/a.jpg: ") for line in told(intake))
    assert any(line.startswith("input/b.jpg, b.jpg: ") for line in told(intake))


@pytest.mark.parametrize("name", sorted(UNUSUAL))
def test_unusual_pictures_are_kept(museum: Path, name: str) -> None:
    (museum / "Ed" / "a.jpg").write_bytes(UNUSUAL[name])
    intake = import_all(imagenhub.read, museum)
    assert told(intake) == []
    assert UNUSUAL[name] in intake.blobs.values()


def test_a_link_out_of_the_folder_is_not_read(museum: Path) -> None:
    outside = museum.parent / "outside.jpg"
    outside.write_bytes(picture(99, kind="JPEG"))
    (museum / "Ed" / "a.jpg").unlink()
    (museum / "Ed" / "a.jpg").symlink_to(outside)
    intake = import_all(imagenhub.read, museum)
    assert outside.read_bytes() not in intake.blobs.values()
    assert len(intake.all(Output)) == 3
    assert told(intake) == ["Ed/a.jpg: the path 'Ed/a.jpg' is a link that leads out of the folder"]


def test_a_table_that_is_a_link_out_is_told(tmp_path: Path) -> None:
    ratings(tmp_path / "elsewhere", 1, "a.jpg\t[0,0]\t[1,1]")
    ratings(tmp_path / "votes", 2, "a.jpg\t[0,0]\t[1,1]")
    name = f"{TASK}_rater1.tsv"
    (tmp_path / "votes" / name).symlink_to(tmp_path / "elsewhere" / name)
    intake = import_all(imagenhub.read, tmp_path / "votes")
    assert told(intake) == [f"{name}: the path '{name}' is a link that leads out of the folder"]
    assert len(intake.all(Vote)) == 2


def test_an_instruction_that_is_missing_or_no_text_is_told(museum: Path) -> None:
    (museum / "dataset_lookup.json").write_text(json.dumps({"a.jpg": {"instruction": 7}, "b.jpg": "x"}))
    intake = import_all(imagenhub.read, museum)
    assert intake.all(Item) == []
    assert "dataset_lookup.json, a.jpg: the instruction or the caption is not a text" in told(intake)
    assert "dataset_lookup.json, b.jpg: expected an object, got str" in told(intake)


def test_an_empty_folder_and_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither an output tree nor rating tables"):
        import_all(imagenhub.read, tmp_path)
    with pytest.raises(UserError, match="no option"):
        import_all(imagenhub.read, tmp_path, tasks="x")


@given(st.text(max_size=20))
def test_only_two_numbers_in_brackets_are_a_rating(text: str) -> None:
    try:
        pair = imagenhub.parse_cell(text)
    except UserError:
        return
    assert set(pair) <= {0.0, 0.5, 1.0}
    assert json.loads(text) == list(pair)


@given(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1]), st.sampled_from(["", " ", "  "]))
def test_ratings_are_read_as_written(sc: float, pq: float, space: str) -> None:
    assert imagenhub.parse_cell(f"{space}[{space}{sc}{space},{space}{pq}]{space}") == (sc, pq)
