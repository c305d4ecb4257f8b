"""Looking: leaderboards, win matrix, head-to-head, history, issues."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from imarena.core.records import Ranking
from imarena.web import responses, responses_look
from imarena.web.arena import arena_of
from imarena.web.callers import InsideCaller, LookCaller
from imarena.web.requests import BoardParams, Cursor, DuelQuery, HeatQuery, HistoryQuery, Limit, ModelQuery, filters_of
from imarena.web.wire_look import (
    BoardOut,
    Facets,
    HeadToHead,
    HeatMap,
    RatingHistory,
    StoredBoard,
    StoredBoards,
)
from imarena.web.wire_models import ModelOut
from imarena.workflows.serving import explorer, issue_heat_map, model_results

router = APIRouter(prefix="/api", tags=["look"])


@router.get("/facets")
def get_facets(request: Request, _caller: LookCaller) -> Facets:
    """The possible values of all filters."""
    return Facets(**arena_of(request).leaderboards.facets())


@router.get("/board")
def get_board(request: Request, caller: LookCaller, query: Annotated[BoardParams, Query()]) -> BoardOut:
    """A leaderboard with intervals and the win matrix, from the battles that match the filters."""
    board = arena_of(request).leaderboards.board(filters_of(query, caller), query.method)
    return responses.board_out(board, query.method)


@router.get("/model")
def get_model(request: Request, caller: LookCaller, query: Annotated[ModelQuery, Query()]) -> ModelOut:
    """One model: its place on the filtered board, its results by opponent and group, best and worst outputs."""
    arena = arena_of(request)
    boards, filters = arena.leaderboards, filters_of(query, caller)
    hidden = explorer.hidden_items(boards, leads=caller.leads)
    results = model_results(boards, query.model, filters, hidden)
    board = responses.board_out(boards.board(filters, query.method), query.method)
    return responses_look.model_out(arena, board, results, some_hidden=bool(hidden))


@router.get("/board/history")
def get_history(request: Request, caller: LookCaller, query: Annotated[HistoryQuery, Query()]) -> RatingHistory:
    """Ratings over time: the filtered board at several times."""
    history = arena_of(request).leaderboards.history(filters_of(query, caller), query.method, query.points)
    return responses_look.history_out(history, query.method)


@router.get("/board/stored")
def list_stored_boards(
    request: Request, _caller: InsideCaller, cursor: Cursor = None, limit: Limit = 50
) -> StoredBoards:
    """Stored boards, newest first."""
    store = arena_of(request).workspace.store
    rows = store.newest(Ranking, before=int(cursor) if cursor else None, limit=limit)
    boards = [
        StoredBoard.of(ranking, created_at=ranking.created_at.isoformat(), standings=ranking.models)
        for _, ranking in rows
    ]
    return StoredBoards(boards=boards, next_cursor=str(rows[-1][0]) if len(rows) == limit else None)


@router.get("/head-to-head")
def get_head_to_head(request: Request, caller: LookCaller, query: Annotated[DuelQuery, Query()]) -> HeadToHead:
    """Two models compared."""
    total, by_task = arena_of(request).leaderboards.head_to_head(query.left, query.right, filters_of(query, caller))
    return HeadToHead.of(query, total=total, by_task=by_task)


@router.get("/heat-map")
def get_heat_map(request: Request, caller: LookCaller, query: Annotated[HeatQuery, Query()]) -> HeatMap:
    """Issues found by raters: their places, objects and counts by editor."""
    heat_map = issue_heat_map(arena_of(request).leaderboards, query.editor, filters_of(query, caller))
    return responses_look.heat_map_out(heat_map, query.editor)
