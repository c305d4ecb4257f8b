"""Looking: leaderboards, win matrix, head-to-head, history, runs, judges."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from imarena.web import showing
from imarena.web.arena import arena_of
from imarena.web.callers import LookCaller
from imarena.web.routes.lead import csv_response
from imarena.web.wire import NO_NUL, Wire
from imarena.web.wire_look import (
    Board,
    BoardHistory,
    BoardPast,
    Facets,
    HeadToHead,
    HeatMap,
    JudgeHealth,
    JudgePage,
    RunOut,
    RunPage,
    Standing,
)
from imarena.workflows import looking
from imarena.workflows.campaign_quality import csv_text
from imarena.workflows.monitoring import GRID, Health, heat, judge_health, recent_runs
from imarena.workflows.status import status

router = APIRouter(prefix="/api", tags=["look"])

Word = Annotated[str | None, Query(max_length=200, pattern=NO_NUL)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}


class Filters(Wire):
    """Which battles count. All of them can stand in a link."""

    source: Literal["human", "judge", "all"] = "all"
    judge: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    dimension: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    dataset: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    family: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    task: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    topic: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    track: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    mode: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None
    since: Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")] = None
    until: Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")] = None


FilterQuery = Annotated[Filters, Query()]


class BoardQuery(Filters):
    """Filters and the way to rank."""

    method: Literal["bt", "davidson", "elo"] = "bt"


@router.get("/facets")
def get_facets(request: Request, _caller: LookCaller) -> Facets:
    """The values that filters can take."""
    return Facets(**arena_of(request).looking.facets())


@router.get("/board")
def get_board(request: Request, _caller: LookCaller, query: Annotated[BoardQuery, Query()]) -> Board:
    """A leaderboard with intervals and the win matrix, from the battles that the filters leave."""
    return showing.board(arena_of(request).looking.board(_filters(query), query.method), query.method)


@router.get("/board.csv", response_class=Response, responses=CSV)
def export_board(request: Request, _caller: LookCaller, query: Annotated[BoardQuery, Query()]) -> Response:
    """The same as a table."""
    made = arena_of(request).looking.board(_filters(query), query.method)
    rows = [standing.model_dump() for standing in showing.standings(made.ranking)]
    names = list(Standing.model_fields)
    return csv_response(csv_text(names, iter([row[name] for name in names] for row in rows)), "board.csv")


@router.get("/board/history")
def get_history(request: Request, _caller: LookCaller, cursor: Cursor = None, limit: Limit = 50) -> BoardHistory:
    """Stored boards, newest first: how ratings moved."""
    rows = arena_of(request).looking.history(int(cursor) if cursor else None, limit)
    boards = [
        BoardPast(
            created_at=ranking.created_at.isoformat(),
            method=ranking.method,
            scope=ranking.scope,
            n_battles=ranking.n_battles,
            standings=showing.standings(ranking),
        )
        for _, ranking in rows
    ]
    return BoardHistory(boards=boards, next_cursor=str(rows[-1][0]) if len(rows) == limit else None)


@router.get("/head-to-head")
def get_head_to_head(
    request: Request,
    _caller: LookCaller,
    left: Annotated[str, Query(max_length=200, pattern=NO_NUL)],
    right: Annotated[str, Query(max_length=200, pattern=NO_NUL)],
    source: Literal["human", "judge", "all"] = "all",
) -> HeadToHead:
    """Two models against each other."""
    total, by_task = arena_of(request).looking.head_to_head(left, right, source)
    cells = {task: showing.cell(found) for task, found in by_task.items()}
    return HeadToHead(left=left, right=right, total=showing.cell(total), by_task=cells)


@router.get("/heat-map")
def get_heat_map(request: Request, _caller: LookCaller, editor: Word = None, task: Word = None) -> HeatMap:
    """Where raters found something wrong."""
    made = heat(arena_of(request).looking, editor, task)
    labels = dict(made.labels.most_common(100))
    return HeatMap(editor=editor, rows=GRID, columns=GRID, boxes=made.boxes, cells=made.cells, labels=labels)


@router.get("/runs")
def list_runs(request: Request, _caller: LookCaller, cursor: Cursor = None, limit: Limit = 50) -> RunPage:
    """What is at work, what it did and cost, and what failed."""
    arena = arena_of(request)
    rows = recent_runs(arena.looking, int(cursor) if cursor else None, limit)
    runs = [
        RunOut(
            run_id=run.run_id,
            command=run.command,
            state=run.state,
            created_at=run.created_at.isoformat(),
            finished_at=run.finished_at.isoformat() if run.finished_at is not None else None,
            counts=run.counts,
            cost_usd=run.cost_usd,
        )
        for _, run in rows
    ]
    now = status(arena.workspace)
    more = str(rows[-1][0]) if len(rows) == limit else None
    return RunPage(runs=runs, failures=now.missing, totals=now.totals, next_cursor=more)


@router.get("/judges")
def list_judges(request: Request, _caller: LookCaller) -> JudgePage:
    """How each judge behaves."""
    return JudgePage(judges=[_health(found) for found in judge_health(arena_of(request).looking)])


def _filters(query: BoardQuery) -> looking.Filters:
    return looking.Filters(**{name: getattr(query, name) for name in Filters.model_fields})


def _health(found: Health) -> JudgeHealth:
    def share(hits: int, n: int) -> float | None:
        return hits / n if n else None

    return JudgeHealth(
        judge=found.judge,
        dimension=found.dimension,
        ok=found.ok,
        failed=dict(found.failed),
        both_orders=found.both_orders,
        order_agreement=share(found.same, found.both_orders),
        first_share=share(found.first, found.sided),
        tie_share=share(found.ties, found.preferences),
        with_people=share(found.with_people, found.people_pairs),
        people_pairs=found.people_pairs,
        cost_usd=found.cost_usd,
    )
