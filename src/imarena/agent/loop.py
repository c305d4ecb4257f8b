"""CV-Agent (CV-Arena, section 5 and appendix N): understand, plan, edit in a closed loop. An editor like any other."""

import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from imarena.agent.edit_queue import EditQueue
from imarena.agent.feedback import feedback_of, looks_alike
from imarena.agent.memory import Memory, opened_all
from imarena.agent.rules import RulePlanner
from imarena.agent.spec import EditPlan, EditSpec, Planner
from imarena.agent.state import State, StepPicture
from imarena.core import (
    Editor,
    EditorTraits,
    EditRequest,
    EditResult,
    Exhibit,
    ExtraCalls,
    FrozenModel,
    Journal,
    Judge,
    PricedClient,
    Verdict,
    WrappedEditor,
    sha256_hex,
)
from imarena.core.records import JsonDict, Status

VERSION = "5"
Stages = Literal["none", "understand", "plan", "full"]
STAGES: tuple[Stages, ...] = ("none", "understand", "plan", "full")
"""Table 11's four settings: the editor alone, with stage 1, with stages 1 and 2 (open loop), with all three."""


class AgentSettings(FrozenModel):
    """Settings of the agent."""

    stages: Stages = "full"
    steps: int = Field(default=4, ge=1, le=32)
    """Maximum number of edits (T in the paper)."""
    success_score: float | None = None
    """Stop at this score instead of at the judge's success verdict; no part may be missing."""
    go_back: bool = True
    """Drop a step whose image the judge does not prefer to the one it started from: the next step starts there again,
    at first from the source. The paper always continues from the current image."""
    whole_first: bool | None = None
    """True: the closed loop first gives a plan of many steps as one order, then asks for what the judge finds missing.
    False: the plan's steps one after the other, as in the paper. None: as the plan says (rules do not know)."""
    from_best: bool = False
    """Start each step from the best image so far."""
    partial_answers: bool = False
    """Images made before the plan's last step may be the answer too, and may end the loop. The paper does not say. Off
    by default, because a judge that overlooks a missing change would stop after the first of several."""


