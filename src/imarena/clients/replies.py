"""Read an endpoint's reply: an answer, a refusal, or a failure that may or may not be worth a retry.

A refusal is recognised by the protocol's fields and error codes, never by the model's text, which the parser reads.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

from imarena.core import package_yaml
from imarena.core.records import Status, Usage

_SHUT = frozenset({401, 402, 404})
_WORDS: dict[str, list[str]] = package_yaml("imarena.clients", "reply_words.yaml")
_SHUT_CODES = frozenset(_WORDS["shut"])
"""Errors about the key, the account or the model, not about the question. A bare 403 may be about either."""
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_ERROR_LENGTH = 500

REFUSAL_FINISHES = frozenset(_WORDS["refusal_finishes"])
REFUSAL_CODES = frozenset(_WORDS["refusals"])


class FailureKind(Enum):
    """What a failure means for the next attempt."""

    FAILED = "failed"  # the server or the connection to it: try again
    TIMEOUT = "timeout"  # try again, but only a few times
    THROTTLED = "throttled"  # wait as the endpoint asks, then try again
    REJECTED = "rejected"  # the same request will be rejected again
    SHUT = "shut"  # key, account or model rejected: every request on this route would be


@dataclass(frozen=True)
class Failure:
    """The reason why there is no answer."""

    kind: FailureKind
    error: str
    http_status: int | None = None
    after_s: float | None = None
    maybe_charged: bool = False
    """The endpoint may have done the work before the reply was lost."""

    @property
    def status(self) -> Status:
        """The recorded status of a request that ends with this failure."""
        return Status.TIMEOUT if self.kind is FailureKind.TIMEOUT else Status.API_ERROR


@dataclass(frozen=True)
class EndpointAnswer:
    """The endpoint's final answer: text (status ok), or a refusal."""

    status: Status
    text: str = ""
    model: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    error: str = ""
    http_status: int = 200


def read_reply(http_status: int, headers: Mapping[str, str], body: bytes) -> EndpointAnswer | Failure:
    """Parse one HTTP reply of the chat-completions protocol. Never raises, whatever the bytes are."""
    document = _parse(body)
    error = document.get("error") if isinstance(document, dict) else None
    if http_status != 200 or error:
        return _read_error(http_status, headers, document, body)
    if not isinstance(document, dict):
        return Failure(FailureKind.FAILED, f"the reply is not JSON: {_excerpt(body)}", http_status, maybe_charged=True)
    return _read_answer(document, http_status, body)


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Retry-After in seconds, from seconds, an HTTP date, or the `retry-after-ms` header; None if unreadable."""
    text = headers.get("retry-after-ms", "").strip()
    factor = 0.001
    if not text:
        text, factor = headers.get("retry-after", "").strip(), 1.0
    if not text:
        return None
    try:
        seconds = float(text) * factor
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, OverflowError, IndexError, TypeError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if abs(seconds) < 1e9 else None  # also false for NaN


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _read_error(http_status: int, headers: Mapping[str, str], document: Any, body: bytes) -> EndpointAnswer | Failure:
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(document, list) and document and isinstance(document[0], dict):  # Gemini wraps errors in a list
        error = document[0].get("error")
    codes, message = _codes_and_message(error, body)
    status = http_status
    if http_status == 200 and isinstance(error, dict):  # OpenRouter reports upstream errors with status 200
        code = error.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
    line = f"HTTP {status}: {message}"
    if codes & REFUSAL_CODES or _flagged(error):
        return EndpointAnswer(Status.REFUSED, error=line, http_status=status, finish_reason="content_filter")
    if codes & _SHUT_CODES or status in _SHUT:
        return Failure(FailureKind.SHUT, line, status)
    if status == 429:
        return Failure(FailureKind.THROTTLED, line, status, retry_after_s(headers))
    if status == 503 and retry_after_s(headers) is not None:
        return Failure(FailureKind.THROTTLED, line, status, retry_after_s(headers))
    kind = FailureKind.FAILED if status in _RETRIED or status >= 500 else FailureKind.REJECTED
    return Failure(kind, line, status)


def _codes_and_message(error: Any, body: bytes) -> tuple[frozenset[str], str]:
    if isinstance(error, str):
        return frozenset(), error[:_ERROR_LENGTH]
    if not isinstance(error, dict):
        return frozenset(), _excerpt(body)
    inner = error.get("innererror")
    values = [error.get("code"), error.get("type"), error.get("status")]
    values.append(inner.get("code") if isinstance(inner, dict) else None)
    codes = frozenset(value.lower() for value in values if isinstance(value, str))
    message = error.get("message")
    text = message if isinstance(message, str) and message else _excerpt(body)
    return codes, " ".join(text.split())[:_ERROR_LENGTH]


def _flagged(error: Any) -> bool:
    """OpenRouter's moderation error carries the reasons in its metadata."""
    metadata = error.get("metadata") if isinstance(error, dict) else None
    return isinstance(metadata, dict) and "flagged_input" in metadata


def _read_answer(document: dict[str, Any], http_status: int, body: bytes) -> EndpointAnswer | Failure:
    usage = _usage(document.get("usage"))
    model = _string(document.get("model"))
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        feedback = document.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            reason = str(feedback["blockReason"])
            return EndpointAnswer(Status.REFUSED, "", model, "content_filter", usage, f"blocked: {reason}", http_status)
        return Failure(
            FailureKind.FAILED, f"the reply has no choices: {_excerpt(body)}", http_status, maybe_charged=True
        )
    finish = _string(choice.get("finish_reason"))
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text = _text(message.get("content"))
    refusal = _string(message.get("refusal"))
    if refusal or finish.lower() in REFUSAL_FINISHES:
        why = refusal or f"finish_reason {finish}"
        return EndpointAnswer(Status.REFUSED, text, model, finish, usage, why[:_ERROR_LENGTH], http_status)
    if isinstance(choice.get("error"), dict):
        _, why = _codes_and_message(choice["error"], body)
        return Failure(FailureKind.FAILED, f"the reply broke off: {why}", http_status, maybe_charged=True)
    if "message" not in choice:
        return Failure(
            FailureKind.FAILED, f"the reply has no message: {_excerpt(body)}", http_status, maybe_charged=True
        )
    return EndpointAnswer(Status.OK, text, model, finish, usage, "", http_status)


def _text(content: Any) -> str:
    """The text of a message: a string, or the text parts of a list. Null is an empty text."""
    if isinstance(content, list):
        return "".join(_string(part.get("text")) for part in content if isinstance(part, dict))
    return _string(content)


def _usage(value: Any) -> Usage:
    if not isinstance(value, dict):
        return Usage()
    cost = value.get("cost")  # OpenRouter reports the charged price
    has_cost = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e9
    return Usage(
        input_tokens=_count(value.get("prompt_tokens")),
        output_tokens=_count(value.get("completion_tokens")),
        cost_usd=float(cost) if has_cost and cost is not None else None,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else None


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _excerpt(body: bytes) -> str:
    text = " ".join(body[: 2 * _ERROR_LENGTH].decode("utf-8", "replace").split())
    return text[:_ERROR_LENGTH] or "(empty)"
