"""The breaker and the limits, on a clock that the test turns."""

import asyncio
import math
from typing import Any

import pytest

from imarena.clients import Endpoint
from imarena.clients.routes import Dispatcher, EndpointDown, Route


def route(**settings: Any) -> Route:
    defaults = {"max_concurrency": 4, "breaker_failures": 3, "breaker_pause_s": 10.0, "breaker_trials": 2}
    return Route("http://x/v1", None, Endpoint(base_url=("http://x/v1",), model="m", **{**defaults, **settings}))


def test_a_429_leaves_the_route_open_and_half_of_a_window_pauses_it() -> None:
    target = route(max_concurrency=16)
    for _ in range(16):
        target.take(0.0)
    target.in_flight = 0
    target.throttled(0.5, 30.0)
    assert target.wait_s(0.5) == 0.0
    for _ in range(7):
        target.throttled(0.5, 30.0)
    assert target.wait_s(0.5) == pytest.approx(30.0)


def test_errors_that_overtake_the_answers_do_not_open_the_breaker() -> None:
    target = route(max_concurrency=64)
    for _ in range(20):
        target.take(0.0)
    for _ in range(9):
        target.failed(0.01, "HTTP 500")
        target.in_flight -= 1
    assert not target.broken  # eleven are still out
    target.succeeded(0.5, 0.5)
    for _ in range(11):
        target.failed(0.6, "HTTP 500")
        target.in_flight -= 1
    assert target.broken


def test_the_breaker_opens_tries_once_and_closes() -> None:
    one = route()
    for _ in range(3):
        one.failed(0.0, "HTTP 500")
    assert one.wait_s(0.0) == 10.0
    one.failed(1.0, "late")  # was out before: does not prolong the pause
    assert one.wait_s(10.0) == 0.0
    one.take(10.0)
    assert one.wait_s(10.0) == math.inf  # one trial at a time
    one.failed(11.0, "again")
    one.in_flight -= 1
    assert one.wait_s(11.0) == 20.0  # twice as long
    one.take(31.0)
    one.succeeded(31.5, 0.5)
    one.in_flight -= 1
    assert one.wait_s(31.5) == 0.0
    assert not one.broken


def test_a_route_counts_as_down_after_its_trials() -> None:
    one = route()
    for _ in range(3):
        one.failed(0.0, "x")
    now = 0.0
    for _ in range(2):
        now = one.paused_until
        one.take(now)
        one.failed(now, "x")
        one.in_flight -= 1
    assert one.down(now)
    assert not one.down(one.paused_until)  # then one more trial is due


def test_requests_per_minute_space_the_sends() -> None:
    one = route(requests_per_minute=60)
    one.take(0.0)
    assert one.wait_s(0.0) == 1.0
    one.take(1.0)
    assert one.wait_s(1.5) == 0.5


def test_waiting_is_first_come_first_served_and_survives_cancelling() -> None:
    async def run() -> list[int]:
        one = route(max_concurrency=1)
        dispatcher = Dispatcher((one,), asyncio.get_running_loop().time)
        order: list[int] = []

        async def work(number: int) -> None:
            taken = await dispatcher.acquire()
            order.append(number)
            await asyncio.sleep(0)
            dispatcher.release(taken)

        tasks = [asyncio.create_task(work(number)) for number in range(6)]
        await asyncio.sleep(0)
        tasks[3].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert one.in_flight == 0
        return order

    assert asyncio.run(run()) == [0, 1, 2, 4, 5]


def test_all_waiters_end_when_every_route_is_down() -> None:
    async def run() -> list[BaseException | Route]:
        one = route(breaker_failures=1, breaker_trials=1, breaker_pause_s=100.0)
        loop = asyncio.get_running_loop()
        one.failed(loop.time(), "HTTP 500: x")
        dispatcher = Dispatcher((one,), loop.time)
        waiting = [asyncio.create_task(dispatcher.acquire()) for _ in range(3)]
        await asyncio.sleep(0)
        one.trials = 2
        other = asyncio.create_task(dispatcher.acquire())
        ends = await asyncio.gather(*waiting, other, return_exceptions=True)
        dispatcher.close()
        return ends

    ends = asyncio.run(run())
    assert all(isinstance(end, EndpointDown) for end in ends)