@dataclass(frozen=True)
class Agent:
    """Wraps an editor and a judge. `name` is what the leaderboard shows."""

    name: str
    editor: Editor
    judge: Judge | None
    planner: Planner = field(default_factory=RulePlanner)
    settings: AgentSettings = AgentSettings()
    judge_client: PricedClient | None = None
    """The judge's client, which must be open during work; None for a judge without an endpoint."""
    planner_client: PricedClient | None = None
    """The planner's client."""

    @property
    def version(self) -> str:
        """The agent's own version and those of its parts."""
        judge = f"; {self.judge.name} {self.judge.version}" if self._closed and self.judge else ""
        return f"{VERSION}; {self.editor.name} {self.editor.version}; {self.planner.name}{judge}"

    @property
    def params(self) -> JsonDict:
        """What an output depends on. `driven_by` names the judge: it must not be the one that ranks."""
        inner = self.editor.params
        agent: JsonDict = {
            **self.settings.model_dump(mode="json"),
            "editor": self.editor.name,
            "mind": self.planner.name,
        }
        return {"agent": agent, "driven_by": self._driver or None, **({"editor_params": inner} if inner else {})}

    @property
    def _driver(self) -> str:
        """The judge that chooses among the outputs; empty if none does."""
        return self.judge.name if self._closed and self.judge else ""

    @property
    def traits(self) -> EditorTraits:
        """At most the editor's price for every step; the judge's and the planner's endpoints are listed separately."""
        inside, extra_calls = self.editor.traits, []
        if self.judge_client is not None:
            extra_calls.append(ExtraCalls("judge", self.judge_client, self.most_verdicts, judge=self.judge))
        if self.planner_client is not None:
            extra_calls.append(
                ExtraCalls("mind", self.planner_client, self.max_planner_calls, texts=self.planner.questions)
            )
        return EditorTraits(
            usd_per_image=None if inside.usd_per_image is None else inside.usd_per_image * self.most_edits,
            price_as_of=inside.price_as_of, price_from=inside.price_from, notice=inside.notice,
            wrappable=False, opening=self.opened, resumable=self,
            wraps=WrappedEditor(self.editor, self.most_edits, tuple(extra_calls)), driven_by=self._driver,
        )  # fmt: skip

    @property
    def most_edits(self) -> int:
        """Maximum number of edits per output."""
        return self.settings.steps if self.settings.stages in ("plan", "full") else 1

    @property
    def max_planner_calls(self) -> int:
        """Maximum number of questions to the planner per output: to understand, to plan."""
        return {"none": 0, "understand": 1, "plan": 2, "full": 2}[self.settings.stages]

    @property
    def most_verdicts(self) -> int:
        """Maximum number of verdicts per output: one per step, plus one on the source if steps may be dropped."""
        return self.settings.steps + self.settings.go_back if self._closed else 0

    @property
    def _closed(self) -> bool:
        return self.settings.stages == "full"

    @property
    def _fixed(self) -> bool:
        """Does the editor give the same image for the same order, whatever the seed?"""
        return self.editor.traits.deterministic

    def opened(self) -> AbstractAsyncContextManager[None]:
        """Open the editor's, the judge's and the planner's clients."""
        return opened_all(self.editor, self.judge_client, self.planner_client)

    async def edit(self, request: EditRequest) -> EditResult:
        """Work on one request. The result includes the trace of every step, whatever its status."""
        return await self.resume(request, None)

    async def resume(self, request: EditRequest, journal: Journal | None) -> EditResult:
        """Continue where an earlier run stopped: answers in the journal are not asked for again."""
        if not any(character.isalnum() for character in request.instruction):
            return EditResult(Status.REFUSED, error="The instruction is empty: describe the change.")
        started = time.perf_counter()
        state = State(request, self.settings.success_score, Memory(journal))
        spec = await self._understand(state)
        plan = await self._plan(state, spec)
        if self._closed:
            await self._closed_loop(state, spec, plan)
        else:
            await self._open_loop(state, plan)
        return state.result(time.perf_counter() - started)

    async def _understand(self, state: State) -> EditSpec:
        if self.settings.stages == "none":
            return EditSpec(state.request.instruction)
        spec, thought = await state.memory.spec(lambda: self.planner.understand(state.request))
        state.pay(thought.cost_usd)
        state.steps.append({"stage": "understand", "by": self.planner.name, **spec.to_json(), "note": thought.note})
        return spec

    async def _plan(self, state: State, spec: EditSpec) -> EditPlan:
        if self.settings.stages in ("none", "understand"):
            return EditPlan((spec.instruction,), 1)
        most = self.settings.steps
        plan, thought = await state.memory.plan(lambda: self.planner.plan(state.request, spec, most))
        state.pay(thought.cost_usd)
        state.steps.append({"stage": "plan", "by": self.planner.name, **plan.to_json(), "note": thought.note})
        return plan

    async def _open_loop(self, state: State, plan: EditPlan) -> None:
        for number, instruction in enumerate(plan.steps):
            step, image = await self._edit_once(state, number, instruction)
            state.steps.append(step)
            if image is None:
                return
            state.resume(image, None)
        state.best = state.current

    async def _closed_loop(self, state: State, spec: EditSpec, plan: EditPlan) -> None:
        whole = plan.tentative if self.settings.whole_first is None else self.settings.whole_first
        words_help = self.editor.traits.wrappable
        course = EditQueue.of(state.request.instruction, spec, plan, whole=whole, words_help=words_help)
        budget, complete, repeated = max(plan.budget, len(plan.steps)), False, 0
        verdicts: dict[str, Verdict] = {}
        refused: set[str] = set()
        for number in range(budget):
            left = budget - number - 1
            order = course.order_text(from_source=state.current is None)
            if order in refused:
                if not course.skip(left):
                    return
                continue
            step, image = await self._edit_once(state, number, order)
            state.steps.append(step)
            if image is None:  # the step failed: try again within the budget if that can help
                if state.failure is not None and state.failure.status is Status.REFUSED:
                    refused.add(order)
                if (self._fixed or order in refused) and not course.skip(left):
                    return
                continue
            name = sha256_hex(image)
            repeated = repeated + 1 if name in verdicts else 0
            verdict = verdicts[name] if repeated else await self._judge(state, image)
            verdicts[name] = verdict
            look = state.look(image, verdict, str(step["instruction"]))
            step |= _step_details(look)
            complete = complete or not course.more
            if self._ends(state, look, complete):
                step["stopped"] = str(look.completion.outcome)
            else:
                step |= await self._onward(state, course, look, repeated, left)
            if "stopped" in step:
                return

    async def _onward(self, state: State, course: EditQueue, look: StepPicture, repeated: int, left: int) -> JsonDict:
        """Choose what to do after an image that is not good enough; returns trace fields, with `stopped` at the end."""
        fixed = self._fixed
        if repeated and not course.more:  # once may be chance; twice means that the editor has no other answer
            ends = not course.turn(left, squeeze=repeated > 1) and (fixed or repeated > 1)
            return {"stopped": "the same picture again"} if ends else {}
        if not repeated and (fixed or left >= len(course.waiting)) and await self._got_worse(state, look):
            if not fixed and state.seen is not None and looks_alike(look.verdict, state.seen.verdict):
                course.part(left)
            ends = fixed and not course.skip(left)
            return {"dropped": True, **({"stopped": "this editor has no other answer"} if ends else {})}
        state.resume(look.image, look)
        course.follow(look.feedback, left)
        # The order was carried out and only the image quality is weak: the same order again would not improve it.
        ends = fixed and look.feedback.spoilt and not course.waiting
        return {"stopped": "all is there, and this editor has no other answer"} if ends else {}

    def _ends(self, state: State, look: StepPicture, complete: bool) -> bool:
        """Record an image that may be the answer; returns whether it is good enough to stop."""
        if not complete and not self.settings.partial_answers:
            state.spare = look.image
            return False
        state.remember(look)
        return look.completion.final

    async def _got_worse(self, state: State, look: StepPicture) -> bool:
        """Is a step's image no better than the one it started from, according to the judge?"""
        if not self.settings.go_back or look.standing is None or look.completion.final:
            return False
        if state.current is None and state.seen is None and state.request.sources:
            source = state.request.sources[0]
            verdict = await self._judge(state, source)
            feedback = feedback_of(verdict, state.request.instruction)
            state.seen = StepPicture(source, verdict, feedback, state.completion(verdict))
            state.steps.append({"stage": "judge", "of": "source", **_step_details(state.seen)})
        before = state.seen.standing if state.seen else None
        return before is not None and look.standing <= before

    async def _edit_once(self, state: State, number: int, instruction: str) -> tuple[JsonDict, bytes | None]:
        """Edit the current image once; the image is None if that failed, and the failure is kept in the state."""
        request = state.request
        start = state.best if self.settings.from_best and state.best is not None else state.current
        sources = request.sources if start is None else (start, *request.sources[1:])
        seed = None if request.seed is None else request.seed + 1000 * number
        step_request = replace(request, instruction=instruction, sources=sources, seed=seed)
        result = await state.memory.edit(number, self.editor, step_request)
        state.pay(result.cost_usd)
        step: JsonDict = {
            "stage": "edit", "step": number + 1, "by": self.editor.name, "instruction": instruction, "seed": seed,
            "status": result.status.value, "error": result.error, "cost_usd": result.cost_usd,
            "latency_s": result.latency_s, "from_sha256": sha256_hex(sources[0]) if sources else None,
        }  # fmt: skip
        if result.status is not Status.OK or result.image is None:
            state.failure = result
            return step, None
        state.failure = None
        step["image_sha256"] = sha256_hex(result.image)
        return step, result.image

    async def _judge(self, state: State, image: bytes) -> Verdict:
        """The judge sees the original source and instruction, never the plan."""
        if self.judge is None:
            return Verdict(Status.API_ERROR, error="the agent has no judge")
        request = state.request
        exhibit = Exhibit(
            request.instruction, image, sources=request.sources, references=request.references, task=request.task
        )
        verdict = await state.memory.verdict(self.judge, exhibit)
        state.pay(verdict.usage.cost_usd or 0.0)
        return verdict


def _step_details(look: StepPicture) -> JsonDict:
    verdict, feedback = look.verdict, look.feedback
    return {
        "verdict": verdict.status.value, "score": verdict.score, **look.completion.to_json(),
        "feedback": feedback.comment, "scores": dict(verdict.scores), "judge_error": verdict.error,
    }  # fmt: skip
