"""Multimodal RewardBench 2: pairs with three annotations each, and predictions in both orders."""

import json
from pathlib import Path
from typing import Any

import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Status, Vote
from imarena.datasets.mmrb2 import LABEL, read
from tests.unit.datasets.intake import import_all, picture


def pair(
    number: int, chosen: str, marks: list[Any], models: tuple[str, str] = ("flux", "gpt"), **changes: Any
) -> dict[str, Any]:
    return {
        "id": f"emu-edit_{number}",
        "prompt_source": "emu-edit",
        "prompt_metadata": {"id": number, "task": "add"},
        "prompt_content": [["image", f"input_images/{number}.jpg"], ["text", "Add toothpaste"]],
        "response_a": {"model_name": models[0], "response_content": [["image", f"images/{number}_0.jpg"]]},
        "response_b": {"model_name": models[1], "response_content": [["image", f"images/{number}_1.jpg"]]},
        "chosen": chosen,
        "human_annotations": marks,
        **changes,
    }


def make(root: Path, pairs: list[Any], pictures: int = 2) -> Path:
    home = root / "benchmark"
    for name in ("images", "input_images"):
        (home / name).mkdir(parents=True, exist_ok=True)
    for number in range(pictures):
        (home / f"input_images/{number}.jpg").write_bytes(picture(number, kind="JPEG"))
        for side in (0, 1):
            (home / f"images/{number}_{side}.jpg").write_bytes(picture(10 + 2 * number + side, kind="JPEG"))
    (home / "edit.json").write_text(json.dumps({"pairs": pairs}))
    return root


PAIRS = [pair(0, "A", [6, 6, 4]), pair(1, "B", [1, 4, 1], models=("flux", "flux")), pair(2, "B", [2, 3, 2])]


def test_pairs_and_annotations_are_counted(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path, PAIRS))
    assert intake.skips == []
    items = intake.all(Item)
    assert [(item.key, item.task, len(item.sources), item.absent) for item in items] == [
        ("emu-edit_0", "edit", 1, ()), ("emu-edit_1", "edit", 1, ()), ("emu-edit_2", "edit", 0, ("input_images/2.jpg",)),
    ]  # fmt: skip
    assert items[0].instruction == "Add toothpaste"
    assert [(output.editor, output.sample, output.image is not None) for output in intake.all(Output)] == [
        ("flux", 0, True), ("gpt", 0, True), ("flux", 0, True), ("flux", 1, True), ("flux", 0, False), ("gpt", 0, False),
    ]  # fmt: skip
    assert len(intake.all(Rater)) == 3
    votes = intake.all(Vote)
    assert [vote.preference for vote in votes[:6]] == [
        Outcome.LEFT, Outcome.LEFT, Outcome.LEFT, Outcome.RIGHT, Outcome.LEFT, Outcome.RIGHT,
    ]  # fmt: skip
    assert [vote.ratings["preference"] for vote in votes] == [6, 6, 4, 1, 4, 1, 2, 3, 2]
    assert {vote.scale for vote in votes} == {(1, 6)}


def test_the_released_label_can_be_the_one_vote(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path, PAIRS), votes="chosen")
    assert [(vote.rater_id, vote.preference) for vote in intake.all(Vote)] == [
        (LABEL, Outcome.LEFT), (LABEL, Outcome.RIGHT), (LABEL, Outcome.RIGHT),
    ]  # fmt: skip


def test_the_readme_spelling_is_read_too(tmp_path: Path) -> None:
    other = pair(0, "A", [], human_annotations={})
    other["pair_id"] = other.pop("id")
    for side in ("response_a", "response_b"):
        other[side]["model"] = other[side].pop("model_name")
    intake = import_all(read, make(tmp_path, [other]))
    assert intake.skips == []
    assert [vote.rater_id for vote in intake.all(Vote)] == [LABEL]


