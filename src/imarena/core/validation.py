"""Errors of pydantic in plain words: which field, what was given, what is expected."""

import re
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from imarena.core.suggest import suggestion

_EXPECTED = {
    "int": "a whole number", "float": "a number", "decimal": "a number", "finite_number": "a finite number",
    "bool": "true or false", "string": "text", "bytes": "bytes", "list": "a list", "tuple": "a list", "set": "a list",
    "frozen_set": "a list", "dict": "a table of names and values", "mapping": "a table of names and values",
    "model": "a table of names and values", "model_attributes": "a table of names and values", "date": "a date",
    "datetime": "a date and time such as 2026-01-31T12:00:00+00:00", "time": "a time", "url": "an address",
    "path": "a path", "none_required": "empty", "json": "JSON",
}  # fmt: skip
"""By the start of the error's type: `int` for `int_type`, `int_parsing`, `int_from_float`."""
_LIMITS = {
    "greater_than": ("more than {}", "gt"), "greater_than_equal": ("at least {}", "ge"),
    "less_than": ("less than {}", "lt"), "less_than_equal": ("at most {}", "le"),
    "multiple_of": ("a multiple of {}", "multiple_of"),
    "string_too_short": ("at least {} characters long", "min_length"),
    "string_too_long": ("at most {} characters long", "max_length"),
    "too_short": ("a list of {} or more", "min_length"), "too_long": ("a list of {} or fewer", "max_length"),
    "string_pattern_mismatch": ("of the form {}", "pattern"),
    "literal_error": ("{}", "expected"), "enum": ("{}", "expected"),
}  # fmt: skip
_SECRET = re.compile("api_?key|secret|token|password")
"""Fields whose value is never printed."""
_TYPE = re.compile(r"(int|float|str|bool|none|list|tuple|dict|literal|constrained-\w+|function-\w+)(\[.*\])?")
_LONGEST = 60
_MOST = 3


class ValidationProblem(NamedTuple):
    """What is wrong with a document, and a hint for the user; the hint may be empty."""

    text: str
    hint: str


def validation_problem(
    error: ValidationError, model: type[BaseModel] | None = None, *, given: bool = True
) -> ValidationProblem:
    """Describe what was wrong, without a period at the end. `model`: what was validated, to suggest names of fields.

    `given=False` leaves out the values that were given, so that equal mistakes in many rows have equal texts.
    """
    problems = _distinct(error.errors(include_url=False))
    texts = [_text(problem, given=given) for problem in problems[:_MOST]]
    if len(problems) > _MOST:
        texts.append(f"and {len(problems) - _MOST:,} more")
    unknown = next((problem["loc"] for problem in problems if problem["type"] == "extra_forbidden"), None)
    names = _fields(model, unknown[:-1]) if unknown else ()
    hint = suggestion(str(unknown[-1]), names, f"Known: {', '.join(names)}.") if unknown and names else ""
    return ValidationProblem("; ".join(texts), hint)


def value_problem(error: ValidationError) -> str:
    """Describe what was wrong with a single value, such as that of an option; its name is shown beside the text."""
    first = error.errors(include_url=False)[0]
    return _text({**first, "loc": ()}, given=True)


def _distinct(errors: Iterable[Any]) -> list[Any]:
    """One error per field: pydantic reports a union's field once for each of its types."""
    by_loc: dict[tuple[Any, ...], Any] = {}
    for error in errors:
        loc = error["loc"]
        place = loc[:-1] if len(loc) > 1 and _is_type(loc[-1]) else loc
        by_loc.setdefault(place, {**error, "loc": place})
    return list(by_loc.values())


def _is_type(part: int | str) -> bool:
    """Whether a part of a location is the type of a union's member, such as `int` or `list[str]`."""
    return isinstance(part, str) and _TYPE.fullmatch(part) is not None


def _text(error: Any, *, given: bool) -> str:
    where = ".".join(str(part) for part in error["loc"])
    kind = error["type"]
    if kind == "missing":
        return f"the field '{where}' is missing"
    if kind == "extra_forbidden":
        return f"there is no field '{where}'"
    if kind == "json_invalid":
        return f"not JSON ({error.get('ctx', {}).get('error', 'it cannot be read')})"
    expected = _expected(kind, error.get("ctx") or {})
    if not expected:  # our own validators
        message = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
        return f"{where}: {message}" if where else message
    value = "" if not given or _SECRET.search(where) else _shown(error.get("input"))
    subject = where or ("the document" if isinstance(error.get("input"), Mapping | list) else "the value")
    return f"{subject} is {value}, and must be {expected}" if value else f"{subject} must be {expected}"


def _expected(kind: str, context: Mapping[str, Any]) -> str:
    if kind in _LIMITS:
        text, name = _LIMITS[kind]
        return text.format(context[name])
    starts = [start for start in _EXPECTED if kind == start or kind.startswith(f"{start}_")]
    return _EXPECTED[max(starts, key=len)] if starts else ""


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, Mapping | BaseModel):
        return "a table"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _fields(model: Any, loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """The sorted names of the fields at a place of a model; empty if it is not a model."""
    for part in loc:
        field = model.model_fields.get(part) if isinstance(part, str) and _is_model(model) else None
        model = _member(field.annotation) if field is not None else _member(model)
    return tuple(sorted(model.model_fields)) if _is_model(model) else ()


def _member(kind: Any) -> Any:
    """The model in an optional, a list or a table of models."""
    if get_origin(kind) in (Union, UnionType):
        kind = next((arg for arg in get_args(kind) if arg is not type(None)), kind)
    while not _is_model(kind) and get_args(kind):
        kind = get_args(kind)[-1] if get_args(kind)[-1] is not Ellipsis else get_args(kind)[0]
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
