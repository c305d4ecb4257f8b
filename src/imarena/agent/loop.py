"""CV-Agent (000, section 5 and appendix N): understand, plan, edit in a closed loop. An editor like any other."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from imarena.agent.feedback import feedback_of, judged
from imarena.agent.rules import RuleMind
from imarena.agent.spec import EditPlan, Keep, Mind, Spec
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Editor, EditRequest, EditResult, Exhibit, Judge, Verdict
from imarena.core.records import JsonDict, Status
from imarena.core.records.base import Noun

VERSION = "1"
Stages = Literal["none", "understand", "plan", "full"]
STAGES: tuple[Stages, ...] = ("none", "understand", "plan", "full")
"""Table 11's four settings: the editor alone, with stage 1, with stages 1 and 2 (open loop), with all three."""


class AgentSettings(Noun):
    """How the agent works."""

    stages: Stages = "full"
    steps: int = Field(default=4, ge=1, le=32)
    """T: edits at most."""
    success_score: float | None = None
    """A score from which the loop stops, beside the judge's own word for success."""
    from_best: bool = False
    """Start each step from the best picture so far; the paper goes on from the current one."""
    partial_answers: bool = False
    """Pictures made before the plan's last step may be the answer too, and may end the loop. The paper does not say;
    a judge that overlooks a missing change would otherwise stop after the first of several."""


@dataclass
class _State:
    """Where a request stands."""

    request: EditRequest
    current: bytes | None = None
    best: bytes | None = None
    best_score: float | None = None
    spare: bytes | None = None
    """The last picture made before the plan's last step: the answer only where there is no other."""
    failure: EditResult | None = None
    cost_usd: float = 0.0
    unpriced: bool = False
    steps: list[JsonDict] = field(default_factory=list)

    def pay(self, cost: float | None) -> None:
        """Add what a part did cost; unknown makes the whole unknown."""
        self.unpriced = self.unpriced or cost is None
        self.cost_usd += cost or 0.0


