"""Shared code of editors behind an endpoint: limits, one image from a reply, its download, cost and time."""

import base64
import binascii
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

from pydantic import Field

from imarena.clients import Failure, FailureKind, ImageAnswer, ImageClient, ImageEndpoint
from imarena.core import EditorTraits, EditRequest, EditResult, InvalidImage
from imarena.core.records import JsonDict, Status, Usage
from imarena.editors.catalog import Ports
from imarena.images import media_type_of

_MOST_LETTERS = 200


class ImageSettings(ImageEndpoint):
    """Settings that all editors behind an endpoint have."""

    version: str = ""
    take: Literal["one", "first"] = "one"
    """If several images are returned for one request: report an error (`one`), or take the first."""
    max_total_bytes: int | None = Field(default=None, ge=1)
    """Maximum total size of all images in a request."""
    price_as_of: date | None = None
    """The date of the price above; an estimate reports how old it is."""
    price_from: str = ""
    notice: str = ""
    """Notice for the user before a run, printed with the estimate."""
    in_context: bool = False
    """Send the conversation: in multi-turn mode, every earlier instruction and result before the new instruction."""


Ask = Callable[[ImageClient, EditRequest], Awaitable[ImageAnswer]]


@dataclass(frozen=True)
class EndpointEditor:
    """An editor behind an endpoint: `ask` handles the provider's protocol, this class the rest."""

    name: str
    settings: ImageSettings
    ask: Ask
    client: ImageClient
    kind: str
    shown: JsonDict = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The model's name at the endpoint plus the version from the settings."""
        extra = self.settings.version
        return f"{self.settings.model} {extra}".strip()

    @property
    def params(self) -> JsonDict:
        """The parameters that an output depends on: never a key, never a URL."""
        context: JsonDict = {"in_context": True} if self.settings.in_context else {}
        return {"adapter": self.kind, "model": self.settings.model, **context, **self.shown, **self.settings.body}

    @property
    def traits(self) -> EditorTraits:
        """The price from the settings; the client must be open."""
        settings = self.settings
        return EditorTraits(
            usd_per_image=settings.usd_per_image, price_as_of=settings.price_as_of, price_from=settings.price_from,
            notice=settings.notice, opening=self.opened, in_context=settings.in_context,
        )  # fmt: skip

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the client."""
        async with self.client.opened():
            yield

    async def edit(self, request: EditRequest) -> EditResult:
        """Request one image. Every failure is returned as a status with the next step."""
        started = time.perf_counter()
        problem = self._too_much(request)
        if problem:
            return EditResult(Status.API_ERROR, error=problem, cost_usd=0.0, latency_s=0.0)
        answer = await self.ask(self.client, request)
        result = await self._picture(answer)
        cost_usd = answer.usage.cost_usd
        if cost_usd is None:
            cost_usd = self.settings.usd_per_image if result.status is Status.OK else 0.0
        return replace(result, cost_usd=cost_usd, latency_s=time.perf_counter() - started)

    def _too_much(self, request: EditRequest) -> str:
        pictures = (*request.sources, *request.references, *request.masks)
        most, count = self.settings.max_source_bytes, self.settings.max_pictures
        largest = max((len(data) for data in pictures), default=0)
        if most is not None and largest > most:
            return (
                f"An image of {largest:,} bytes is over this endpoint's limit of {most:,}: it was not sent. "
                "Scale the item's image down, or raise max_source_bytes if the provider allows more."
            )
        total, together = self.settings.max_total_bytes, sum(map(len, pictures))
        if total is not None and together > total:
            return (
                f"The item's {len(pictures)} images have {together:,} bytes together and this endpoint takes "
                f"{total:,} a request: it was not sent. Scale them down, or raise max_total_bytes "
                "if the provider allows more."
            )
        if count is not None and len(pictures) > count:
            return (
                f"The item has {len(pictures)} images and this endpoint takes {count}: it was not sent. "
                "Raise max_pictures if the provider allows more."
            )
        return ""

    async def _picture(self, answer: ImageAnswer) -> EditResult:
        if answer.status is not Status.OK:
            return EditResult(answer.status, error=answer.error)
        number = len(answer.images) + len(answer.urls)
        if number == 0:
            text = " ".join(answer.text.split())[:_MOST_LETTERS]
            message = f"the model answered with words and no image: {text!r}" if text else "the reply holds no image"
            return EditResult(Status.MISSING_OUTPUT, error=message)
        if number > 1 and self.settings.take == "one":
            message = f'{number} images came back and one was asked for; set take = "first" to use the first'
            return EditResult(Status.UNPARSABLE, error=message)
        if answer.images:
            return EditResult(Status.OK, answer.images[0])
        url = answer.urls[0]
        if url.startswith("data:"):
            inline = from_data_url(url)
            if inline is None:
                return EditResult(Status.INVALID_IMAGE, error="the data URL of the image cannot be decoded")
            return EditResult(Status.OK, inline)
        fetched = await self.client.download(url)
        if fetched.status is not Status.OK:
            return EditResult(fetched.status, error=fetched.error)
        return EditResult(Status.OK, fetched.images[0])


def editor(
    name: str, settings: ImageSettings, ask: Ask, ports: Ports, kind: str, params: JsonDict | None = None
) -> EndpointEditor:
    """An editor and its client."""
    client = ImageClient(settings, budget=ports.budget, environ=ports.environ)
    return EndpointEditor(name, settings, ask, client, kind, params or {})


def read_json_reply(status: int, body: bytes) -> Any:
    """The JSON document of an endpoint's reply; a `Failure` if the reply is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        start = body[:80].decode("utf-8", "replace")
        return unusable_reply(f"the reply is not JSON: {start!r}; is base_url right?", status)


def unusable_reply(reason: str, status: int) -> Failure:
    """The failure for a reply without a result; the request may have been charged."""
    return Failure(FailureKind.FAILED, reason, status, maybe_charged=True)


def usage_of(counts: Any, input_name: str, output_name: str) -> Usage:
    """The token counts in a reply under these names; None for a missing or invalid count."""
    values = [counts.get(name) if isinstance(counts, dict) else None for name in (input_name, output_name)]
    input_tokens, output_tokens = (value if isinstance(value, int) and value >= 0 else None for value in values)
    return Usage(input_tokens=input_tokens, output_tokens=output_tokens)


def from_base64(text: Any) -> bytes | None:
    """Bytes of a base64 text; None if invalid."""
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def from_data_url(url: str) -> bytes | None:
    """Bytes of a base64 data URL; None if invalid."""
    head, comma, text = url.partition(",")
    return from_base64(text) if comma and head.startswith("data:") and head.endswith(";base64") else None


def media_type(data: bytes) -> str:
    """The media type of an encoded image, for a request; `application/octet-stream` if unknown."""
    try:
        return media_type_of(data)
    except InvalidImage:
        return "application/octet-stream"


def data_url(data: bytes) -> str:
    """An image as a data URL."""
    return f"data:{media_type(data)};base64,{base64.b64encode(data).decode('ascii')}"
