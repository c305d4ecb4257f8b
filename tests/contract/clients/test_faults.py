"""Under every mix of faults each request ends ok or with its true status, and retries are bounded."""

import asyncio
import hashlib
from dataclasses import dataclass

import pytest

from imarena.clients import ChatClient, ChatReply, ChatRequest, Endpoint
from imarena.clients.fake_faults import Fault, Faults
from imarena.clients.fake_server import FakeServer
from imarena.core.records import Status
from tests.contract.clients.asking import ask_all, body_of, endpoint, expected_answer, questions, seeded

COUNT = 40
FAILING = (Fault.SERVER_ERROR, Fault.CUT_OFF, Fault.DISCONNECT, Fault.WRONG_JSON)

MIXES: dict[str, dict[Fault, float]] = {
    "none": {},
    **{fault.value: {fault: 0.4} for fault in Fault if fault is not Fault.HANG},
    "hang": {Fault.HANG: 0.2},
    "always_failing": {Fault.SERVER_ERROR: 1.0},
    "always_cut_off": {Fault.CUT_OFF: 1.0},
    "always_refusing": {Fault.FILTERED: 0.5, Fault.REFUSAL: 0.5},
    "errors": dict.fromkeys(FAILING, 0.2),
    "everything": {**dict.fromkeys(Fault, 0.07), Fault.HANG: 0.03},
    "hardly_ever_good": {**dict.fromkeys(Fault, 0.1), Fault.HANG: 0.02},
}


@dataclass(frozen=True)
class End:
    """How a request must end."""

    status: Status
    attempts: int
    empty: bool = False


def true_end(request: ChatRequest, settings: Endpoint, faults: Faults) -> End:
    """The stated retry rules, played by hand over the faults that the server will draw for this request."""
    digest = hashlib.sha256(body_of(request, settings)).hexdigest()
    failed = timeouts = throttled = 0
    for seen in range(1000):
        fault = faults.by_rate(digest, seen)
        if fault in {None, Fault.SLOW, Fault.EMPTY}:
            return End(Status.OK, seen + 1, empty=fault is Fault.EMPTY)
        if fault in {Fault.REFUSAL, Fault.FILTERED}:
            return End(Status.REFUSED, seen + 1)
        if fault is Fault.RATE_LIMITED:
            throttled += 1
            if throttled > settings.max_throttled:
                return End(Status.API_ERROR, seen + 1)
            continue
        if fault is Fault.HANG:
            timeouts += 1
        else:
            failed += 1
        if timeouts >= settings.max_timeouts or timeouts + failed >= settings.max_attempts:
            return End(Status.TIMEOUT if fault is Fault.HANG else Status.API_ERROR, seen + 1)
    raise AssertionError("no end")


@pytest.mark.parametrize("mix", MIXES)
def test_each_request_ends_with_its_true_status(mix: str) -> None:
    faults = Faults(MIXES[mix], seed=3, retry_after="0.01", hang_s=30.0, slow_s=0.02)
    requests = questions(COUNT)

    async def run() -> tuple[list[ChatReply], Endpoint, FakeServer]:
        async with FakeServer(faults=faults) as server:
            timeout_s = 4.0 if Fault.HANG in MIXES[mix] else 30.0
            settings = endpoint(server.base_url, timeout_s=timeout_s, max_concurrency=20)
            async with ChatClient(settings, rng=seeded()) as client:
                return await ask_all(client, requests), settings, server

    replies, settings, server = asyncio.run(run())
    for request, reply in zip(requests, replies, strict=True):
        end = true_end(request, settings, faults)
        assert End(reply.status, reply.attempts, reply.status is Status.OK and not reply.text) == end, reply.error
        if reply.status is Status.OK and not end.empty:
            assert reply.text == expected_answer(request, settings)
            assert reply.usage.input_tokens
        if reply.status is not Status.OK:
            assert reply.error
            assert not reply.text
    assert server.counts.requests == sum(reply.attempts for reply in replies)
    assert server.counts.most_in_flight <= 20


def test_a_second_pass_finishes_exactly_what_is_missing() -> None:
    faults = Faults({Fault.SERVER_ERROR: 0.5, Fault.CUT_OFF: 0.2}, seed=1)
    requests = questions(COUNT)

    async def run() -> tuple[list[int], list[ChatReply], Endpoint, int]:
        done: dict[int, ChatReply] = {}
        sizes = []
        async with FakeServer(faults=faults) as server:
            settings = endpoint(server.base_url, max_attempts=2)
            async with ChatClient(settings, rng=seeded()) as client:
                for _ in range(30):
                    missing = [n for n in range(COUNT) if n not in done]
                    sizes.append(len(missing))
                    replies = await ask_all(client, [requests[n] for n in missing])
                    done |= {n: r for n, r in zip(missing, replies, strict=True) if r.status is Status.OK}
                    if len(done) == COUNT:
                        break
        return sizes, [done[n] for n in range(COUNT)], settings, server.counts.answered

    sizes, replies, settings, answered = asyncio.run(run())
    assert sizes[0] == COUNT
    assert sizes == sorted(sizes, reverse=True)
    assert answered == COUNT  # no answer was asked for twice
    assert [reply.text for reply in replies] == [expected_answer(request, settings) for request in requests]


def test_cancelling_leaves_nothing_behind() -> None:
    async def run() -> None:
        async with (
            FakeServer(reply_s=30.0) as server,
            ChatClient(endpoint(server.base_url, max_concurrency=2)) as client,
        ):
            tasks = [asyncio.create_task(client.complete(request)) for request in questions(5)]
            while server.counts.requests < 2:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            assert server.counts.requests == 2
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(end, asyncio.CancelledError) for end in ends)
            assert client.totals.requests == 0
            server.reply_s = 0.0
            reply = await client.complete(questions(1)[0])
            assert reply.status is Status.OK

    asyncio.run(run())
