"""Limits, routes, money, structured output and keys, against the fake server."""

import asyncio
import base64
import json
import logging
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import quote

import pytest

from imarena.clients import Budget, ChatClient, ChatReply, CostLimitReached, Endpoint, single_question
from imarena.clients.fake_answers import ChatQuery
from imarena.clients.fake_faults import Fault, Faults, TokenBucket
from imarena.clients.fake_server import FakeServer
from imarena.core.errors import UserError
from imarena.core.records import JsonDict, Status
from tests.contract.clients.asking import ask_all, endpoint, expected_answer, questions, seeded

SCHEMA: JsonDict = {
    "type": "object",
    "properties": {
        "winner": {"enum": ["left", "right"]},
        "score": {"type": "integer", "minimum": 1, "maximum": 6},
    },
    "required": ["winner", "score"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_delays_the_request_that_got_it_and_no_other(as_date: bool) -> None:
    arrivals: dict[str, float] = {}

    def note(query: ChatQuery) -> str:
        arrivals[query.text] = time.monotonic()
        return "fine"

    async def run() -> tuple[float, list[ChatReply]]:
        # an HTTP date has whole seconds: two ahead is at least one
        moment = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
        faults = Faults({Fault.RATE_LIMITED: 1.0}, retry_after=moment if as_date else "0.5")
        async with (
            FakeServer(answer=note, faults=faults) as server,
            ChatClient(endpoint(server.base_url), rng=seeded()) as client,
        ):
            first = asyncio.create_task(client.complete(single_question("one")))
            while not server.counts.faults:
                await asyncio.sleep(0.01)
            started = time.monotonic()
            server.faults = Faults()
            rest = await ask_all(client, questions(5))
            return started, [await first, *rest]

    started, replies = asyncio.run(run())
    assert all(reply.status is Status.OK for reply in replies)
    assert [reply.attempts for reply in replies] == [2, 1, 1, 1, 1, 1]
    delayed = arrivals.pop("one")
    assert delayed - started >= 0.4
    assert max(arrivals.values()) < delayed


def test_a_rate_limit_is_kept_and_every_answer_is_the_servers_own() -> None:
    """A token bucket and random faults together: nothing fails, and no fault becomes an answer."""

    async def run() -> tuple[list[ChatReply], Endpoint, FakeServer]:
        faults = Faults({Fault.RATE_LIMITED: 0.05, Fault.SERVER_ERROR: 0.05}, seed=5, retry_after="0.2")
        async with FakeServer(faults=faults, bucket=TokenBucket(60, burst=10), reply_s=0.1) as server:
            settings = endpoint(server.base_url, max_concurrency=32, max_attempts=20)
            async with ChatClient(settings, rng=seeded()) as client:
                return await ask_all(client, questions(200)), settings, server

    replies, settings, server = asyncio.run(run())
    for request, reply in zip(questions(200), replies, strict=True):
        assert reply.status is Status.OK, reply.error
        assert reply.text == expected_answer(request, settings)
    assert server.counts.answered == 200  # no answer was asked for twice
    assert server.counts.faults["rate_limited"] < 150


def test_a_retry_after_that_is_too_long_ends_the_request() -> None:
    async def run() -> ChatReply:
        async with (
            FakeServer(faults=Faults({Fault.RATE_LIMITED: 1.0}, retry_after="3600")) as server,
            ChatClient(endpoint(server.base_url, max_wait_s=5)) as client,
        ):
            return await client.complete(single_question("one"))

    reply = asyncio.run(run())
    assert (reply.status, reply.attempts, reply.http_status) == (Status.API_ERROR, 1, 429)


def test_requests_per_minute_space_the_sending() -> None:
    async def run() -> float:
        async with (
            FakeServer() as server,
            ChatClient(endpoint(server.base_url, requests_per_minute=1200)) as client,
        ):
            started = time.monotonic()
            await ask_all(client, questions(9))
            return time.monotonic() - started

    assert asyncio.run(run()) >= 8 * 0.05


def test_concurrency_is_bounded() -> None:
    async def run() -> int:
        async with FakeServer(reply_s=0.02) as server:
            async with ChatClient(endpoint(server.base_url, max_concurrency=3)) as client:
                await ask_all(client, questions(20))
            return server.counts.most_in_flight

    assert asyncio.run(run()) == 3


def test_several_addresses_share_the_work_and_cover_for_a_dead_one() -> None:
    async def run() -> tuple[list[ChatReply], int, int]:
        async with FakeServer(reply_s=0.01) as one, FakeServer(reply_s=0.01) as two:
            dead = "http://127.0.0.1:9/v1"
            settings = endpoint(
                one.base_url, dead, two.base_url, max_concurrency=4, breaker_failures=2, breaker_pause_s=60
            )
            async with ChatClient(settings, rng=seeded()) as client:
                replies = await ask_all(client, questions(40))
            return replies, one.counts.requests, two.counts.requests

    replies, one, two = asyncio.run(run())
    assert all(reply.status is Status.OK for reply in replies)
    assert min(one, two) >= 10
    assert sum(reply.attempts for reply in replies) <= 40 + 8  # the breaker stops trying the dead one


def test_a_refused_key_does_not_swallow_the_work_of_the_others() -> None:
    """The route that turns requests away is the fastest one: it must not get them all."""

    async def scenario() -> None:
        good, bad = FakeServer(reply_s=0.02, api_key="right-key-1"), FakeServer(api_key="right-key-2")
        async with good, bad:
            settings = endpoint(
                good.base_url, bad.base_url, api_key_env=["ONE", "TWO"], max_concurrency=4, breaker_failures=5
            )
            keys = {"ONE": "right-key-1", "TWO": "revoked-key"}
            async with ChatClient(settings, environ=keys) as client:
                replies = await ask_all(client, questions(60))
            assert {reply.status for reply in replies} == {Status.OK}
            assert good.counts.requests == 60
            assert bad.counts.requests <= 2 * settings.breaker_failures  # those under way when it was set aside

    asyncio.run(scenario())


def test_one_refused_key_ends_the_run_without_asking_everything() -> None:
    async def scenario() -> None:
        async with FakeServer(api_key="right-key-1") as server:
            settings = endpoint(server.base_url, api_key_env="ONE", max_concurrency=2, breaker_failures=5)
            async with ChatClient(settings, environ={"ONE": "revoked-key"}) as client:
                replies = await ask_all(client, questions(60))
            assert {reply.status for reply in replies} == {Status.API_ERROR}
            assert all("Incorrect API key" in reply.error for reply in replies)
            assert server.counts.requests <= settings.breaker_failures + 2

    asyncio.run(scenario())


def test_the_breaker_pauses_and_then_goes_on() -> None:
    async def run() -> tuple[list[ChatReply], int]:
        async with FakeServer(faults=Faults({Fault.SERVER_ERROR: 1.0})) as server:
            settings = endpoint(
                server.base_url, max_concurrency=2, breaker_failures=4, breaker_pause_s=0.6, max_attempts=10
            )
            async with ChatClient(settings, rng=seeded()) as client:
                waiting = asyncio.create_task(ask_all(client, questions(10)))
                await asyncio.sleep(0.2)
                seen = server.counts.requests
                server.faults = Faults()
                return await waiting, seen

    replies, seen = asyncio.run(run())
    assert 4 <= seen <= 6  # paused: no more were sent
    assert all(reply.status is Status.OK for reply in replies)


def test_an_endpoint_that_stays_down_ends_as_errors_not_as_waiting() -> None:
    async def run() -> list[ChatReply]:
        settings = endpoint(
            "http://127.0.0.1:9/v1", breaker_failures=2, breaker_trials=2, breaker_pause_s=0.05, max_attempts=3
        )
        async with ChatClient(settings, rng=seeded()) as client:
            return await asyncio.wait_for(ask_all(client, questions(30)), 10)

    replies = asyncio.run(run())
    assert {reply.status for reply in replies} == {Status.API_ERROR}
    assert all(reply.error and not reply.text for reply in replies)
    assert sum(reply.attempts for reply in replies) < 60


@pytest.mark.parametrize("limit", [0.0, 0.004, 0.02])
def test_the_cost_limit_is_never_passed(limit: float) -> None:
    async def run() -> tuple[Budget, float, int]:
        async with FakeServer(reply_s=0.01, faults=Faults({Fault.CUT_OFF: 0.3}, seed=2)) as server:
            prices = {"input_usd_per_million": 2.0, "output_usd_per_million": 8.0}
            budget = Budget(limit)
            async with ChatClient(endpoint(server.base_url, **prices), budget=budget, rng=seeded()) as client:
                requests = [single_question(f"{n}", max_tokens=50) for n in range(60)]
                ends = await asyncio.gather(*(client.complete(request) for request in requests), return_exceptions=True)
                stopped = [end for end in ends if isinstance(end, CostLimitReached)]
                assert len(stopped) + client.totals.requests == 60
                return budget, client.totals.cost_usd, len(stopped)

    budget, known, stopped = asyncio.run(run())
    assert known <= budget.spent_usd <= limit
    assert budget.reserved_usd == pytest.approx(0, abs=1e-12)
    assert stopped == 60 if limit == 0 else stopped > 0
    assert known > 0 or limit == 0


def test_a_cost_limit_needs_prices() -> None:
    with pytest.raises(UserError, match="needs prices"):
        ChatClient(endpoint("http://127.0.0.1:9/v1"), budget=Budget(1))


def test_tokens_and_costs_add_up() -> None:
    async def run() -> ChatClient:
        async with FakeServer(answer=lambda _: "x" * 40) as server:
            prices = {"input_usd_per_million": 1_000_000, "output_usd_per_million": 2_000_000}
            async with ChatClient(endpoint(server.base_url, **prices)) as client:
                await ask_all(client, [single_question("y" * 80), single_question("z" * 400)])
                return client

    totals = asyncio.run(run()).totals
    assert (totals.input_tokens, totals.output_tokens) == (120, 20)
    assert totals.cost_usd == pytest.approx(160)


@pytest.mark.parametrize(("mode", "sent"), [("honour", 6), ("ignore", 6), ("reject", 7)])
def test_structured_output_is_used_where_it_is_honoured(mode: str, sent: int) -> None:
    async def run() -> tuple[list[ChatReply], int]:
        async with (
            FakeServer(structured=mode) as server,  # type: ignore[arg-type]
            ChatClient(endpoint(server.base_url)) as client,
        ):
            first = await client.complete(single_question("0", schema=SCHEMA))
            rest = await ask_all(client, [single_question(f"{n}", schema=SCHEMA) for n in range(1, 6)])
            return [first, *rest], server.counts.requests

    replies, requests = asyncio.run(run())
    assert all(reply.status is Status.OK for reply in replies)
    assert requests == sent  # a rejection is met once and remembered
    keys = {frozenset(json.loads(reply.text)) for reply in replies}
    assert (keys == {frozenset({"winner", "score"})}) == (mode == "honour")


def test_a_bad_request_stays_a_bad_request() -> None:
    async def run() -> ChatReply:
        async with FakeServer(models=("other",)) as server, ChatClient(endpoint(server.base_url)) as client:
            return await client.complete(single_question("x", schema=SCHEMA))

    reply = asyncio.run(run())
    assert (reply.status, reply.attempts, reply.http_status) == (Status.API_ERROR, 2, 404)


def test_models_are_listed() -> None:
    async def run() -> list[str]:
        async with FakeServer(models=("b", "a")) as server, ChatClient(endpoint(server.base_url)) as client:
            return await client.models()

    assert asyncio.run(run()) == ["b", "a"]


def test_the_default_answer_does_not_depend_on_the_order() -> None:
    async def run() -> list[ChatReply]:
        async with FakeServer() as server, ChatClient(endpoint(server.base_url)) as client:
            left, right = questions(1)[0].images
            return await ask_all(
                client,
                [single_question("?", left, right, schema=SCHEMA), single_question("?", right, left, schema=SCHEMA)],
            )

    first, second = (json.loads(reply.text)["winner"] for reply in asyncio.run(run()))
    assert {first, second} == {"left", "right"}


CANARY = "sk-canary-7f3a9b1c5d"


async def _garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that answers with the request's own head, which is not HTTP."""
    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(head)
    await writer.drain()
    writer.close()


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that puts the key, in four spellings, across the place where an error message is cut."""
    head = await reader.readuntil(b"\r\n\r\n")
    key = next(line.split(b"Bearer ")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"authorization"))
    spelt = (key, quote(key, safe="").encode(), base64.b64encode(b"Bearer " + key), key[:-1])
    said = spelt[int(head.split(b"/v")[1][:1]) % len(spelt)].decode()
    body = json.dumps({"error": {"message": "x" * 488 + said, "type": "auth"}}).encode()
    writer.write(
        b"HTTP/1.1 401 No\r\nContent-Length: " + str(len(body)).encode() + b"\r\nConnection: close\r\n\r\n" + body
    )
    await writer.drain()
    writer.close()


def test_a_key_across_the_cut_of_an_error_appears_nowhere() -> None:
    async def run() -> list[str]:
        server = await asyncio.start_server(_echo, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        errors = []
        for number in range(4):
            settings = endpoint(f"http://127.0.0.1:{port}/v{number}", api_key_env="CANARY_KEY", max_attempts=1)
            async with ChatClient(settings, environ={"CANARY_KEY": CANARY}) as client:
                errors.append((await client.complete(single_question("one"))).error)
        server.close()
        return errors

    for error in asyncio.run(run()):
        assert error.startswith("HTTP 401: xxx")
        assert "x" * 488 + CANARY[:4] not in error
        assert "canary" not in error
        assert base64.b64encode(f"Bearer {CANARY}".encode()).decode()[12:24] not in error


def test_a_key_appears_nowhere(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """The canary is sent, and is in no reply, error, log, repr or setting afterwards."""
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    environ = {"CANARY_KEY": CANARY}

    async def run() -> None:
        garbage = await asyncio.start_server(_garbage, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{garbage.sockets[0].getsockname()[1]}/v1"
        faults = Faults({Fault.SERVER_ERROR: 0.2, Fault.CUT_OFF: 0.2, Fault.REFUSAL: 0.2})
        async with (
            FakeServer(api_key=CANARY, answer=lambda _: f"your key is {CANARY}", faults=faults) as good,
            FakeServer(api_key="other") as bad,
        ):
            for url in (good.base_url, bad.base_url, address, "http://127.0.0.1:9/v1"):
                settings = endpoint(url, api_key_env="CANARY_KEY", max_attempts=2)
                async with ChatClient(settings, environ=environ) as client:
                    replies = await ask_all(client, questions(6))
                    shown.extend((repr(replies), str(replies), repr(client), repr(vars(client))))
                    shown.extend((repr(settings), settings.model_dump_json(), repr(client.totals)))
                    try:
                        shown.append(str(await client.models()))
                    except UserError as error:
                        shown.extend((str(error), repr(error), repr(error.__cause__), repr(error.__context__)))
            assert good.counts.answered > 0
        garbage.close()

    asyncio.run(run())
    captured = capsys.readouterr()
    everything = "\n".join([*shown, caplog.text, captured.out, captured.err])
    assert "[key removed]" in everything
    assert CANARY not in everything
