"""What an endpoint may send, and what it means."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.clients.replies import EndpointAnswer, Failure, FailureKind, read_reply, retry_after_s
from imarena.core.records import Status


def read(document: Any, status: int = 200, **headers: str) -> EndpointAnswer | Failure:
    return read_reply(status, headers, json.dumps(document).encode())


def answer(document: Any, status: int = 200) -> EndpointAnswer:
    result = read(document, status)
    assert isinstance(result, EndpointAnswer), result
    return result


def failure(document: Any, status: int = 200, **headers: str) -> Failure:
    result = read(document, status, **headers)
    assert isinstance(result, Failure), result
    return result


def chat(content: Any, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return {"model": "m-1", "choices": [choice], "usage": {"prompt_tokens": 11, "completion_tokens": 3}}


def test_a_plain_answer() -> None:
    result = answer(chat("left"))
    assert (result.status, result.text, result.model, result.finish_reason) == (Status.OK, "left", "m-1", "stop")
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.cost_usd) == (11, 3, None)


@pytest.mark.parametrize("content", ["", None, []])
def test_an_empty_answer_is_an_answer(content: Any) -> None:
    assert (answer(chat(content)).status, answer(chat(content)).text) == (Status.OK, "")


def test_text_parts_are_joined() -> None:
    assert answer(chat([{"type": "text", "text": "le"}, {"type": "text", "text": "ft"}])).text == "left"


def test_prose_is_never_taken_for_a_refusal() -> None:
    assert answer(chat("I'm sorry, I can't help with that.")).status is Status.OK


def test_the_price_that_the_endpoint_states() -> None:
    document = chat("x")
    document["usage"]["cost"] = 0.25
    assert answer(document).usage.cost_usd == 0.25


REFUSALS: dict[str, tuple[int, Any]] = {
    "openai refusal": (200, chat(None, refusal="I can't help.")),
    "openai filter": (200, chat("", "content_filter")),
    "gemini safety": (200, chat(None, "SAFETY")),
    "gemini prohibited": (200, {"choices": [{"index": 0, "finish_reason": "PROHIBITED_CONTENT"}]}),
    "gemini blocked prompt": (200, {"promptFeedback": {"blockReason": "SAFETY"}}),
    "azure": (
        400,
        {
            "error": {
                "code": "content_filter",
                "message": "filtered",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    "openai policy": (400, {"error": {"code": "content_policy_violation", "message": "rejected", "type": "x"}}),
    "openai invalid prompt": (400, {"error": {"code": "invalid_prompt", "message": "flagged"}}),
    "dashscope": (400, {"error": {"code": "data_inspection_failed", "message": "inappropriate"}}),
    "openrouter": (
        403,
        {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": [], "flagged_input": ""}}},
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    status, document = REFUSALS[name]
    result = answer(document, status)
    assert result.status is Status.REFUSED
    assert result.error


@pytest.mark.parametrize(
    ("status", "document", "kind"),
    [
        (400, {"error": {"message": "bad"}}, FailureKind.REJECTED),
        (401, {"error": {"message": "key"}}, FailureKind.SHUT),
        (404, {"detail": "Not Found"}, FailureKind.SHUT),
        (302, "", FailureKind.REJECTED),
        (408, {}, FailureKind.FAILED),
        (500, "oops", FailureKind.FAILED),
        (529, {"error": "overloaded"}, FailureKind.FAILED),
        (503, {}, FailureKind.FAILED),
        (429, {"error": {"code": "rate_limit_exceeded"}}, FailureKind.THROTTLED),
        (429, {"error": {"code": "insufficient_quota"}}, FailureKind.SHUT),
        (429, [{"error": {"status": "RESOURCE_EXHAUSTED"}}], FailureKind.THROTTLED),
        (200, {"error": {"code": 502, "message": "upstream"}}, FailureKind.FAILED),
        (200, {"error": {"code": 429, "message": "upstream"}}, FailureKind.THROTTLED),
        (200, {"choices": []}, FailureKind.FAILED),
        (200, {"choices": [{"finish_reason": "stop"}]}, FailureKind.FAILED),
        (200, {"choices": [{"error": {"message": "lost"}, "message": {"content": "par"}}]}, FailureKind.FAILED),
        (200, ["x"], FailureKind.FAILED),
    ],
)
def test_failures(status: int, document: Any, kind: FailureKind) -> None:
    result = failure(document, status)
    assert result.kind is kind
    assert result.error


def test_a_503_that_names_its_time_is_followed() -> None:
    result = read_reply(503, {"retry-after": "7"}, b"")
    assert isinstance(result, Failure)
    assert (result.kind, result.after_s) == (FailureKind.THROTTLED, 7.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 37.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:40:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e400"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, datetime(1994, 11, 6, 8, 49, 0, tzinfo=UTC)) == seconds


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        "error",
        "choices",
        "message",
        "content",
        "refusal",
        "finish_reason",
        "usage",
        "code",
        "innererror",
        "metadata",
        "prompt_tokens",
        "cost",
        "model",
        "promptFeedback",
        "text",
    ]
)
SHAPED = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=5), max_leaves=14
)


@given(st.integers(100, 599), SHAPED.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=50), st.text())
@settings(max_examples=300, deadline=None)
def test_reading_never_raises(status: int, body: bytes, wait: str) -> None:
    result = read_reply(status, {"retry-after": wait}, body)
    if isinstance(result, EndpointAnswer) and result.status is Status.OK:
        assert status == 200
    if isinstance(result, Failure):
        assert result.error
