"""Answers of the fake server, derived from a hash of the request: the same question always gets the same answer.

The image with the larger hash is always the better one, whatever the order, so that verdicts are consistent. A
score next to a winner is on the winner's side of its scale, and mirrored when the images change places.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

_FIRST = frozenset({"left", "first", "a", "image a", "1", "image 1", "output a", "output_a"})
_SECOND = frozenset({"right", "second", "b", "image b", "2", "image 2", "output b", "output_b"})


@dataclass(frozen=True)
class ChatQuery:
    """A chat request as the fake model sees it. Images are the SHA-256 of their bytes, in order."""

    model: str
    system: str
    text: str
    images: tuple[str, ...]
    schema: dict[str, Any] | None = None

    @property
    def first_is_better(self) -> bool:
        """Is the first of the last two images the better one, by hash?"""
        return len(self.images) >= 2 and self.images[-2] > self.images[-1]

    def fraction(self, salt: str) -> float:
        """A number in [0, 1) derived from the text, the last image and a salt."""
        last = self.images[-1] if self.images else ""
        digest = hashlib.sha256(json.dumps([salt, self.text, last]).encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48


AnswerFunction: TypeAlias = Callable[[ChatQuery], str]


def answer_by_hash(query: ChatQuery) -> str:
    """JSON that matches the requested schema; without a schema, a winner, a score and a reason."""
    if query.schema is not None:
        return json.dumps(_fill(query.schema, query, "answer"))
    winner = "first" if query.first_is_better else "second"
    return json.dumps({"winner": winner, "score": _sided(query, 1, 6), "reason": "by hash"})


def read_query(document: dict[str, Any]) -> ChatQuery:
    """Parse a request body; if malformed, raises `ValueError` with the message of a real endpoint."""
    messages = document.get("messages")
    if not isinstance(document.get("model"), str):
        raise ValueError("you must provide a model parameter")  # noqa: TRY004 - reported as a value in the protocol
    if not isinstance(messages, list) or not messages:
        raise ValueError("'messages' must be a non-empty array")
    system: list[str] = []
    words: list[str] = []
    pictures: list[str] = []
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in {"system", "developer", "user", "assistant"}:
            raise ValueError("each message needs a role of system, user or assistant")
        for part in _parts(message.get("content")):
            if part.get("type") == "text" and isinstance(part.get("text"), str):
                (system if message["role"] in {"system", "developer"} else words).append(part["text"])
            elif part.get("type") == "image_url":
                pictures.append(_picture(part.get("image_url")))
            else:
                raise ValueError(f"unknown content part {part.get('type')!r}")
    return ChatQuery(document["model"], "\n".join(system), "\n".join(words), tuple(pictures), _schema(document))


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return content
    raise ValueError("message content must be a string or an array of parts")


def _picture(value: Any) -> str:
    url = value.get("url") if isinstance(value, dict) else None
    if not isinstance(url, str) or not url.startswith("data:image/") or ";base64," not in url:
        raise ValueError("image_url.url must be a base64 data URL")
    try:
        data = base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error as error:
        raise ValueError("the image is not valid base64") from error
    return hashlib.sha256(data).hexdigest()


def _schema(document: dict[str, Any]) -> dict[str, Any] | None:
    response_format = document.get("response_format")
    inner = response_format.get("json_schema") if isinstance(response_format, dict) else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else None


def _fill(schema: dict[str, Any], query: ChatQuery, path: str) -> Any:
    """A value that a (simple) JSON Schema allows: objects, arrays, enums, numbers, strings, booleans."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return _choose(schema["enum"], query, path)
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            return _fill(schema[union][0], query, path)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return _fill_object(schema.get("properties", {}), query, path)
    if kind == "array":
        count = max(1, int(schema.get("minItems", 1)))
        return [_fill(schema.get("items", {}), query, f"{path}[{index}]") for index in range(count)]
    if kind in {"integer", "number"}:
        low, high = schema.get("minimum", 0), schema.get("maximum", 1000)
        value = low + query.fraction(path) * (high - low)
        return round(value) if kind == "integer" else round(value, 3)
    if kind == "boolean":
        return query.fraction(path) >= 0.5
    return None if kind == "null" else "by hash"


def _fill_object(properties: dict[str, Any], query: ChatQuery, path: str) -> dict[str, Any]:
    """Fill each property separately; an integer score next to a winner agrees with it."""
    answer_fields = {name: _fill(inner, query, f"{path}.{name}") for name, inner in properties.items()}
    if (
        str(answer_fields.get("winner")).lower() in _FIRST | _SECOND
        and len(query.images) >= 2
        and "score" in answer_fields
    ):
        score = properties["score"]
        score = score.get("anyOf", [score])[0]
        if score.get("type") == "integer":
            answer_fields["score"] = _sided(query, score.get("minimum", 0), score.get("maximum", 1000))
    return answer_fields


def _sided(query: ChatQuery, low: int, high: int) -> int:
    """A score above the middle of its scale if the first image is the better one, else below it."""
    half = (high - low + 1) // 2
    seed_text = json.dumps([sorted(query.images[-2:]), query.text]).encode()
    step = int.from_bytes(hashlib.sha256(seed_text).digest()[:6], "big") % half
    return high - step if query.first_is_better else low + step


def _choose(options: list[Any], query: ChatQuery, path: str) -> Any:
    labels = _FIRST if query.first_is_better else _SECOND
    sided = [option for option in options if str(option).lower() in labels]
    if sided and len(query.images) >= 2:
        return sided[0]
    return options[int(query.fraction(path) * len(options))]
