"""Best of N with any judge: the baseline that an agent must beat with the same number of edits."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from imarena.agent.completion import Completion, completion_of
from imarena.agent.memory import Memory, opened_all
from imarena.core import (
    Editor,
    EditorTraits,
    EditRequest,
    EditResult,
    Exhibit,
    ExtraCalls,
    Journal,
    Judge,
    PricedClient,
    WrappedEditor,
    sha256_hex,
)
from imarena.core.records import JsonDict, Status

VERSION = "1"


@dataclass(frozen=True)
class BestOf:
    """Asks an editor `n` times with different seeds and keeps the image with the judge's highest score."""

    name: str
    editor: Editor
    judge: Judge
    n: int = 4
    judge_client: PricedClient | None = None
    """The judge's client, which must be open during work; None for a judge without an endpoint."""

    @property
    def version(self) -> str:
        """Its own version and those of its parts."""
        return f"{VERSION}; {self.editor.name} {self.editor.version}; {self.judge.name} {self.judge.version}"

    @property
    def params(self) -> JsonDict:
        """What an output depends on; `driven_by` names the judge."""
        inner = self.editor.params
        agent_params: JsonDict = {"best_of": self.n, "editor": self.editor.name, "driven_by": self.judge.name}
        return {**agent_params, **({"editor_params": inner} if inner else {})}

    @property
    def traits(self) -> EditorTraits:
        """N times the editor's price. Not wrappable: the judge must see the instruction, not added words."""
        inside = self.editor.traits
        extra_calls = (
            (ExtraCalls("judge", self.judge_client, self.n, judge=self.judge),) if self.judge_client is not None else ()
        )
        return EditorTraits(
            usd_per_image=None if inside.usd_per_image is None else inside.usd_per_image * self.n,
            price_as_of=inside.price_as_of, price_from=inside.price_from, notice=inside.notice,
            wrappable=False, opening=self.opened, resumable=self, wraps=WrappedEditor(self.editor, self.n, extra_calls),
            driven_by=self.judge.name,
        )  # fmt: skip

    def opened(self) -> AbstractAsyncContextManager[None]:
        """Open the editor's and the judge's clients."""
        return opened_all(self.editor, self.judge_client)

    async def edit(self, request: EditRequest) -> EditResult:
        """Make N tries and choose one. A try that failed, or that the judge could not score, is not chosen."""
        return await self.resume(request, None)

    async def resume(self, request: EditRequest, journal: Journal | None) -> EditResult:
        """Continue where an earlier run stopped: answers in the journal are not asked for again."""
        started = time.perf_counter()
        memory = Memory(journal)
        tries = await asyncio.gather(*(self._try(memory, request, number) for number in range(self.n)))
        steps = tuple(attempt.details for attempt in tries)
        costs = [attempt.result.cost_usd for attempt in tries]
        paid = sum(value or 0.0 for value in costs) + sum(attempt.judging_usd for attempt in tries)
        cost = None if None in costs else paid
        seconds = time.perf_counter() - started + memory.earlier_s
        scored = [(attempt.score, -n, attempt) for n, attempt in enumerate(tries) if attempt.score is not None]
        completion = Completion()
        if scored:
            score, _, chosen_try = max(scored, key=lambda entry: entry[:2])
            best, completion = chosen_try.result, chosen_try.completion
        else:
            score = None
            best = next((attempt.result for attempt in tries if attempt.result.status is Status.OK), tries[0].result)
        if best.image is None:
            return replace(best, cost_usd=cost, latency_s=seconds, steps=steps)
        last_step: JsonDict = {
            "stage": "choose", "image_sha256": sha256_hex(best.image), "score": score, "edits": self.n,
            **completion.to_json(),
        }  # fmt: skip
        return EditResult(Status.OK, best.image, cost_usd=cost, latency_s=seconds, steps=(*steps, last_step))

    async def _try(self, memory: Memory, request: EditRequest, number: int) -> "_Try":
        seed = None if request.seed is None else request.seed + 1000 * number
        result = await memory.edit(number, self.editor, replace(request, seed=seed))
        step: JsonDict = {
            "stage": "edit", "step": number + 1, "by": self.editor.name, "instruction": request.instruction,
            "seed": seed, "status": result.status.value, "error": result.error, "cost_usd": result.cost_usd,
        }  # fmt: skip
        if result.status is not Status.OK or result.image is None:
            return _Try(result, step)
        step["image_sha256"] = sha256_hex(result.image)
        exhibit = Exhibit(
            request.instruction, result.image, sources=request.sources, references=request.references, task=request.task
        )
        verdict = await memory.verdict(self.judge, exhibit)
        completion = completion_of(verdict, request.instruction)
        step |= {"verdict": verdict.status.value, "score": verdict.score, **completion.to_json()}
        score = verdict.score if verdict.status is Status.OK else None
        return _Try(result, step, score, verdict.usage.cost_usd or 0.0, completion)


@dataclass(frozen=True)
class _Try:
    """One try: the editor's result, its entry in the trace, and the judge's score and cost."""

    result: EditResult
    details: JsonDict
    score: float | None = None
    judging_usd: float = 0.0
    completion: Completion = Completion()
