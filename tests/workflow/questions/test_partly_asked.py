"""A judge with several questions: a resume asks only those without an answer that can be used."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from imarena.core.errors import BudgetSpent
from imarena.core.protocols import ChatAnswer, ChatPrompt
from imarena.core.records import Judgment, Reply, Status, Usage
from imarena.judges.chat.judge import ChatJudge
from imarena.judges.chat.viescore import make_edit
from imarena.storage import Workspace, open_workspace
from imarena.workflows.questions.cases import load_outputs, pointwise_cases
from imarena.workflows.questions.estimates import estimate
from imarena.workflows.questions.judging import judge_cases
from imarena.workflows.questions.judging_plan import plan_cases
from imarena.workflows.questions.report import JudgeReport
from imarena.workflows.studies.probe import judge_probes
from imarena.workflows.studies.probe_run import plan_probe, run_probe
from imarena.workflows.wiring.judges import EndpointArguments, WiredJudge, wire_judge
from tests.small_data.small_arena import make_arena

SEMANTIC = {"editing_success": 8, "over_editing": 6, "reasons": "."}
QUALITY = {"naturalness": 7, "artifacts": 9, "reasons": "."}


class Endpoint:
    """Answers by what is asked; `quality` is what the second question gets at each call."""

    def __init__(self, *quality: ChatAnswer | Exception) -> None:
        self.quality = list(quality)
        self.asked: list[str] = []

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer:
        await asyncio.sleep(0)
        if "naturalness" not in str(prompt.schema):
            self.asked.append("semantic")
            return ok(SEMANTIC)
        self.asked.append("quality")
        said = self.quality.pop(0) if self.quality else ok(QUALITY)
        if isinstance(said, Exception):
            raise said
        return said


def ok(reply: object) -> ChatAnswer:
    usage = Usage(input_tokens=100, output_tokens=10, cost_usd=1.0)
    return ChatAnswer(Status.OK, reply if isinstance(reply, str) else json.dumps(reply), "m", usage)


DOWN = ChatAnswer(Status.API_ERROR, error="500")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    make_arena(tmp_path / "a", items=1, habits=("exact",))
    return open_workspace(tmp_path / "a")


def judged(workspace: Workspace, chat: Endpoint) -> JudgeReport:
    board = load_outputs(workspace)
    return judge_cases(workspace, viescore(chat), pointwise_cases(board), parents=board.parents)


def viescore(chat: Endpoint) -> ChatJudge:
    return make_edit({"model": "m"}, chat)


@pytest.mark.parametrize("first", [DOWN, ok("a fine picture")], ids=["api_error", "unparsable"])
def test_only_the_question_without_a_usable_answer_is_asked_again(workspace: Workspace, first: ChatAnswer) -> None:
    with workspace:
        chat = Endpoint(first, DOWN)
        assert judged(workspace, chat).missing == 1
        assert sorted(chat.asked) == ["quality", "semantic"]
        assert judged(workspace, chat).missing == 1
        last = judged(workspace, chat)
        assert chat.asked[2:] == ["quality", "quality"]
        assert (last.missing, last.cost_usd) == (0, 1.0)
        replies = sorted(workspace.store.records(Reply), key=lambda reply: reply.attempt)
        assert [reply.answered.get("semantic") for reply in replies] == [0, 0, 0]
        assert replies[-1].answered == {"semantic": 0, "quality": 2}
        (verdict,) = workspace.store.records(Judgment, status="ok")
        assert verdict.scores["SC"] == 6
        assert verdict.score == pytest.approx((6 * 7) ** 0.5)
        paid = sum(judgment.usage.cost_usd or 0 for judgment in workspace.store.records(Judgment))
        assert paid == len([a for a in (ok(""), first, ok("")) if a.status is Status.OK])


def test_an_attempt_that_left_nothing_does_not_lose_what_was_answered(workspace: Workspace) -> None:
    with workspace:
        judged(workspace, Endpoint(DOWN))
        assert judged(workspace, Endpoint(RuntimeError("the chat broke"))).missing == 1
        chat = Endpoint()
        judged(workspace, chat)
        assert chat.asked == ["quality"]


def test_what_was_answered_before_the_cost_limit_is_kept(workspace: Workspace) -> None:
    with workspace:
        chat = Endpoint(BudgetSpent("the limit is reached"))
        assert judged(workspace, chat).cost_usd == 1.0
        stopped = judged(workspace, Endpoint(BudgetSpent("the limit is reached")))
        assert (stopped.stopped, stopped.missing) == ("the limit is reached", 1)
        assert judged(workspace, chat).missing == 0
        assert chat.asked == ["semantic", "quality", "quality"]


def test_replies_that_only_fail_together_are_all_asked_again(workspace: Workspace) -> None:
    """Without `check` nobody knows which of two answers was the bad one."""
    with workspace:
        chat = Endpoint(ok("a fine picture"))
        board = load_outputs(workspace)
        unchecked = replace(viescore(chat), check=None)
        for _ in range(2):
            judge_cases(workspace, unchecked, pointwise_cases(board), parents=board.parents)
        assert sorted(chat.asked) == ["quality", "quality", "semantic", "semantic"]


def test_the_estimate_of_a_resume_counts_what_is_left(workspace: Workspace) -> None:
    with workspace:
        wired = wire_judge(
            workspace.settings, "viescore", EndpointArguments(base_url=("http://127.0.0.1:9/v1",), model="m")
        )
        board = load_outputs(workspace)
        cases = list(pointwise_cases(board))

        def requests() -> tuple[str, int]:
            planned = plan_cases(workspace, wired.judge, cases, board.parents)
            found = estimate(workspace, wired, planned, board, concurrency=1)
            return found.basis[0], found.input_tokens or 0

        whole, all_tokens = requests()
        assert whole == "2 requests"
        assert isinstance(wired.judge, ChatJudge)
        failing = replace(wired.judge, chat=Endpoint(DOWN))
        judge_cases(workspace, failing, cases, parents=board.parents)
        left, tokens = requests()
        assert left == "1 request"
        assert 0 < tokens < all_tokens
        judge_cases(workspace, replace(wired.judge, chat=Endpoint()), cases, parents=board.parents)
        cases = list(pointwise_cases(board, repeats=2))
        assert requests() == ("2 requests", all_tokens), "what a remainder took says nothing about a whole"


def test_a_probe_asks_only_what_is_left(workspace: Workspace) -> None:
    """One output, plain and with ten texts: eleven times two questions, and one more for each that failed."""
    with workspace:
        chat = Endpoint(DOWN, DOWN, DOWN)
        wired = WiredJudge(viescore(chat), "viescore", "pointwise")
        for failed, asked in ((3, 22), (0, 25)):
            job = plan_probe(workspace, wired, load_outputs(workspace), 1, battles=False)
            assert run_probe(workspace, job).missing == failed
            assert len(chat.asked) == asked
        assert chat.asked[22:] == ["quality"] * 3
        (line, *_) = judge_probes(workspace, wired.judge).lines
        assert line.figure.value == 0.0
