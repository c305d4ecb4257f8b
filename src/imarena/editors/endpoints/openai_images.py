"""OpenAI's images endpoints: `/images/edits` (multipart) if there is an image, else `/images/generations`."""

import json
from collections.abc import Mapping

import aiohttp
from pydantic import Field, JsonValue

from imarena.clients import Failure, ImageAnswer, ImageCall, ImageClient, read_failure
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
from imarena.images import SUFFIXES


class OpenAIImagesSettings(ImageSettings):
    """As documented for gpt-image models: up to 16 images of less than 50 MB each."""

    base_url: tuple[str, ...] = Field(default=("https://api.openai.com/v1",), min_length=1)
    max_source_bytes: int | None = 50 * 1000 * 1000
    max_pictures: int | None = 16
    timeout_s: float = 300.0
    max_concurrency: int = 4
    quality: str | None = None
    size: str | None = None
    input_fidelity: str | None = None
    send_seed: bool = False
    """OpenAI takes no seed; some compatible servers do."""

    @property
    def fields(self) -> dict[str, str]:
        """The optional form fields."""
        values = {"quality": self.quality, "size": self.size, "input_fidelity": self.input_fidelity}
        return {name: value for name, value in values.items() if value is not None}


def read(status: int, headers: Mapping[str, str], body: bytes) -> ImageAnswer | Failure:
    """`data[].b64_json` or `data[].url`, and the tokens used."""
    if status != 200:
        return read_failure(status, headers, body)
    document = read_json_reply(status, body)
    if isinstance(document, Failure):
        return document
    if isinstance(document, dict) and document.get("error"):
        return read_failure(400, headers, body)
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        return unusable_reply(f"the reply has no data: {json.dumps(document)[:200]}", status)
    usage = usage_of(document.get("usage"), "input_tokens", "output_tokens")
    images, urls = [], []
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("b64_json"), str):
            data = from_base64(row["b64_json"])
            if data is None:
                return ImageAnswer(Status.INVALID_IMAGE, error="b64_json is not base64", usage=usage)
            images.append(data)
        elif isinstance(row, dict) and isinstance(row.get("url"), str):
            urls.append(row["url"])
    return ImageAnswer(Status.OK, tuple(images), tuple(urls), usage=usage)


def make(name: str, options: Mapping[str, JsonValue], ports: Ports) -> EndpointEditor:
    """Build the editor from a table with `model`; `api_key_env` is usually OPENAI_API_KEY."""
    settings = read_options(OpenAIImagesSettings, options, "editors", "openai-images")

    async def ask(client: ImageClient, request: EditRequest) -> ImageAnswer:
        plain: dict[str, str] = {"model": settings.model, "prompt": request.instruction, "n": "1", **settings.fields}
        if settings.send_seed and request.seed is not None:
            plain["seed"] = str(request.seed)
        if not (request.sources or request.references):
            body: JsonDict = {**plain, "n": 1, **settings.body}
            if "seed" in plain:
                body["seed"] = request.seed
            body.pop("input_fidelity", None)
            return await client.ask(ImageCall("images/generations", json=body), read)
        extra = {key: str(value) for key, value in settings.body.items()}
        return await client.ask(ImageCall("images/edits", form=lambda: _form({**plain, **extra}, request)), read)

    return editor(name, settings, ask, ports, "openai-images", {**settings.fields})


def _form(fields: Mapping[str, str], request: EditRequest) -> aiohttp.FormData:
    form = aiohttp.FormData(quote_fields=False)
    for key, value in fields.items():
        form.add_field(key, value)
    pictures = (*request.sources, *request.references)
    field = "image" if len(pictures) == 1 else "image[]"
    for number, data in enumerate(pictures):
        kind = media_type(data)
        form.add_field(field, data, filename=f"picture-{number}{SUFFIXES.get(kind, '.bin')}", content_type=kind)
    if request.masks:
        form.add_field("mask", request.masks[0], filename="mask.png", content_type=media_type(request.masks[0]))
    return form
