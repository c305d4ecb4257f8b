"""A chat request and its JSON body, encoded once; all requests with an image share its base64 encoding."""

import asyncio
import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cachetools import LRUCache

from imarena.clients.endpoint import Endpoint
from imarena.core.records import JsonDict
from imarena.images import Preparation, PreparedImage, prepare_with

MessageRole: TypeAlias = Literal["system", "user", "assistant"]

_PIXELS_PER_TOKEN = 28 * 28  # Qwen's patch size, the densest of the common encoders; only used to estimate cost
_BYTES_PER_TOKEN = 3
_UNSAID_OUTPUT_TOKENS = 4096


@dataclass(frozen=True, eq=False)
class ImagePart:
    """An image as a data URL in ASCII bytes, ready to be placed in any number of bodies."""

    url: bytes
    key: str
    width: int = 0
    height: int = 0

    @property
    def data(self) -> bytes:
        """Decode to the encoded image file again, for a local model."""
        return base64.b64decode(self.url.partition(b",")[2])

    def __repr__(self) -> str:
        return f"ImagePart({self.key}, {self.width} x {self.height})"


def image_part(prepared: PreparedImage) -> ImagePart:
    """Encode a prepared image for sending."""
    url = b"data:" + prepared.media_type.encode("ascii") + b";base64," + base64.b64encode(prepared.data)
    return ImagePart(url, prepared.key, prepared.width, prepared.height)


Part: TypeAlias = str | ImagePart


@dataclass(frozen=True)
class Message:
    """One message: text and images in the order in which the model reads them."""

    role: MessageRole
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class ChatRequest:
    """A chat request. `schema` (JSON Schema) asks for structured output if the endpoint supports it."""

    messages: tuple[Message, ...]
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = 2048
    seed: int | None = None
    schema: JsonDict | None = None
    schema_name: str = "answer"
    extra: JsonDict = field(default_factory=dict)

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """All images, in order."""
        return tuple(part for message in self.messages for part in message.parts if isinstance(part, ImagePart))

    def estimated_input_tokens(self) -> int:
        """A generous estimate, used only to reserve cost until the endpoint reports the actual number."""
        total = 16
        for message in self.messages:
            for part in message.parts:
                if isinstance(part, ImagePart):
                    total += 256 + part.width * part.height // _PIXELS_PER_TOKEN
                else:
                    total += 8 + len(part.encode("utf-8", "replace")) // _BYTES_PER_TOKEN
        return total

    def estimated_output_tokens(self) -> int:
        """The maximum number of tokens that the model may write."""
        return _UNSAID_OUTPUT_TOKENS if self.max_tokens is None else self.max_tokens


def single_question(
    *parts: Part, system: str = "", schema: JsonDict | None = None, max_tokens: int | None = 2048
) -> ChatRequest:
    """One question to a model, at temperature 0."""
    before = (Message("system", (system,)),) if system else ()
    return ChatRequest((*before, Message("user", parts)), schema=schema, max_tokens=max_tokens)


def body_pieces(request: ChatRequest, endpoint: Endpoint, *, structured: bool) -> tuple[bytes, ...]:
    """The JSON body as a sequence of byte strings. The images' pieces are shared, not copied."""
    head: dict[str, object] = {"model": endpoint.model}
    options = {"temperature": request.temperature, "top_p": request.top_p, "seed": request.seed}
    head |= {name: value for name, value in options.items() if value is not None}
    if request.max_tokens is not None:
        head[endpoint.max_tokens_field] = request.max_tokens
    if structured and request.schema is not None:
        schema = {"name": request.schema_name, "strict": True, "schema": request.schema}
        head["response_format"] = {"type": "json_schema", "json_schema": schema}
    head |= {**endpoint.body, **request.extra}
    return tuple(_joined([_dumps(head)[:-1] + b',"messages":[', *_messages(request, endpoint), b"]}"]))


def _dumps(value: object) -> bytes:
    # Lone surrogates (damaged input) become escapes, so that a body can always be encoded.
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _messages(request: ChatRequest, endpoint: Endpoint) -> Iterator[bytes]:
    detail = b',"detail":"' + endpoint.image_detail.encode("ascii") + b'"' if endpoint.image_detail else b""
    for number, message in enumerate(request.messages):
        yield (b"," if number else b"") + b'{"role":' + _dumps(message.role) + b',"content":'
        if all(isinstance(part, str) for part in message.parts) and len(message.parts) == 1:
            yield _dumps(message.parts[0])  # a plain string: some servers accept nothing else for a system message
        else:
            for index, part in enumerate(message.parts):
                yield b"," if index else b"["
                if isinstance(part, ImagePart):
                    yield b'{"type":"image_url","image_url":{"url":"'
                    yield part.url
                    yield b'"' + detail + b"}}"
                else:
                    yield _dumps({"type": "text", "text": part})
            yield b"]" if message.parts else b"[]"
        yield b"}"


def _joined(pieces: list[bytes]) -> Iterator[bytes]:
    """Join small adjacent pieces; large ones stay as they are."""
    small: list[bytes] = []
    for piece in pieces:
        if len(piece) < 65536:
            small.append(piece)
            continue
        if small:
            yield b"".join(small)
            small = []
        yield piece
    if small:
        yield b"".join(small)


class ImageParts:
    """Cache of prepared and encoded images (least recently used, limited in bytes). Use it from one event loop."""

    def __init__(self, max_bytes: int = 512 * 1024 * 1024) -> None:
        self._cache: LRUCache[str, ImagePart] = LRUCache(max_bytes, getsizeof=lambda part: len(part.url))
        self._making: dict[str, asyncio.Task[ImagePart]] = {}

    @property
    def size_bytes(self) -> int:
        """Bytes held now; never above the cap."""
        return int(self._cache.currsize)

    async def get(self, data: bytes, sha256: str, preparation: Preparation) -> ImagePart:
        """The image as a part. It is decoded in a thread, once for all concurrent callers."""
        key = preparation.key(sha256)
        cached_part = self._cache.get(key)
        if cached_part is not None:
            return cached_part
        task = self._making.get(key)
        if task is None:
            task = asyncio.create_task(asyncio.to_thread(_prepared_part, data, preparation))
            self._making[key] = task
            task.add_done_callback(lambda done: self._store(key, done))
        return await asyncio.shield(task)

    def _store(self, key: str, task: "asyncio.Task[ImagePart]") -> None:
        self._making.pop(key, None)
        if task.cancelled() or task.exception() is not None:
            return
        part = task.result()
        if len(part.url) <= self._cache.maxsize:
            self._cache[key] = part


def _prepared_part(data: bytes, preparation: Preparation) -> ImagePart:
    return image_part(prepare_with(preparation, data))
