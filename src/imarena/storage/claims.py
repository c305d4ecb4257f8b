"""Claims: which process works on what, so that two processes on one database never pay for the same work twice.

A claim is one row, taken by conditional insert and renewed while its process lives. It ends when it is released, when
nobody renewed it for `LIFE_S`, or when its process is known to be dead: on one machine, each process holds a lock
on its own file, which is released however the process ends. Times are the database's, since machine clocks differ.
"""

import contextlib
import logging
import secrets
import socket
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, Any, Self

from sqlalchemy import Connection, Engine

from imarena.core import DatabaseFailed
from imarena.storage.database import reading, writing

LIFE_S = 60.0
"""Lifetime of a claim that is not renewed: after it, the work of a dead machine is taken over."""
PAGE = 500
_NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) AS double precision)",
}
_LOG = logging.getLogger(__name__)


class Claims:
    """The claims of one run. Use it as a context manager: leaving it releases them all."""

    def __init__(self, engine: Engine, locks: Path, life_s: float = LIFE_S) -> None:
        self.owner = f"{socket.gethostname()}:{secrets.token_hex(8)}"
        self._engine = engine
        self._locks = locks
        self._life_s = life_s
        self._now = _NOW[engine.dialect.name]
        self._mark = "?" if engine.dialect.name == "sqlite" else "%s"
        self._kept = (_clock(), 0)
        """Time of the last renewal, and the number of earlier renewals that came too late."""
        self._ended = threading.Event()
        self._file: IO[str] | None = None
        self._renewing = threading.Thread(target=self._keep_renewing, name="claims", daemon=True)

    def __enter__(self) -> Self:
        self._file = _locked_file(self._lock_of(self.owner))
        self._renewing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._renewing.join()
        with contextlib.suppress(DatabaseFailed):  # they expire by themselves
            self._drop_owner(self.owner)
        if self._file is not None:
            self._lock_of(self.owner).unlink(missing_ok=True)
            self._file.close()

    @property
    def lapsed(self) -> bool:
        """Could another process have taken these claims over, because they were not renewed in time?"""
        return _clock() - self._kept[0] > self._life_s * 0.8

    @property
    def lapses(self) -> int:
        """Number of late renewals: claims taken before the last of these may now belong to another process."""
        renewed, lapses = self._kept
        return lapses + (_clock() - renewed > self._life_s * 0.8)

    def take(self, work: Collection[str]) -> dict[str, str]:
        """Claim all of this work that is free; returns the rest with its owners."""
        started = _clock()
        identities = sorted(work)  # same order for all, or two processes could wait for each other's rows forever
        if self.lapsed:
            self.renew()
        with writing(self._engine) as connection:
            claimed = {identity for start in range(0, len(identities), PAGE)
                     for identity in self._insert(connection, identities[start : start + PAGE])}  # fmt: skip
        busy = [identity for identity in identities if identity not in claimed]
        owners = self._owners(busy) if busy else {}
        dead = {owner for owner in set(owners.values()) if self._is_dead(owner)}
        for owner in dead:
            _LOG.warning("taking over the work of a process that ended")
            self._drop_owner(owner)
        free = [identity for identity in busy if owners.get(identity) is None or owners[identity] in dead]
        if free and _clock() - started < self._life_s:  # the other claims ended meanwhile
            return {identity: owner for identity, owner in owners.items() if owner not in dead} | self.take(free)
        return {identity: owners.get(identity, "") for identity in busy}

    def renew(self) -> None:
        """Extend the claims, from now on."""
        started = _clock()
        with writing(self._engine) as connection:
            own = _locked(self._engine, f"owner = {self._mark}")
            statement = f"UPDATE claims SET expires = {self._now} + {self._mark} WHERE {own}"  # noqa: S608
            connection.exec_driver_sql(statement, (self._life_s, self.owner))
        self._kept = (started, self.lapses)

    def release(self, work: Sequence[str]) -> None:
        """Release claims."""
        with writing(self._engine) as connection:
            for start in range(0, len(work), PAGE):
                page = sorted(work[start : start + PAGE])
                marks = ", ".join([self._mark] * len(page))
                own = _locked(self._engine, f"work_id IN ({marks}) AND owner = {self._mark}")
                connection.exec_driver_sql(f"DELETE FROM claims WHERE {own}", (*page, self.owner))  # noqa: S608

    def _insert(self, connection: Connection, page: Sequence[str]) -> list[str]:
        row = f"({self._mark}, {self._mark}, {self._now} + {self._mark})"
        statement = (
            f"INSERT INTO claims (work_id, owner, expires) VALUES {', '.join([row] * len(page))} "  # noqa: S608
            "ON CONFLICT (work_id) DO UPDATE SET owner = excluded.owner, expires = excluded.expires "
            f"WHERE claims.expires < {self._now} OR claims.owner = excluded.owner RETURNING work_id"
        )
        values = tuple(value for identity in page for value in (identity, self.owner, self._life_s))
        return [row[0] for row in connection.exec_driver_sql(statement, values)]

    def _owners(self, work: Sequence[str]) -> dict[str, str]:
        owners: dict[str, str] = {}
        with reading(self._engine) as connection:
            for start in range(0, len(work), PAGE):
                page = tuple(work[start : start + PAGE])
                marks = ", ".join([self._mark] * len(page))
                rows: Any = connection.exec_driver_sql(
                    f"SELECT work_id, owner FROM claims WHERE work_id IN ({marks})", page  # noqa: S608
                )  # fmt: skip
                owners.update((identity, owner) for identity, owner in rows)
        return owners

    def _drop_owner(self, owner: str) -> None:
        with writing(self._engine) as connection:
            theirs = _locked(self._engine, f"owner = {self._mark}")
            connection.exec_driver_sql(f"DELETE FROM claims WHERE {theirs}", (owner,))  # noqa: S608

    def _lock_of(self, owner: str) -> Path:
        return self._locks / f"claims-{owner.rpartition(':')[2]}.lock"

    def _is_dead(self, owner: str) -> bool:
        """Is this process known to have ended? Only processes of this machine can be checked."""
        path = self._lock_of(owner)
        if owner.rpartition(":")[0] != socket.gethostname() or not path.exists():
            return False
        file = _locked_file(path)
        if file is None:
            return False
        path.unlink(missing_ok=True)
        file.close()
        return True

    def _keep_renewing(self) -> None:
        while not self._ended.wait(self._life_s / 4):
            try:
                self.renew()
            except DatabaseFailed as error:
                _LOG.warning("claims could not be renewed: %s", error)


def drop_expired(engine: Engine) -> None:
    """Delete the claims of processes that ended without releasing them."""
    with writing(engine) as connection:
        expired = _locked(engine, f"expires < {_NOW[engine.dialect.name]}")
        connection.exec_driver_sql(f"DELETE FROM claims WHERE {expired}")  # noqa: S608


def _locked(engine: Engine, condition: str) -> str:
    """The condition, with its rows locked in the order of `take`: otherwise two processes could deadlock."""
    if engine.dialect.name == "sqlite":  # only one writer at a time
        return condition
    return f'work_id IN (SELECT work_id FROM claims WHERE {condition} ORDER BY work_id COLLATE "C" FOR UPDATE)'  # noqa: S608


def _clock() -> float:
    """Seconds that also pass while the machine sleeps, because other machines may take over claims meanwhile."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def _locked_file(path: Path) -> IO[str] | None:
    """The file, opened and locked by this process; None if another process holds the lock or locks are unsupported."""
    try:
        import fcntl
    except ImportError:
        return None
    path.parent.mkdir(exist_ok=True)
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
