"""GenAI-Bench: human votes, judges' votes, and the accuracies that follow from them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Outcome, Output, Reply, Status, Vote, tie_is_unstated
from imarena.datasets import genai_bench
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.intake import MemoryIntake, import_all, picture


def told(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def entry(number: int, **changes: Any) -> dict[str, Any]:
    return {"idx": number, "prompt": f"a cat {number}", "human_vote": "leftvote", "votes": {}, **changes}


def edition(number: int, **changes: Any) -> dict[str, Any]:
    cell = [{"bytes": picture(100 * number + n), "path": None} for n in range(3)]
    return {
        "source_prompt": "a dog",
        "target_prompt": "a cat",
        "instruct_prompt": "dog to cat",
        "source_image": cell[0],
        "left_output_image": cell[1],
        "right_output_image": cell[2],
        "left_model": "Left",
        "right_model": "Right",
        "vote_type": "tievote",
        **changes,
    }


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


# ---------------------------------------------------------------- the real data


def test_the_1735_votes_and_the_published_accuracies(shared_data: Path) -> None:
    """Four-way accuracy, unparsable = wrong, a bare [[A=B]] right for either kind of tie (shared README)."""
    intake = import_all(genai_bench.read, shared_data / "genai_bench")
    assert told(intake) == []
    counts = Counter(type(record).__name__ for record in intake.taken)
    assert counts == {"Rater": 1, "Item": 1735, "Output": 3470, "Vote": 1735, "Judgment": 1735 * 18}
    assert {output.editor for output in intake.all(Output)} == {None}
    people = {vote.item_id: vote.preference for vote in intake.all(Vote)}
    right: Counter[str] = Counter()
    for judgment in intake.all(Judgment):
        human = people[judgment.item_id]
        either = judgment.reasons.get("label") == "[[A=B]]" and human in {Outcome.TIE, Outcome.BOTH_BAD}
        right[judgment.judge] += judgment.preference is not None and (judgment.preference is human or either)
    accuracy = {judge: round(100 * count / 1735, 2) for judge, count in right.items()}
    published = {"gpt4o": 45.59, "llava": 37.00, "idefics2": 42.25, "gemini-1.5-pro": 44.67}
    assert {judge: accuracy[judge] for judge in published} == published


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("[[A>B]]", Outcome.LEFT),
        ("[[ B > A ]]", Outcome.RIGHT),
        ("[[A=B=Good]]", Outcome.TIE),
        ("[[ A=B = Bad]]", Outcome.BOTH_BAD),
        ("[[A=B]]", Outcome.TIE),
        (None, None),
        ("[['A'>'B']]", None),
        ("[[A>B]] or [[A=B=Good]]", None),
        ("A", None),
        ("[[]]", None),
    ],
)
def test_labels_are_read_strictly(text: str | None, outcome: Outcome | None) -> None:
    assert genai_bench.label_of(text) is outcome


def test_a_reply_must_give_one_label() -> None:
    assert genai_bench.label_in("so [[A>B]] it is, [[A>B]]") == "[[A>B]]"
    assert genai_bench.label_in("[[A>B]] or [[B>A]]") is None
    assert genai_bench.label_in("A is better") is None


@given(st.text(alphabet="[]AB>=Godba ", max_size=14))
def test_no_other_text_is_a_label(text: str) -> None:
    outcome = genai_bench.label_of(text)
    assert (outcome is None) == ("".join(text.split()).upper() not in genai_bench.LABELS)


def test_a_failure_is_a_status_not_a_verdict(tmp_path: Path) -> None:
    votes = {"j": [None, False], "k": ["[[A=B]]", False], "l": "[[B>A]]", "m": ["words", True]}
    intake = import_all(genai_bench.read, write(tmp_path / "image_generation.json", [entry(0, votes=votes)]))
    assert [(j.judge, j.status, j.preference) for j in intake.all(Judgment)] == [
        ("j", Status.UNPARSABLE, None),
        ("k", Status.OK, Outcome.TIE),
        ("l", Status.OK, Outcome.RIGHT),
        ("m", Status.UNPARSABLE, None),
    ]
    assert [judgment.reasons for judgment in intake.all(Judgment)] == [
        {},
        {"label": "[[A=B]]", "tie": "unstated"},
        {},
        {"label": "words"},
    ]


# ---------------------------------------------------------------- rows with pixels, and results about them


def test_rows_with_pixels_and_names(tmp_path: Path) -> None:
    parquet(tmp_path / "image_edition" / "test_v1-00000.parquet", [edition(1), edition(2, vote_type="bothbad_vote")])
    intake = import_all(genai_bench.read, tmp_path)
    assert told(intake) == []
    assert [item.key for item in intake.all(Item)] == ["0", "1"]
    assert intake.all(Item)[0].turns[0].expected == "a cat"
    assert [output.editor for output in intake.all(Output)] == ["Left", "Right"] * 2
    assert [vote.preference for vote in intake.all(Vote)] == [Outcome.TIE, Outcome.BOTH_BAD]


@pytest.mark.parametrize("names", [("Left", "Right"), ("Same", "Same"), (None, None)])
def test_results_find_the_outputs_that_are_there(tmp_path: Path, names: tuple[str | None, str | None]) -> None:
    rows = [edition(1, left_model=names[0], right_model=names[1])]
    intake = import_all(genai_bench.read, parquet(tmp_path / "image_edition" / "a.parquet", rows))
    line = {"idx": 0, "response": "well, [[B>A]]", "model_vote": "[[B>A]]", "human_vote": "tievote", "correct": False}
    path = tmp_path / "results" / "image_edition" / "gpt4o.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(line) + "\n")
    intake.take(genai_bench.read(path, intake, {}))
    assert told(intake) == []
    (judgment,) = intake.all(Judgment)
    left, right = intake.all(Output)
    assert (judgment.left_id, judgment.right_id) == (left.output_id, right.output_id)
    assert (judgment.judge, judgment.preference) == ("gpt4o", Outcome.RIGHT)
    (reply,) = intake.all(Reply)
    assert (reply.raw, judgment.reply_id) == ("well, [[B>A]]", reply.reply_id)
    assert len({vote.vote_id for vote in intake.all(Vote)}) == 1, "the same human vote again"


@pytest.mark.parametrize("name", ["a_image_edition.json", "z_image_edition.json"])
def test_verdicts_beside_the_pictures_find_their_outputs(tmp_path: Path, name: str) -> None:
    """A list with prompts and judges' votes, before or after the pictures by name."""
    parquet(tmp_path / "image_edition" / "m.parquet", [edition(0), edition(1)])
    rows = [entry(0, prompt="dog to cat", votes={"j": ["[[A=B]]", False]}, human_vote="tievote")]
    write(tmp_path / name, [*rows, entry(1, prompt="another prompt", votes={"j": ["[[A>B]]", False]})])
    intake = import_all(genai_bench.read, tmp_path)
    assert told(intake) == [f"{name}, entry 1: the item 1 is in the workspace with other content"]
    (judged,) = intake.all(Judgment)
    sides = {output.output_id for output in intake.all(Output) if output.item_id == judged.item_id}
    assert {judged.left_id, judged.right_id} == sides
    assert tie_is_unstated(judged.reasons)
    assert len(intake.all(Item)) == 2


