"""Pictures and tiles: re-encoded, without metadata, one type each; nothing of a request reaches the disk."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from imarena.core.records import ImageRef, Item, Output
from imarena.web.arena import arena_of
from imarena.web.callers import LookCaller, RaterCaller
from imarena.web.problems import RequestRefused
from imarena.web.routes.rating import rater_of
from imarena.workflows.serving import may_see

router = APIRouter(prefix="/api", tags=["pictures"])

Address = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
Slot = Annotated[str, Path(pattern=r"^(left|right|source-[0-9]{1,2}|reference-[0-9]{1,2})$")]
Which = Annotated[str, Path(pattern=r"^(source|reference)-[0-9]{1,2}$")]
Level = Annotated[int, Path(ge=0, le=24)]
Place = Annotated[int, Path(ge=0, le=100_000)]
Identity = Annotated[str, Path(max_length=100, pattern=r"^[a-z]+_[0-9a-f]{32}$")]

JPEG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}}}
}
PNG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get("/tasks/{address}/pictures/{slot}", response_class=Response, responses=JPEG)
def get_task_picture(request: Request, caller: RaterCaller, address: Address, slot: Slot) -> Response:
    """A picture of a task that this rater holds, at most 1,600 px a side."""
    return _display(request, _task_image(request, caller, address, slot))


@router.get("/tasks/{address}/pictures/{slot}/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_task_tile(
    request: Request, caller: RaterCaller, address: Address, slot: Slot, level: Level, column: Place, row: Place
) -> Response:
    """A tile with true pixels."""
    return _tile(request, _task_image(request, caller, address, slot), level, column, row)


@router.get("/items/{item_id}/pictures/{slot}", response_class=Response, responses=JPEG)
def get_item_picture(request: Request, caller: LookCaller, item_id: Identity, slot: Which) -> Response:
    """A source or reference picture of an item."""
    return _display(request, _item_image(request, caller, item_id, slot))


@router.get("/items/{item_id}/pictures/{slot}/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_item_tile(
    request: Request, caller: LookCaller, item_id: Identity, slot: Which, level: Level, column: Place, row: Place
) -> Response:
    """A tile of an item's picture."""
    return _tile(request, _item_image(request, caller, item_id, slot), level, column, row)


@router.get("/outputs/{output_id}/picture", response_class=Response, responses=JPEG)
def get_output_picture(request: Request, caller: LookCaller, output_id: Identity) -> Response:
    """What an editor made."""
    return _display(request, _output_image(request, caller, output_id))


@router.get("/outputs/{output_id}/picture/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_output_tile(
    request: Request, caller: LookCaller, output_id: Identity, level: Level, column: Place, row: Place
) -> Response:
    """A tile of what an editor made."""
    return _tile(request, _output_image(request, caller, output_id), level, column, row)


def _task_image(request: Request, caller: RaterCaller, address: str, slot: str) -> ImageRef | None:
    voting = arena_of(request).voting
    return voting.shelves.picture(voting.shown(address, rater_of(caller)), slot)


def _item_image(request: Request, caller: LookCaller, item_id: str, slot: str) -> ImageRef | None:
    arena = arena_of(request)
    item = arena.workspace.store.get(Item, item_id)
    if item is None:
        return None
    may_see(arena.looking, item_id, leads=caller.leads)
    name, _, number = slot.partition("-")
    turns = tuple(image for turn in item.turns for image in turn.references)
    images = item.sources if name == "source" else (*item.references, *turns)
    return images[int(number)] if int(number) < len(images) else None


def _output_image(request: Request, caller: LookCaller, output_id: str) -> ImageRef | None:
    arena = arena_of(request)
    output = arena.workspace.store.get(Output, output_id)
    if output is None:
        return None
    may_see(arena.looking, output.item_id, leads=caller.leads)
    return output.image


def _display(request: Request, image: ImageRef | None) -> Response:
    return _sent(arena_of(request).pictures.display(_there(image)), "image/jpeg")


def _tile(request: Request, image: ImageRef | None, level: int, column: int, row: int) -> Response:
    found = _there(image)
    pictures = arena_of(request).pictures
    if not pictures.has_tile(found, level, column, row):
        raise RequestRefused(404, "not_found", "There is no such tile.")
    return _sent(pictures.tile(found, level, column, row), "image/png")


def _there(image: ImageRef | None) -> ImageRef:
    if image is None:
        raise RequestRefused(404, "not_found", "There is no such picture.")
    return image


def _sent(data: bytes, media_type: str) -> Response:
    return Response(data, media_type=media_type, headers={"cache-control": "private, max-age=600"})
