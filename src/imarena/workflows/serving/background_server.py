"""Run the server as a separate process, so that people can vote while judging continues in this one."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_STOP_S = 15


@contextmanager
def run_background_server(root: Path, *, port: int, say: Callable[[str], None]) -> Iterator["subprocess.Popen[str]"]:
    """Serve a workspace on this machine until the block is left. `say` is told what the server says, line by line."""
    command = [sys.executable, "-m", "imarena", "--workspace", str(root), "serve", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)  # noqa: S603
    listener = threading.Thread(target=_listen, args=(process, say), name="imarena-server-says", daemon=True)
    listener.start()
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        listener.join(_STOP_S)


def _listen(process: "subprocess.Popen[str]", say: Callable[[str], None]) -> None:
    for line in process.stderr or ():
        say(line.rstrip("\n"))
