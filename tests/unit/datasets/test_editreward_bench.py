"""TIGER-Lab's EditReward-Bench and the training JSON: rankings and winners become votes."""

import json
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import Item, Outcome, Output, Vote
from imarena.datasets import editreward_bench
from imarena.datasets.editreward_bench import parse_ranking
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.intake import MemoryIntake, import_all, picture


def told(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


def row(number: int, count: int = 2, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": f"s{number}",
        "instruction": f"edit {number}",
        "source_image": {"bytes": picture(number), "path": None},
        "ranking": "A>B",
    }
    for n in range(1, count + 1):
        values |= {f"candidate_{n}": {"bytes": picture(100 * number + n), "path": None}, f"model_{n}": f"m{n}"}
    return {**values, **changes}


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def pair(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "prompt": "make it red",
        "path_src": f"images/{number}_src.jpg",
        "path1": f"images/{number}_a.jpg",
        "path2": f"images/{number}_b.jpg",
        "model1": "Winner",
        "model2": "Loser",
        "model1_overall_score": 0.1,
        "model2_overall_score": 0.9,
        **changes,
    }


# ---------------------------------------------------------------- the real data


def test_the_503_recorded_votes(shared_data: Path) -> None:
    intake = import_all(editreward_bench.read, shared_data / "editreward_genai")
    assert told(intake) == []
    counts = Counter(type(record).__name__ for record in intake.taken)
    assert counts == {"Rater": 1, "Item": 503, "Output": 1006, "Vote": 503}
    rows = json.loads((shared_data / "editreward_genai" / "valid_dataset_1.json").read_text())
    editors = {output.output_id: output.editor for output in intake.all(Output)}
    winners = []
    for vote in intake.all(Vote):
        assert vote.right_id is not None
        winners.append(editors[vote.left_id if vote.preference is Outcome.LEFT else vote.right_id])
    assert winners == [entry["model1"] for entry in rows]
    assert 200 < sum(vote.preference is Outcome.LEFT for vote in intake.all(Vote)) < 303, "sides carry no signal"


# ---------------------------------------------------------------- training pairs


def test_the_overall_scores_are_noise_and_stay_out(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([pair(1, model1_dim1_score=4, model2_dim1_score=2)]))
    (vote,) = import_all(editreward_bench.read, tmp_path / "t.json").all(Vote)
    winner = "left" if vote.preference is Outcome.LEFT else "right"
    loser = "right" if winner == "left" else "left"
    assert vote.ratings == {f"{winner}.instruction_following": 4.0, f"{loser}.instruction_following": 2.0}


def test_a_tie_case_is_a_tie(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([pair(1, tie_case=True), pair(2, tie_case=False)]))
    votes = import_all(editreward_bench.read, tmp_path / "t.json").all(Vote)
    assert [vote.preference is Outcome.TIE for vote in votes] == [True, False]


def test_pictures_beside_the_file_are_used(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for seed, name in enumerate(("1_src", "1_a", "1_b")):
        (tmp_path / "images" / f"{name}.jpg").write_bytes(picture(seed, kind="JPEG"))
    (tmp_path / "t.json").write_text(json.dumps([pair(1)]))
    intake = import_all(editreward_bench.read, tmp_path / "t.json")
    assert all(output.image is not None for output in intake.all(Output))
    assert [len(item.sources) for item in intake.all(Item)] == [1]


def test_a_second_output_of_one_editor_is_another_sample(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([pair(1), pair(1, path1="images/other.jpg")]))
    intake = import_all(editreward_bench.read, tmp_path / "t.json")
    assert len(intake.all(Item)) == 1
    assert [(output.editor, output.sample) for output in intake.all(Output)] == [
        ("Winner", 0),
        ("Loser", 0),
        ("Winner", 1),
    ]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"model1_dim1_score": 41}, "model1_dim1_score is 41, not a number from 1 to 4"),
        ({"model1_dim2_score": "good"}, "model1_dim2_score is 'good'"),
        ({"tie_case": "yes"}, "tie_case is 'yes'"),
        ({"prompt": ""}, "the field prompt is empty"),
        ({"model1": 7}, "the field model1 is 7, not a text"),
        ({"path1": "../../secret.jpg"}, "out of the folder"),
        ({"path_src": "images/1_src.jpg", "path1": "images/1_a.jpg", "path2": "images/1_b.jpg"}, "appears twice"),
    ],
)
def test_a_bad_pair_is_named_and_the_others_stay(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    (tmp_path / "t.json").write_text(json.dumps([pair(1), pair(2, **changes), pair(3)]))
    intake = import_all(editreward_bench.read, tmp_path / "t.json")
    (line,) = told(intake)
    assert line.startswith("t.json, entry 1: ")
    assert complaint in line
    assert len(intake.all(Vote)) == 2


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    entry = pair(2)
    del entry["model2"]
    (tmp_path / "t.json").write_text(json.dumps([pair(1), entry, 7]))
    assert told(import_all(editreward_bench.read, tmp_path / "t.json")) == [
        "t.json, entry 1: the field model2 is missing",
        "t.json, entry 2: expected an object, got int",
    ]


@pytest.mark.parametrize("editor", ["../../x", "a_vs_b"])
def test_hostile_names_are_only_names(tmp_path: Path, editor: str) -> None:
    (tmp_path / "t.json").write_text(json.dumps([pair(1, model1=editor)]))
    assert import_all(editreward_bench.read, tmp_path / "t.json").all(Output)[0].editor == editor


# ---------------------------------------------------------------- the benchmark


def test_rankings_become_votes_on_every_pair(tmp_path: Path) -> None:
    parquet(tmp_path / "4pair" / "a.parquet", [row(1, 4, ranking="B > A = D > C")])
    intake = import_all(editreward_bench.read, tmp_path)
    assert told(intake) == []
    assert [vote.preference for vote in intake.all(Vote)] == [
        Outcome.RIGHT,  # A, B
        Outcome.LEFT,  # A, C
        Outcome.TIE,  # A, D
        Outcome.LEFT,  # B, C
        Outcome.LEFT,  # B, D
        Outcome.RIGHT,  # C, D
    ]
    assert [output.editor for output in intake.all(Output)] == ["m1", "m2", "m3", "m4"]


def test_rows_of_one_group_share_its_item(tmp_path: Path) -> None:
    shared: dict[str, Any] = {"instruction": "edit", "source_image": {"bytes": picture(1), "path": None}}
    letters = {letter: {"bytes": picture(50 + n), "path": None} for n, letter in enumerate("ABC")}
    rows = [
        row(1, **shared)
        | {
            "id": f"7_{left}{right}",
            "comparison_type": f"{left}vs{right}",
            "ranking": f"{left}>{right}",
            "candidate_1": letters[left],
            "candidate_2": letters[right],
            "model_1": f"m{left}",
            "model_2": f"m{right}",
        }
        for left, right in combinations("ABC", 2)
    ]
    parquet(tmp_path / "3pair" / "a.parquet", rows)
    intake = import_all(editreward_bench.read, tmp_path)
    assert told(intake) == []
    assert [item.key for item in intake.all(Item)] == ["3pair/7"]
    assert {output.editor for output in intake.all(Output)} == {"mA", "mB", "mC"}
    assert len(intake.all(Output)) == 3
    assert [vote.origin.row for vote in intake.all(Vote) if vote.origin] == [
        "3pair/7/A-B",
        "3pair/7/A-C",
        "3pair/7/B-C",
    ]


def test_ids_that_only_look_like_a_group_are_kept_apart(tmp_path: Path) -> None:
    rows = [row(n, id=f"7_{n}", comparison_type="AvsB", ranking="A=B") for n in (1, 2)]
    parquet(tmp_path / "3pair" / "a.parquet", rows)
    intake = import_all(editreward_bench.read, tmp_path)
    assert told(intake) == []
    assert [item.key for item in intake.all(Item)] == ["3pair/7", "3pair/7_2"]
    assert [vote.item_id for vote in intake.all(Vote)] == [
        Item.from_json(item.to_json()).item_id for item in intake.all(Item)
    ]


def test_a_second_import_gives_the_same_ids(tmp_path: Path) -> None:
    parquet(tmp_path / "2pair" / "a.parquet", [row(1), row(2, model_1=None, model_2=None)])
    intake = import_all(editreward_bench.read, tmp_path)
    ids = {output.output_id for output in intake.all(Output)} | {vote.vote_id for vote in intake.all(Vote)}
    intake.take(editreward_bench.read(tmp_path, intake, {}))
    assert {output.output_id for output in intake.all(Output)} | {vote.vote_id for vote in intake.all(Vote)} == ids
    assert [output.editor for output in intake.all(Output)][2:4] == [None, None]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ranking": "A>C"}, "not a ranking of A, B"),
        ({"ranking": "A better"}, "not a ranking"),
        ({"ranking": ""}, "the field ranking is empty"),
        ({"candidate_2": None}, "a candidate is missing"),
        ({"instruction": None}, "the field instruction is empty"),
        ({"id": "s1"}, "the id 's1' appears twice"),
        ({"source_image": {"bytes": None, "path": "../../x.png"}}, "out of the folder"),
        *[({"candidate_1": {"bytes": data, "path": None}}, "candidate_1") for data in BROKEN.values()],
    ],
)
def test_a_bad_row_is_named_and_the_others_stay(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    parquet(tmp_path / "2pair" / "a.parquet", [row(1), row(2, **changes), row(3)])
    intake = import_all(editreward_bench.read, tmp_path)
    (line,) = told(intake)
    assert line.startswith("2pair/a.parquet, row 1: ")
    assert complaint in line
    assert len(intake.all(Vote)) == 2


@pytest.mark.parametrize("name", sorted(UNUSUAL))
def test_unusual_pictures_are_kept(tmp_path: Path, name: str) -> None:
    parquet(tmp_path / "2pair" / "a.parquet", [row(1, candidate_1={"bytes": UNUSUAL[name], "path": None})])
    intake = import_all(editreward_bench.read, tmp_path)
    assert told(intake) == []
    assert UNUSUAL[name] in intake.blobs.values()


def test_a_missing_column_and_an_empty_file_are_told(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", [{"id": "1"}])
    (tmp_path / "b.parquet").write_bytes(b"")
    (tmp_path / "c.json").write_bytes(b"")
    lines = told(import_all(editreward_bench.read, tmp_path))
    assert "a.parquet: the columns instruction, source_image" in lines[0]
    assert lines[1].startswith("b.parquet: the file is empty")
    assert lines[2].startswith("c.json: the file is empty")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no rows"):
        import_all(editreward_bench.read, tmp_path)


@given(st.permutations(list("ABCD")), st.lists(st.sampled_from([">", "=", " > ", " = "]), min_size=3, max_size=3))
def test_every_ranking_is_read_as_written(order: list[str], signs: list[str]) -> None:
    text = order[0] + "".join(sign + letter for sign, letter in zip(signs, order[1:], strict=True))
    ranks = parse_ranking(text, "ABCD")
    for (first, second), sign in zip(pairwise(order), signs, strict=True):
        assert ranks[second] - ranks[first] == (1 if ">" in sign else 0)


@given(st.text(alphabet="ABCD>=< vs", max_size=8))
def test_nothing_else_is_a_ranking(text: str) -> None:
    try:
        ranks = parse_ranking(text, "AB")
    except UserError:
        return
    assert "".join(text.split()) in {"A>B", "B>A", "A=B", "B=A"}
    assert set(ranks) == {"A", "B"}
