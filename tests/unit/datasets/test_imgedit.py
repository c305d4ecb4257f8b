"""ImgEdit-Bench: the edit list, outputs and raw answers."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Output, Reply, Status
from imarena.datasets.imgedit import read, strict_scores
from tests.unit.datasets.intake import import_all, picture

ANSWER = "Brief reasoning: the cat is gone.\nPrompt Compliance: 5\nVisual Naturalness: 4\n**Physical & Detail Integrity:** 3/5"


def make(root: Path) -> Path:
    entries = {
        "1082": {"id": "animal/000342021.jpg", "prompt": "remove the cat", "edit_type": "remove"},
        "7": {"id": "human/000342021.jpg", "prompt": "add a hat", "edit_type": "add"},
        "8": {"id": "human/nowhere.jpg", "prompt": "make it night"},
    }
    (root / "Basic").mkdir(parents=True)
    (root / "Basic/basic_edit.json").write_text(json.dumps(entries))
    for number, name in enumerate(("animal", "human")):
        (root / "singleturn" / name).mkdir(parents=True)
        (root / "singleturn" / name / "000342021.jpg").write_bytes(picture(number, kind="JPEG"))
    for number, model in enumerate(("ultraedit", "a_vs_b")):
        (root / "out" / model).mkdir(parents=True)
        for key in ("1082", "7"):
            (root / "out" / model / f"{key}.png").write_bytes(picture(20 + number + int(key)))
    answers = {"1082": ANSWER, "7": "I cannot rate this.", "8": {"error": "Image conversion failed"}}
    (root / "out/ultraedit/result.json").write_text(json.dumps(answers))
    return root


def test_items_outputs_and_answers_are_counted(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path), judge="gpt-4o")
    assert intake.skips == []
    items = {item.key: item for item in intake.all(Item)}
    assert {key: (item.task, item.track, len(item.sources)) for key, item in items.items()} == {
        "1082": ("remove", "basic", 1), "7": ("add", "basic", 1), "8": (None, "uge", 0),
    }  # fmt: skip
    assert items["8"].absent == ("human/nowhere.jpg",)
    assert items["1082"].sources != items["7"].sources
    assert sorted((output.editor or "", output.image is not None) for output in intake.all(Output)) == [
        ("a_vs_b", True), ("a_vs_b", True), ("ultraedit", False), ("ultraedit", True), ("ultraedit", True),
    ]  # fmt: skip
    ok, unread, failed = intake.all(Judgment)
    assert (ok.score, ok.judge) == (4, "gpt-4o")
    assert ok.scores == {"prompt_compliance": 5, "visual_naturalness": 4, "physical_&_detail_integrity": 3}
    assert (unread.status, unread.score) == (Status.UNPARSABLE, None)
    assert (failed.status, failed.error) == (Status.API_ERROR, "Image conversion failed")
    assert [reply.raw for reply in intake.all(Reply)] == [ANSWER, "I cannot rate this."]


def test_importing_twice_gives_the_same_ids(tmp_path: Path) -> None:
    root = make(tmp_path)
    intake = import_all(read, root)
    before = {judgment.judgment_id for judgment in intake.all(Judgment)}
    outputs = {output.output_id for output in intake.all(Output)}
    intake.take(read(root, intake, {}))
    assert intake.skips == []
    assert {judgment.judgment_id for judgment in intake.all(Judgment)} == before
    assert {output.output_id for output in intake.all(Output)} == outputs


def test_bad_entries_are_left_out_with_file_and_row(tmp_path: Path) -> None:
    root = make(tmp_path)
    entries = json.loads((root / "Basic/basic_edit.json").read_text())
    entries |= {"9": {"id": "../../etc/x.jpg", "prompt": "x", "edit_type": "add"}, "10": "nothing"}
    entries["11"] = {"id": "animal/000342021.jpg", "prompt": "\ud800", "edit_type": "add"}
    (root / "Basic/basic_edit.json").write_text(json.dumps(entries))
    (root / "out/ultraedit/33.png").write_bytes(picture(1))
    (root / "out/ultraedit/8.png").write_bytes(picture(1, size=(90, 90))[:80])
    (root / "out/a_vs_b/result.json").write_text(json.dumps({"7": 3, "33": "x"}))
    (root / "out/other").mkdir()
    (root / "out/other/result.json").write_text("{")
    intake = import_all(read, root)
    found = [str(skip) for skip in intake.skips]
    for part in (
        "Basic/basic_edit.json, entry 9: the path '../../etc/x.jpg' leads out of the folder",
        "Basic/basic_edit.json, entry 10: expected an object",
        "Basic/basic_edit.json, entry 11: ",
        "33.png: there is no item '33'",
        "out/ultraedit/8.png: ",
        "out/a_vs_b/result.json, entry 7: expected the judge's answer, got int",
        "out/a_vs_b/result.json, entry 33: there is no item '33'",
        "out/other/result.json: line 1 is not JSON",
    ):
        assert any(part in text for text in found), part
    assert len(found) == 8
    assert len(intake.all(Judgment)) == 3


def test_a_folder_without_a_list_and_a_broken_list_raise(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no basic_edit.json"):
        import_all(read, tmp_path)
    (tmp_path / "basic_edit.json").write_text("[]")
    with pytest.raises(UserError, match=r"basic_edit.json: expected one JSON object"):
        import_all(read, tmp_path / "basic_edit.json")
    (tmp_path / "basic_edit.json").write_text("")
    with pytest.raises(UserError, match=r"basic_edit.json: the file is empty"):
        import_all(read, tmp_path / "basic_edit.json")
    assert str(import_all(read, tmp_path).skips[0]) == "basic_edit.json: the file is empty"
    with pytest.raises(UserError, match="no option 'x'"):
        import_all(read, tmp_path, x="1")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "A: 5\nB: 4",
        "A: 5\nB: 4\nC: 6",
        "A: 5\nB: 4\nC: 0",
        "A: 1\nB: 2\nC: 3\nD: 4",
        "A: 5\nA: 5\nB: 4",
        "A: 5, B: 4, C: 3",
    ],
)
def test_an_answer_without_three_scores_is_unparsable(answer: str) -> None:
    assert strict_scores(answer) is None


@given(st.lists(st.integers(-3, 12), min_size=3, max_size=3))
def test_scores_are_read_exactly_or_not_at_all(values: list[int]) -> None:
    found = strict_scores("\n".join(f"Criterion {name}: {value}" for name, value in zip("xyz", values, strict=True)))
    expected = {f"criterion_{name}": float(value) for name, value in zip("xyz", values, strict=True)}
    assert found == (expected if all(1 <= value <= 5 for value in values) else None)