def test_predictions_are_turned_back_and_a_missing_one_is_a_status(tmp_path: Path) -> None:
    root = make(tmp_path, PAIRS)
    says = [{"judgement": "A", "evaluator": "sample", "metadata": {}}]
    predictions = {
        "emu-edit_0": {"forward": says, "reverse": says},
        "emu-edit_1": {"forward": [{"judgement": None}], "reverse": [{"judgement": "C"}]},
        "gone": {"forward": says},
    }
    (root / "predictions.json").write_text(json.dumps(predictions))
    intake = import_all(read, root)
    assert [(j.judge, j.order, j.status, j.preference) for j in intake.all(Judgment)] == [
        ("sample", Order.LEFT_FIRST, Status.OK, Outcome.LEFT),
        ("sample", Order.RIGHT_FIRST, Status.OK, Outcome.RIGHT),
        ("mmrb2-judge-not-recorded", Order.LEFT_FIRST, Status.UNPARSABLE, None),
    ]
    assert [str(skip) for skip in intake.skips] == [
        "predictions.json, pair emu-edit_1 reverse: unknown outcome 'C': expected 'A', 'B' or 'Tie'",
        "predictions.json, pair gone: there is no such pair in this import",
    ]


def test_importing_twice_gives_the_same_ids(tmp_path: Path) -> None:
    root = make(tmp_path, PAIRS)
    intake = import_all(read, root)
    before = {vote.vote_id for vote in intake.all(Vote)} | {output.output_id for output in intake.all(Output)}
    intake.take(read(root, intake, {}))
    assert intake.skips == []
    assert {vote.vote_id for vote in intake.all(Vote)} | {output.output_id for output in intake.all(Output)} == before
    assert len(before) == 9 + 6


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (pair(0, "C", [6, 6, 6]), "unknown outcome 'C': expected 'A' or 'B'"),
        (pair(0, "A", [6, 41, 6]), "annotation 2 is 41, outside the scale 1 to 6"),
        (pair(0, "A", [6, "x", 6]), "annotation 2 is 'x', outside the scale 1 to 6"),
        (pair(0, "A", [6], response_a=None), "the field response_a is missing"),
        (pair(0, "A", [6], models=("", "b")), "the field model_name or model is missing"),
        (
            pair(0, "A", [6], prompt_content=[["image", "../../x.png"]]),
            "the path 'benchmark/../../x.png' leads out of the folder",
        ),
        (
            pair(0, "A", [6], prompt_content=[["video", "x"]]),
            "prompt_content holds something that is neither text nor image",
        ),
        (pair(0, "A", [6], id="\ud800"), "a text holds half of a character pair, which UTF-8 cannot write"),
        ("nothing", "expected an object"),
        (PAIRS[1], "the key 'emu-edit_1' appears twice"),
    ],
)
def test_a_bad_pair_is_left_out_and_the_good_stay(tmp_path: Path, bad: Any, reason: str) -> None:
    intake = import_all(read, make(tmp_path, [PAIRS[1], bad]))
    assert [str(skip) for skip in intake.skips] == [f"benchmark/edit.json, pair 1: {reason}"]
    assert len(intake.all(Item)) == 1
    assert len(intake.all(Vote)) == 3


def test_text_answers_are_left_out(tmp_path: Path) -> None:
    spoken = pair(0, "A", [6], response_a={"model_name": "m", "response_content": [["text", "hello"]]})
    intake = import_all(read, make(tmp_path, [spoken, PAIRS[1]]))
    assert "is not one image" in str(intake.skips[0])
    assert len(intake.all(Item)) == 1


def test_other_files_are_named_and_nothing_raises(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text("[]")
    with pytest.raises(UserError, match="holds no MMRB2 file"):
        import_all(read, tmp_path)
    make(tmp_path, PAIRS)
    intake = import_all(read, tmp_path)
    assert [skip.file for skip in intake.skips] == ["a.json", "b.json"]
    with pytest.raises(UserError, match="votes=all is not a choice"):
        import_all(read, tmp_path, votes="all")
