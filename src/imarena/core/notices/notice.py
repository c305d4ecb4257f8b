"""A notice is a code with values. `sentence` puts it into words for the terminal, a web page or a report."""

import contextlib
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from imarena.core.commands import command_line, fill_in_commands
from imarena.core.notices.left_out import left_out_texts
from imarena.core.package_data import package_yaml
from imarena.core.plurals import counted, plural

if TYPE_CHECKING:
    from jinja2 import Environment, Template

Medium = Literal["terminal", "page", "report"]
"""Where it appears: the terminal names options, a web page names its filters, a report names neither."""

TEXT = "text"
"""The code of a notice that already is a sentence: from old stored boards, and from external errors."""
FILES = ("ranking", "boards", "studies", "imports", "raters")
"""The wording files: one Jinja template per code, with the notice's values and the medium. A new notice is one line."""
_MOST_NAMES = 5


class Notice(BaseModel):
    """One fact for the user: compare `code` and `values`, never the sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    code: str
    values: dict[str, JsonValue] = Field(default_factory=dict)


def text_notice(text: str) -> Notice:
    """Return a notice with its own sentence, for text from outside."""
    return Notice(code=TEXT, values={"text": text})


def notices_from_texts(texts: Iterable[str]) -> tuple[Notice, ...]:
    """Return notices with their own sentences."""
    return tuple(text_notice(text) for text in texts)


def sentence(notice: Notice, medium: Medium = "terminal") -> str:
    """Return the notice in words. A notice from a later version (unknown code or values) is listed as it is."""
    from jinja2 import TemplateError

    if notice.code == TEXT and "text" in notice.values:
        return str(notice.values["text"])
    values: dict[str, Any] = dict(notice.values)
    with contextlib.suppress(LookupError, TypeError, ValueError, AttributeError, TemplateError):  # from another version
        return _template(notice.code).render(values, medium=medium, **{medium: True})
    details = ", ".join(f"{name} {value}" for name, value in values.items())
    return f"{notice.code.replace('_', ' ').capitalize()}{': ' if details else ''}{details}."


def sentences(notices: Iterable[Notice], medium: Medium = "terminal") -> list[str]:
    """Return each notice in words, without duplicates."""
    return list(dict.fromkeys(sentence(notice, medium) for notice in notices))


def notice_fields(notices: Iterable[Notice]) -> dict[str, Any]:
    """Return two fields of a JSON document: `warnings` in the terminal's words, `notices` as codes with values."""
    every_notice = list(notices)
    return {"warnings": sentences(every_notice), "notices": [notice.model_dump(mode="json") for notice in every_notice]}


@cache
def wordings() -> Mapping[str, str]:
    """Return the template of each code."""
    texts: dict[str, str] = {}
    for name in FILES:
        more: dict[str, str] = package_yaml("imarena.core.notices", f"{name}.yaml")
        if double := texts.keys() & more.keys():
            raise ValueError(f"The notice {min(double)} is worded twice.")
        texts |= more
    return texts


@cache
def _template(code: str) -> "Template":
    return _environment().from_string(wordings()[code])


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined)  # noqa: S701 - plain text; pages escape it
    environment.filters |= {"number": format_number, "each": each_text, "left_out_texts": left_out_texts}
    environment.globals |= {
        "counted": counted, "plural": plural, "name_list": name_list, "choice": choice, "quoted": shlex.quote,
        "command_line": command_line, "fill_in_commands": fill_in_commands,
        "needs": package_yaml("imarena.core.notices", "needs.yaml"), "terminal": False, "page": False, "report": False,
    }  # fmt: skip
    return environment


def format_number(value: float, spec: str = ",") -> str:
    """Format a number with a Python format; by default with commas."""
    return format(value, spec)


def each_text(values: Mapping[str, Any], text: str) -> list[str]:
    """Fill the text for each name {0} and its value {1}; counts by state become `2 refused, 1 timeout`."""
    return [
        text.format(name, ", ".join(each_text(value, "{1:,} {0}")) if isinstance(value, Mapping) else value)
        for name, value in values.items()
    ]


def name_list(names: Iterable[str], noun: str = "") -> str:
    """List the first few names, and how many more there are."""
    every = list(names)
    n_more = len(every) - _MOST_NAMES
    more = f" and {counted(n_more, f'more {noun}')}" if noun else f" and {n_more:,} more"
    return ", ".join(every[:_MOST_NAMES]) + (more if n_more > 0 else "")


def choice(medium: Medium, *, source: str = "", judge: str = "") -> str:
    """Explain how to choose a source or a judge: by a command-line option, or by a filter of the page."""
    if medium == "page":
        names = {"people": "People", "judge": "Judge", "all": "People and judges"}
        return f"“Judge”: {judge}" if judge else f"“Votes and judgments of”: {names.get(source, source)}"
    return f"--judge {judge}" if judge else f"--source {source}"
