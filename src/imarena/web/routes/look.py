"""Looking: leaderboards, win matrix, head-to-head, history, runs, judges."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from imarena.web.callers import LookCaller
from imarena.web.problems import Refused
from imarena.web.wire import Wire
from imarena.web.wire_look import Board, BoardHistory, Facets, HeadToHead, HeatMap, JudgePage, RunPage

router = APIRouter(prefix="/api", tags=["look"])

Word = Annotated[str | None, Query(max_length=200)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
CSV = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}


class Filters(Wire):
    """Which battles count. All of them can stand in a link."""

    source: Literal["human", "judge", "all"] = "all"
    judge: Annotated[str | None, Query(max_length=200)] = None
    dimension: Annotated[str | None, Query(max_length=200)] = None
    dataset: Annotated[str | None, Query(max_length=200)] = None
    family: Annotated[str | None, Query(max_length=200)] = None
    task: Annotated[str | None, Query(max_length=200)] = None
    topic: Annotated[str | None, Query(max_length=200)] = None
    track: Annotated[str | None, Query(max_length=200)] = None
    mode: Annotated[str | None, Query(max_length=200)] = None
    since: Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")] = None
    until: Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")] = None


FilterQuery = Annotated[Filters, Query()]


class BoardQuery(Filters):
    """Filters and the way to rank."""

    method: Literal["bt", "davidson", "elo", "win-rate"] = "bt"


@router.get("/facets")
def get_facets(request: Request, caller: LookCaller) -> Facets:
    """The values that filters can take."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/board")
def get_board(request: Request, caller: LookCaller, query: Annotated[BoardQuery, Query()]) -> Board:
    """A leaderboard with intervals and the win matrix, from the battles that the filters leave."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/board.csv", response_class=Response, responses=CSV)
def export_board(request: Request, caller: LookCaller, query: Annotated[BoardQuery, Query()]) -> Response:
    """The same as a table."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/board/history")
def get_history(request: Request, caller: LookCaller, cursor: Cursor = None, limit: Limit = 50) -> BoardHistory:
    """Stored boards, newest first: how ratings moved."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/head-to-head")
def get_head_to_head(
    request: Request,
    caller: LookCaller,
    left: Annotated[str, Query(max_length=200)],
    right: Annotated[str, Query(max_length=200)],
    source: Literal["human", "judge", "all"] = "all",
) -> HeadToHead:
    """Two models against each other."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/heat-map")
def get_heat_map(request: Request, caller: LookCaller, editor: Word = None, task: Word = None) -> HeatMap:
    """Where raters found something wrong."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/runs")
def list_runs(request: Request, caller: LookCaller, cursor: Cursor = None, limit: Limit = 50) -> RunPage:
    """What is at work, what it did and cost, and what failed."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/judges")
def list_judges(request: Request, caller: LookCaller) -> JudgePage:
    """How each judge behaves."""
    raise Refused(501, "not_ready", "Not built yet.")
