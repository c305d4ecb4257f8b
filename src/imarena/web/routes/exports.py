"""Every table of the pages as CSV or JSON with its filters; streamed row by row, never held in memory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from imarena.core.records import Standing
from imarena.reports import COUNTS
from imarena.reports.tables import TableForm, streamed_table, whole_number
from imarena.storage import Workspace
from imarena.web import responses, responses_look
from imarena.web.arena import arena_of
from imarena.web.callers import InsideCaller, LeadCaller, LookCaller
from imarena.web.requests import BattleQuery, BoardParams, DuelQuery, HeatQuery, HistoryQuery, ItemQuery, filters_of
from imarena.web.routes.explore import select_battles, select_items
from imarena.web.wire import NO_NUL, Wire
from imarena.web.wire_lead import AgreementOut, RaterOut
from imarena.web.wire_look import BattleOut, Cell, JudgeHealthOut, RunOut, StandingOut
from imarena.workflows.boards import COLUMNS
from imarena.workflows.rating import RATING_COLUMNS, VOTE_COLUMNS, agreement, rater_work, rating_rows, vote_rows
from imarena.workflows.serving import count_outputs, explorer, issue_heat_map, judge_health

TABLE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
        }
    }
}


def table_file(
    names: Sequence[str], rows: Iterable[Sequence[object]], form: TableForm, title: str
) -> StreamingResponse:
    """A table as a downloadable file, which a browser never shows as a page."""
    media_type = "text/csv; charset=utf-8" if form == "csv" else "application/json"
    headers = {"content-disposition": f'attachment; filename="{title}.{form}"'}
    return StreamingResponse(streamed_table(names, rows, form), media_type=media_type, headers=headers)


router = APIRouter(prefix="/api/exports", tags=["exports"])

_CampaignParam = Annotated[str, Query(max_length=100, pattern=NO_NUL)]
SomeCampaign = Annotated[str | None, Query(max_length=100, pattern=NO_NUL)]
As = Annotated[TableForm, Query()]
_AT_ONCE = 500
ROUTE: dict[str, Any] = {"response_class": StreamingResponse, "responses": TABLE}


class Saved(Wire):
    """A table as a file."""

    format: As = "csv"


class BoardTable(Saved, BoardParams):
    """A board, and the form of the file."""


class HistoryTable(Saved, HistoryQuery):
    """A history, and the form of the file."""


class DuelTable(Saved, DuelQuery):
    """A head-to-head, and the form of the file."""


class HeatTable(Saved, HeatQuery):
    """Issues, and the form of the file."""


class BattleRowsTable(Saved, BattleQuery):
    """Battles, and the form of the file."""


class ItemTable(Saved, ItemQuery):
    """Items, and the form of the file."""


def _saved(kind: type[Wire], entries: Iterable[Wire], form: TableForm, title: str) -> StreamingResponse:
    """Entries as a page shows them, one per row."""
    names = [name for name, field in kind.model_fields.items() if not field.exclude]
    dumped = (entry.model_dump() for entry in entries)
    return table_file(names, ([values[name] for name in names] for values in dumped), form, title)


@router.get("/board", **ROUTE)
def export_board(request: Request, caller: LookCaller, query: Annotated[BoardTable, Query()]) -> StreamingResponse:
    """The leaderboard."""
    board = arena_of(request).leaderboards.board(filters_of(query, caller), query.method)
    names = list(StandingOut.model_fields)

    def cell(standing: Standing, name: str) -> object:
        value = getattr(standing, name)
        return whole_number(value) if name in COUNTS else value

    rows = (
        [*(cell(standing, name) for name in names), board.signature]
        for standing in (board.ranking.models if board.ranking is not None else ())
    )
    return table_file([*names, "signature"], rows, query.format, "board")


@router.get("/matrix", **ROUTE)
def export_matrix(request: Request, caller: LookCaller, query: Annotated[BoardTable, Query()]) -> StreamingResponse:
    """The win matrix: one row per pair of models that met."""
    board = arena_of(request).leaderboards.board(filters_of(query, caller), query.method)
    return _saved(Cell, map(Cell.model_validate, board.matrix), query.format, "matrix")


@router.get("/head-to-head", **ROUTE)
def export_head_to_head(
    request: Request, caller: LookCaller, query: Annotated[DuelTable, Query()]
) -> StreamingResponse:
    """Two models compared by task; the first row, without a task, is the total."""
    total, by_task = arena_of(request).leaderboards.head_to_head(query.left, query.right, filters_of(query, caller))
    names = list(Cell.model_fields)
    cells = [(None, total), *((task or "(none)", cell) for task, cell in by_task.items())]
    rows = ([task, *(getattr(cell, name) for name in names)] for task, cell in cells)
    return table_file(["task", *names], rows, query.format, "head-to-head")


@router.get("/history", **ROUTE)
def export_history(request: Request, caller: LookCaller, query: Annotated[HistoryTable, Query()]) -> StreamingResponse:
    """Ratings over time: one row per model and time."""
    history = arena_of(request).leaderboards.history(filters_of(query, caller), query.method, query.points)
    rows = (
        [past.moment, past.n_battles, standing.model, standing.rating, standing.rank]
        for past in history
        for standing in past.ranking.models
    )
    return table_file(["moment", "n_battles", "model", "rating", "rank"], rows, query.format, "history")


@router.get("/issues", **ROUTE)
def export_issues(request: Request, caller: LookCaller, query: Annotated[HeatTable, Query()]) -> StreamingResponse:
    """Boxes drawn by raters, counted by cell, the objects they named, and clicks and tags by editor."""
    heat_map = issue_heat_map(arena_of(request).leaderboards, query.editor, filters_of(query, caller))
    cells = [
        ("cell", None, None, row, column, count)
        for row, line in enumerate(heat_map.cells.tolist())
        for column, count in enumerate(line)
        if count
    ]
    things = [("thing", None, label, None, None, count) for label, count in heat_map.labels.most_common()]
    tags = [
        (kind, issues.editor, None, None, None, count)
        for issues in responses_look.editor_issues(heat_map)
        for kind, count in (
            ("segments", issues.segments), ("new_image", issues.new_image), ("returned_input", issues.returned_input),
            ("ratings", issues.ratings),
        )
    ]  # fmt: skip
    return table_file(
        ["kind", "editor", "thing", "row", "column", "count"], [*cells, *things, *tags], query.format, "issues"
    )


@router.get("/verdicts", **ROUTE)
def export_verdicts(request: Request, caller: LookCaller, query: Annotated[BoardTable, Query()]) -> StreamingResponse:
    """Every verdict that the board counts, for `imarena rank --from`. Only leads see raters' ids."""
    arena = arena_of(request)
    hidden = explorer.hidden_items(arena.leaderboards, leads=caller.leads)
    names = [name for name in COLUMNS if name != "rater" or caller.leads]
    rows = arena.leaderboards.verdicts(filters_of(query, caller), names, hidden)
    return table_file(names, rows, query.format, "verdicts")


