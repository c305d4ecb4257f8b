"""Ask an agent's editor, judge and planner for one request, and reuse the answers of an earlier run."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from imarena.agent.feedback import judge_in_thread
from imarena.agent.spec import EditPlan, EditSpec, StageResult
from imarena.core import (
    Editor,
    EditRequest,
    EditResult,
    Exhibit,
    InvalidImage,
    Journal,
    JournalEntry,
    Judge,
    PricedClient,
    Verdict,
    content_id,
    first_line,
    sha256_hex,
)
from imarena.core.records import JsonDict, Status

_StageOutput = TypeVar("_StageOutput")


@asynccontextmanager
async def opened_all(editor: Editor, *clients: PricedClient | None) -> AsyncIterator[None]:
    """Open an agent's editor and the clients of its other parts; None: a part without an endpoint."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(editor.traits.opened())
        for client in clients:
            if client is not None:
                await stack.enter_async_context(client.opened())
        yield


@dataclass
class Memory:
    """The answers for one request. Without a journal, everything is asked and nothing is stored."""

    journal: Journal | None = None
    earlier_s: float = 0.0
    """Seconds that the answers from earlier runs took."""

    async def edit(self, number: int, editor: Editor, request: EditRequest) -> EditResult:
        """Make edit number `number`. An editor that itself makes several steps stores them under this one."""
        call = _call("edit", number, request.instruction, request.seed, [sha256_hex(data) for data in request.sources])
        resumable = editor.traits.resumable
        if resumable is not None and self.journal is not None:
            return await resumable.resume(request, _Under(self.journal, call))
        entry = await self._find(call)
        if entry is not None:
            return replace(_results().validate_python(entry.value["answer"]), image=entry.image)
        started = time.perf_counter()
        result = await editor.edit(request)
        ok = result.status is Status.OK and result.image is not None
        answer = _results().dump_python(replace(result, image=None), mode="json")
        noted = JournalEntry(_timed(started, answer), result.image if ok else None, result.cost_usd or 0.0, ok)
        try:
            await self._note(call, noted)
        except InvalidImage as error:
            return replace(result, status=Status.INVALID_IMAGE, image=None, error=first_line(error))
        return result

    async def verdict(self, judge: Judge, shown: Exhibit) -> Verdict:
        """The judge's verdict on an image; the same image is judged only once."""
        call = _call("judge", sha256_hex(shown.left))
        entry = await self._find(call)
        if entry is not None:
            return _verdicts().validate_python(entry.value["answer"])
        started = time.perf_counter()
        verdict = await judge_in_thread(judge, shown)
        answer = _verdicts().dump_python(verdict, mode="json")
        cost, ok = verdict.usage.cost_usd or 0.0, verdict.status is Status.OK
        await self._note(call, JournalEntry(_timed(started, answer), shown.left, cost, ok))
        return verdict

    async def spec(self, ask: Callable[[], Awaitable[tuple[EditSpec, StageResult]]]) -> tuple[EditSpec, StageResult]:
        """The planner's specification."""
        return await self._thought("understand", _specs(), ask)

    async def plan(self, ask: Callable[[], Awaitable[tuple[EditPlan, StageResult]]]) -> tuple[EditPlan, StageResult]:
        """The planner's plan."""
        return await self._thought("plan", _plans(), ask)

    async def _thought(
        self,
        stage: str,
        form: TypeAdapter[tuple[_StageOutput, StageResult]],
        ask: Callable[[], Awaitable[tuple[_StageOutput, StageResult]]],
    ) -> tuple[_StageOutput, StageResult]:
        """Ask the planner for one stage; if the answer notes a problem, the next attempt asks for it again."""
        entry = await self._find(_call(stage))
        if entry is not None:
            return form.validate_python(entry.value["answer"])
        started = time.perf_counter()
        output, thought = await ask()
        answer = form.dump_python((output, thought), mode="json")
        await self._note(_call(stage), JournalEntry(_timed(started, answer), None, thought.cost_usd, not thought.note))
        return output, thought

    async def _find(self, call: str) -> JournalEntry | None:
        if self.journal is None:
            return None
        entry = await asyncio.to_thread(self.journal.find, call)
        seconds = entry.value.get("seconds") if entry else None
        self.earlier_s += seconds if isinstance(seconds, float | int) else 0.0
        return entry

    async def _note(self, call: str, noted: JournalEntry) -> None:
        if self.journal is not None:  # in a thread that finishes writing even if this run is being stopped
            await asyncio.to_thread(self.journal.note, call, noted)


@dataclass(frozen=True)
class _Under:
    """A journal for the steps of an editor inside a step of another one."""

    journal: Journal
    above: str

    def find(self, call: str) -> JournalEntry | None:
        """Find an entry, as in the journal."""
        return self.journal.find(_call(self.above, call))

    def note(self, call: str, noted: JournalEntry) -> None:
        """Store an entry, as in the journal."""
        self.journal.note(_call(self.above, call), noted)


def _call(*parts: object) -> str:
    return content_id("call", *parts)


def _timed(started: float, answer: Any) -> JsonDict:
    return {"seconds": round(time.perf_counter() - started, 3), "answer": answer}


@cache
def _results() -> TypeAdapter[EditResult]:
    return TypeAdapter(EditResult)


@cache
def _verdicts() -> TypeAdapter[Verdict]:
    return TypeAdapter(Verdict)


@cache
def _specs() -> TypeAdapter[tuple[EditSpec, StageResult]]:
    return TypeAdapter(tuple[EditSpec, StageResult])


@cache
def _plans() -> TypeAdapter[tuple[EditPlan, StageResult]]:
    return TypeAdapter(tuple[EditPlan, StageResult])
