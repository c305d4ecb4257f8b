"""The engine: bounded, in batches, failures become records, stops keep what was done."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.core.errors import BudgetSpent, StoreError
from imarena.engine import SOON_S, RunPlan, run_plan

Row = tuple[int, str]


def plan(work: Iterator[int] | range, written: list[Row], concurrency: int = 8) -> RunPlan[int, Row]:
    async def do(_: int, number: int) -> Row:
        await asyncio.sleep(0)
        if number % 7 == 3:
            raise ValueError(f"no {number}")
        return number, "ok"

    return RunPlan(work, do, lambda number, error: (number, str(error)), written.extend, concurrency=concurrency)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 700), st.integers(1, 40))
def test_everything_is_done_once_and_failures_are_told(count: int, concurrency: int) -> None:
    written: list[Row] = []
    tally = asyncio.run(run_plan(plan(range(count), written, concurrency=concurrency)))
    assert tally.done == count
    assert sorted(number for number, _ in written) == list(range(count))
    assert all(said == (f"no {number}" if number % 7 == 3 else "ok") for number, said in written)


def test_work_is_taken_only_when_it_is_needed() -> None:
    taken: list[int] = []
    busy = 0
    most = 0

    def source() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    async def do(_: int, number: int) -> int:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        assert len(taken) - number <= 4
        await asyncio.sleep(0.001)
        busy -= 1
        return number

    asyncio.run(run_plan(RunPlan(source(), do, lambda number, _: number, lambda _: None, concurrency=4)))
    assert most == 4


def test_a_spent_budget_stops_and_keeps_what_was_done() -> None:
    written: list[int] = []

    async def do(_: int, number: int) -> int:
        if number == 10:
            raise BudgetSpent("the budget of $1 is spent")
        return number

    tally = asyncio.run(run_plan(RunPlan(range(100), do, lambda _work, _error: -1, written.extend, concurrency=1)))
    assert tally.stopped == "the budget of $1 is spent"
    assert written == list(range(10))


def test_a_broken_store_is_not_turned_into_records() -> None:
    def write(_: list[int]) -> None:
        raise StoreError("the disk is full")

    async def do(_: int, number: int) -> int:
        return number

    with pytest.raises(StoreError, match="disk is full"):
        asyncio.run(run_plan(RunPlan(range(3), do, lambda number, _: number, write)))


def test_results_are_written_while_others_are_in_progress() -> None:
    """What arrives during a write goes into the next one, which begins at once; its slots do not wait."""
    written: list[list[int]] = []
    release, begun = threading.Event(), threading.Event()
    seen: list[int] = []

    def write(batch: list[int]) -> None:
        written.append(batch)
        if len(written) == 1:
            begun.set()
            assert release.wait(20)

    async def do(_: int, number: int) -> int:
        if 0 < number < 5:
            while not begun.is_set():
                await asyncio.sleep(0.001)
        if number == 5:  # everything else has a result
            while len(seen) < 4:
                await asyncio.sleep(0.001)
            release.set()
            while sum(map(len, written)) < 5:
                await asyncio.sleep(0.001)  # ends only if the others are written before this has a result
        if 0 < number < 5:
            seen.append(number)
        return number

    async def run() -> None:
        await asyncio.wait_for(
            run_plan(RunPlan(range(6), do, lambda number, _: number, write, concurrency=6, flush_s=SOON_S)), 20
        )

    asyncio.run(run())
    assert written[0] == [0]
    assert sorted(number for batch in written[1:-1] for number in batch) == [1, 2, 3, 4]
    assert written[-1] == [5]


def test_computed_results_are_written_in_batches() -> None:
    """Far fewer writes than results, if they arrive quickly."""
    written: list[int] = []
    asyncio.run(
        run_plan(RunPlan(range(1000), _at_once, lambda number, _: number, lambda batch: written.append(len(batch))))
    )
    assert sum(written) == 1000
    assert len(written) <= 8


async def _at_once(_: int, number: int) -> int:
    await asyncio.sleep(0)
    return number
