"""``python -m tests.killed STEP FILE ARGUMENTS``: run imarena, and end it as ``kill -9`` does at a step of its database work.

A step is a statement or a commit that is about to be made. With STEP 0 the command runs to its end, and FILE gets the
number of steps, and the first step after which a backup was complete.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from imarena.cli import main
from imarena.storage.backup import snapshots


class Steps:
    """Counts steps, and ends the process at one of them."""

    def __init__(self, end: int, backups: Path) -> None:
        self.end = end
        self.backups = backups
        self.count = 0
        self.backed_up: int | None = None

    def __call__(self, *_: Any) -> None:
        """One step more."""
        self.count += 1
        if self.end == 0 and self.backed_up is None and snapshots(self.backups):
            self.backed_up = self.count
        if self.count == self.end:
            os.kill(os.getpid(), signal.SIGKILL)


def run(end: int, file: Path, arguments: list[str]) -> None:
    """Run a command with ``--backup-to`` among its arguments."""
    steps = Steps(end, Path(arguments[arguments.index("--backup-to") + 1]))
    event.listen(Engine, "before_cursor_execute", steps)
    event.listen(Engine, "commit", steps)
    sys.argv = ["imarena", *arguments]
    try:
        main()
    finally:
        file.write_text(json.dumps({"steps": steps.count, "backed_up": steps.backed_up}), encoding="utf-8")


if __name__ == "__main__":
    run(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
