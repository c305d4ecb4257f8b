"""Exploring: battles with raw replies and votes, items with all editors side by side."""

import statistics
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from imarena.core.records import Item, Output, Vote
from imarena.web import showing
from imarena.web.arena import Arena, arena_of
from imarena.web.callers import LookCaller
from imarena.web.routes.lead import csv_response
from imarena.web.wire import NO_NUL
from imarena.web.wire_look import BattleDetail, BattlePage, ItemDetail, ItemPage, JudgmentOut, OutputOut
from imarena.workflows import exploring
from imarena.workflows.battles import COLUMNS
from imarena.workflows.campaign_quality import csv_text
from imarena.workflows.looking import Filters

router = APIRouter(prefix="/api", tags=["explore"])

Identity = Annotated[str, Path(max_length=100, pattern=r"^[a-z]+_[0-9a-f]{32}$")]
Word = Annotated[str | None, Query(max_length=200, pattern=NO_NUL)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}


@router.get("/battles")
def list_battles(
    request: Request,
    caller: LookCaller,
    left: Word = None,
    right: Word = None,
    task: Word = None,
    dataset: Word = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> BattlePage:
    """Battles, in the order in which they were first named."""
    arena = arena_of(request)
    hidden = set() if caller.leads else exploring.hidden_items(arena.looking)
    shelves = arena.voting.shelves
    found = []
    for pair in exploring.pairs(arena.looking).values():
        if pair.item_id in hidden:
            continue
        item = shelves.item(pair.item_id)
        names = {shelves.output(pair.left_id).editor, shelves.output(pair.right_id).editor}
        fits = (left is None or left in names) and (right is None or right in names)
        if fits and (task is None or item.task == task) and (dataset is None or item.dataset == dataset):
            found.append(pair)
    start = int(cursor) if cursor else 0
    page = found[start : start + limit]
    more = str(start + limit) if start + limit < len(found) else None
    return BattlePage(battles=[showing.battle(arena, pair) for pair in page], total=len(found), next_cursor=more)


@router.get("/battles.csv", response_class=Response, responses=CSV)
def export_battles(request: Request, caller: LookCaller) -> Response:
    """All battles as a table that `imarena rank --from` reads."""
    arena = arena_of(request)
    table = arena.looking.table(Filters())
    hidden = set() if caller.leads else exploring.hidden_items(arena.looking)
    names = [name for name in COLUMNS if name != "rater" or caller.leads]
    rows = (
        [table.columns[name][n] for name in names] for n in range(len(table)) if table.columns["item"][n] not in hidden
    )
    return csv_response(csv_text(names, rows), "battles.csv")


@router.get("/battles/{battle_id}")
def get_battle(request: Request, caller: LookCaller, battle_id: Identity) -> BattleDetail:
    """One battle with every vote, every judgment and the raw replies."""
    arena = arena_of(request)
    pair, votes, said = exploring.battle(arena.looking, battle_id, leads=caller.leads)
    shelves = arena.voting.shelves
    item, left, right = shelves.item(pair.item_id), shelves.output(pair.left_id), shelves.output(pair.right_id)
    counted = exploring.live(votes)
    numbers: dict[str, int] = {}
    cast = []
    for vote in votes:
        number = numbers.setdefault(vote.rater_id, len(numbers) + 1)
        mirrored = vote.left_id != pair.left_id
        cast.append(showing.vote(vote, number, live=vote.vote_id in counted, mirrored=mirrored))
    return BattleDetail(
        battle=showing.battle(arena, pair),
        sources=showing.item_pictures(arena, item.item_id, "source", item.sources),
        references=showing.item_pictures(arena, item.item_id, "reference", item.references),
        left=showing.output_picture(arena, left),
        right=showing.output_picture(arena, right),
        votes=cast,
        judgments=[_judgment(one, mirrored=one.judgment.left_id != pair.left_id) for one in said],
    )


@router.get("/items")
def list_items(
    request: Request,
    caller: LookCaller,
    dataset: Word = None,
    task: Word = None,
    topic: Word = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ItemPage:
    """Items as stored."""
    arena = arena_of(request)
    store = arena.workspace.store
    wanted = {"dataset": dataset, "task": task, "topic": topic}
    where: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    hidden = set() if caller.leads else exploring.hidden_items(arena.looking)
    page: list[Item] = []
    last: int | None = None
    for row in store.rows(Item, after=int(cursor) if cursor else 0, **where):
        if row["id"] in hidden:
            continue
        if len(page) == limit:
            break
        page.append(arena.voting.shelves.item(row["id"]))
        last = row["seq"]
    else:
        last = None
    counts = store.count(Output, "item_id", item_id=[item.item_id for item in page]) if page else {}
    lines = [showing.item_line(item, counts.get((item.item_id,), 0)) for item in page]
    return ItemPage(items=lines, next_cursor=str(last) if last is not None else None)


@router.get("/items/{item_id}")
def get_item(request: Request, caller: LookCaller, item_id: Identity) -> ItemDetail:
    """An item with what every editor made of it."""
    arena = arena_of(request)
    shown = exploring.item(arena.looking, item_id, leads=caller.leads)
    item = shown.item
    return ItemDetail(
        item=showing.item_line(item, len(shown.outputs)),
        instructions=[turn.instruction for turn in item.turns],
        licence=item.licence,
        sources=showing.item_pictures(arena, item_id, "source", item.sources),
        references=showing.item_pictures(arena, item_id, "reference", item.references),
        outputs=[_output(arena, output, shown) for output in shown.outputs],
    )


def _output(arena: Arena, output: Output, shown: exploring.Shown) -> OutputOut:
    votes = shown.votes.get(output.output_id, [])
    return OutputOut(
        output_id=output.output_id,
        editor=output.editor,
        turn=output.turn,
        mode=output.mode.value,
        sample=output.sample,
        status=output.status.value,
        picture=showing.output_picture(arena, output),
        scores=shown.scores.get(output.output_id, {}),
        ratings=_means(votes),
        issues=[showing.issue(issue) for vote in votes for issue in vote.issues],
    )


def _means(votes: list[Vote]) -> dict[str, float]:
    by: dict[str, list[float]] = {}
    for vote in votes:
        for name, value in vote.ratings.items():
            by.setdefault(name, []).append(value)
    return {name: statistics.fmean(values) for name, values in sorted(by.items())}


def _judgment(said: exploring.Said, *, mirrored: bool) -> JudgmentOut:
    judgment = said.judgment
    preference = judgment.preference
    if preference is not None and mirrored:
        preference = preference.mirrored()
    return JudgmentOut(
        judge=judgment.judge,
        dimension=judgment.dimension,
        order=judgment.order.value if judgment.order is not None else None,
        status=judgment.status.value,
        preference=preference.value if preference is not None else None,
        score=judgment.score,
        scores=judgment.scores,
        reply=said.reply,
        error=judgment.error,
        created_at=judgment.created_at.isoformat(),
    )
