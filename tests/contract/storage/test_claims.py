"""Claims on work: one owner at a time, on each kind of database."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from imarena.storage import Claims, Workspace
from imarena.storage.database import reading, writing

WORK = [f"work_{number:04d}" for number in range(1200)]


@pytest.fixture
def two(any_workspace: Workspace) -> Iterator[tuple[Claims, Claims]]:
    """Two processes at the same work."""
    with any_workspace.claims() as one, any_workspace.claims() as other:
        yield one, other


def rows(workspace: Workspace) -> int:
    """How many claims there are."""
    with reading(workspace.store.engine) as connection:
        return int(connection.execute(text("SELECT count(*) FROM claims")).scalar_one())


def test_work_has_one_owner(two: tuple[Claims, Claims], any_workspace: Workspace) -> None:
    one, other = two
    assert one.take(WORK) == {}
    assert one.take(WORK[:3]) == {}  # one's own
    assert other.take(WORK) == dict.fromkeys(WORK, one.owner)
    one.release(WORK[:700])
    other.release(WORK)  # another's are not given back
    assert other.take(WORK) == dict.fromkeys(WORK[700:], one.owner)
    assert rows(any_workspace) == len(WORK)


def test_a_run_that_ends_leaves_no_claims(any_workspace: Workspace) -> None:
    with any_workspace.claims() as one:
        one.take(WORK[:5])
    assert rows(any_workspace) == 0
    assert list((any_workspace.root / "locks").iterdir()) == []


def test_what_nobody_renews_is_taken_over(two: tuple[Claims, Claims], any_workspace: Workspace) -> None:
    one, other = two
    one.take(WORK[:2])
    with writing(any_workspace.store.engine) as connection:
        connection.execute(text("UPDATE claims SET expires = expires - 61 WHERE work_id = :w"), {"w": WORK[0]})
    assert other.take(WORK[:2]) == {WORK[1]: one.owner}
    assert one.take(WORK[:2]) == {WORK[0]: other.owner}


def test_renewing_makes_claims_last(two: tuple[Claims, Claims], any_workspace: Workspace) -> None:
    one, other = two
    one.take(WORK[:2])
    with writing(any_workspace.store.engine) as connection:
        connection.execute(text("UPDATE claims SET expires = expires - 1000"))
    one.renew()
    assert other.take(WORK[:2]) == dict.fromkeys(WORK[:2], one.owner)


def test_work_of_a_process_that_ended_on_this_machine_is_taken_at_once(any_workspace: Workspace) -> None:
    code = (
        "import os, sys; from pathlib import Path; from imarena.storage import open_workspace\n"
        "claims = open_workspace(Path(sys.argv[1])).claims().__enter__()\n"
        "claims.take(['a', 'b']); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(any_workspace.root)], check=False)
    assert rows(any_workspace) == 2
    with any_workspace.claims() as mine:
        assert mine.take(["a", "b", "c"]) == {}


def test_a_process_on_another_machine_is_waited_for(any_workspace: Workspace, tmp_path: Path) -> None:
    engine = any_workspace.store.engine
    there = Claims(engine, tmp_path / "elsewhere")
    there.owner = "another-machine:1234"
    with there, any_workspace.claims() as mine:
        there.take(["a"])
        assert mine.take(["a", "b"]) == {"a": there.owner}


def test_many_at_once_share_without_waiting_for_each_other(any_workspace: Workspace) -> None:
    """Whatever the order they ask in, every piece of work gets exactly one owner."""

    def claim(number: int) -> tuple[str, set[str]]:
        claims = any_workspace.claims()
        wanted = WORK[:200] if number % 2 else WORK[199::-1]
        mine: set[str] = set()
        for start in range(0, 200, 20):
            page = wanted[start : start + 20]
            mine |= set(page) - claims.take(page).keys()
        return claims.owner, mine

    with ThreadPoolExecutor(6) as pool:
        shares = list(pool.map(claim, range(6)))
    assert sorted(work for _, mine in shares for work in mine) == WORK[:200]


def test_claiming_renewing_and_releasing_at_once_do_not_wait_for_each_other_for_ever(
    two: tuple[Claims, Claims],
) -> None:
    """Each changes many rows, and PostgreSQL ends one of two that wait for rows of the other."""
    end = time.monotonic() + 4

    def work(claims: Claims, seed: int) -> None:
        dice = random.Random(seed)
        while time.monotonic() < end:
            some = dice.sample(WORK, 400)
            mine = set(some) - claims.take(some).keys()
            claims.renew()
            claims.release(dice.sample(sorted(mine), len(mine)))

    def renew(claims: Claims) -> None:
        while time.monotonic() < end:
            claims.renew()

    with ThreadPoolExecutor(6) as pool:
        running = [pool.submit(work, claims, seed) for seed, claims in enumerate((*two, *two))]
        running += [pool.submit(renew, claims) for claims in two]
        for each in running:
            each.result()


def test_claims_that_were_renewed_too_late_are_told_of(any_workspace: Workspace, tmp_path: Path) -> None:
    """A process that was stopped for a while renews what is left; what it took before may be another's."""
    with Claims(any_workspace.store.engine, tmp_path / "locks", life_s=0.5) as claims:
        claims.take(WORK[:2])
        assert claims.lapses == 0
        claims._ended.set()  # nothing renews them, as where the process is stopped
        time.sleep(0.6)
        assert (claims.lapsed, claims.lapses) == (True, 1)
        claims.renew()
        assert (claims.lapsed, claims.lapses) == (False, 1)
