"""Judges over the real client and the fake server: faults end in statuses, and a second run heals them."""

import asyncio
import json
from dataclasses import replace
from typing import Literal

import pytest

from imarena.clients import ChatClient, Endpoint
from imarena.clients.fake_answers import ChatQuery
from imarena.clients.fake_faults import Fault, Faults
from imarena.clients.fake_server import FakeServer
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Exhibit
from imarena.core.records import Outcome, Status
from imarena.judges import JUDGES, BattleVerdict, ask_both_orders
from imarena.judges.chat.client_chat import chat_over, options_at
from tests.unit.judges.chats import picture

COLOURS = ["red", "green", "blue", "black", "white", "orange", "purple", "grey"]
PAIRS = [
    Exhibit(
        instruction=f"Task {i}",
        left=picture(COLOURS[i % 8]),
        right=picture(COLOURS[(i + 3) % 8]),
        sources=(picture("pink"),),
    )
    for i in range(24)
]


def better_by_hash(query: ChatQuery) -> str:
    first = query.first_is_better
    return json.dumps({"reasons": {}, "score": 5 if first else 2, "winner": "A" if first else "B", "confidence": 0.5})


async def battles(server: FakeServer, pairs: list[Exhibit], name: str = "genarena") -> list[BattleVerdict]:
    endpoint = Endpoint(base_url=(server.base_url,), model="fake-vlm", timeout_s=0.5, max_timeouts=1, max_attempts=1,
                        backoff_s=0.01, breaker_pause_s=0.05, breaker_failures=50, max_throttled=2)  # fmt: skip
    async with ChatClient(endpoint) as client:
        judge = JUDGES.get(name)(options_at(endpoint), chat_over(client, endpoint.preparation))
        assert judge.params["images"] == endpoint.preparation.label
        return list(await asyncio.gather(*(ask_both_orders(judge, pair) for pair in pairs)))


async def run(rates: dict[Fault, float], rounds: int, seed: int = 0) -> list[list[BattleVerdict]]:
    history = []
    async with FakeServer(
        answer=better_by_hash, faults=Faults(rates, seed=seed, hang_s=5.0, retry_after="0.01")
    ) as server:
        found = await battles(server, PAIRS)
        history.append(found)
        for _ in range(rounds):
            missing = [i for i, verdict in enumerate(found) if verdict.status is not Status.OK]
            if not missing:
                break
            again = await battles(server, [PAIRS[i] for i in missing])
            found = list(found)
            for place, verdict in zip(missing, again, strict=True):
                found[place] = verdict
            history.append(found)
    return history


def test_faults_make_no_verdicts_and_resume_finishes() -> None:
    clean = asyncio.run(run({}, 0))[-1]
    assert all(verdict.status is Status.OK and verdict.consistent for verdict in clean)
    assert {verdict.preference for verdict in clean} == {Outcome.LEFT, Outcome.RIGHT}
    rates = dict.fromkeys([Fault.SERVER_ERROR, Fault.WRONG_JSON, Fault.CUT_OFF, Fault.REFUSAL, Fault.EMPTY], 0.06)
    rates |= {Fault.RATE_LIMITED: 0.1, Fault.HANG: 0.03}
    history = asyncio.run(run(rates, 40))
    first = history[0]
    failed = [verdict for verdict in first if verdict.status is not Status.OK]
    assert failed, "the faults have to bite"
    assert all(verdict.preference is None and not verdict.scores for verdict in failed)
    for found in history:
        for got, true in zip(found, clean, strict=True):
            if got.status is Status.OK:
                assert (got.preference, got.scores) == (true.preference, true.scores)
    assert all(verdict.status is Status.OK for verdict in history[-1])


@pytest.mark.parametrize(
    ("fault", "status"),
    [(Fault.SERVER_ERROR, Status.API_ERROR), (Fault.REFUSAL, Status.REFUSED), (Fault.FILTERED, Status.REFUSED), (Fault.EMPTY, Status.UNPARSABLE),
     (Fault.HANG, Status.TIMEOUT), (Fault.RATE_LIMITED, Status.API_ERROR)],
)  # fmt: skip
def test_each_fault_has_its_status(fault: Fault, status: Status) -> None:
    async def one() -> BattleVerdict:
        async with FakeServer(
            answer=better_by_hash, faults=Faults({fault: 1.0}, hang_s=2.0, retry_after="0.01")
        ) as server:
            return (await battles(server, PAIRS[:1]))[0]

    verdict = asyncio.run(one())
    assert (verdict.status, verdict.preference) == (status, None)


def test_an_unreadable_picture_is_never_sent() -> None:
    async def one() -> tuple[BattleVerdict, int]:
        async with FakeServer(answer=better_by_hash) as server:
            found = await battles(server, [replace(PAIRS[0], right=b"no picture")])
            return found[0], server.counts.requests

    verdict, requests = asyncio.run(one())
    assert verdict.status is Status.INVALID_IMAGE
    assert requests == 0
    assert sha256_hex(PAIRS[0].left)


@pytest.mark.parametrize("name", ["cv-judge", "viescore", "imagenworld", "editscore"])
def test_pointwise_judges_read_structured_replies(name: str) -> None:
    async def one() -> None:
        async with FakeServer() as server:
            endpoint = Endpoint(base_url=(server.base_url,), model="fake-vlm")
            async with ChatClient(endpoint) as client:
                judge = JUDGES.get(name)(options_at(endpoint), chat_over(client, endpoint.preparation))
                verdict = await judge.judge(replace(PAIRS[0], right=None))
                assert verdict.status is Status.OK, verdict.error
                assert verdict.score is not None
                assert verdict.usage.input_tokens

    asyncio.run(one())


@pytest.mark.parametrize("structured", ["honour", "ignore"])
def test_the_fake_servers_own_answers_are_readable_and_mirrored(structured: Literal["honour", "ignore"]) -> None:
    async def asked() -> list[BattleVerdict]:
        async with FakeServer(structured=structured) as server:
            return await battles(server, PAIRS[:8])

    found = asyncio.run(asked())
    assert [verdict.status for verdict in found] == [Status.OK] * 8
    assert all(verdict.consistent for verdict in found)
    # a whole number, hence the same in both orders: s and 7 - s
    assert {verdict.scores["left.preference"] for verdict in found} <= {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
    for verdict in found:
        assert (verdict.scores["left.preference"] > 3.5) == (verdict.preference is Outcome.LEFT)
