"""Looking: leaderboards, win matrix, head-to-head, history, issues."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from imarena.web import responses as showing
from imarena.web import responses_look as showing_look
from imarena.web.arena import arena_of
from imarena.web.callers import InsideCaller, LookCaller
from imarena.web.requests import BoardParams, Cursor, DuelQuery, HeatQuery, HistoryQuery, Limit, filters_of
from imarena.web.wire_look import BoardOut, BoardPast, Facets, HeadToHead, HeatMap, RatingHistory, StoredBoards
from imarena.workflows.serving import issue_heat_map

router = APIRouter(prefix="/api", tags=["look"])


@router.get("/facets")
def get_facets(request: Request, _caller: LookCaller) -> Facets:
    """The values that filters can take."""
    return Facets(**arena_of(request).looking.facets())


@router.get("/board")
def get_board(request: Request, caller: LookCaller, query: Annotated[BoardParams, Query()]) -> BoardOut:
    """A leaderboard with intervals and the win matrix, from the battles that the filters leave."""
    return showing.board_out(arena_of(request).looking.board(filters_of(query, caller), query.method), query.method)


@router.get("/board/history")
def get_history(request: Request, caller: LookCaller, query: Annotated[HistoryQuery, Query()]) -> RatingHistory:
    """How ratings moved: the board of the battles that the filters leave, as it stood at several moments."""
    found = arena_of(request).looking.history(filters_of(query, caller), query.method, query.points)
    return RatingHistory(method=query.method, points=[showing_look.past_board(past) for past in found])


@router.get("/board/stored")
def list_stored_boards(
    request: Request, _caller: InsideCaller, cursor: Cursor = None, limit: Limit = 50
) -> StoredBoards:
    """Boards that were stored, newest first."""
    rows = arena_of(request).looking.stored(int(cursor) if cursor else None, limit)
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
    return StoredBoards(boards=boards, next_cursor=str(rows[-1][0]) if len(rows) == limit else None)


@router.get("/head-to-head")
def get_head_to_head(request: Request, caller: LookCaller, query: Annotated[DuelQuery, Query()]) -> HeadToHead:
    """Two models against each other."""
    total, by_task = arena_of(request).looking.head_to_head(query.left, query.right, filters_of(query, caller))
    cells = {task: showing.cell(found) for task, found in by_task.items()}
    return HeadToHead(left=query.left, right=query.right, total=showing.cell(total), by_task=cells)


@router.get("/heat-map")
def get_heat_map(request: Request, caller: LookCaller, query: Annotated[HeatQuery, Query()]) -> HeatMap:
    """Where raters found something wrong, and what, by editor."""
    made = issue_heat_map(arena_of(request).looking, query.editor, filters_of(query, caller))
    return showing_look.heat_map(made, query.editor)
