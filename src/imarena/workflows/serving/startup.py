"""Warm up a fresh server before it listens, so that returning raters do not wait.

On PostgreSQL a new connection costs the server a process, and the first query of each kind the reading of its
catalogue and a plan. All connections of the pool are opened and shown the queries of a vote once; SQLite needs none.
What raters hold, and will ask for or answer first, is read in one go.
"""

from contextlib import ExitStack
from typing import Any

from sqlalchemy import Connection, Engine, select

from imarena.storage import POOL, Workspace, leases, reading
from imarena.storage.schema import leases as leases_table
from imarena.workflows.rating import RecordCache

_HELD = 500
_NOBODY = "nobody"


def warm_up(workspace: Workspace, records: RecordCache) -> None:
    """Have at hand what raters come back to, the connections open and the queries planned. Nothing is written."""
    engine = workspace.store.engine
    held = select(leases_table.c.assignment_id).where(leases_table.c.state.in_((*leases.HOLDING, leases.WAITING)))
    with reading(engine) as connection:
        assignment_ids = list(connection.execute(held.order_by(leases_table.c.until.desc()).limit(_HELD)).scalars())
    if assignment_ids:
        records.fetch(assignment_ids)
    _open_connections(engine)


def _open_connections(engine: Engine) -> None:
    if engine.dialect.name != "postgresql":
        return
    with ExitStack() as opened:
        for _ in range(POOL):
            connection = opened.enter_context(reading(engine))
            driver: Any = connection.connection.driver_connection
            driver.prepare_threshold = 0  # a statement is planned when first met, not at its sixth time
            _rehearse(connection)


def _rehearse(connection: Connection) -> None:
    """The queries of `next` and `vote`, about nobody in no campaign."""
    leases.rater_state(connection, _NOBODY, _NOBODY, "")
    leases.free_task(connection, _NOBODY, _NOBODY, "")
    leases.vote_address(connection, _NOBODY, _NOBODY, voted=_NOBODY, since="")
