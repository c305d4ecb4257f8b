"""Run imarena, and end it as ``kill -9`` does at a step of its database work.

A step is a statement or a commit that is about to be made. With step 0 the command runs to its end, and the last line on
stderr has the number of steps, and the first step after which a backup was complete.
"""

import json
import os
import random
import signal
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from imarena.cli import main
from imarena.storage.backup import snapshots

BATCH = 50
"""Rows that an upgrade or a backup handles at once here: few, so that kills fall between batches of a small workspace."""


class Steps:
    """Counts steps, and ends the process at one of them."""

    def __init__(self, end: int, backups: Path | None) -> None:
        self.end = end
        self.backups = backups
        self.count = 0
        self.backed_up: int | None = None

    def __call__(self, *_: Any) -> None:
        """One step more."""
        self.count += 1
        if self.end == 0 and self.backups and self.backed_up is None and snapshots(self.backups):
            self.backed_up = self.count
        if self.count == self.end:
            os.kill(os.getpid(), signal.SIGKILL)


def run(end: int, arguments: list[str]) -> None:
    """Run a command; where ``--backup-to`` is among its arguments, it is seen when the backup is there."""
    backups = Path(arguments[arguments.index("--backup-to") + 1]) if "--backup-to" in arguments else None
    steps = Steps(end, backups)
    for module, name in (("derive", "BATCH"), ("table_copy", "PAGE_ROWS")):
        held = import_module(f"imarena.storage.{module}")
        assert hasattr(held, name)
        setattr(held, name, BATCH)
    event.listen(Engine, "before_cursor_execute", steps)
    event.listen(Engine, "commit", steps)
    try:
        main()
    finally:
        sys.stderr.write("\n" + json.dumps({"steps": steps.count, "backed_up": steps.backed_up}))


def moments(first: int, last: int, count: int, dice: random.Random) -> list[int]:
    """Random steps, one from each of `count` equal parts of first to last, and the last."""
    edges = [first + (last - first) * n // count for n in range(count + 1)]
    return sorted({dice.randint(low, max(low, high - 1)) for low, high in pairwise(edges)} | {last})
