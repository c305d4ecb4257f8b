"""What in-context endpoints are sent: the conversation once, with the last result inside it."""

import base64
import json
from typing import Any

from imarena.core import EditRequest, PastEdit
from imarena.editors.endpoints.chat_images import _messages
from imarena.editors.endpoints.gemini_images import GeminiImagesSettings, _body

PAST = (PastEdit("Remove the cup.", (b"source",), b"first"), PastEdit("Add a dog.", (), b"second"))
REQUEST = EditRequest("Make the dog red.", sources=(b"second",), references=(b"swatch",), history=PAST)


def test_a_chat_gets_every_turn_in_order() -> None:
    messages: list[Any] = list(_messages(REQUEST))
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    pictures = [
        base64.b64decode(part["image_url"]["url"].partition(",")[2])
        for message in messages
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    assert pictures == [b"source", b"first", b"second", b"swatch"]
    assert [part["text"] for message in messages for part in message["content"] if part["type"] == "text"] == [
        "Remove the cup.", "Add a dog.", "Make the dog red.",
    ]  # fmt: skip


def test_gemini_gets_every_turn_in_order() -> None:
    body: Any = _body(GeminiImagesSettings(model="m"), REQUEST)
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user", "model", "user"]
    sent = json.dumps(body)
    order = [sent.index(base64.b64encode(data).decode()) for data in (b"source", b"first", b"second", b"swatch")]
    assert order == sorted(order)


def test_without_a_history_nothing_has_changed() -> None:
    [message] = _messages(EditRequest("Add a dog.", sources=(b"source",)))
    assert json.dumps(message).count("image_url") == 2
    body: Any = _body(GeminiImagesSettings(model="m"), EditRequest("Add a dog.", sources=(b"source",)))
    assert [part.get("text") for part in body["contents"][0]["parts"]] == [None, "Add a dog."]
