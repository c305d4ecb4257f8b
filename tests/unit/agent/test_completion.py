"""Success needs every part of the instruction checked and done; a part that cannot be checked is named."""

import asyncio
from typing import Any

import pytest
from pydantic import JsonValue

from imarena.agent import Agent, AgentSettings, BestOf, RulePlanner
from imarena.agent.completion import Completion, completion_of
from imarena.core.protocols import EditRequest, EditResult, Verdict
from imarena.core.records import JsonDict, Status
from tests.unit.agent.parts import ScoreJudge, StepEditor, by_length

TWO = "Remove the cup and make the table blue."
CUP, TABLE = "remove the cup", "make the table blue"
THREE = "Remove the cup. Make the table blue. Write 'Go' on the wall."
WRITE = "write 'Go' on the wall"


def verdict(checks: dict[str, JsonValue] | None, *, success: bool | None = True, score: float = 828.0) -> Verdict:
    """A judge's verdict with a finding, or a share, for each part."""
    reasons: JsonDict = {}
    if checks is not None:
        entries: list[JsonValue] = [
            {"done": own} if isinstance(own, float) else {"finding": own} for own in checks.values()
        ]
        reasons = {"asked": [{"clause": clause} for clause in checks], "checks": entries}
    return Verdict(Status.OK, score=score, success=success, reasons=reasons)


@pytest.mark.parametrize(
    ("instruction", "checks", "result", "missing", "unchecked"),
    [
        (TWO, {CUP: "done", TABLE: "done"}, "success", (), ()),
        (TWO, {CUP: "not done", TABLE: "done"}, "not done", (CUP,), ()),
        (TWO, {CUP: 0.04, TABLE: 1.0}, "not done", (CUP,), ()),
        (TWO, {CUP: "not checked", TABLE: "done"}, "done as far as it could be checked", (), (CUP,)),
        (TWO, {TABLE: "done"}, "done as far as it could be checked", (), (CUP,)),
        (TWO, None, "done as far as it could be checked", (), (CUP, TABLE)),
        (THREE, {CUP: 1.0, TABLE: 0.9, "write q0q on the wall": 0.7}, "success", (), ()),
        (THREE, {CUP: 1.0, TABLE: 0.9, "write q0q on the wall": 0.1}, "not done", (WRITE,), ()),
        (THREE, {CUP: "not done", TABLE: "done", WRITE: "not checked"}, "not done", (CUP,), (WRITE,)),
        (THREE, {CUP: "done", TABLE: "done"}, "done as far as it could be checked", (), (WRITE,)),
        ("Remove the cup.", None, "success", (), ()),
    ],
)
def test_findings_decide(
    instruction: str,
    checks: dict[str, JsonValue] | None,
    result: str,
    missing: tuple[str, ...],
    unchecked: tuple[str, ...],
) -> None:
    completion = completion_of(verdict(checks), instruction)
    assert completion.outcome == result
    assert (completion.not_done, completion.not_checked) == (missing, unchecked)
    success = {"success": True, "not done": False}.get(result)
    assert completion.to_json()["success"] is success


def test_a_score_stands_for_the_verdict_but_not_for_a_missing_part() -> None:
    checks: dict[str, JsonValue] = {CUP: "not done", TABLE: "done"}
    assert completion_of(verdict(checks, score=990), TWO, success_score=950).outcome == "not done"
    done: dict[str, JsonValue] = {CUP: "done", TABLE: "done"}
    assert completion_of(verdict(done, score=940), TWO, success_score=950).outcome == "not done"
    assert completion_of(verdict(done, score=960, success=False), TWO, success_score=950).outcome == "success"


def test_without_a_verdict_nothing_is_claimed() -> None:
    assert completion_of(Verdict(Status.UNPARSABLE, error="no number"), TWO) == Completion()
    assert completion_of(verdict(None, success=None), TWO).outcome is None
    assert completion_of(verdict({CUP: "done", TABLE: "done"}, success=None), TWO).outcome == "success"


def checking(*shares: dict[str, float]) -> ScoreJudge:
    """A judge that approves of every picture, and finds these shares of the parts in the n-th."""

    def reasons(image: bytes) -> JsonDict:
        parts = shares[len(image) - 2] if len(image) > 1 else dict.fromkeys(shares[0], 0.0)
        return dict(verdict(dict(parts)).reasons)

    return ScoreJudge(by_length(*(828.0 for _ in shares)), success_from=500.0, reasons=reasons)


def run(editor: Agent | BestOf, instruction: str) -> EditResult:
    return asyncio.run(editor.edit(EditRequest(instruction, (b"x",), seed=7)))


def looped(judge: ScoreJudge, editor: StepEditor, **settings: Any) -> Agent:
    return Agent("a", editor, judge, RulePlanner(), AgentSettings(**settings))


def test_the_loop_goes_on_while_a_part_is_missing() -> None:
    judge = checking({CUP: 0.04, TABLE: 1.0}, {CUP: 0.9, TABLE: 1.0})
    editor = StepEditor()
    result = run(looped(judge, editor), TWO)
    assert [asked.instruction for asked in editor.asked][1:] == ["Remove the cup."]
    assert result.image == b"x12"
    edits = [step for step in result.steps if step["stage"] == "edit"]
    assert [(step["success"], step["missing"]) for step in edits] == [(False, [CUP]), (True, [])]
    assert edits[-1]["stopped"] == "success"
    assert result.steps[-1]["result"] == "success"
    assert result.steps[-1]["done"] == [CUP, TABLE]


def test_three_parts_of_which_one_is_never_done() -> None:
    shares = {CUP: 1.0, TABLE: 1.0, "write q0q on the wall": 0.1}
    result = run(looped(checking(shares, shares, shares, shares), StepEditor()), THREE)
    last = result.steps[-1]
    assert (last["success"], last["missing"], last["not_checked"]) == (False, [WRITE], [])
    assert not any(step.get("stopped") == "success" for step in result.steps)


def test_a_judge_of_the_whole_leaves_the_parts_unchecked() -> None:
    editor = StepEditor()
    result = run(looped(ScoreJudge(by_length(950.0)), editor), TWO)
    last = result.steps[-1]
    assert len(editor.asked) == 1
    assert (last["success"], last["result"]) == (None, "done as far as it could be checked")
    assert last["not_checked"] == [CUP, TABLE]
    best = run(BestOf("b", StepEditor(), ScoreJudge(lambda _: 950.0), 2), TWO).steps[-1]
    assert (best["success"], best["not_checked"]) == (None, [CUP, TABLE])


def test_a_complete_picture_is_chosen_before_one_with_a_higher_score() -> None:
    judge = checking({CUP: 0.1, TABLE: 1.0}, {CUP: 0.6, TABLE: 0.6})
    judge.score = by_length(900.0, 700.0)
    result = run(looped(judge, StepEditor(), go_back=False), TWO)
    assert result.image == b"x12"
    assert result.steps[-1]["success"] is True
