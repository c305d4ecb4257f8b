"""Run a custom judge or editor on built-in cases, and report what its author has to fix."""

import asyncio
import re
import sysconfig
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from imarena.core import Editor, EditRequest, EditResult, Exhibit, Judge, UserError, Verdict, error_message, suggestion

BLOCKED_S = 1.0
"""Longest acceptable blocking of the event loop, in seconds; blocking it longer delays every other question."""
LIMIT_S, ENDPOINT_LIMIT_S = 60.0, 600.0
"""Time limits for one answer, in seconds: for code that runs here, and for a judge that asks a model."""
_TICK_S, _LOOK_S = 0.02, 0.05
_OTHERS = (str(Path(__file__).parents[2]), sysconfig.get_paths()["stdlib"], "<")
_SITE = "site-packages"
"""Paths that mark files other than the author's own."""
_PASSED = {kind.__name__: kind for kind in (Exhibit, Verdict, EditRequest, EditResult)}
_MISNAMED = (
    re.compile(r"(?P<kind>\w+)\.__init__\(\) got an unexpected keyword argument '(?P<name>\w+)'"),
    re.compile(r"'(?P<kind>\w+)' object has no attribute '(?P<name>\w+)'"),
)


@dataclass(frozen=True)
class CheckFinding:
    """A finding about a judge or an editor: what was observed, on which cases, and what to do about it."""

    message: str
    hint: str = ""
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseAnswer:
    """The result of one case, in a few words."""

    case: str
    answer: str
    seconds: float


@dataclass(frozen=True)
class PluginCheck:
    """The result of a check: `to_fix` must be fixed before the plugin works in a run; `notes` are for information."""

    path: str
    kind: str
    name: str
    version: str
    does: tuple[str, ...] = ()
    """What a judge does, as observed: `scores`, `compares`."""
    to_fix: tuple[CheckFinding, ...] = ()
    notes: tuple[CheckFinding, ...] = ()
    answers: tuple[CaseAnswer, ...] = ()
    hangs: bool = False
    """Whether a call did not return; its thread is still running."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "hangs"}


@dataclass(frozen=True)
class Observation:
    """One call: what it returned or raised, how long it took, and for how long it blocked the event loop."""

    case: str
    returned: Any = None
    error: Exception | SystemExit | None = None
    seconds: float = 0.0
    blocked_s: float = 0.0


PluginCall = tuple[str, Callable[[], Awaitable[Any]]]
"""A call to make: its case, and the function that returns the awaitable."""
T = TypeVar("T")


@dataclass
class CheckFindings:
    """Collects findings; the same message on several cases becomes one finding."""

    to_fix: list[CheckFinding] = field(default_factory=list)
    notes: list[CheckFinding] = field(default_factory=list)

    def fix(self, message: str, hint: str = "", case: str = "") -> None:
        """Add a problem that the author has to fix."""
        _add(self.to_fix, message, hint, case)

    def note(self, message: str, hint: str = "", case: str = "") -> None:
        """Add a note for information."""
        _add(self.notes, message, hint, case)

    def made(self, make: Callable[[], T], problem: str, hint: str) -> T | None:
        """Return what the author's code makes; if it raises, add the `problem` with its hint and return None."""
        try:
            return make()
        except UserError as error:
            message, _, its_hint = str(error).partition("\n")
            self.fix(message, its_hint)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever an author's code raises is a finding
            self.fix(f"{problem}: {error_text(error)}", hint)
        return None

    def fix_blocking(self, method: str, results: Sequence[Observation]) -> None:
        """Add a problem if every call blocks the event loop, except the first one, which may load a model."""
        later = [observation for observation in results[1:] if observation.error is None]
        shortest = min((observation.blocked_s for observation in later), default=0.0)
        if shortest >= BLOCKED_S:
            self.fix(
                f"`{method}` blocks the event loop for {shortest:.1f} s: nothing else is asked meanwhile",
                "If it computes, declare `cpu_bound=True` in its traits; if it waits, use `await`.",
            )

    def checked(
        self, path: str, kind: str, plugin: Editor | Judge, does: tuple[str, ...], answers: Iterable[CaseAnswer],
        *, hangs: bool,
    ) -> PluginCheck:  # fmt: skip
        """Return the result of the check."""
        return PluginCheck(
            path, kind, plugin.name, plugin.version, does, tuple(self.to_fix), tuple(self.notes), tuple(answers), hangs
        )


def _add(findings: list[CheckFinding], message: str, hint: str, case: str) -> None:
    cases = (case,) if case else ()
    for number, finding in enumerate(findings):
        if finding.message == message:
            findings[number] = CheckFinding(message, finding.hint, tuple(dict.fromkeys((*finding.cases, *cases))))
            return
    findings.append(CheckFinding(message, hint, cases))


def observe_calls(
    calls: Sequence[PluginCall],
    opening: Callable[[], AbstractAsyncContextManager[object]] | None = None,
    *,
    limit_s: float = LIMIT_S,
) -> tuple[list[Observation], str]:
    """Make the calls one after the other. Returns the observations, and the case that exceeded the time limit, if any.

    The calls run in a separate thread, because code that blocks forever cannot be cancelled.
    """
    results: list[Observation] = []
    failures: list[BaseException] = []
    ended = threading.Event()

    async def make_all() -> None:
        async with opening() if opening is not None else nullcontext():
            for case, make in calls:
                results.append(await _observe(case, make))

    def run() -> None:
        try:
            asyncio.run(make_all())
        except BaseException as error:  # noqa: BLE001  # handed over to the thread that waits
            failures.append(error)
        ended.set()

    threading.Thread(target=run, daemon=True, name="plugin-check").start()
    number, since = 0, time.monotonic()
    while not ended.wait(_LOOK_S):
        if len(results) > number:
            number, since = len(results), time.monotonic()
        elif time.monotonic() - since > limit_s:
            return list(results), calls[min(number, len(calls) - 1)][0]
    if failures:
        raise failures[0]
    return results, ""


async def _observe(case: str, make: Callable[[], Awaitable[Any]]) -> Observation:
    longest, last = 0.0, time.monotonic()

    async def tick() -> None:
        nonlocal longest, last
        while True:
            await asyncio.sleep(_TICK_S)
            now = time.monotonic()
            longest, last = max(longest, now - last - _TICK_S), now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    started = last = time.monotonic()
    returned: Any = None
    raised: Exception | SystemExit | None = None
    try:
        returned = await make()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever an author's code raises is a finding
        raised = error
    ended = time.monotonic()
    ticking.cancel()
    return Observation(case, returned, raised, ended - started, max(longest, ended - last - _TICK_S))


def field_hint(error: BaseException) -> str:
    """For a misspelled keyword or attribute of a protocol type: the nearest field and all fields; else empty."""
    matched = next((match for pattern in _MISNAMED if (match := pattern.match(error_message(error)))), None)
    kind = _PASSED.get(matched["kind"]) if matched is not None else None
    if matched is None or kind is None:
        return ""
    names = [attribute.name for attribute in fields(kind)]
    output = " `left` is the output to judge." if kind is Exhibit else ""
    return suggestion(matched["name"], names, f"Fields of {kind.__name__}: {', '.join(names)}.{output}")


def error_text(error: BaseException) -> str:
    """The exception, and the line in the author's own file that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_OTHERS) and _SITE not in frame.filename]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    lines = error_message(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}{where}"
