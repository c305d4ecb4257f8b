"""Gemini models that return images: `generateContent` with inline data."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, JsonValue

from imarena.clients import Failure, FailureKind, ImageAnswer, ImageCall, ImageClient, read_failure
from imarena.core import EditRequest, read_options
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.editors.endpoints.http_image import (
    EndpointEditor,
    ImageSettings,
    editor,
    from_base64,
    media_type,
    read_json_reply,
    unusable_reply,
    usage_of,
)

REFUSALS = frozenset(
    {
        "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION", "LANGUAGE",
    }
)  # fmt: skip
_DELAY = re.compile(rb'"retryDelay"\s*:\s*"([0-9.]+)s"')


class GeminiImagesSettings(ImageSettings):
    """As documented: a request with inline images is at most 20 MB in total."""

    base_url: tuple[str, ...] = Field(default=("https://generativelanguage.googleapis.com/v1beta",), min_length=1)
    key_header: str = "x-goog-api-key"
    max_source_bytes: int | None = 14 * 1000 * 1000
    max_total_bytes: int | None = 14 * 1000 * 1000
    timeout_s: float = 300.0
    max_concurrency: int = 4
    aspect_ratio: str | None = None
    image_size: str | None = None
    temperature: float | None = None


def read(status: int, headers: Mapping[str, str], body: bytes) -> ImageAnswer | Failure:
    """Inline images of the first candidate; `promptFeedback.blockReason` and safety finish reasons are refusals."""
    if status != 200:
        result = read_failure(status, headers, body)
        if isinstance(result, Failure) and b"API_KEY_INVALID" in body:
            return replace(result, kind=FailureKind.REJECTED, http_status=401)
        if isinstance(result, Failure) and result.kind is FailureKind.THROTTLED and result.after_s is None:
            delay = _DELAY.search(body)
            return replace(result, after_s=float(delay[1])) if delay else result
        return result
    document = read_json_reply(status, body)
    if isinstance(document, Failure):
        return document
    if not isinstance(document, dict):
        return unusable_reply("the reply is not an object", status)
    return _read_answer(document)


def _read_answer(document: dict[str, Any]) -> ImageAnswer | Failure:
    usage = usage_of(document.get("usageMetadata"), "promptTokenCount", "candidatesTokenCount")
    feedback = document.get("promptFeedback")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        return ImageAnswer(Status.REFUSED, error=f"the prompt was blocked: {feedback['blockReason']}", usage=usage)
    candidates = document.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    if not isinstance(first, dict):
        return unusable_reply(f"the reply has no candidates: {json.dumps(document)[:200]}", 200)
    reason = str(first.get("finishReason", ""))
    content = first.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    images: list[bytes] = []
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else []:
        inline = (part.get("inlineData") or part.get("inline_data")) if isinstance(part, dict) else None
        if isinstance(inline, dict) and not part.get("thought"):
            data = from_base64(inline.get("data"))
            if data is None:
                return ImageAnswer(Status.INVALID_IMAGE, error="inlineData is not base64", usage=usage)
            images.append(data)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
    if reason in REFUSALS and not images:
        explanation = str(first.get("finishMessage", "")) or " ".join(texts)
        return ImageAnswer(
            Status.REFUSED, error=f"finishReason {reason}: {explanation[:300]}".rstrip(": "), usage=usage
        )
    return ImageAnswer(
        Status.OK, tuple(images), text=" ".join(texts) or (reason if reason != "STOP" else ""), usage=usage
    )


def make(name: str, options: Mapping[str, JsonValue], ports: Ports) -> EndpointEditor:
    """Build the editor from a table with `model`; `api_key_env` is usually GEMINI_API_KEY."""
    settings = read_options(GeminiImagesSettings, options, "editors", "gemini-images")

    async def ask(client: ImageClient, request: EditRequest) -> ImageAnswer:
        return await client.ask(
            ImageCall(f"models/{settings.model}:generateContent", json=_body(settings, request)), read
        )

    return editor(name, settings, ask, ports, "gemini-images")


def _body(settings: GeminiImagesSettings, request: EditRequest) -> JsonDict:
    contents: list[JsonValue] = []
    for past in request.history:
        contents.append(_content("user", past.sources, past.instruction))
        contents.append(_content("model", (past.image,)))
    sources = () if request.history else request.sources  # the conversation already contains the last result
    contents.append(_content("user", (*sources, *request.references), request.instruction))
    config: JsonDict = {"responseModalities": ["TEXT", "IMAGE"]}
    shape = {"aspectRatio": settings.aspect_ratio, "imageSize": settings.image_size}
    image_config: JsonDict = {key: value for key, value in shape.items() if value is not None}
    if image_config:
        config["imageConfig"] = image_config
    if request.seed is not None:
        config["seed"] = request.seed
    if settings.temperature is not None:
        config["temperature"] = settings.temperature
    return {"contents": contents, "generationConfig": config, **settings.body}


def _content(role: str, images: Sequence[bytes], text: str = "") -> JsonValue:
    parts: list[JsonValue] = [
        {"inline_data": {"mime_type": media_type(data), "data": base64.b64encode(data).decode("ascii")}}
        for data in images
    ]
    if text:
        parts.append({"text": text})
    return {"role": role, "parts": parts}
