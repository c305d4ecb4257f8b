"""Running the command line in tests: in a fork of a process that has imported it already, with its own folder,
environment and output.
"""

import contextlib
import json
import os
import pty
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


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


class _Forks:
    """The process that forks; started by the first command, it ends when nobody holds its standard input."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: list[str], folder: Path, env: dict[str, str], end_at: int | None = None) -> Ended:
        with self._lock, contextlib.ExitStack() as stack:
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.forked"],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            files = [stack.enter_context(tempfile.NamedTemporaryFile("r", encoding="utf-8")) for _ in range(2)]
            asked: dict[str, Any] = {"arguments": arguments, "folder": str(folder.absolute()), "env": env}
            asked |= {"out": files[0].name, "err": files[1].name}
            if end_at is not None:
                asked["end_at"] = end_at
            if self._process.stdin is None or self._process.stdout is None:
                raise RuntimeError("the process that forks has no pipes")
            print(json.dumps(asked), file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
            return Ended(code, files[0].read(), files[1].read())


_FORKS = _Forks()


def run(*arguments: object, folder: Path | None = None, env: dict[str, str] | None = None) -> Ended:
    """Run a command and say how it ended."""
    words = [str(argument) for argument in arguments]
    return _FORKS.run(words, folder or Path.cwd(), {**os.environ, "COLUMNS": "200", **(env or {})})


def run_to_step(step: int, *arguments: object, folder: Path) -> Ended:
    """Run a command and end it as ``kill -9`` does at a step of its database work (0: never); see `tests.killed`."""
    words = [str(argument) for argument in arguments]
    return _FORKS.run(words, folder, {**os.environ, "COLUMNS": "200"}, end_at=step)


def run_at_terminal(folder: Path, reply: str, *arguments: str) -> tuple[int, str]:
    """Run a command whose standard input is a terminal; return its code and its messages."""
    terminal, stdin = pty.openpty()
    try:
        os.write(terminal, f"{reply}\n".encode())
        ended = subprocess.run(
            [sys.executable, "-m", "imarena", *arguments], cwd=folder, stdin=stdin, capture_output=True, text=True,
            timeout=120, check=False, env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(stdin)
    return ended.returncode, ended.stderr


class Imarena:
    """``imarena(...)`` runs a command in a folder and returns how it ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: object, code: int | None = 0, env: dict[str, str] | None = None) -> Ended:
        """Run it; `code` is the exit code expected (None: any)."""
        ended = run(*arguments, folder=self.folder, env=env)
        if code is not None:
            assert ended.code == code, f"exit code {ended.code}, expected {code}\n{ended.out}\n{ended.err}"
        return ended
