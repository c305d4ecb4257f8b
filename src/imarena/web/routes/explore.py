"""Exploring: battles with raw replies and votes, items with all editors side by side."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from imarena.web import responses as showing
from imarena.web import responses_look as showing_look
from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import Caller, LookCaller
from imarena.web.requests import BattleQuery, BattlesPageQuery, ItemQuery, ItemsPageQuery, filters_of, page_of
from imarena.web.routes.pictures import JPEG, PNG, Level, Place, send_display, send_tile
from imarena.web.wire_look import BattleDetail, BattlePage, ItemDetail, ItemPage, WordsOut
from imarena.workflows.questions import TextFinding, item_findings
from imarena.workflows.serving import BattleFilters, count_outputs, image_of_step
from imarena.workflows.serving import explorer as exploring

router = APIRouter(prefix="/api", tags=["explore"])

Identity = Annotated[str, Path(max_length=100, pattern=r"^[a-z]+_[0-9a-f]{32}$")]
StepNumber = Annotated[int, Path(ge=0, le=1000)]


def select_battles(arena: ServedWorkspace, caller: Caller, query: BattleQuery) -> exploring.BattleList:
    """The battles that a caller may see and asks for."""
    hidden = exploring.hidden_items(arena.looking, leads=caller.leads)
    models = [name for name in (query.left, query.right) if name is not None]
    return exploring.list_battles(arena.looking, filters_of(query, caller), models, hidden)


@router.get("/battles")
def list_battles(request: Request, caller: LookCaller, query: Annotated[BattlesPageQuery, Query()]) -> BattlePage:
    """Battles, in the order in which they were first named."""
    arena = arena_of(request)
    found = select_battles(arena, caller, query)
    here, more = page_of(found, query.cursor, query.limit)
    return BattlePage(battles=showing.battles(arena, found[here]), total=len(found), next_cursor=more)


@router.get("/battles/{battle_id}")
def get_battle(request: Request, caller: LookCaller, battle_id: Identity) -> BattleDetail:
    """One battle with every vote, every judgment and the raw replies."""
    arena = arena_of(request)
    seen = BattleFilters(released=not caller.leads)
    pair, votes, said = exploring.load_battle(arena.looking, battle_id, leads=caller.leads, filters=seen)
    shelves = arena.voting.shelves
    item, left, right = shelves.item(pair.item_id), shelves.output(pair.left_id), shelves.output(pair.right_id)
    numbers: dict[str, int] = {}
    cast = []
    for one in votes:
        number = numbers.setdefault(one.vote.rater_id, len(numbers) + 1)
        cast.append(showing.vote(one, number, mirrored=one.vote.left_id != pair.left_id))
    return BattleDetail(
        battle=showing.battle(arena, pair),
        sources=showing.item_pictures(arena, item.item_id, "source", item.sources),
        references=showing.item_pictures(arena, item.item_id, "reference", item.references),
        left=showing.output_picture(arena, left),
        right=showing.output_picture(arena, right),
        votes=cast if caller.inside else [],
        judgments=[showing_look.judgment(one, mirrored=one.judgment.left_id != pair.left_id) for one in said],
    )


def select_items(arena: ServedWorkspace, caller: Caller, query: ItemQuery, after: int = 0) -> Iterator[tuple[int, str]]:
    """`seq` and id of the items that a caller may see and asks for, in the order in which they came."""
    named = {name: getattr(query, name) for name in ItemQuery.model_fields}
    where = {name: str(value) for name, value in named.items() if value is not None}
    hidden = exploring.hidden_items(arena.looking, leads=caller.leads)
    return exploring.item_rows(arena.looking, where, hidden, after=after)


@router.get("/items")
def list_items(request: Request, caller: LookCaller, query: Annotated[ItemsPageQuery, Query()]) -> ItemPage:
    """Items as stored."""
    arena = arena_of(request)
    found = list(islice(select_items(arena, caller, query, int(query.cursor or 0)), query.limit + 1))
    page = found[: query.limit]
    last = str(page[-1][0]) if len(found) > query.limit else None
    shelves, ids = arena.voting.shelves, [identity for _, identity in page]
    shelves.read(ids, ())
    counts = count_outputs(arena.looking, ids)
    lines = [showing.item_line(shelves.item(identity), counts.get(identity, 0)) for identity in ids]
    return ItemPage(items=lines, next_cursor=last)


@router.get("/items/{item_id}")
def get_item(request: Request, caller: LookCaller, item_id: Identity) -> ItemDetail:
    """An item with what every editor made of it."""
    arena = arena_of(request)
    shown = exploring.load_item(arena.looking, item_id, leads=caller.leads)
    item = shown.item
    return ItemDetail(
        item=showing.item_line(item, len(shown.outputs)),
        instructions=[turn.instruction for turn in item.turns],
        licence=item.licence,
        sources=showing.item_pictures(arena, item_id, "source", item.sources),
        references=showing.item_pictures(arena, item_id, "reference", item.references),
        outputs=[showing_look.output(arena, made, shown, words=caller.inside) for made in shown.outputs],
        words=[_words(one) for one in item_findings(arena.workspace, item, shown.outputs)],
    )


def _words(found: TextFinding) -> WordsOut:
    return WordsOut(output_id=found.output_id, kinds=found.kinds.split(", "), text=found.text, excuse=found.excuse)


@router.get("/outputs/{output_id}/steps/{number}/picture", response_class=Response, responses=JPEG)
def get_step_picture(request: Request, caller: LookCaller, output_id: Identity, number: StepNumber) -> Response:
    """The picture that an agent had after a step."""
    return send_display(request, image_of_step(arena_of(request).looking, output_id, number, leads=caller.leads))


@router.get(
    "/outputs/{output_id}/steps/{number}/picture/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG
)
def get_step_tile(
    request: Request,
    caller: LookCaller,
    output_id: Identity,
    number: StepNumber,
    level: Level,
    column: Place,
    row: Place,
) -> Response:
    """A tile of it."""
    image = image_of_step(arena_of(request).looking, output_id, number, leads=caller.leads)
    return send_tile(request, image, level, column, row)
