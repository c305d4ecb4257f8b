"""GEditBench v2's questions, ImagenWorld's marks and checklist, EditScore's passes."""

import asyncio
import json
import math
from dataclasses import replace
from typing import Any

import pytest

from imarena.core.errors import UserError
from imarena.core.protocols import Chat, ChatAnswer, ChatPrompt, Exhibit, Verdict
from imarena.core.records import Outcome, Status
from imarena.judges.chat import editscore, geditbench_pairwise, imagenworld
from imarena.judges.expected_objects import objects_from_reasons
from imarena.judges.replies.reply_text import Unreadable
from tests.unit.judges.chats import BLUE, GREEN, RED, ScriptedChat, always, exhibit, failing


def run(judge: Any, shown: Exhibit) -> Verdict:
    verdict = asyncio.run(judge.judge(shown))
    assert isinstance(verdict, Verdict)
    return verdict


# ---------------------------------------------------------------- GEditBench v2

DIMENSIONS = {
    "instruction_following": geditbench_pairwise.make_instruction_following,
    "visual_quality": geditbench_pairwise.make_visual_quality,
    "visual_consistency": geditbench_pairwise.make_visual_consistency,
}


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize(("said", "outcome"), [("Image A", Outcome.LEFT), ("B", Outcome.RIGHT), ("Tie", Outcome.TIE)])
def test_geditbench_reads_three_outcomes(dimension: str, said: str, outcome: Outcome) -> None:
    judge = DIMENSIONS[dimension]({}, always({"reason": "r", "winner": said}))
    assert judge.dimension == dimension
    assert run(judge, exhibit(BLUE)).preference is outcome


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_only_visual_quality_is_blind_to_instruction_and_source(dimension: str) -> None:
    chat = always({"winner": "A"})
    run(DIMENSIONS[dimension]({}, chat), exhibit(BLUE, instruction="Paint the harbour"))
    (asked,) = chat.asked
    blind = dimension == "visual_quality"
    assert ("Paint the harbour" in str(asked.parts) + asked.system) is not blind
    assert (RED in asked.parts) is not blind
    assert [part for part in asked.parts if isinstance(part, bytes)][-2:] == [GREEN, BLUE]


# ---------------------------------------------------------------- ImagenWorld


def test_imagenworld_rescales_and_averages() -> None:
    marks = {"prompt_relevance": 5, "aesthetic_quality": 1, "content_coherence": 3, "artifacts": 4}
    verdict = run(imagenworld.make({}, always(marks)), exhibit())
    assert dict(verdict.scores) == {
        "prompt_relevance": 1.0,
        "aesthetic_quality": 0.0,
        "content_coherence": 0.5,
        "artifacts": 0.75,
    }
    assert verdict.score == pytest.approx(0.5625)


@pytest.mark.parametrize("mark", [0, 6, 3.5, "good", None])
def test_imagenworld_takes_whole_marks_only(mark: object) -> None:
    marks = {"prompt_relevance": 5, "aesthetic_quality": mark, "content_coherence": 3, "artifacts": 4}
    assert run(imagenworld.make({}, always(marks)), exhibit()).status is Status.UNPARSABLE


def listed(chat: Chat, shown: Exhibit) -> Verdict:
    return asyncio.run(imagenworld.make_lister({}, chat).judge(shown))


def test_expected_objects_mark_what_is_removed() -> None:
    said = {
        "objects": [
            {"name": "red  car", "present": True},
            {"name": "tree", "present": False},
            "dog (should not be present)",
        ]
    }
    chat = always(said)
    found = listed(chat, Exhibit("Remove the tree and the dog", b"", sources=(RED,)))
    assert [str(each) for each in objects_from_reasons(found.reasons)] == [
        "red car",
        "tree (should not be present)",
        "dog (should not be present)",
    ]
    assert RED in chat.asked[0].parts
    assert b"" not in chat.asked[0].parts


@pytest.mark.parametrize(
    "objects",
    [[], ["x"] * 11, [""], [{"name": "car"}], [{"name": "car", "present": "yes"}], [3], "car", None,
     [{"name": "car", "present": True}, {"name": "Car", "present": False}]],
)  # fmt: skip
def test_expected_objects_are_read_strictly(objects: object) -> None:
    found = listed(always({"objects": objects}), Exhibit("x", b""))
    assert found.status is Status.UNPARSABLE
    assert objects_from_reasons(found.reasons) == ()


def test_expected_objects_keep_a_failure() -> None:
    assert listed(failing(Status.TIMEOUT), Exhibit("x", b"")).status is Status.TIMEOUT


def test_imagenworld_can_be_shown_the_list_and_is_another_judge_then() -> None:
    marks = dict.fromkeys(imagenworld.CRITERIA, 5)
    chat = always(marks)
    plain, told = imagenworld.make({}, chat), imagenworld.make({"objects": True}, chat)
    shown = replace(exhibit(), expected_objects=("red car", "tree (should not be present)"))
    assert run(told, shown).score == 1.0
    words = "\n".join(part for part in chat.asked[-1].parts if isinstance(part, str))
    assert "red car\ntree (should not be present)" in words
    assert run(plain, shown).score == 1.0
    assert not any("red car" in part for part in chat.asked[-1].parts if isinstance(part, str))
    assert (plain.prompt_id, plain.params) != (told.prompt_id, told.params)
    assert plain.prompt_id == "imagenworld"
    with pytest.raises(UserError, match="objects=true"):
        imagenworld.make({"objects": "perhaps"}, chat)


# ---------------------------------------------------------------- EditScore


def scored(prompt: ChatPrompt) -> str:
    high = 20 if prompt.seed == 0 else 10
    names = (
        ("editing_success", "over_editing") if "over_editing" in str(prompt.schema) else ("naturalness", "artifacts")
    )
    return json.dumps({names[0]: high, names[1]: 25, "reasoning": ""})


def test_editscore_averages_its_passes() -> None:
    chat = ScriptedChat(scored)
    judge = editscore.make({"passes": 2}, chat)
    verdict = run(judge, exhibit())
    assert sorted(str(p.seed) for p in chat.asked) == ["0", "0", "1", "1"]
    assert verdict.score == pytest.approx((math.sqrt(8 * 8) + math.sqrt(4 * 4)) / 2)
    assert verdict.scores["SC"] == pytest.approx(6)
    assert json.dumps(verdict.reasons["passes"]) == "[8.0, 4.0]"
    assert judge.reread(verdict.raw).score == verdict.score


def test_editscore_one_failed_pass_is_no_score() -> None:
    def last_fails(prompt: ChatPrompt) -> str | ChatAnswer:
        return ChatAnswer(Status.API_ERROR, error="500") if prompt.seed == 2 else scored(prompt)

    verdict = run(editscore.make({"passes": 3}, ScriptedChat(last_fails)), exhibit())
    assert verdict.status is Status.API_ERROR
    assert verdict.score is None


def test_editscore_knows_its_range() -> None:
    with pytest.raises(Unreadable):
        editscore.read_passes({"semantic": '{"score": [26, 5]}', "quality": '{"score": [5, 5]}'}, 1)
    with pytest.raises(UserError):
        editscore.make({"passes": 2, "temperature": 0}, always(""))
