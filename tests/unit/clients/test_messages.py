"""Bodies: valid JSON, equal to what a plain encoder gives, with pictures encoded once."""

import asyncio
import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.clients import ChatRequest, Endpoint, ImagePart, ImageParts, Message, image_part, single_question
from imarena.clients.messages import body_pieces
from imarena.core.errors import InvalidImage
from imarena.core.ids import sha256_hex
from imarena.images import Preparation, prepare
from tests.unit.images.made import encode, photo

FILE = encode(photo())
PICTURE = image_part(prepare(FILE))
LARGE = ImagePart(b"data:image/png;base64," + b"A" * 200_000, "large")
ENDPOINT = Endpoint(base_url="http://x/v1", model="m")

parts = st.lists(st.text() | st.sampled_from([PICTURE, LARGE]), max_size=5)
messages = st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), parts), min_size=1, max_size=3)


def plain(part: Any) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "image_url", "image_url": {"url": part.url.decode()}}
    return {"type": "text", "text": part}


@given(messages, st.none() | st.integers(1, 9), st.booleans())
def test_the_body_is_what_a_plain_encoder_gives(rows: Any, seed: int | None, structured: bool) -> None:
    request = ChatRequest(
        tuple(Message(role, tuple(content)) for role, content in rows),
        seed=seed,
        schema={"type": "object"},
        extra={"top_k": 5},
    )
    expected: dict[str, Any] = {"model": "m", "temperature": 0.0, "max_tokens": 2048, "top_k": 5}
    if seed is not None:
        expected["seed"] = seed
    if structured:
        inner = {"name": "answer", "strict": True, "schema": {"type": "object"}}
        expected["response_format"] = {"type": "json_schema", "json_schema": inner}
    expected["messages"] = [
        {
            "role": role,
            "content": content[0]
            if len(content) == 1 and isinstance(content[0], str)
            else [plain(part) for part in content],
        }
        for role, content in rows
    ]
    pieces = body_pieces(request, ENDPOINT, structured=structured)
    assert json.loads(b"".join(pieces)) == expected


def test_large_pictures_are_shared_not_copied() -> None:
    bodies = [body_pieces(single_question(text, LARGE), ENDPOINT, structured=False) for text in ("one", "two")]
    assert all(any(piece is LARGE.url for piece in body) for body in bodies)


def test_a_damaged_text_can_be_sent() -> None:
    body = b"".join(body_pieces(single_question("\ud800 lone"), ENDPOINT, structured=False))
    assert json.loads(body)["messages"][0]["content"] == "\ud800 lone"
    assert single_question("\ud800").estimated_input_tokens() > 0


def test_detail_and_token_field() -> None:
    settings = Endpoint(
        base_url=("http://x/v1",), model="m", image_detail="low", max_tokens_field="max_completion_tokens"
    )
    body = json.loads(b"".join(body_pieces(single_question("?", PICTURE, max_tokens=7), settings, structured=False)))
    assert body["messages"][0]["content"][1]["image_url"]["detail"] == "low"
    assert body["max_completion_tokens"] == 7
    assert "max_tokens" not in body


def test_a_part_gives_its_bytes_back() -> None:
    prepared = prepare(FILE)
    assert image_part(prepared).data == prepared.data
    assert base64.b64decode(PICTURE.url.split(b",")[1]) == prepared.data


def test_pictures_are_prepared_once_for_all_that_ask() -> None:
    async def run() -> None:
        cache = ImageParts()
        preparation = Preparation(max_side=20)
        digest = sha256_hex(FILE)
        found = await asyncio.gather(*(cache.get(FILE, digest, preparation) for _ in range(10)))
        assert len({id(part) for part in found}) == 1
        assert await cache.get(FILE, digest, preparation) is found[0]
        assert max(found[0].width, found[0].height) == 20
        with pytest.raises(InvalidImage):
            await cache.get(b"x", sha256_hex(b"x"), preparation)

    asyncio.run(run())


def test_the_picture_cache_keeps_its_cap() -> None:
    async def run() -> None:
        files = [encode(photo(seed=seed)) for seed in range(6)]
        cap = 3 * len(image_part(prepare(files[0])).url)
        cache = ImageParts(max_bytes=cap)
        for data in files:
            await cache.get(data, sha256_hex(data), Preparation())
            assert 0 < cache.size_bytes <= cap

    asyncio.run(run())
