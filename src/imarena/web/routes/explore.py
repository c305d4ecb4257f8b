"""Exploring: battles with raw replies and votes, items with all editors side by side."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from imarena.web import responses, responses_look
from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import Caller, LookCaller
from imarena.web.requests import BattleQuery, BattlesPageQuery, ItemQuery, ItemsPageQuery, filters_of, page_of
from imarena.web.routes.pictures import JPEG, PNG, Index, RecordId, TileLevel, send_display, send_tile
from imarena.web.wire_look import BattleDetail, BattlePage, ItemDetail, ItemPage, WordsOut
from imarena.workflows.questions import TextFinding, item_findings
from imarena.workflows.serving import BattleFilters, count_outputs, explorer, image_of_step, item_page, item_rows

router = APIRouter(prefix="/api", tags=["explore"])

StepNumber = Annotated[int, Path(ge=0, le=1000)]


def select_battles(arena: ServedWorkspace, caller: Caller, query: BattleQuery) -> explorer.BattleList:
    """The battles that match a request and that the caller may see."""
    hidden = explorer.hidden_items(arena.leaderboards, leads=caller.leads)
    models = [name for name in (query.left, query.right) if name is not None]
    return explorer.list_battles(arena.leaderboards, filters_of(query, caller), models, hidden)


@router.get("/battles")
def list_battles(request: Request, caller: LookCaller, query: Annotated[BattlesPageQuery, Query()]) -> BattlePage:
    """Battles, in the order in which they were first recorded."""
    arena = arena_of(request)
    battles = select_battles(arena, caller, query)
    page, more = page_of(battles, query.cursor, query.limit)
    return BattlePage(
        battles=responses.battles_out(arena, battles[page]),
        total=len(battles),
        some_hidden=bool(explorer.hidden_items(arena.leaderboards, leads=caller.leads)),
        next_cursor=more,
    )


@router.get("/battles/{battle_id}")
def get_battle(request: Request, caller: LookCaller, battle_id: RecordId) -> BattleDetail:
    """One battle with every vote, every judgment and the raw replies."""
    arena = arena_of(request)
    filters = BattleFilters(released=not caller.leads)
    pair, votes, judgments = explorer.load_battle(arena.leaderboards, battle_id, leads=caller.leads, filters=filters)
    records = arena.voting.records
    item, left, right = records.item(pair.item_id), records.output(pair.left_id), records.output(pair.right_id)
    numbers: dict[str, int] = {}
    cast = []
    for vote_view in votes:
        number = numbers.setdefault(vote_view.vote.rater_id, len(numbers) + 1)
        cast.append(responses.vote_out(vote_view, number, mirrored=vote_view.vote.left_id != pair.left_id))
    return BattleDetail(
        battle=responses.battle_out(arena, pair),
        sources=responses.battle_sources(arena, pair),
        references=responses.item_pictures(arena, item.item_id, "reference", item.references),
        left=responses.output_picture(arena, left),
        right=responses.output_picture(arena, right),
        votes=cast if caller.inside else [],
        judgments=[
            responses_look.judgment_out(judgment_view, mirrored=judgment_view.judgment.left_id != pair.left_id)
            for judgment_view in judgments
        ],
    )


def select_items(arena: ServedWorkspace, caller: Caller, query: ItemQuery) -> Iterator[tuple[int, str]]:
    """`seq` and id of the items that match a request and that the caller may see, in insertion order."""
    hidden = explorer.hidden_items(arena.leaderboards, leads=caller.leads)
    return item_rows(arena.leaderboards, _asked_values(query), hidden)


def _asked_values(query: ItemQuery) -> dict[str, str]:
    """The values that items must have, by column."""
    columns = {name: getattr(query, name) for name in ItemQuery.model_fields}
    return {name: str(value) for name, value in columns.items() if value is not None}


@router.get("/items")
def list_items(request: Request, caller: LookCaller, query: Annotated[ItemsPageQuery, Query()]) -> ItemPage:
    """Items as stored."""
    arena = arena_of(request)
    hidden = explorer.hidden_items(arena.leaderboards, leads=caller.leads)
    start = int(query.cursor or 0)
    ids, after = item_page(arena.leaderboards, _asked_values(query), hidden, query.limit, after=start)
    records = arena.voting.records
    records.read(ids, ())
    counts = count_outputs(arena.leaderboards, ids)
    lines = [responses.item_line(records.item(identity), counts.get(identity, 0)) for identity in ids]
    return ItemPage(items=lines, some_hidden=bool(hidden), next_cursor=None if after is None else str(after))


@router.get("/items/{item_id}")
def get_item(request: Request, caller: LookCaller, item_id: RecordId) -> ItemDetail:
    """An item with the outputs of all editors."""
    arena = arena_of(request)
    view = explorer.load_item(arena.leaderboards, item_id, leads=caller.leads)
    item = view.item
    return ItemDetail(
        item=responses.item_line(item, len(view.outputs)),
        instructions=[turn.instruction for turn in item.turns],
        licence=item.licence,
        sources=responses.item_pictures(arena, item_id, "source", item.sources),
        references=responses.item_pictures(arena, item_id, "reference", item.references),
        outputs=[responses_look.output_out(arena, output, view, with_notes=caller.inside) for output in view.outputs],
        words=[_words(finding) for finding in item_findings(arena.workspace, item, view.outputs)],
    )


def _words(finding: TextFinding) -> WordsOut:
    return WordsOut.of(finding, kinds=finding.kinds.split(", "))


@router.get("/outputs/{output_id}/steps/{number}/picture", response_class=Response, responses=JPEG)
def get_step_picture(request: Request, caller: LookCaller, output_id: RecordId, number: StepNumber) -> Response:
    """The image of an agent after a step."""
    return send_display(request, image_of_step(arena_of(request).leaderboards, output_id, number, leads=caller.leads))


@router.get(
    "/outputs/{output_id}/steps/{number}/picture/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG
)
def get_step_tile(
    request: Request,
    caller: LookCaller,
    output_id: RecordId,
    number: StepNumber,
    level: TileLevel,
    column: Index,
    row: Index,
) -> Response:
    """A tile of the image."""
    image = image_of_step(arena_of(request).leaderboards, output_id, number, leads=caller.leads)
    return send_tile(request, image, level, column, row)
