"""CV-Agent's three stages, its stops and choices, its trace, and what it does when a part fails."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest

from imarena.agent import Agent, AgentSettings, BestOf, ChatPlanner, RulePlanner
from imarena.core.protocols import EditorTraits, EditRequest, EditResult, Exhibit, Verdict
from imarena.core.records import JsonDict, Status
from tests.unit.agent.parts import ScoreJudge, ScriptedChat, StepEditor, by_length

REQUEST = EditRequest("Make the cup red.", (b"x",), seed=7)
TWO = EditRequest("Make the cup red. Remove the spoon.", (b"x",), seed=7)


def run(agent: Agent | BestOf, request: EditRequest = REQUEST) -> EditResult:
    return asyncio.run(agent.edit(request))


def agent(editor: StepEditor, judge: ScoreJudge | None, planner: Any = None, **settings: Any) -> Agent:
    return Agent("a", editor, judge, planner or RulePlanner(), AgentSettings(**settings))


def of_stage(result: EditResult, stage: str) -> list[JsonDict]:
    return [step for step in result.steps if step["stage"] == stage]


def test_the_four_settings_of_table_11() -> None:
    found = {}
    for stages in ("none", "understand", "plan", "full"):
        editor = StepEditor()
        judge = ScoreJudge(by_length(100, 200, 300, 400))
        result = run(agent(editor, judge, stages=stages, whole_first=False), TWO)
        found[stages] = (result.image, [step["stage"] for step in result.steps], len(judge.shown))
        words = [asked.instruction for asked in editor.asked]
        if stages == "none":
            assert words == [TWO.instruction]
        if stages == "understand":
            assert words[0].startswith(TWO.instruction)
            assert len(words[0]) > len(TWO.instruction)
        if stages in ("plan", "full"):
            assert words[:2] == ["Make the cup red.", "Remove the spoon."]
    assert found["none"] == (b"x1", ["edit", "choose"], 0)
    assert found["understand"] == (b"x1", ["understand", "edit", "choose"], 0)
    assert found["plan"] == (b"x12", ["understand", "plan", "edit", "edit", "choose"], 0)
    trace = ["understand", "plan", "edit", "judge", "edit", "edit", "edit", "choose"]
    assert found["full"] == (b"x1234", trace, 5)  # four pictures, and the source once


def test_it_stops_at_success_and_shows_the_judge_the_original() -> None:
    editor, judge = StepEditor(), ScoreJudge(by_length(500, 950, 990))
    result = run(agent(editor, judge))
    assert result.image == b"x12"
    assert len(editor.asked) == 2
    assert editor.asked[1].sources == (b"x1",)
    assert "more red" in editor.asked[1].instruction
    assert editor.asked[0].seed == 7
    assert editor.asked[1].seed != 7
    assert all(shown.sources == (b"x",) and shown.instruction == REQUEST.instruction for shown in judge.shown)
    assert of_stage(result, "edit")[-1]["stopped"] == "success"


@pytest.mark.parametrize("words", ["", " .", "\u200b"])
def test_without_words_nothing_is_edited(words: str) -> None:
    editor = StepEditor()
    result = run(agent(editor, ScoreJudge(by_length(500))), EditRequest(words, (b"x",)))
    assert result.status is Status.REFUSED
    assert "describe the change" in result.error
    assert editor.asked == []


def test_it_keeps_the_best_not_the_last() -> None:
    result = run(agent(StepEditor(), ScoreJudge(by_length(400, 700, 300, 200)), go_back=False))
    assert result.image == b"x12"
    assert of_stage(result, "choose")[0]["score"] == 700


def test_a_step_that_spoils_the_picture_is_dropped() -> None:
    scores = {b"x": 400.0, b"x1": 300.0, b"x2": 600.0, b"x23": 500.0, b"x24": 900.0}
    editor, judge = StepEditor(), ScoreJudge(lambda image: scores[image])
    result = run(agent(editor, judge))
    assert [asked.sources[0] for asked in editor.asked] == [b"x", b"x", b"x2", b"x2"]
    assert result.image == b"x24"
    assert [step.get("dropped", False) for step in of_stage(result, "edit")] == [True, False, True, False]
    assert editor.asked[1].instruction == editor.asked[0].instruction  # back at the source: all of it again
    assert [step["score"] for step in of_stage(result, "judge")] == [400.0]  # asked once
    onward = StepEditor()
    run(agent(onward, ScoreJudge(lambda _: 1.0), go_back=False))
    assert [asked.sources[0] for asked in onward.asked] == [b"x", b"x1", b"x12", b"x123"]


def test_a_spoilt_step_of_a_plan_is_repeated_only_while_the_rest_can_still_be_done() -> None:
    editor = StepEditor()
    run(agent(editor, ScoreJudge(lambda _: 1.0), steps=3, whole_first=False), TWO)
    assert [asked.instruction for asked in editor.asked] == [
        "Make the cup red.", "Make the cup red.", "Remove the spoon.",
    ]  # fmt: skip
    assert editor.asked[2].sources == (b"x2",)


def test_an_editor_that_repeats_itself_is_asked_another_way_and_then_no_more() -> None:
    same = EditResult(Status.OK, b"xs", cost_usd=0.0)
    judge = ScoreJudge(lambda _: 1.0)
    alone = StepEditor([same] * 9)
    result = run(agent(alone, judge))
    assert len(alone.asked) == 3
    assert result.image == b"xs"
    assert of_stage(result, "edit")[-1]["stopped"] == "the same picture again"
    assert [shown.left for shown in judge.shown] == [b"xs", b"x"]  # nothing is judged twice
    many = StepEditor([same] * 2)
    run(agent(many, ScoreJudge(lambda _: 1.0)), TWO)
    assert [asked.instruction for asked in many.asked][1:3] == ["Make the cup red.", "Remove the spoon."]
    stubborn = StepEditor([same] * 9)
    run(agent(stubborn, ScoreJudge(lambda _: 1.0), whole_first=False), TWO)
    steps = ["Make the cup red.", "Make the cup red.", "Remove the spoon."]
    assert [asked.instruction for asked in stubborn.asked] == steps  # taken as it is, and the plan goes on


def test_a_picture_without_a_verdict_is_not_dropped() -> None:
    editor = StepEditor()
    run(agent(editor, ScoreJudge(lambda image: 100.0 if image == b"x" else None)))
    assert [asked.sources[0] for asked in editor.asked] == [b"x", b"x1", b"x12", b"x123"]


def test_the_next_step_asks_for_what_the_judge_found_missing() -> None:
    def checked(image: bytes) -> JsonDict:
        return {
            "asked": [{"clause": "make the cup red"}, {"clause": "remove the spoon"}],
            "checks": [{"done": 1.0, "note": "is red"}, {"done": 0.1, "note": "still there"}],
        }

    judge = ScoreJudge(lambda image: 100.0 * len(image), reasons=checked)
    editor = StepEditor()
    result = run(agent(editor, judge, steps=3, whole_first=False), TWO)
    assert [asked.instruction for asked in editor.asked] == [
        "Make the cup red.",
        "Remove the spoon.",
        "Remove the spoon.",
    ]
    assert of_stage(result, "edit")[0]["missing"] == ["remove the spoon"]
    whole = StepEditor()
    run(agent(whole, judge, steps=2), TWO)
    assert whole.asked[0].instruction.startswith(TWO.instruction)
    assert whole.asked[1].instruction == "Remove the spoon."


def checks(*done: float) -> JsonDict:
    clauses = ("make the cup red", "remove the spoon")
    return {"asked": [{"clause": clause} for clause in clauses], "checks": [{"done": share} for share in done]}


def test_what_an_editor_overlooks_is_asked_for_by_itself() -> None:
    """Nothing is done for good, but one change is hardly begun: the whole twice, then that change alone."""
    editor = StepEditor()
    run(agent(editor, ScoreJudge(lambda image: 100.0 * len(image), reasons=lambda _: checks(0.6, 0.1))), TWO)
    words = [asked.instruction for asked in editor.asked]
    assert all(order.startswith(TWO.instruction) for order in words[:2])
    assert words[2:] == ["Remove the spoon."] * 2
    even = StepEditor()
    run(agent(even, ScoreJudge(lambda image: 100.0 * len(image), reasons=lambda _: checks(0.6, 0.5))), TWO)
    assert all(asked.instruction.startswith(TWO.instruction) for asked in even.asked)


def test_where_the_whole_order_has_no_effect_its_parts_are_asked_for() -> None:
    """The whole again changes nothing that the judge sees: what it overlooks is asked for, not the whole once more."""
    editor = StepEditor()
    judge = ScoreJudge(lambda image: 500.0 if len(image) > 1 else 400.0, reasons=lambda _: checks(0.7, 0.0))
    run(agent(editor, judge), TWO)
    words = [asked.instruction for asked in editor.asked]
    assert all(order.startswith(TWO.instruction) for order in words[:2])
    assert words[2] == "Remove the spoon."
    spoiling = StepEditor()  # another picture each time, and a worse one: it may hit the next time
    run(agent(spoiling, ScoreJudge(lambda image: 500.0 - 100.0 * len(image), reasons=lambda _: checks(0, 0))), TWO)
    assert all(asked.instruction.startswith(TWO.instruction) for asked in spoiling.asked)


def test_a_step_that_did_what_it_was_asked_for_is_kept_though_the_score_fell() -> None:
    done = {b"x1": checks(0.9, 0.3), b"x12": checks(0.5, 0.9)}
    scores = {b"x": 400.0, b"x1": 700.0, b"x12": 650.0}
    judge = ScoreJudge(lambda image: scores.get(image, 0.0), reasons=lambda image: done.get(image, checks(0, 0)))
    result = run(agent(StepEditor(), judge, steps=2), TWO)
    assert of_stage(result, "edit")[1]["instruction"] == "Remove the spoon."
    assert result.image == b"x12"
    spoilt = {**done, b"x12": checks(0.5, 0.4)}  # it did not do what it was asked for either
    judge = ScoreJudge(lambda image: scores.get(image, 0.0), reasons=lambda image: spoilt.get(image, checks(0, 0)))
    assert run(agent(StepEditor(), judge, steps=2), TWO).image == b"x1"


def test_a_picture_that_lacks_a_change_is_not_preferred_for_being_cleaner() -> None:
    done = {b"x1": checks(0.9, 0.1), b"x12": checks(0.7, 0.7)}
    judge = ScoreJudge(lambda image: 600.0 if image == b"x1" else 500.0, reasons=lambda i: done.get(i, checks(0, 0)))
    result = run(agent(StepEditor(), judge, steps=2), TWO)
    assert result.image == b"x12"
    assert not any(step.get("dropped") for step in of_stage(result, "edit"))


def test_an_editor_without_chance_is_not_asked_the_same_again() -> None:
    @dataclass
    class Fixed(StepEditor):
        traits: EditorTraits = EditorTraits(deterministic=True, wrappable=False)

    class Quality(ScoreJudge):
        async def judge(self, exhibit: Exhibit) -> Verdict:
            return replace(await super().judge(exhibit), scores={"editing_success": 1000.0, "perceptual_quality": 1.0})

    weak = Fixed()
    result = run(agent(weak, Quality(lambda image: 10.0 * len(image), reasons=lambda _: checks(1, 1))), TWO)
    assert len(weak.asked) == 1  # all is there, and only the quality is weak
    assert "no other answer" in str(of_stage(result, "edit")[-1]["stopped"])
    refusing = Fixed([EditResult(Status.REFUSED, error="no such operation")] * 9)
    assert run(agent(refusing, ScoreJudge(lambda _: 1.0))).status is Status.REFUSED
    assert len(refusing.asked) == 1
    worse = Fixed()
    run(agent(worse, ScoreJudge(lambda image: 100.0 if image == b"x" else 1.0)))
    assert len(worse.asked) == 1
    onward = Fixed()
    run(agent(onward, ScoreJudge(lambda image: 10.0 * len(image)), steps=2))
    assert "reviewer" not in onward.asked[1].instruction  # rules would read these words as orders


def test_success_before_the_plan_is_done_does_not_end_it() -> None:
    judge = ScoreJudge(by_length(950, 920))
    result = run(agent(StepEditor(), judge, whole_first=False), TWO)
    assert result.image == b"x12"
    judge = ScoreJudge(by_length(950, 920))
    early = run(agent(StepEditor(), judge, partial_answers=True, whole_first=False), TWO)
    assert early.image == b"x1"


def test_the_budget_is_never_passed() -> None:
    for most in (1, 2, 3, 7):
        editor = StepEditor()
        run(agent(editor, ScoreJudge(lambda _: 1.0), steps=most), TWO)
        assert len(editor.asked) <= most
        assert any("spoon" in asked.instruction for asked in editor.asked)


def test_a_failed_step_is_tried_again_and_a_failed_run_says_why() -> None:
    late = EditResult(Status.TIMEOUT, error="slow", cost_usd=0.0)
    result = run(agent(StepEditor([late]), ScoreJudge(lambda _: 950.0)))
    assert result.status is Status.OK
    assert [step["status"] for step in of_stage(result, "edit")] == ["timeout", "ok"]
    always = run(agent(StepEditor([late] * 9), ScoreJudge(lambda _: 950.0)))
    assert always.status is Status.TIMEOUT
    assert always.image is None
    assert "slow" in always.error
    assert of_stage(always, "edit")


def test_a_refused_order_is_not_asked_twice() -> None:
    refused = EditResult(Status.REFUSED, error="unsafe", cost_usd=0.0)
    editor = StepEditor([refused] * 9)
    assert run(agent(editor, ScoreJudge(lambda _: 950.0))).status is Status.REFUSED
    assert len(editor.asked) == 1
    several = StepEditor([refused] * 9)
    assert run(agent(several, ScoreJudge(lambda _: 950.0), steps=6), TWO).status is Status.REFUSED
    orders = [asked.instruction for asked in several.asked]
    assert len(orders) == len(set(orders)) > 1


def test_a_judge_that_cannot_answer_gives_no_score() -> None:
    result = run(agent(StepEditor(), ScoreJudge(lambda _: None)))
    assert result.status is Status.OK
    assert all(step["score"] is None and step["verdict"] == "unparsable" for step in of_stage(result, "edit"))
    assert of_stage(result, "choose")[0]["score"] is None
    mixed = run(agent(StepEditor(), ScoreJudge(by_length(300, None, None, None))))
    assert mixed.image == b"x1"


def test_cost_is_the_sum_and_unknown_stays_unknown() -> None:
    result = run(agent(StepEditor(), ScoreJudge(by_length(1, 2, 950))))
    assert result.cost_usd == pytest.approx(3 * 0.25 + 4 * 0.01)  # the source is judged too
    unknown = EditResult(Status.OK, b"xy", cost_usd=None)
    assert run(agent(StepEditor([unknown]), ScoreJudge(lambda _: 950.0))).cost_usd is None


def test_it_says_who_drove_it() -> None:
    assert agent(StepEditor(), ScoreJudge(lambda _: 1.0)).params["driven_by"] == "scores"
    assert agent(StepEditor(), ScoreJudge(lambda _: 1.0), stages="plan").params["driven_by"] is None


def test_generation_goes_on_from_what_was_made() -> None:
    editor = StepEditor()
    result = run(agent(editor, ScoreJudge(lambda image: 100.0 * len(image))), EditRequest("A red house.", seed=1))
    assert editor.asked[0].sources == ()
    assert editor.asked[1].sources == (b"1",)
    assert result.status is Status.OK


def test_a_model_as_the_mind() -> None:
    chat = ScriptedChat(
        [
            {
                "instruction": "Recolour the white cup to red.",
                "changes": ["cup is red"],
                "constraints": ["table stays"],
            },
            '```json\n{"steps": ["Select the cup", "Make it red"], "budget": 3}\n```',
        ]
    )
    editor = StepEditor()
    result = run(agent(editor, ScoreJudge(lambda _: 950.0), ChatPlanner(chat, "vlm")))
    assert [asked.instruction for asked in editor.asked] == ["Select the cup", "Make it red"]
    assert b"x" in chat.prompts[0].parts
    understood = of_stage(result, "understand")[0]
    assert understood["changes"] == ["cup is red"]
    assert understood["by"] == "vlm"
    assert result.cost_usd == pytest.approx(2 * 0.25 + 2 * 0.01 + 0.002)


@pytest.mark.parametrize("reply", [Status.REFUSED, Status.TIMEOUT, "I would rather talk.", {"steps": []}, "[1, 2]"])
def test_a_mind_that_fails_changes_nothing_and_is_noted(reply: Any) -> None:
    editor = StepEditor()
    planner = ChatPlanner(ScriptedChat([reply, reply]), "vlm")
    result = run(agent(editor, ScoreJudge(lambda _: 950.0), planner))
    assert result.status is Status.OK
    assert editor.asked[0].instruction.startswith(REQUEST.instruction)
    assert all(step["note"] for step in (*of_stage(result, "understand"), *of_stage(result, "plan")))


def test_best_of_n_takes_the_best_and_skips_failures() -> None:
    refused = EditResult(Status.REFUSED, error="unsafe", cost_usd=0.0)
    editor = StepEditor([None, refused])
    judge = ScoreJudge(lambda image: {b"x1": 300.0, b"x3": 800.0, b"x4": 500.0}[image])
    result = run(BestOf("b", editor, judge, 4))
    assert result.image == b"x3"
    assert len({asked.seed for asked in editor.asked}) == 4
    assert result.cost_usd == pytest.approx(3 * 0.25 + 3 * 0.01)  # verdicts cost something too
    assert run(BestOf("b", StepEditor([refused] * 2), judge, 2)).status is Status.REFUSED