@dataclass(frozen=True)
class Agent:
    """Wraps an editor and a judge. `name` is what the leaderboard shows."""

    name: str
    editor: Editor
    judge: Judge | None
    mind: Mind = field(default_factory=RuleMind)
    settings: AgentSettings = AgentSettings()
    keep: Keep | None = None
    doors: tuple[object, ...] = ()
    """What has to be open while it works: clients of its judge and its mind."""
    wrappable: bool = field(default=False, init=False)

    @property
    def version(self) -> str:
        """The agent's own and that of its parts."""
        judge = f"; {self.judge.name} {self.judge.version}" if self._closed and self.judge else ""
        return f"{VERSION}; {self.editor.name} {self.editor.version}; {self.mind.name}{judge}"

    @property
    def params(self) -> JsonDict:
        """What an output depends on. `driven_by` names the judge: it must not be the one that ranks."""
        driver = self.judge.name if self._closed and self.judge else None
        inner: JsonDict = dict(getattr(self.editor, "params", {}))
        made: JsonDict = {**self.settings.model_dump(mode="json"), "editor": self.editor.name, "mind": self.mind.name}
        return {"agent": made, "driven_by": driver, **({"editor_params": inner} if inner else {})}

    @property
    def usd_per_image(self) -> float | None:
        """At most: the editor's price for every step; what a judge's or a mind's endpoint charges comes on top."""
        price = getattr(self.editor, "usd_per_image", 0.0)
        most = self.settings.steps if self.settings.stages in ("plan", "full") else 1
        return None if price is None else price * most

    @property
    def _closed(self) -> bool:
        return self.settings.stages == "full"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the editor's, the judge's and the mind's clients."""
        async with AsyncExitStack() as stack:
            for part in (self.editor, *self.doors):
                opened = getattr(part, "opened", None)
                if opened is not None:
                    await stack.enter_async_context(opened())
            yield

    async def edit(self, request: EditRequest) -> EditResult:
        """Work on one request. The trace of every step comes with the result, whatever its status."""
        started = time.perf_counter()
        state = _State(request)
        spec = await self._understand(state)
        plan = await self._plan(state, spec)
        if self._closed:
            await self._closed_loop(state, spec, plan)
        else:
            await self._open_loop(state, plan)
        return self._result(state, time.perf_counter() - started)

    async def _understand(self, state: _State) -> Spec:
        if self.settings.stages == "none":
            return Spec(state.request.instruction)
        spec, thought = await self.mind.understand(state.request)
        state.pay(thought.cost_usd)
        state.steps.append({"stage": "understand", "by": self.mind.name, **spec.to_json(), "note": thought.note})
        return spec

    async def _plan(self, state: _State, spec: Spec) -> EditPlan:
        if self.settings.stages in ("none", "understand"):
            return EditPlan((spec.instruction,), 1)
        plan, thought = await self.mind.plan(state.request, spec, self.settings.steps)
        state.pay(thought.cost_usd)
        state.steps.append({"stage": "plan", "by": self.mind.name, **plan.to_json(), "note": thought.note})
        return plan

    async def _open_loop(self, state: _State, plan: EditPlan) -> None:
        for number, words in enumerate(plan.steps):
            made = await self._edit_once(state, number, words)
            state.steps.append(made)
            if state.failure is not None:
                return
        state.best = state.current

    async def _closed_loop(self, state: _State, spec: Spec, plan: EditPlan) -> None:
        feedback = ""
        waiting = list(plan.steps)
        for number in range(max(plan.budget, len(plan.steps))):
            words = waiting[0] if waiting else corrected(spec, feedback)
            made = await self._edit_once(state, number, words)
            state.steps.append(made)
            if state.failure is not None or state.current is None:
                continue  # the step failed: try it again within the budget
            waiting = waiting[1:]
            verdict = await self._judged(state, state.current)
            feedback = feedback_of(verdict)
            made |= _told(verdict, feedback)
            if waiting and not self.settings.partial_answers:
                state.spare = state.current
                continue
            self._remember(state, verdict)
            if self._succeeded(verdict):
                made["stopped"] = "success"
                return

    async def _edit_once(self, state: _State, number: int, words: str) -> JsonDict:
        """One edit of the current picture. A failure is kept in the state; the picture stays what it was."""
        given = state.request
        start = state.best if self.settings.from_best and state.best is not None else state.current
        sources = given.sources if start is None else (start, *given.sources[1:])
        seed = None if given.seed is None else given.seed + 1000 * number
        result = await self.editor.edit(replace(given, instruction=words, sources=sources, seed=seed))
        state.pay(result.cost_usd)
        told: JsonDict = {
            "stage": "edit", "step": number + 1, "by": self.editor.name, "instruction": words, "seed": seed,
            "status": result.status.value, "error": result.error, "cost_usd": result.cost_usd,
            "latency_s": result.latency_s, "from_sha256": sha256_hex(sources[0]) if sources else None,
        }  # fmt: skip
        state.failure = None if result.status is Status.OK and result.image is not None else result
        if state.failure is None and result.image is not None:
            state.current = result.image
            told["image_sha256"] = self.keep(result.image) if self.keep else sha256_hex(result.image)
        return told

    async def _judged(self, state: _State, image: bytes) -> Verdict:
        """The judge sees the original source and instruction, never the plan."""
        if self.judge is None:
            return Verdict(Status.API_ERROR, error="the agent has no judge")
        given = state.request
        shown = Exhibit(given.instruction, image, sources=given.sources, references=given.references, task=given.task)
        verdict = await judged(self.judge, shown)
        state.pay(verdict.usage.cost_usd or 0.0)
        return verdict

    def _remember(self, state: _State, verdict: Verdict) -> None:
        """Keep the best-scored picture; one without a score stands only where there is no other."""
        score = verdict.score if verdict.status is Status.OK else None
        if score is None:
            state.best = state.best if state.best_score is not None else state.current
        elif state.best_score is None or score > state.best_score:
            state.best, state.best_score = state.current, score

    def _succeeded(self, verdict: Verdict) -> bool:
        if verdict.status is not Status.OK:
            return False
        wanted = self.settings.success_score
        if wanted is not None:
            return verdict.score is not None and verdict.score >= wanted
        return verdict.success is True

    def _result(self, state: _State, seconds: float) -> EditResult:
        cost = None if state.unpriced else state.cost_usd
        state.best = state.best if state.best is not None else state.spare
        if state.best is None:
            failed = state.failure or EditResult(Status.MISSING_OUTPUT, error="no step made a picture")
            return replace(failed, image=None, cost_usd=cost, latency_s=seconds, steps=tuple(state.steps))
        chosen: JsonDict = {
            "stage": "choose", "image_sha256": sha256_hex(state.best), "score": state.best_score,
            "edits": sum(1 for step in state.steps if step["stage"] == "edit"),
        }  # fmt: skip
        steps = (*state.steps, chosen)
        return EditResult(Status.OK, state.best, cost_usd=cost, latency_s=seconds, steps=steps)


def corrected(spec: Spec, feedback: str) -> str:
    """The words of a correcting step: the whole order again, and what the judge found missing."""
    if not feedback:
        return spec.instruction
    return f"{spec.instruction} The change is not complete yet. What a reviewer says: {feedback}"


def _told(verdict: Verdict, feedback: str) -> JsonDict:
    return {
        "verdict": verdict.status.value, "score": verdict.score, "success": verdict.success, "feedback": feedback,
        "scores": dict(verdict.scores), "judge_error": verdict.error,
    }  # fmt: skip
