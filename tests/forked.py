"""A process that has imported what commands import and forks for each: saves a second of start-up a command.

A line of JSON in (arguments, folder, environment, where to write, and for `tests.killed` the step at which to end), a line
with the exit code out.
"""

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import signal
import sys
import threading
import traceback
import warnings
from importlib import import_module
from typing import Any, NoReturn

from tests.servers.new_databases import copy_new_databases, newest_schema

ROOMS = (
    "agent", "cli", "clients", "core", "datasets", "editors", "engine", "judges", "language", "ranking", "reports",
    "routing", "stats", "storage", "vision", "workflows",
)  # fmt: skip
HEAVY = (
    "aiohttp", "alembic.command", "altair", "cv2", "jinja2", "numpy", "pandas", "PIL.BmpImagePlugin",
    "PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "PIL.PpmImagePlugin", "pyarrow.pandas_compat",
    "rapidocr.main", "rich._emoji_codes", "scipy.stats", "typer._adapters", "typer._click.decorators",
    "xml.etree.ElementTree", "yaml",
)  # fmt: skip
"""What commands import only when they need it: rapidocr takes 0.5 s. pyarrow looks for pandas where it is installed."""
TIMEOUT_S = 600


def main() -> None:
    """Serve until nobody asks any more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepare()
    gc.collect()
    gc.freeze()  # what is shared stays shared
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    while line := sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            leave(command(json.loads(line)))
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), file=answers)


def leave(code: int) -> NoReturn:
    """End as Python ends, but leave the modules alone: taking 2,000 of them apart takes most of a second."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def prepare() -> None:
    """Import everything that needs no extra; nothing that starts a thread is run: a fork would lose it."""
    for name in HEAVY:
        load(name)
    for room in ROOMS:
        path = import_module(f"imarena.{room}").__path__
        for module in pkgutil.walk_packages(path, f"imarena.{room}."):
            if "migrations" not in module.name and "transformers" not in module.name:
                load(module.name)
    copy_new_databases()
    newest_schema()


def load(name: str) -> None:
    """Import a module, unless it belongs to an extra that is not installed."""
    with contextlib.suppress(ImportError):
        import_module(name)


def command(asked: dict[str, Any]) -> int:
    """What ``python -m imarena`` would do in that folder, with that environment; its exit code."""
    signal.alarm(TIMEOUT_S)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["folder"])
    sys.path[0] = asked["folder"]
    files = ((os.devnull, os.O_RDONLY), (asked["out"], os.O_WRONLY), (asked["err"], os.O_WRONLY))
    for place, (name, how) in enumerate(files):
        os.dup2(os.open(name, how), place)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["imarena", *asked["arguments"]]
    try:
        if "end_at" in asked:
            import_module("tests.killed").run(asked["end_at"], asked["arguments"])
        else:
            import_module("imarena.cli").main()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(ended.code + "\n")
            return 1
        return ended.code or 0
    except BaseException:  # noqa: BLE001 - as Python does with what nobody catches
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
