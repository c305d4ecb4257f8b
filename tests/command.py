"""Running the command line in tests, as a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


class Imarena:
    """``imarena(...)`` runs a command in a folder and returns how it ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: object, code: int | None = 0, env: dict[str, str] | None = None) -> Ended:
        """Run it; `code` is the exit code expected (None: any)."""
        done = subprocess.run(
            [sys.executable, "-m", "imarena", *(str(argument) for argument in arguments)],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": "200", **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        ended = Ended(done.returncode, done.stdout, done.stderr)
        if code is not None:
            assert ended.code == code, f"exit code {ended.code}, expected {code}\n{ended.out}\n{ended.err}"
        return ended