@router.get("/battles", **ROUTE)
def export_battles(
    request: Request, caller: LookCaller, query: Annotated[BattleRowsTable, Query()]
) -> StreamingResponse:
    """Battles with counts of votes and judgments."""
    arena = arena_of(request)
    battles = select_battles(arena, caller, query)
    parts = (responses.battles_out(arena, battles[at : at + _AT_ONCE]) for at in range(0, len(battles), _AT_ONCE))
    return _saved(BattleOut, chain.from_iterable(parts), query.format, "battles")


@router.get("/items", **ROUTE)
def export_items(request: Request, caller: LookCaller, query: Annotated[ItemTable, Query()]) -> StreamingResponse:
    """Items with their instruction and number of outputs."""
    arena = arena_of(request)
    counts = count_outputs(arena.leaderboards)
    names = ("item_id", "dataset", "key", "task", "family", "topic", "track", "instruction", "licence", "outputs")

    def rows() -> Iterator[list[object]]:
        for _, identity in select_items(arena, caller, query):
            item = arena.voting.records.item(identity)
            yield [*(getattr(item, name) for name in names[:-1]), counts.get(item.item_id, 0)]

    return table_file(names, rows(), query.format, "items")


@router.get("/judges", **ROUTE)
def export_judges(request: Request, caller: LookCaller, format: As = "csv") -> StreamingResponse:
    """The figures of all judges."""
    judges = judge_health(arena_of(request).leaderboards, released=not caller.leads, costs=caller.inside)
    rows = (responses_look.judge_health_out(judge, costs=caller.inside) for judge in judges)
    return _saved(JudgeHealthOut, rows, format, "judges")


@router.get("/runs", **ROUTE)
def export_runs(request: Request, _caller: InsideCaller, format: As = "csv") -> StreamingResponse:
    """All runs, newest first."""
    watch = arena_of(request).leaderboards.runs

    def rows() -> Iterator[RunOut]:
        before: int | None = None
        while page := watch.recent(before, 200):
            yield from (responses_look.run_out(run) for _, run in page)
            before = page[-1][0]

    return _saved(RunOut, rows(), format, "runs")


def _workspace(request: Request, campaign_id: str | None) -> Workspace:
    """The workspace; raises if the requested campaign is not in it."""
    arena = arena_of(request)
    if campaign_id is not None:
        arena.voting.campaign(campaign_id)
    return arena.workspace


@router.get("/votes", **ROUTE)
def export_votes(
    request: Request, _caller: LeadCaller, campaign_id: SomeCampaign = None, format: As = "csv"
) -> StreamingResponse:
    """Every live preference, of one campaign or of all: the table that `imarena rank --from` reads."""
    return table_file(VOTE_COLUMNS, vote_rows(_workspace(request, campaign_id), campaign_id), format, "votes")


@router.get("/ratings", **ROUTE)
def export_ratings(
    request: Request, _caller: LeadCaller, campaign_id: SomeCampaign = None, format: As = "csv"
) -> StreamingResponse:
    """Every live rating, one row per criterion: the table that `imarena agree --from` reads."""
    return table_file(RATING_COLUMNS, rating_rows(_workspace(request, campaign_id), campaign_id), format, "ratings")


@router.get("/agreement", **ROUTE)
def export_agreement(
    request: Request, _caller: LeadCaller, campaign_id: _CampaignParam, format: As = "csv"
) -> StreamingResponse:
    """Agreement among the raters of a campaign."""
    arena = arena_of(request)
    criteria = agreement(arena.workspace, arena.voting.campaign(campaign_id), "page")
    return _saved(AgreementOut, (AgreementOut.model_validate(criterion) for criterion in criteria), format, "agreement")


@router.get("/raters", **ROUTE)
def export_raters(
    request: Request, _caller: LeadCaller, campaign_id: _CampaignParam, format: As = "csv"
) -> StreamingResponse:
    """Each rater's work in a campaign, with warnings."""
    arena = arena_of(request)
    raters = rater_work(arena.workspace, arena.voting.campaign(campaign_id))
    return _saved(RaterOut, map(responses.rater_out, raters), format, "raters")
