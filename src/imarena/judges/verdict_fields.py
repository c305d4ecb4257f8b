"""Describe in one line, for a judge's author, what is wrong with a verdict: a wrong type, an unknown value, no verdict.

A judge from another package may return anything. A verdict that cannot be stored becomes a failure with this line, so
that the run continues and the author knows what to change.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from pydantic import TypeAdapter, ValidationError

from imarena.core import Verdict
from imarena.core.records import Evidence, JsonDict, Outcome, Status, Usage

_JSON = TypeAdapter[JsonDict](JsonDict)
_MOST_LETTERS = 60


def verdict_problems(returned: object, *, lists: bool = False) -> list[str]:
    """List everything that prevents storing what a judge returned as a verdict; empty if nothing does.

    `lists`: the judge was asked for a list in its reasons, not for a score or a preference.
    """
    if not isinstance(returned, Verdict):
        return [f"it returned {_repr(returned)}, not a Verdict (imarena.core.protocols)"]
    wrong = [
        f"{part.name} {message}"
        for part in fields(Verdict)
        if (message := _CHECKS[part.name](getattr(returned, part.name)))
    ]
    return wrong or ([] if lists else list(_contradictions(returned)))


def checked_verdict(returned: object, *, lists: bool = False) -> Verdict:
    """Return the verdict, or a failure whose error names the wrong fields. The raw reply and its cost are kept."""
    problems = verdict_problems(returned, lists=lists)
    if isinstance(returned, Verdict) and not problems:
        return returned
    fields: dict[str, Any] = {}
    if isinstance(returned, Verdict):
        fields = {
            name: getattr(returned, name)
            for name in ("raw", "model", "usage", "answered", "evidence")
            if not _CHECKS[name](getattr(returned, name))
        }
    return Verdict(Status.UNPARSABLE, error=f"The judge's verdict cannot be used: {'; '.join(problems)}.", **fields)


def _contradictions(verdict: Verdict) -> Iterator[str]:
    holds = [name for name in ("preference", "score", "scores") if getattr(verdict, name) not in (None, {})]
    if verdict.status is Status.OK and not holds:
        yield "status is ok, but there is neither a score nor a preference"
    if verdict.status is not Status.OK and holds:
        yield f"status is {verdict.status.value}, but it has a {' and a '.join(holds)}: a failure carries no verdict"


def _repr(value: object) -> str:
    text = repr(value)
    return f"{text[:_MOST_LETTERS]}{'...' if len(text) > _MOST_LETTERS else ''} ({type(value).__name__})"


def _member(kind: type[Status] | type[Outcome]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if isinstance(value, kind):
            return ""
        members = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
        return f"is {_repr(value)}; known: {members}"

    return check


def _optional(check: Callable[[object], str]) -> Callable[[object], str]:
    return lambda value: "" if value is None else check(value)


def _number(value: object) -> str:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Integral | np.floating):
        return f"is {_repr(value)}, not a number"
    return "" if math.isfinite(value) else f"is {value}, not a finite number"


def _share(value: object) -> str:
    wrong = _number(value)
    inside = not wrong and 0 <= float(cast(float, value)) <= 1
    return wrong or ("" if inside else f"is {value}, outside 0 to 1")


def _numbers(value: object) -> str:
    if not isinstance(value, Mapping):
        return f"is {_repr(value)}, not a dictionary of numbers"
    for name, number in value.items():
        if not isinstance(name, str):
            return f"has the name {_repr(name)}, not text"
        if wrong := _number(number):
            return f"['{name}'] {wrong}"
    return ""


def _json(value: object) -> str:
    if not isinstance(value, Mapping):
        return f"is {_repr(value)}, not a dictionary"
    try:
        _JSON.validate_python(dict(value))
    except ValidationError as error:
        name = ".".join(str(part) for part in error.errors()[0]["loc"][:1])
        return f"['{name}'] is {_repr(value.get(name))}, which JSON cannot hold"
    return ""


def _of(kind: type[Any], article: str) -> Callable[[object], str]:
    return lambda value: "" if isinstance(value, kind) else f"is {_repr(value)}, not {article}"


def _texts(value: object) -> str:
    right = isinstance(value, tuple | list) and all(isinstance(part, str) for part in value)
    return "" if right else f"is {_repr(value)}, not a tuple of names"


def _measured(value: object) -> str:
    right = isinstance(value, tuple | list) and all(isinstance(part, Evidence) for part in value)
    return "" if right else f"is {_repr(value)}, not a tuple of Evidence"


_CHECKS: Mapping[str, Callable[[object], str]] = {
    "status": _member(Status),
    "preference": _optional(_member(Outcome)),
    "score": _optional(_number),
    "scores": _numbers,
    "success": _optional(_of(bool, "True or False")),
    "confidence": _optional(_share),
    "reasons": _json,
    "error": _of(str, "text"),
    "raw": _of(str, "text"),
    "model": _of(str, "text"),
    "usage": _of(Usage, "a Usage"),
    "answered": _texts,
    "evidence": _measured,
}
"""One check per field of `Verdict`; it returns what is wrong with a value, or an empty string."""
