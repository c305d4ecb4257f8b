"""Make previews in a separate process with the lowest priority, one image at a time.

A thread of the server would not do: if it holds the interpreter's lock while other processes use the core, all raters
wait. The process ends when its input ends, so that it never outlives the server, however that ended.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from pydantic import ValidationError

from imarena.core import ImarenaError, error_line
from imarena.core.records import ImageRef

_MADE = "made"
_SECRETS = ("IMARENA_ADMIN_PASSWORD", "IMARENA_SECRET_KEY", "IMARENA_LAUNCH_TOKEN")


class PreviewProcess:
    """The server's handle of the process, which is started when the first image is requested."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: subprocess.Popen[str] | None = None

    def make(self, image: ImageRef) -> str:
        """Make one image and wait for it; returns what went wrong, or an empty string."""
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            return "it was started without pipes"
        try:
            process.stdin.write(image.model_dump_json() + "\n")
            process.stdin.flush()
            reply = process.stdout.readline().strip()
        except (OSError, ValueError) as error:  # it was closed meanwhile
            reply = str(error)
        if not reply:
            reply = "the process that makes images ended"
        if process.poll() is not None:
            self.close()
        return "" if reply == _MADE else reply

    def close(self) -> None:
        """End the process, even in the middle of an image, which is discarded. The next image starts it again.

        It is killed: on a busy machine, an image may take minutes at the lowest priority.
        """
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _start(self) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", __name__, str(self._root)]
        env = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        self._process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=env
        )
        lower_priority(self._process.pid)
        return self._process


def lower_priority(pid: int) -> None:
    """Give a process the lowest priority of the system, so that any other process gets the core first."""
    with contextlib.suppress(OSError, AttributeError):  # not every system has such priorities
        os.setpriority(os.PRIO_PROCESS, pid, 19)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))


def main() -> None:
    """Make the images named on stdin, one line of JSON each, and print the result of each."""
    from imarena.storage import open_workspace
    from imarena.workflows.serving.previews import Previews

    with open_workspace(Path(sys.argv[1]), check_schema=False) as workspace:
        pictures = Previews(workspace)
        for line in sys.stdin:
            try:
                pictures.warm(ImageRef.model_validate_json(line))
                reply = _MADE
            except (ImarenaError, OSError, ValidationError) as error:
                reply = error_line(error)
            try:
                sys.stdout.write(f"{reply}\n")
                sys.stdout.flush()
            except BrokenPipeError:  # the server was killed
                os._exit(0)


if __name__ == "__main__":
    main()
