"""A notice is a code with values. `sentence` words it for the terminal, a web page or a report."""

import contextlib
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Medium = Literal["terminal", "page", "report"]
"""Who words it: the command line names options, a web page names its filters, a report names neither."""

Wording = str | Callable[[dict[str, Any], Medium], str]
"""A sentence with the values' names in braces, or a function where it depends on more."""
TEXT = "text"
"""The code of a notice that is a sentence already: old stored boards, and errors of others."""
_MODULES = ("ranking", "boards", "studies", "imports", "raters")


class Notice(BaseModel):
    """One thing to know: compare `code` and `values`, never its sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    code: str
    values: dict[str, JsonValue] = Field(default_factory=dict)


def text_notice(text: str) -> Notice:
    """A notice that holds its own sentence, for what comes from outside."""
    return Notice(code=TEXT, values={"text": text})


def notices_from_texts(texts: Iterable[str]) -> tuple[Notice, ...]:
    """Notices that hold their own sentences."""
    return tuple(text_notice(text) for text in texts)


def sentence(notice: Notice, medium: Medium = "terminal") -> str:
    """The notice in words. One of a later version, with an unknown code or other values, is listed as it is."""
    wording = _wordings().get(notice.code, "{text}" if notice.code == TEXT else None)
    values: dict[str, Any] = dict(notice.values)
    if wording is not None:
        with contextlib.suppress(LookupError, TypeError, ValueError, AttributeError):  # values of another version
            return wording.format(**values) if isinstance(wording, str) else wording(values, medium)
    details = ", ".join(f"{name} {value}" for name, value in values.items())
    return f"{notice.code.replace('_', ' ').capitalize()}{': ' if details else ''}{details}."


def sentences(notices: Iterable[Notice], medium: Medium = "terminal") -> list[str]:
    """Each notice in words, equal ones once."""
    return list(dict.fromkeys(sentence(notice, medium) for notice in notices))


def notice_fields(notices: Iterable[Notice]) -> dict[str, Any]:
    """The two fields of a JSON document: `warnings` in the terminal's words, `notices` as codes with values."""
    held = list(notices)
    return {"warnings": sentences(held), "notices": [notice.model_dump(mode="json") for notice in held]}


@cache
def _wordings() -> dict[str, Wording]:
    wordings: dict[str, Wording] = {}
    for name in _MODULES:
        module_wordings: dict[str, Wording] = import_module(f"imarena.core.notices.{name}").WORDINGS
        if double := wordings.keys() & module_wordings.keys():
            raise ValueError(f"The notice {min(double)} is worded twice.")
        wordings |= module_wordings
    return wordings
