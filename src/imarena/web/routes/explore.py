"""Exploring: battles with raw replies and votes, items with all editors side by side."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from imarena.web.callers import LookCaller
from imarena.web.problems import Refused
from imarena.web.wire_look import BattleDetail, BattlePage, ItemDetail, ItemPage

router = APIRouter(prefix="/api", tags=["explore"])

Identity = Annotated[str, Path(max_length=100, pattern=r"^[a-z]+_[0-9a-f]{32}$")]
Word = Annotated[str | None, Query(max_length=200)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
CSV = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}


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
    """Battles, most said about first come as stored."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/battles.csv", response_class=Response, responses=CSV)
def export_battles(request: Request, caller: LookCaller) -> Response:
    """All battles as a table that `imarena rank --from` reads."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/battles/{battle_id}")
def get_battle(request: Request, caller: LookCaller, battle_id: Identity) -> BattleDetail:
    """One battle with every vote, every judgment and the raw replies."""
    raise Refused(501, "not_ready", "Not built yet.")


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
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/items/{item_id}")
def get_item(request: Request, caller: LookCaller, item_id: Identity) -> ItemDetail:
    """An item with what every editor made of it."""
    raise Refused(501, "not_ready", "Not built yet.")
