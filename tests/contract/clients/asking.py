"""Requests and endpoints for the client's contract."""

import asyncio
import json
import random
from collections.abc import Iterable
from typing import Any

from imarena.clients import ChatClient, ChatReply, ChatRequest, Endpoint, image_part, single_question
from imarena.clients.fake_answers import ChatQuery, answer_by_hash, read_query
from imarena.clients.messages import body_pieces
from imarena.images import prepare
from tests.unit.images.made import encode, photo

PICTURES = [image_part(prepare(encode(photo(seed=seed)))) for seed in range(4)]


def endpoint(*base_url: str, **settings: Any) -> Endpoint:
    """Short times, so that failures are met quickly."""
    quick = {"timeout_s": 5.0, "backoff_s": 0.005, "breaker_pause_s": 0.02, "breaker_failures": 10_000}
    return Endpoint(base_url=base_url, model="fake-vlm", **{**quick, **settings})


def questions(count: int) -> list[ChatRequest]:
    """Different requests with two pictures each."""
    return [single_question(f"Which is better? ({n})", PICTURES[n % 4], PICTURES[(n + 1) % 4]) for n in range(count)]


def body_of(request: ChatRequest, settings: Endpoint, *, structured: bool = True) -> bytes:
    """The bytes that the client sends for it."""
    return b"".join(body_pieces(request, settings, structured=structured))


def expected_answer(request: ChatRequest, settings: Endpoint) -> str:
    """What the fake server says to it."""
    query: ChatQuery = read_query(json.loads(body_of(request, settings)))
    return answer_by_hash(query)


async def ask_all(client: ChatClient, requests: Iterable[ChatRequest]) -> list[ChatReply]:
    """All at once."""
    return list(await asyncio.gather(*(client.complete(request) for request in requests)))


def seeded() -> random.Random:
    """Jitter that repeats."""
    return random.Random(7)
