"""A model as the mind: good replies are used, bad ones fall back to rules, and a score is never made up."""

import asyncio
import json
from typing import Any

import pytest

from imarena.core import ChatAnswer, ChatPrompt, FoundImage
from imarena.core.records import Status
from imarena.curation import ChatMind, CurationRequest, Perception, read_brief
from imarena.curation.checks import Refused
from imarena.curation.filters import refuse_damage, review_flags
from imarena.curation.instruction_help import ask_variants
from imarena.curation.mind import Candidate
from imarena.curation.perception import SeenThing, SeenWords, read_perception
from imarena.curation.planner import plan_queries
from imarena.curation.reflection import Reflection
from imarena.curation.scoring import CEILING, score_image
from imarena.curation.settings import CurationSettings
from imarena.curation.task_needs import ASPECTS, needs_of, task_file

BRIEF = read_brief(CurationRequest("a", "Make the cat black.", None))
CAT = Perception(400, 300, (SeenThing("cat", 0.9, 0.4, ("grey",)),))
CANDIDATE = Candidate(FoundImage("s", "k", "k", "a cat"), b"picture", CAT)


class Replies:
    """A chat that gives one reply and keeps the prompts."""

    def __init__(self, text: Any, status: Status = Status.OK) -> None:
        self.text = text if isinstance(text, str) else json.dumps(text)
        self.status = status
        self.prompts: list[ChatPrompt] = []

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer:
        self.prompts.append(prompt)
        return ChatAnswer(self.status, self.text if self.status is Status.OK else "", error="away")


def test_a_model_plans_captions_scores_and_reflects() -> None:
    plan = Replies({"queries": [{"text": "grey cat", "aspect": "subject", "exclude": ["dog"]}, {"text": ""}]})
    queries = asyncio.run(ChatMind(plan, "m").plan(BRIEF, [], 5)).queries
    assert [str(query) for query in queries] == ["grey cat -dog"]
    caption = asyncio.run(ChatMind(Replies({"caption": "A grey  cat."}), "m").caption(CANDIDATE))
    assert caption.text == "A grey cat."
    good = Replies('```json\n{"fits": 1, "visible": 0.9, "feasible": 1, "judgeable": 1, "score": 0.92}\n```')
    answer = asyncio.run(ChatMind(good, "m").score(BRIEF, CANDIDATE, "A grey cat."))
    assert answer.score is not None
    assert answer.score.value == 0.92
    assert b"picture" in good.prompts[0].parts
    reply = Replies({"missing": ["a whole cat"], "unexpected": ["dog"], "note": "Search for kittens."})
    reflection = asyncio.run(ChatMind(reply, "m").reflect(BRIEF, 1, [], ["cat"])).reflection
    assert reflection.unexpected == ("dog",)
    assert "kittens" in reflection.note


@pytest.mark.parametrize(
    "reply", [Replies("no idea"), Replies("", Status.TIMEOUT), Replies({"score": 7}), Replies({"score": True})]
)
def test_a_score_is_never_made_up(reply: Replies) -> None:
    mind = ChatMind(reply, "m")
    answer = asyncio.run(mind.score(BRIEF, CANDIDATE, ""))
    assert answer.score is None
    assert answer.status is not Status.OK
    assert asyncio.run(mind.plan(BRIEF, [], 5)).queries, "rules stand in for a plan"
    assert asyncio.run(mind.caption(CANDIDATE)).text.startswith("a cat")
    assert asyncio.run(ask_variants(reply, "Remove the car.", "")).note


def test_rules_plan_k_queries_and_change_words_for_what_was_missing() -> None:
    brief = read_brief(CurationRequest("a", "Let the puppy sleep.", "pose_transformation"))
    first = plan_queries(brief, [], 5)
    assert len(first) == len({query.text for query in first}) == 5
    assert {query.aspect for query in first} == set(ASPECTS)
    second = plan_queries(brief, [Reflection(1, ("thing: puppy",), ("cup",), ())], 5)
    assert all("dog" in query.text and query.exclude == ("cup",) for query in second)


def test_an_essential_requirement_caps_the_score() -> None:
    score = score_image(BRIEF, Perception(400, 300), "")
    assert score.value <= CEILING
    assert score.missing == ("thing: cat",)
    assert score_image(BRIEF, CAT, "").value == 1.0
    stated = score_image(BRIEF, Perception(400, 300), "a cat")
    assert stated.value < 0.8, "the detector knows cats and sees none"


def test_damage_is_refused_unless_the_task_is_about_it() -> None:
    blurred = Perception(400, 300, blur=0.7, words=(SeenWords("PREVIEW", 0.9, (0, 0, 1, 1)),), blocking=1.5)
    for task, code in ((None, "compression"), ("super_resolution", "watermark")):
        with pytest.raises(Refused) as refused:
            refuse_damage(blurred, CurationSettings(), needs_of(task))
        assert refused.value.code == code
    flags = review_flags(
        Perception(4, 3, faces=1, words=(SeenWords("call ann@example.org", 0.9, (0, 0, 1, 1)),)), "a gun"
    )
    assert flags == ("people", "sensitive:weapons", "personal_data")


def test_every_cv_arena_task_has_needs_and_perceptions_are_read_back() -> None:
    from imarena.datasets import load_taxonomy

    assert set(task_file().tasks) == {task.name for task in load_taxonomy("cv_arena").tasks}
    assert read_perception(CAT.to_json()) == CAT
