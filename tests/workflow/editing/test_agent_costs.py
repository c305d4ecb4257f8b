"""What an agent's judge and mind are asked at most, and what that costs: counted by hand."""

import asyncio
from typing import Any

import pytest

from imarena.agent import Agent, AgentSettings, BestOf, ChatPlanner
from imarena.agent.vlm import _prompt
from imarena.clients import Budget, CostLimitReached, read_endpoint
from imarena.core.protocols import ChatAnswer, ChatPrompt, Editor
from imarena.core.records import ImageRef, Item, Mode
from imarena.core.records.item import Turn
from imarena.workflows.editing.agent_costs import MissingOutput, estimate_extra_questions
from imarena.workflows.wiring.judges import JudgeChat
from tests.unit.agent.parts import ScoreJudge, StepEditor

SOURCE = ImageRef(sha256="a" * 64, size_bytes=1, media_type="image/png", width=280, height=280)
PLACE = MissingOutput(
    Item(dataset="d", key="k", turns=(Turn(instruction="Make it red."),), sources=(SOURCE,)), Mode.SINGLE, 0
)
PICTURE, WORDS, REPLY = 100, 500, 350
"""Tokens: 280 x 280 pixels at 28 x 28 each; a judge whose words are not known; a reply."""


def client(**prices: float) -> JudgeChat:
    told: dict[str, Any] = {"name": "e", "base_url": "http://localhost:1/v1", "model": "m", **prices}
    return JudgeChat(read_endpoint(told))


def judge() -> ScoreJudge:
    return ScoreJudge(lambda _: 1.0)


def cost(editor: Editor, places: int = 1) -> float | None:
    found = estimate_extra_questions(editor, [PLACE] * places)
    assert found is not None
    return found.cost_usd


PRICED = {"input_usd_per_million": 2.0, "output_usd_per_million": 8.0}
VERDICT = (2 * (WORDS + 2 * PICTURE) + 8 * REPLY) / 1e6


@pytest.mark.parametrize(
    ("settings", "verdicts"), [({}, 5), ({"go_back": False}, 4), ({"steps": 2}, 3), ({"stages": "plan"}, 0)]
)
def test_the_judge_is_asked_once_a_step_and_once_about_the_source(settings: dict[str, Any], verdicts: int) -> None:
    made = Agent("a", StepEditor(), judge(), settings=AgentSettings(**settings), judge_client=client(**PRICED))
    if verdicts:
        assert cost(made, 3) == pytest.approx(3 * verdicts * VERDICT, rel=1e-3)
    else:
        assert estimate_extra_questions(made, [PLACE]) is None


def test_the_mind_is_asked_to_understand_and_to_plan() -> None:
    asked = client(**PRICED)
    planner = ChatPlanner(asked, "m")
    characters = sum(len(_prompt(name).system) + len(_prompt(name).ask) for name in ("understand", "plan"))
    expected = 2 * (characters / 4 + 2 * PICTURE) / 1e6 + 8 * 2 * REPLY / 1e6
    made = Agent("a", StepEditor(), judge(), planner, planner_client=asked)
    assert cost(made) == pytest.approx(expected, rel=0.02)  # the words that are filled in are few


def test_what_is_wrapped_is_asked_again_for_every_edit() -> None:
    inner = BestOf("b", StepEditor(), judge(), 3, judge_client=client(**PRICED))
    assert cost(inner) == pytest.approx(3 * VERDICT, rel=1e-3)
    outer = Agent("a", inner, judge(), settings=AgentSettings(steps=2))
    assert cost(outer) == pytest.approx(6 * VERDICT, rel=1e-3)


def test_a_price_that_is_not_known_is_not_made_up() -> None:
    found = estimate_extra_questions(BestOf("b", StepEditor(), judge(), 3, judge_client=client()), [PLACE])
    assert found is not None
    assert found.cost_usd is None
    assert "input_usd_per_million" in found.basis
    assert estimate_extra_questions(BestOf("b", StepEditor(), judge(), 3), [PLACE]) is None
    assert estimate_extra_questions(StepEditor(), [PLACE]) is None


def test_a_door_does_not_wait_for_ever_for_what_another_one_held() -> None:
    async def asked() -> None:
        budget = Budget(1.0)
        elsewhere = budget.reserve(0.9)
        judging = JudgeChat(client(**PRICED).endpoint, budget)

        async def chat(prompt: ChatPrompt) -> ChatAnswer:
            budget.reserve(0.5)
            raise AssertionError("there is no money for it")

        judging._chat = chat
        asking = asyncio.create_task(judging(ChatPrompt("", ("Well?",))))
        await asyncio.sleep(0.01)
        assert not asking.done()  # the other may cost less than it holds
        budget.settle(elsewhere, 0.9)
        with pytest.raises(CostLimitReached):
            await asyncio.wait_for(asking, 30)

    asyncio.run(asked())
