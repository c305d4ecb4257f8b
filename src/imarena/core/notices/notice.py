"""A notice is a code with values. `sentence` words it for the terminal, a web page or a report."""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Place = Literal["terminal", "page", "report"]
"""Who words it: the command line names options, a web page names its filters, a report names neither."""

Wording = Callable[[dict[str, Any], Place], str]
TEXT = "text"
"""The code of a notice that is a sentence already: old stored boards, and errors of others."""
_MODULES = ("ranking", "boards", "studies")


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


def sentence(notice: Notice, place: Place = "terminal") -> str:
    """The notice in words."""
    if notice.code == TEXT:
        return str(notice.values["text"])
    wording = _wordings().get(notice.code)
    if wording is None:  # written by a later version
        told = ", ".join(f"{name} {value}" for name, value in notice.values.items())
        return f"{notice.code.replace('_', ' ').capitalize()}{': ' if told else ''}{told}."
    return wording(dict(notice.values), place)


def sentences(notices: Iterable[Notice], place: Place = "terminal") -> list[str]:
    """Each notice in words, equal ones once."""
    return list(dict.fromkeys(sentence(notice, place) for notice in notices))


def notice_fields(notices: Iterable[Notice]) -> dict[str, Any]:
    """The two fields of a JSON document: `warnings` in the terminal's words, `notices` as codes with values."""
    held = list(notices)
    return {"warnings": sentences(held), "notices": [notice.model_dump(mode="json") for notice in held]}


@cache
def _wordings() -> dict[str, Wording]:
    found: dict[str, Wording] = {}
    for name in _MODULES:
        words: dict[str, Wording] = import_module(f"imarena.core.notices.{name}").WORDS
        if double := found.keys() & words.keys():
            raise ValueError(f"The notice {min(double)} is worded twice.")
        found |= words
    return found