def test_a_bare_tie_in_a_reply_is_of_unstated_kind(tmp_path: Path) -> None:
    path = tmp_path / "image_edition" / "j.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps({"idx": 0, "response": "Both do it. [[A = B]]"}))
    (judged,) = import_all(genai_bench.read, tmp_path).all(Judgment)
    assert (judged.preference, judged.reasons) == (Outcome.TIE, {"label": "[[A = B]]", "tie": "unstated"})


def test_results_alone_make_items_without_pixels(tmp_path: Path) -> None:
    rows = [{"idx": 3, "response": "[[A=B=Good]]", "human_vote": "tievote"}]
    intake = import_all(genai_bench.read, write(tmp_path / "x.json", rows), config="image_edition", judge="mine")
    assert told(intake) == []
    assert [(j.judge, j.preference) for j in intake.all(Judgment)] == [("mine", Outcome.TIE)]
    assert all(item.absent for item in intake.all(Item))


def test_a_second_import_gives_the_same_ids(tmp_path: Path) -> None:
    path = write(tmp_path / "image_generation.json", [entry(0, votes={"j": ["[[A>B]]", True]}), entry(1)])
    intake = import_all(genai_bench.read, path)

    def ids() -> set[str]:
        return (
            {judgment.judgment_id for judgment in intake.all(Judgment)}
            | {vote.vote_id for vote in intake.all(Vote)}
            | {output.output_id for output in intake.all(Output)}
        )

    before = ids()
    intake.take(genai_bench.read(path, intake, {}))
    assert ids() == before


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"human_vote": "left"}, "the vote is 'left', not one of leftvote"),
        ({"idx": 0}, "the idx 0 appears twice"),
        ({"idx": 1.5}, "the idx is 1.5"),
        ({"prompt": ""}, "the field prompt is empty"),
        ({"prompt": 7}, "the field prompt is 7, not a text"),
    ],
)
def test_a_bad_entry_is_named_and_the_others_stay(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    path = write(tmp_path / "image_generation.json", [entry(0), entry(1, **changes), entry(2)])
    intake = import_all(genai_bench.read, path)
    (line,) = told(intake)
    assert line.startswith("image_generation.json, entry 1: ")
    assert complaint in line
    assert len(intake.all(Vote)) == 2


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"left_output_image": None}, "one of the two images is missing"),
        (
            {"right_model": "Left", "right_output_image": {"bytes": picture(201), "path": None}},
            "both sides have the same image",
        ),
        ({"source_image": {"bytes": None, "path": "../x.png"}}, "out of the folder"),
        *[({"source_image": {"bytes": data, "path": None}}, "source_image") for data in BROKEN.values()],
    ],
)
def test_a_bad_row_is_named_and_the_others_stay(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    parquet(tmp_path / "image_edition" / "a.parquet", [edition(1), edition(2, **changes), edition(3)])
    intake = import_all(genai_bench.read, tmp_path)
    (line,) = told(intake)
    assert line.startswith("image_edition/a.parquet, row 1: ")
    assert complaint in line
    assert len(intake.all(Vote)) == 2


@pytest.mark.parametrize("name", sorted(UNUSUAL))
def test_unusual_pictures_are_kept(tmp_path: Path, name: str) -> None:
    rows = [edition(1, source_image={"bytes": UNUSUAL[name], "path": None})]
    intake = import_all(genai_bench.read, parquet(tmp_path / "image_edition" / "a.parquet", rows))
    assert told(intake) == []
    assert UNUSUAL[name] in intake.blobs.values()


def test_a_file_of_no_configuration_is_told(tmp_path: Path) -> None:
    (line,) = told(import_all(genai_bench.read, write(tmp_path / "votes.json", [entry(0)])))
    assert "votes.json: the path names none of image_generation" in line


@pytest.mark.parametrize(
    ("content", "complaint"), [("", "empty"), ("{}", "expected a list"), ("[]", "the list is empty")]
)
def test_a_file_without_rows_is_told(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "image_generation.json").write_text(content)
    (line,) = told(import_all(genai_bench.read, tmp_path))
    assert line.startswith("image_generation.json: ")
    assert complaint in line


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "image_generation.json", [entry(0)])
    with pytest.raises(UserError, match="not a choice"):
        import_all(genai_bench.read, tmp_path, config="audio")
    with pytest.raises(UserError, match="no option"):
        import_all(genai_bench.read, tmp_path, split="test_v1")
