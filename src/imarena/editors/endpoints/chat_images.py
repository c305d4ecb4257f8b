"""Chat endpoints whose messages carry images: OpenRouter's `message.images`, or images among the parts."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, JsonValue

from imarena.clients import (
    EndpointAnswer,
    Failure,
    ImageAnswer,
    ImageCall,
    ImageClient,
    read_failure,
    read_reply,
)
from imarena.core import EditRequest, read_options
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.editors.endpoints.http_image import EndpointEditor, ImageSettings, data_url, editor, unusable_reply

_MARKDOWN = re.compile(r"!\[[^\]]*\]\((data:image/[^)\s]+|https?://[^)\s]+)\)")


class ChatImagesSettings(ImageSettings):
    """Base URL of any OpenAI-compatible endpoint."""

    base_url: tuple[str, ...] = Field(default=("https://openrouter.ai/api/v1",), min_length=1)
    timeout_s: float = 300.0
    modalities: tuple[str, ...] = ("image", "text")
    """Sent as `modalities`; empty sends none."""
    max_source_bytes: int | None = 20 * 1000 * 1000


def read(status: int, headers: Mapping[str, str], body: bytes) -> ImageAnswer | Failure:
    """The images of the first choice; refusals are recognised by the protocol's own fields."""
    result = read_reply(status, headers, body)
    if isinstance(result, Failure):
        if result.error.startswith("the reply is not JSON"):
            return unusable_reply(f"{result.error[:160]}; is base_url right?", status)
        return result
    if status != 200:
        return read_failure(status, headers, body)
    if result.status is not Status.OK:
        return ImageAnswer(result.status, error=result.error, usage=result.usage)
    return _pictures(json.loads(body), result)


def _pictures(document: Any, answer: EndpointAnswer) -> ImageAnswer:
    message = document["choices"][0].get("message") or {}
    # Some servers send the same image in two places: use the first place that has one.
    urls = [url for part in _parts(message.get("images")) if (url := _url(part))]
    urls = urls or [url for part in _parts(message.get("content")) if (url := _url(part))]
    urls = urls or _MARKDOWN.findall(answer.text)
    return ImageAnswer(Status.OK, urls=tuple(urls), text=answer.text, usage=answer.usage)


def _parts(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _url(part: Mapping[str, Any]) -> str:
    inner = part.get("image_url")
    url = inner.get("url") if isinstance(inner, dict) else inner
    return url if isinstance(url, str) else ""


def make(name: str, options: Mapping[str, JsonValue], ports: Ports) -> EndpointEditor:
    """Build the editor from a table with `model` and `base_url`."""
    settings = read_options(ChatImagesSettings, options, "editors", "chat-images")

    async def ask(client: ImageClient, request: EditRequest) -> ImageAnswer:
        body: JsonDict = {"model": settings.model, "messages": _messages(request)}
        if settings.modalities:
            body["modalities"] = list(settings.modalities)
        if request.seed is not None:
            body["seed"] = request.seed
        return await client.ask(ImageCall("chat/completions", json={**body, **settings.body}), read)

    return editor(name, settings, ask, ports, "chat-images")


def _messages(request: EditRequest) -> list[JsonValue]:
    """One message; for an in-context editor the whole conversation, which already contains the last result."""
    messages: list[JsonValue] = []
    for past in request.history:
        messages.append(_message("user", past.instruction, past.sources))
        messages.append(_message("assistant", "", (past.image,)))
    sources = () if request.history else request.sources
    return [*messages, _message("user", request.instruction, (*sources, *request.references))]


def _message(role: str, text: str, images: Sequence[bytes]) -> JsonValue:
    parts: list[JsonValue] = [{"type": "text", "text": text}] if text else []
    parts += [{"type": "image_url", "image_url": {"url": data_url(data)}} for data in images]
    return {"role": role, "content": parts}
