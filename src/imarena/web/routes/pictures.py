"""Pictures and tiles: re-encoded, without metadata, one type each; nothing of a request reaches the disk."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from imarena.web.callers import LookCaller, RaterCaller
from imarena.web.problems import Refused

router = APIRouter(prefix="/api", tags=["pictures"])

Address = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
Slot = Annotated[str, Path(pattern=r"^(left|right|source-[0-9]{1,2}|reference-[0-9]{1,2})$")]
Which = Annotated[str, Path(pattern=r"^(source|reference)-[0-9]{1,2}$")]
Level = Annotated[int, Path(ge=0, le=24)]
Place = Annotated[int, Path(ge=0, le=100_000)]
Identity = Annotated[str, Path(max_length=100, pattern=r"^[a-z]+_[0-9a-f]{32}$")]

JPEG = {200: {"content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}}}}
PNG = {200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}}


@router.get("/tasks/{address}/pictures/{slot}", response_class=Response, responses=JPEG)
def get_task_picture(request: Request, caller: RaterCaller, address: Address, slot: Slot) -> Response:
    """A picture of a task that this rater holds, at most 1,600 px a side."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/tasks/{address}/pictures/{slot}/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_task_tile(
    request: Request, caller: RaterCaller, address: Address, slot: Slot, level: Level, column: Place, row: Place
) -> Response:
    """A tile with true pixels."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/items/{item_id}/pictures/{slot}", response_class=Response, responses=JPEG)
def get_item_picture(request: Request, caller: LookCaller, item_id: Identity, slot: Which) -> Response:
    """A source or reference picture of an item."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/items/{item_id}/pictures/{slot}/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_item_tile(
    request: Request, caller: LookCaller, item_id: Identity, slot: Which, level: Level, column: Place, row: Place
) -> Response:
    """A tile of an item's picture."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/outputs/{output_id}/picture", response_class=Response, responses=JPEG)
def get_output_picture(request: Request, caller: LookCaller, output_id: Identity) -> Response:
    """What an editor made."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/outputs/{output_id}/picture/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_output_tile(
    request: Request, caller: LookCaller, output_id: Identity, level: Level, column: Place, row: Place
) -> Response:
    """A tile of what an editor made."""
    raise Refused(501, "not_ready", "Not built yet.")
