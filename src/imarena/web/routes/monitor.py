"""The run monitor with live updates, and figures of the judges."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from imarena.core import DatabaseFailed
from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import INSIDE, InsideCaller, LookCaller
from imarena.web.keys import presented_secrets
from imarena.web.problems import RequestRefused
from imarena.web.requests import Cursor, Limit, page_of
from imarena.web.responses_look import judge_health_out, run_out
from imarena.web.wire_look import JudgePage, RunPage
from imarena.workflows.serving import judge_health, stopping
from imarena.workflows.upkeep import workspace_status

router = APIRouter(prefix="/api", tags=["monitor"])

EVERY_S = 1.0
BEAT_S = 15.0
"""Interval of empty messages, which keep a proxy's connection open and reveal a lost one."""
LONGEST_S = 600.0
"""After this time the browser reconnects."""
MOST_STREAMS = 50
_open_streams = 0


@router.get("/runs")
def list_runs(request: Request, _caller: InsideCaller, cursor: Cursor = None, limit: Limit = 50) -> RunPage:
    """Runs with their progress, cost and failures."""
    return _page(arena_of(request), cursor, limit)


@router.get(
    "/runs/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"$ref": "#/components/schemas/RunPage"}}}}},
)
async def stream_runs(request: Request, _caller: InsideCaller) -> StreamingResponse:
    """The first page of runs, sent again as soon as it changes (server-sent events; the data of each is the page)."""
    if _open_streams >= MOST_STREAMS:
        raise RequestRefused(429, "slow_down", "Too many pages watch the runs.", hint="Ask for /api/runs instead.")
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    arena = arena_of(request)
    secrets = presented_secrets(request.headers, arena.keys)
    return StreamingResponse(_events(arena, secrets), media_type="text/event-stream", headers=headers)


def _allowed(arena: ServedWorkspace, secrets: list[tuple[str, bool]]) -> bool:
    """Does this session still have access? If access is lost, the stream ends within seconds."""
    visitors = (arena.sessions.visitor(secret, machine=machine) for secret, machine in secrets)
    return any(visitor is not None and visitor.role in INSIDE for visitor in visitors)


async def _events(arena: ServedWorkspace, secrets: list[tuple[str, bool]]) -> AsyncIterator[bytes]:
    global _open_streams  # noqa: PLW0603 - the event loop alone counts
    _open_streams += 1
    try:
        last_page, silent_s, lasted_s = "", 0.0, 0.0
        while lasted_s < LONGEST_S and not stopping.is_set():
            try:
                if not await run_in_threadpool(_allowed, arena, secrets):
                    return
                page = (await run_in_threadpool(_page, arena, None, 50)).model_dump_json()
            except DatabaseFailed:
                page = last_page  # the database is unavailable: keep the last state until it is back
            if page != last_page:
                last_page, silent_s = page, 0.0
                yield f"data: {page}\n\n".encode()
            elif silent_s >= BEAT_S:
                silent_s = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(EVERY_S)
            silent_s, lasted_s = silent_s + EVERY_S, lasted_s + EVERY_S
    finally:
        _open_streams -= 1


def _page(arena: ServedWorkspace, cursor: str | None, limit: int) -> RunPage:
    page = arena.leaderboards.runs.recent(int(cursor) if cursor else None, limit)
    now = arena.leaderboards.get_or_compute("status", lambda: workspace_status(arena.workspace))
    more = str(page[-1][0]) if len(page) == limit else None
    return RunPage(runs=[run_out(run) for _, run in page], failures=now.missing, totals=now.totals, next_cursor=more)


@router.get("/judges")
def list_judges(request: Request, caller: LookCaller, cursor: Cursor = None, limit: Limit = 50) -> JudgePage:
    """The figures of each judge."""
    judges = judge_health(arena_of(request).leaderboards, released=not caller.leads, costs=caller.inside)
    page, more = page_of(judges, cursor, limit)
    return JudgePage(judges=[judge_health_out(judge, costs=caller.inside) for judge in judges[page]], next_cursor=more)
