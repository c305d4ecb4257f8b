"""Writers in line, the same on SQLite and on PostgreSQL: each piece of work stands or falls alone."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from imarena.core.errors import UserError
from imarena.core.records import Rater
from imarena.storage import Workspace
from imarena.storage.leases import insert_new
from imarena.storage.write_queue import WriteConflict, WriteQueue


@pytest.fixture
def write_queue(any_workspace: Workspace) -> Iterator[WriteQueue]:
    line = WriteQueue(any_workspace.store.engine)
    yield line
    line.close()


def add(name: str, then: BaseException | None = None) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        insert_new(connection, Rater(rater_id=name))
        if then is not None:
            raise then
        return name

    return work


def names(workspace: Workspace) -> set[str]:
    return {rater.rater_id for rater in workspace.store.records(Rater)}


def in_one_batch(write_queue: WriteQueue, jobs: list[Callable[[Connection], object]]) -> list["Future[object]"]:
    """Hold the line up with a first piece of work until all others wait behind it."""
    gate = threading.Event()
    first = write_queue.submit("p", lambda _: gate.wait(30))
    waiting = [write_queue.submit("p", job) for job in jobs]
    gate.set()
    first.result(30)
    return waiting


def test_a_refusal_touches_nobody_else_in_the_batch(any_workspace: Workspace, write_queue: WriteQueue) -> None:
    jobs: list[Callable[[Connection], object]] = [
        add("a"),
        add("b", UserError("no")),
        add("c"),
        add("d", KeyError("a mistake in the program")),
        add("e"),
    ]
    one, two, three, four, five = in_one_batch(write_queue, jobs)
    assert (one.result(30), three.result(30), five.result(30)) == ("a", "c", "e")
    with pytest.raises(UserError, match="no"):
        two.result(30)
    with pytest.raises(KeyError, match="mistake"):
        four.result(30)
    assert names(any_workspace) == {"a", "c", "e"}


def test_a_broken_query_does_not_take_the_batch_with_it(any_workspace: Workspace, write_queue: WriteQueue) -> None:
    def broken(connection: Connection) -> None:
        connection.execute(text("SELECT * FROM no_such_table"))

    one, two, three = in_one_batch(write_queue, [add("a"), broken, add("c")])
    assert (one.result(30), three.result(30)) == ("a", "c")
    with pytest.raises(DBAPIError) as told:
        two.result(30)
    assert isinstance(told.value, ProgrammingError) or "no such table" in str(told.value)
    assert names(any_workspace) == {"a", "c"}


def test_work_sees_what_went_before_it_in_the_same_batch(any_workspace: Workspace, write_queue: WriteQueue) -> None:
    def count(connection: Connection) -> int:
        return int(connection.execute(text("SELECT count(*) FROM raters")).scalar_one())

    found = in_one_batch(write_queue, [count, add("a"), count, add("b"), count])
    assert [job.result(30) for job in found] == [0, "a", 1, "b", 2]


def test_the_same_row_twice_is_tried_again_and_then_told(any_workspace: Workspace, write_queue: WriteQueue) -> None:
    runs = []

    def stubborn(connection: Connection) -> None:
        runs.append(1)
        insert_new(connection, Rater(rater_id="a"))

    one, two, three = in_one_batch(write_queue, [add("a"), stubborn, add("b")])
    assert (one.result(30), three.result(30)) == ("a", "b")
    with pytest.raises(WriteConflict):
        two.result(30)
    assert len(runs) == 6  # once with the batch, then five times in a savepoint
    assert names(any_workspace) == {"a", "b"}


def test_an_answer_comes_after_the_commit(any_workspace: Workspace, write_queue: WriteQueue) -> None:
    for number in range(20):
        write_queue.submit(f"p{number}", add(f"r{number}"), durable=True).result(30)
        assert f"r{number}" in names(any_workspace)


def test_closing_finishes_what_waits_and_a_cancelled_piece_is_left_out(
    any_workspace: Workspace, write_queue: WriteQueue
) -> None:
    gate = threading.Event()
    first = write_queue.submit("p", lambda _: gate.wait(30))
    kept, dropped = (write_queue.submit("p", add(name)) for name in ("kept", "dropped"))
    assert dropped.cancel()
    gate.set()
    write_queue.close()
    assert first.result(30)
    assert kept.result(30) == "kept"
    assert names(any_workspace) == {"kept"}


def test_many_threads_at_once_lose_nothing(any_workspace: Workspace, write_queue: WriteQueue) -> None:
    def send(start: int) -> None:
        for number in range(start, start + 50):
            write_queue.submit(f"p{number}", add(f"r{number}"), durable=number % 2 == 0).result(30)

    threads = [threading.Thread(target=send, args=(start,)) for start in range(0, 400, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(any_workspace) == {f"r{number}" for number in range(400)}
