"""Pictures and tiles: re-encoded, without metadata, one file type each; no part of a request is used as a path."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from imarena.core import sha256_hex
from imarena.core.records import ImageRef
from imarena.web.arena import arena_of
from imarena.web.callers import LookCaller, RaterCaller
from imarena.web.problems import RequestRefused
from imarena.web.routes.rating import TaskAddress, rater_of
from imarena.workflows.rating import campaigns_of_rater
from imarena.workflows.serving import image_of_example, image_of_item, image_of_output, image_of_task

router = APIRouter(prefix="/api", tags=["pictures"])

TaskSlot = Annotated[str, Path(pattern=r"^(left|right|source-[0-9]{1,2}|reference-[0-9]{1,2})$")]
Which = Annotated[str, Path(pattern=r"^(source|reference)-[0-9]{1,2}$")]
TileLevel = Annotated[int, Path(ge=0, le=24)]
Index = Annotated[int, Path(ge=0, le=100_000)]
ExampleId = Annotated[str, Path(max_length=100, pattern=r"^(item|output)_[0-9a-f]{32}$")]
RecordId = Annotated[str, Path(max_length=100, pattern=r"^[a-z]+_[0-9a-f]{32}$")]

NOT_CHANGED = {"description": "Not modified. As with 200, an image of a task counts as requested."}
JPEG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}}},
    304: NOT_CHANGED,
}
PNG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
    304: NOT_CHANGED,
}


@router.get("/tasks/{address}/pictures/{slot}", response_class=Response, responses=JPEG)
def get_task_picture(request: Request, caller: RaterCaller, address: TaskAddress, slot: TaskSlot) -> Response:
    """An image of the rater's current task, at most 1,600 px per side."""
    voting = arena_of(request).voting
    response = send_display(request, image_of_task(voting, address, rater_of(caller), slot))
    voting.pictures.add(address, slot)
    return response


@router.get("/tasks/{address}/pictures/{slot}/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_task_tile(
    request: Request,
    caller: RaterCaller,
    address: TaskAddress,
    slot: TaskSlot,
    level: TileLevel,
    column: Index,
    row: Index,
) -> Response:
    """A tile with true pixels."""
    voting = arena_of(request).voting
    response = send_tile(request, image_of_task(voting, address, rater_of(caller), slot), level, column, row)
    voting.pictures.add(address, slot)
    return response


@router.get("/rating/examples/{identity}", response_class=Response, responses=JPEG)
def get_example_picture(request: Request, caller: RaterCaller, identity: ExampleId) -> Response:
    """An image in the guidelines of one of this rater's campaigns."""
    arena = arena_of(request)
    joined = campaigns_of_rater(arena.workspace, rater_of(caller), leads=caller.leads, after=0, limit=200)
    texts = [arena.voting.records.plan(campaign_id).guidelines for _, campaign_id in joined.campaigns]
    return send_display(request, image_of_example(arena.leaderboards, texts, identity))


@router.get("/items/{item_id}/pictures/{slot}", response_class=Response, responses=JPEG)
def get_item_picture(request: Request, caller: LookCaller, item_id: RecordId, slot: Which) -> Response:
    """A source or reference image of an item."""
    return send_display(request, image_of_item(arena_of(request).leaderboards, item_id, slot, leads=caller.leads))


@router.get("/items/{item_id}/pictures/{slot}/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_item_tile(
    request: Request, caller: LookCaller, item_id: RecordId, slot: Which, level: TileLevel, column: Index, row: Index
) -> Response:
    """A tile of an item's image."""
    return send_tile(
        request, image_of_item(arena_of(request).leaderboards, item_id, slot, leads=caller.leads), level, column, row
    )


@router.get("/outputs/{output_id}/picture", response_class=Response, responses=JPEG)
def get_output_picture(request: Request, caller: LookCaller, output_id: RecordId) -> Response:
    """The output of an editor."""
    return send_display(request, image_of_output(arena_of(request).leaderboards, output_id, leads=caller.leads))


@router.get("/outputs/{output_id}/picture/tiles/{level}/{column}/{row}", response_class=Response, responses=PNG)
def get_output_tile(
    request: Request, caller: LookCaller, output_id: RecordId, level: TileLevel, column: Index, row: Index
) -> Response:
    """A tile of an output."""
    return send_tile(
        request, image_of_output(arena_of(request).leaderboards, output_id, leads=caller.leads), level, column, row
    )


def send_display(request: Request, image: ImageRef) -> Response:
    """A picture as a JPEG that fits a screen."""
    return _image_response(request, arena_of(request).pictures.display(image), "image/jpeg")


def send_tile(request: Request, image: ImageRef, level: int, column: int, row: int) -> Response:
    """One tile of a picture, as a PNG."""
    pictures = arena_of(request).pictures
    if not pictures.has_tile(image, level, column, row):
        raise RequestRefused(404, "not_found", "There is no such tile.")
    return _image_response(request, pictures.tile(image, level, column, row), "image/png")


def _image_response(request: Request, data: bytes, media_type: str) -> Response:
    """The bytes, or 304 if the browser sends their hash in If-None-Match; `*` does not match."""
    tag = f'"{sha256_hex(data)[:32]}"'
    headers = {"cache-control": "private, max-age=600", "etag": tag}
    known_tags = request.headers.get("if-none-match", "").split(",")
    if tag in (sent_tag.strip().removeprefix("W/") for sent_tag in known_tags):
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=media_type, headers=headers)
