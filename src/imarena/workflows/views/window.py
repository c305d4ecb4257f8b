"""Which verdicts are visible by their time, and which kinds of a judge's verdicts there are. Reads no database."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from imarena.core import IntArray
from imarena.tables import build_column

BattleKind = Literal["compared", "scored"]
"""Pairs that a judge compared, or pairs of its scores."""


@dataclass(frozen=True)
class Window:
    """Which verdicts are visible: from and up to a day (both included), and with `released` without open campaigns."""

    since: str | None = None
    until: str | None = None
    released: bool = False

    def sees(self, created_us: IntArray) -> NDArray[np.bool_]:
        """(n,) whether each time lies in the window."""
        if not self.since and not self.until:
            return np.ones(created_us.size, bool)
        from imarena.storage import microseconds  # a query of a table needs no database

        since = microseconds(midnight(self.since)) if self.since else np.iinfo(np.int64).min
        until = microseconds(midnight(self.until) + timedelta(days=1)) if self.until else np.iinfo(np.int64).max
        return build_column(
            created_us.size, bool, lambda rows: (created_us[rows] >= since) & (created_us[rows] < until)
        )


EVERYTHING = Window()


def midnight(day: str) -> datetime:
    """The beginning of a day, in UTC."""
    return datetime.fromisoformat(day[:10]).replace(tzinfo=UTC)
