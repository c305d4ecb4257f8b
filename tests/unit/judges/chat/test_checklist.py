"""A weighted checklist, and UnifiedReward's scales."""

import asyncio
import json
from pathlib import Path

import pytest

from imarena.core.errors import UserError
from imarena.core.protocols import ChatPrompt
from imarena.core.records import Status
from imarena.judges.chat import checklist, unifiedreward
from imarena.judges.chat.judge import ChatJudge
from imarena.judges.replies.reply_text import Unreadable
from tests.unit.judges.chats import ScriptedChat, always, exhibit

FILE = """
name: tiny
version: "3"
intercept: 0.5
questions:
  - {id: sharp, text: "Is the picture sharp?", weight: 2}
  - {id: hands, text: "Are there hands in it?", weight: 0}
  - {id: fingers, text: "Do all hands have five fingers?", weight: 4, only_if: hands}
"""


def made(tmp_path: Path, answers: dict[str, str], text: str = FILE) -> ChatJudge:
    path = tmp_path / "list.yaml"
    path.write_text(text)

    def say(prompt: ChatPrompt) -> str:
        words = str(prompt.parts)
        return next(answer for question, answer in answers.items() if question in words)

    return checklist.make({"questions": str(path), "model": "m"}, ScriptedChat(say))


@pytest.mark.parametrize(
    ("hands", "score"),
    [("yes", 0.5 + 2 + 0 - 4), ("no", 0.5 + 2 - 0)],
)
def test_checklist_adds_weights_and_leaves_masked_questions_out(tmp_path: Path, hands: str, score: float) -> None:
    judge = made(tmp_path, {"sharp": '{"answer": "yes"}', "Are there hands": hands, "five fingers": "No."})
    verdict = asyncio.run(judge.judge(exhibit()))
    assert verdict.status is Status.OK
    assert verdict.score == pytest.approx(score)
    assert ("fingers" in verdict.scores) == (hands == "yes")
    assert judge.reread(verdict.raw).score == verdict.score
    assert judge.name == "checklist-tiny/m"


@pytest.mark.parametrize("answer", ["maybe", "", "yes and no", '{"answer": 1}', '{"answer": null}', "yesterday"])
def test_an_unread_answer_is_no_no(tmp_path: Path, answer: str) -> None:
    judge = made(tmp_path, {"sharp": answer, "Are there hands": "yes", "five fingers": "yes"})
    verdict = asyncio.run(judge.judge(exhibit()))
    assert verdict.status is Status.UNPARSABLE
    assert verdict.score is None


def test_a_changed_list_is_another_judge(tmp_path: Path) -> None:
    first = made(tmp_path, {}).params
    second = made(tmp_path, {}, FILE.replace("weight: 4", "weight: 5")).params
    assert first != second
    assert str(tmp_path) not in json.dumps(first)


@pytest.mark.parametrize(
    "change", [("only_if: hands", "only_if: feet"), ("id: hands", "id: sharp"), ("weight: 2", "weight: much")]
)
def test_wrong_lists_are_refused(tmp_path: Path, change: tuple[str, str]) -> None:
    with pytest.raises(UserError):
        made(tmp_path, {}, FILE.replace(*change))
    with pytest.raises(UserError):
        checklist.make({"questions": str(tmp_path / "none.yaml")}, always(""))


def test_unifiedreward_reads_lines_and_json() -> None:
    lines = unifiedreward.read_scales("Alignment Score (1-5): 4\n**Coherence Score (1-5):** 3.5\nStyle Score: 3/5")
    assert dict(lines.scores) == {"alignment": 4, "coherence": 3.5, "style": 3}
    assert lines.score == pytest.approx(3.5)
    assert unifiedreward.read_scales('{"alignment": 5, "coherence": 5, "style": 2}').score == pytest.approx(4)
    assert unifiedreward.read_scales("Some thoughts.\nFinal Score: 2").score == 2


@pytest.mark.parametrize(
    "text",
    ["Alignment Score (1-5): 4", "Final Score: 6", "Final Score: 3\nFinal Score: 4", "about 4", '{"alignment": 5}', "Final Score: 1.2.3"],
)  # fmt: skip
def test_unifiedreward_makes_nothing_up(text: str) -> None:
    with pytest.raises(Unreadable):
        unifiedreward.read_scales(text)
