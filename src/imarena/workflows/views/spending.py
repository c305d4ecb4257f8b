"""What each output cost and how long it took: read from the records, because few readers need it."""

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.storage import reading
from imarena.storage.schema import outputs
from imarena.workflows.views.fetch import fetch_columns
from imarena.workflows.views.view import View


@dataclass(frozen=True)
class OutputSpending:
    """k outputs in the order of `Entries`, failed attempts among them; NaN where nothing is stored."""

    cost_usd: NDArray[np.float64]
    seconds: NDArray[np.float64]


def read_spending(view: View) -> OutputSpending:
    """The cost and the latency of every output of a view."""
    cost, seconds = (np.full(view.entries.seq.size, np.nan) for _ in range(2))
    query = select(outputs.c.seq, outputs.c.body).where(outputs.c.seq <= view.marks.outputs).order_by(outputs.c.seq)
    with reading(view.workspace.store.engine) as connection:
        seq, bodies = fetch_columns(connection, query)
    rows = view.entries.at(np.array(seq, np.int64))
    for row, body in zip(rows.tolist(), bodies, strict=True):
        record = json.loads(body)
        for column, name in ((cost, "cost_usd"), (seconds, "latency_s")):
            if record.get(name) is not None:
                column[row] = record[name]
    return OutputSpending(cost, seconds)
