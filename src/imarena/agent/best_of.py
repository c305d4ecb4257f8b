"""Best of N with any judge: the baseline that an agent has to beat at the same number of edits."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from imarena.agent.memory import Memory
from imarena.core import Editor, EditRequest, EditResult, Exhibit, Journal, Judge, sha256_hex
from imarena.core.records import JsonDict, Status

VERSION = "1"


@dataclass(frozen=True)
class BestOf:
    """Asks an editor `n` times with different seeds and keeps what the judge scores highest."""

    name: str
    editor: Editor
    judge: Judge
    n: int = 4
    doors: tuple[object, ...] = ()
    wrappable: bool = field(default=False, init=False)
    """Its judge has to read the instruction, not the words around it."""

    @property
    def version(self) -> str:
        """Its own and that of its parts."""
        return f"{VERSION}; {self.editor.name} {self.editor.version}; {self.judge.name} {self.judge.version}"

    @property
    def params(self) -> JsonDict:
        """What an output depends on; `driven_by` names the judge."""
        inner: JsonDict = dict(getattr(self.editor, "params", {}))
        made: JsonDict = {"best_of": self.n, "editor": self.editor.name, "driven_by": self.judge.name}
        return {**made, **({"editor_params": inner} if inner else {})}

    @property
    def usd_per_image(self) -> float | None:
        """N times the editor's price."""
        price = getattr(self.editor, "usd_per_image", 0.0)
        return None if price is None else price * self.n

    @property
    def most_edits(self) -> int:
        """How many edits one output takes."""
        return self.n

    @property
    def most_verdicts(self) -> int:
        """How many verdicts one output takes."""
        return self.n

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the editor's and the judge's clients."""
        async with AsyncExitStack() as stack:
            for part in (self.editor, *self.doors):
                opened = getattr(part, "opened", None)
                if opened is not None:
                    await stack.enter_async_context(opened())
            yield

    async def edit(self, request: EditRequest) -> EditResult:
        """N tries, one choice. A try that failed, or that the judge could not score, is not chosen."""
        return await self.go_on(request, None)

    async def go_on(self, request: EditRequest, journal: Journal | None) -> EditResult:
        """The same from where an earlier run broke off: what the journal holds is not asked again."""
        started = time.perf_counter()
        memory = Memory(journal)
        tries = await asyncio.gather(*(self._try(memory, request, number) for number in range(self.n)))
        steps = tuple(one.told for one in tries)
        costs = [one.result.cost_usd for one in tries]
        paid = sum(value or 0.0 for value in costs) + sum(one.judging_usd for one in tries)
        cost = None if None in costs else paid
        seconds = time.perf_counter() - started + memory.earlier_s
        scored = [(one.score, -n, one.result) for n, one in enumerate(tries) if one.score is not None]
        if scored:
            score, _, best = max(scored, key=lambda entry: entry[:2])
        else:
            score = None
            best = next((one.result for one in tries if one.result.status is Status.OK), tries[0].result)
        if best.image is None:
            return replace(best, cost_usd=cost, latency_s=seconds, steps=steps)
        chosen: JsonDict = {"stage": "choose", "image_sha256": sha256_hex(best.image), "score": score, "edits": self.n}
        return EditResult(Status.OK, best.image, cost_usd=cost, latency_s=seconds, steps=(*steps, chosen))

    async def _try(self, memory: Memory, request: EditRequest, number: int) -> "_Try":
        seed = None if request.seed is None else request.seed + 1000 * number
        result = await memory.edit(number, self.editor, replace(request, seed=seed))
        told: JsonDict = {
            "stage": "edit", "step": number + 1, "by": self.editor.name, "instruction": request.instruction,
            "seed": seed, "status": result.status.value, "error": result.error, "cost_usd": result.cost_usd,
        }  # fmt: skip
        if result.status is not Status.OK or result.image is None:
            return _Try(result, told)
        told["image_sha256"] = sha256_hex(result.image)
        shown = Exhibit(
            request.instruction, result.image, sources=request.sources, references=request.references, task=request.task
        )
        verdict = await memory.verdict(self.judge, shown)
        told |= {"verdict": verdict.status.value, "score": verdict.score, "success": verdict.success}
        score = verdict.score if verdict.status is Status.OK else None
        return _Try(result, told, score, verdict.usage.cost_usd or 0.0)


@dataclass(frozen=True)
class _Try:
    """One try: what the editor gave, what the trace tells of it, and what the judge gave and took."""

    result: EditResult
    told: JsonDict
    score: float | None = None
    judging_usd: float = 0.0
