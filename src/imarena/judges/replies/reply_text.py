"""Find the answer in a reply and the one JSON object in it, with repairs only where they are certain."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from imarena.core import ImarenaError
from imarena.core.records import JsonDict, Status

_MAX_CHARACTERS = 200_000
_MAX_OBJECTS = 64
_MAX_DEPTH = 32
_THOUGHT = r"think|thinking|thought|thoughts|reasoning"
_THOUGHT_BEGINS = re.compile(rf"\s*(?:<(?:{_THOUGHT})>|◁think▷|<\|begin_of_thought\|>)", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(
    rf"</(?:{_THOUGHT})>|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>", re.IGNORECASE
)
_LAST_TOKENS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "</s>",
    "<eos>",
)
_FENCE = re.compile(r"^\s*```[a-zA-Z0-9]*\s*\n?(.*?)\n?\s*```\s*$", re.DOTALL)
_OPENS_OBJECT = re.compile(r"\s*(?:[\"']|//|/\*|$)")
_STRING = r"\"(?:[^\"\\]|\\.)*\""
_COMMENT = re.compile(rf"({_STRING})|(//[^\n]*|/\*(?:(?!\*/).){{0,300}}\*/)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_MAX_REPAIRED = 20_000  # a longer reply is more than sloppy JSON
_BARE_KEY = re.compile(rf"({_STRING})|([{{,]\s*)([A-Za-z_]\w{{0,40}})(?=\s*:)", re.DOTALL)
_TYPOGRAPHIC = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "＂": '"', "｛": "{", "｝": "}", "：": ":", "，": ",", "．": "."}
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
)


class Unreadable(ImarenaError):
    """The reply has no verdict that can be read with certainty."""

    def __init__(self, message: str, status: Status = Status.UNPARSABLE) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class LocatedObject:
    """A reply's JSON object, and the prose before and after it. Comments in the object count as prose after it."""

    fields: JsonDict
    before: str
    after: str


def answer_part(text: str) -> str:
    """The reply without its thinking and end tokens. Raises if the thinking does not end."""
    if len(text) > _MAX_CHARACTERS:
        raise Unreadable(f"the reply has {len(text)} characters, more than {_MAX_CHARACTERS}")
    ends = [match.end() for match in _THOUGHT_ENDS.finditer(text)]
    if not ends and _THOUGHT_BEGINS.match(text):
        raise Unreadable("the reply ends inside its thinking")
    answer = (text[ends[-1] :] if ends else text).strip()
    for token in _LAST_TOKENS:
        answer = answer.removesuffix(token).strip()
    if not answer:
        raise Unreadable("the reply is empty")
    return answer


def find_object(text: str) -> JsonDict | None:
    """The one JSON object in a reply; None if there is none. See `locate`."""
    located = locate(text)
    return None if located is None else located.fields


def locate(text: str) -> LocatedObject | None:
    """The one JSON object in a reply and the text around it; None if there is none.

    Fences, prefixes and trailing prose are allowed, as are comments, trailing commas, typographic quotes, keys without
    quotes and a Python dictionary. Several objects are accepted only if they are equal. A broken or cut-off object
    next to a good one makes the reply unreadable, since either may be the answer.
    """
    answer = answer_part(text)
    objects, comments = _objects(answer), ""
    if not objects.values and len(answer) <= _MAX_REPAIRED and ("{" in answer or "｛" in answer):
        for repaired, removed_comments in _repairs(answer):
            again = _objects(repaired)
            if again.values and not again.broken:
                answer, objects, comments = repaired, again, removed_comments
                break
    if objects.broken:
        raise Unreadable("the reply holds JSON that is broken or cut off")
    if not objects.values:
        return None
    first = objects.values[0]
    if any(other != first for other in objects.values[1:]):
        raise Unreadable(f"the reply holds {len(objects.values)} different JSON objects")
    return LocatedObject(first, *_around(answer, objects.spans, comments))


def _around(answer: str, spans: list[tuple[int, int]], comments: str) -> tuple[str, str]:
    ends = [*spans[1:], (len(answer), len(answer))]
    after = [answer[span[1] : following[0]] for span, following in zip(spans, ends, strict=True)]
    return answer[: spans[0][0]], "\n".join([*after, comments])


@dataclass(frozen=True)
class _Objects:
    values: list[JsonDict]
    spans: list[tuple[int, int]]
    broken: bool


def _objects(text: str) -> _Objects:
    """Top-level objects in `text`, their positions, and whether something that looks like an object is broken."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    objects = _Objects([], [], broken=False)
    broken = False
    position = text.find("{")
    while position >= 0:
        if len(objects.values) >= _MAX_OBJECTS:
            raise Unreadable(f"the reply holds more than {_MAX_OBJECTS} JSON objects")
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end, looks_like_json = _skip_broken(text, position)
            broken = broken or looks_like_json
        else:
            objects.values.append(_shallow(value))
            objects.spans.append((position, end))
        position = text.find("{", end)
    return _Objects(objects.values, objects.spans, broken)


def _shallow(value: JsonDict) -> JsonDict:
    """Return the object; raises if it is nested so deeply that comparing or storing it would fail."""
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return value
    raise Unreadable(f"the reply's JSON is nested more than {_MAX_DEPTH} deep")


def _skip_broken(text: str, start: int) -> tuple[int, bool]:
    """Where a broken object ends (at the end of the text if it is cut off), and whether it was meant to be JSON."""
    if _OPENS_OBJECT.match(text, start + 1) is None:
        return start + 1, False
    depth, quoted, escaped = 0, False, False
    for index in range(start, len(text)):
        character = text[index]
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return index + 1, True
    return len(text), True


def _unique_keys(pairs: list[tuple[str, Any]]) -> JsonDict:
    fields: JsonDict = {}
    for key, value in pairs:
        if key in fields and fields[key] != value:
            raise ValueError(f"the key {key!r} has two values")
        fields[key] = value
    return fields


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


# ---------------------------------------------------------------- repairs


def _repairs(answer: str) -> Iterator[tuple[str, str]]:
    """Equivalent spellings of the answer, each with the comments removed from it."""
    literal = _python_literal(answer)
    if literal is not None:
        yield json.dumps(literal), ""
    yield _strict(answer)
    straight = answer.translate(_TYPOGRAPHIC)
    if straight != answer:
        yield _strict(straight)
    bare, comments = _strict(straight)
    yield _BARE_KEY.sub(lambda match: match[1] or f'{match[2]}"{match[3]}"', bare), comments


def _strict(text: str) -> tuple[str, str]:
    """The text without comments and trailing commas (strings are left alone), and the comments."""
    comments: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if match[2] is not None:
            comments.append(match[2].strip("/* \t\r\n"))
            return " "
        return match[1]

    bare = _COMMENT.sub(keep, text)
    return _TRAILING_COMMA.sub(lambda match: match[1] or "", bare), "\n".join(comments)


def _python_literal(text: str) -> JsonDict | None:
    """Parse a reply that is one Python dictionary, which some models write instead of JSON."""
    fenced = _FENCE.match(text)
    body = (fenced[1] if fenced else text).strip()
    if not (body.startswith("{'") and body.endswith("}")):
        return None
    try:
        if _repeats_a_key(ast.parse(body, mode="eval")):
            return None
        value = ast.literal_eval(body)
        return dict(json.loads(json.dumps(value, allow_nan=False)))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _repeats_a_key(tree: ast.AST) -> bool:
    """Does a dictionary repeat a key? Python silently keeps the last value, which may not be the intended one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len({str(key) for key in keys}) < len(keys):
                return True
    return False
