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
_GROUPS_NAMED, _MOST_ALIKE = 3, 4


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


def grouped_sentences(notices: Iterable[Notice], medium: Medium = "terminal") -> list[str]:
    """Return each notice in words; notices that differ only in their `group` become one, with the number of groups.

    Of one kind with more than `_MOST_ALIKE` sentences, the first ones are returned, and how many more there are.
    """
    groups: dict[str, dict[str, Notice]] = {}
    for notice in notices:
        rest = notice.model_copy(update={"values": {**notice.values, "group": ""}})
        groups.setdefault(rest.model_dump_json(), {})[str(notice.values.get("group", ""))] = notice
    by_code: dict[str, list[str]] = {}
    for alike in groups.values():
        first = next(iter(alike.values()))
        names = list(alike)
        if len(names) > 1:
            more = f" and {len(names) - _GROUPS_NAMED:,} more" if len(names) > _GROUPS_NAMED else ""
            group = f"{len(names):,} groups ({'; '.join(names[:_GROUPS_NAMED])}{more})"
            first = first.model_copy(update={"values": {**first.values, "group": group}})
        by_code.setdefault(first.code, []).append(sentence(first, medium))
    lines: list[str] = []
    for texts in by_code.values():
        lines += texts if len(texts) <= _MOST_ALIKE else texts[: _MOST_ALIKE - 1]
        if len(texts) > _MOST_ALIKE:
            lines.append(f"{len(texts) - _MOST_ALIKE + 1:,} more warnings of this kind; the command prints all.")
    return list(dict.fromkeys(lines))


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
