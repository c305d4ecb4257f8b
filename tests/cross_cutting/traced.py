"""Runs commands, or a vote over HTTP, in this process and prints which functions of the package were entered.

    python -m tests.cross_cutting.traced item FOLDER
    python -m tests.cross_cutting.traced vote FOLDER

A process of its own, so that nothing was computed or cached before. All modules are imported first: what runs at
import is no step of the work.
"""

import asyncio
import contextlib
import inspect
import io
import json
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import imarena

PACKAGE = str(Path(imarena.__file__).parent) + "/"


JUDGE = ("judges/builtin/judge", "judge")


@dataclass
class Entered:
    """What ran: modules and functions."""

    functions: list[tuple[str, str]] = field(default_factory=list)
    """In the order in which each was entered first."""
    around_judge: list[tuple[str, str]] = field(default_factory=list)
    """What led to the first question to a judge, outermost first. A function inside another has the outer one's name."""


@contextlib.contextmanager
def traced() -> Iterator[Entered]:
    """What is entered inside the context, in this thread and in threads that start there."""
    seen: dict[CodeType, None] = {}
    found = Entered()

    def enter(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code not in seen:
            seen[frame.f_code] = None
            if (module_of(frame.f_code), frame.f_code.co_name) == JUDGE:
                found.around_judge = stack_of(frame)

    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        for code in list(seen):
            if (module := module_of(code)) and code.co_flags & inspect.CO_OPTIMIZED:  # no body of a class
                found.functions.append((module, code.co_name))


def module_of(code: CodeType) -> str:
    """The path of a module of the package, without its ending; empty for other code."""
    if not code.co_filename.startswith(PACKAGE):
        return ""
    return code.co_filename.removeprefix(PACKAGE).removesuffix(".py").removesuffix("/__init__")


def stack_of(frame: FrameType) -> list[tuple[str, str]]:
    """The functions of the package that are being called or awaited, from the main thread's to this one's."""
    frames = [*main_frames(), *reversed(list(callers(frame)))]
    named = [(module_of(one.f_code), one.f_code.co_qualname.split(".<locals>")[0]) for one in frames]
    return [(module, name.rpartition(".")[2]) for module, name in named if module]


def callers(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those that called it."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def main_frames() -> Iterator[FrameType]:
    """The frames of the main thread, outermost first, and those that its event loop's tasks wait in."""
    frames = list(callers(sys._current_frames()[threading.main_thread().ident or 0]))[::-1]
    yield from frames
    for loop in [frame.f_locals["self"] for frame in frames if frame.f_code.co_name == "run_forever"]:
        for task in sorted(asyncio.all_tasks(loop), key=lambda task: int(task.get_name().rpartition("-")[2])):
            waiting: Any = task.get_coro()
            while getattr(waiting, "cr_frame", None) is not None:
                yield waiting.cr_frame
                waiting = waiting.cr_await


def import_everything() -> None:
    """Every module that can be imported here; some need an extra that may be missing."""
    for one in pkgutil.walk_packages(imarena.__path__, "imarena."):
        if not one.name.endswith("__main__") and ".migrations." not in one.name:
            with contextlib.suppress(ImportError):
                import_module(one.name)


def command(*words: object) -> None:
    """One command of the terminal, in this process."""
    from imarena.cli import main

    sys.argv = ["imarena", *(str(word) for word in words)]
    shown = io.StringIO()
    try:
        with contextlib.redirect_stdout(shown):
            main()
    except SystemExit as end:
        if end.code not in (0, None):
            raise RuntimeError(f"imarena {words} ended with {end.code}: {shown.getvalue()}") from end


def item(folder: Path) -> Entered:
    """From a folder of pictures to a leaderboard: import, battle, rank."""
    workspace = folder / "arena"
    command("--workspace", workspace, "init")
    with traced() as found:
        command("--workspace", workspace, "import", "table", folder / "table", "-o", "dataset=mine")
        command("--workspace", workspace, "battle", "--judge", "builtin", "--yes")
        command("--workspace", workspace, "rank", "--judge", "builtin")
    return found


def vote(folder: Path) -> Entered:
    """From the next task to the board, over HTTP."""
    from tests.web.people import administrator, campaign, rater, served

    app = served(folder / "served", items=1)
    admin = administrator(app)
    person = rater(app, admin, made := campaign(admin))
    with traced() as found:
        task = person.next(made)["task"]
        person.vote(task, preference="left")
        app.state.arena.voting.pictures.flush()  # a timer does it later
        board = admin.get("/api/board?source=human").json()
    assert board["n_battles"] == 1, board
    return found


WALKS: dict[str, Callable[[Path], Entered]] = {"item": item, "vote": vote}

if __name__ == "__main__":
    import_everything()
    entered = WALKS[sys.argv[1]](Path(sys.argv[2]))
    sys.stdout.write(json.dumps(asdict(entered)))
