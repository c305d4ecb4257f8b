"""The strict reader of judges' replies: a verdict that the text states, or a status that says why there is none.

Nothing is guessed, clamped, defaulted or searched for inside words. What cannot be read with certainty raises
`Unreadable`, which the judge turns into `unparsable` or `refused`.
"""

import ast
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from imarena.core.errors import ImarenaError
from imarena.core.records import JsonDict, Outcome, Status
from imarena.judges.winner import side_named
from imarena.judges.words import plain, words

PARSER_VERSION = "2"

_MAX_CHARACTERS = 200_000
_MAX_OBJECTS = 64
_MAX_DEPTH = 32
_FENCE = re.compile(r"^\s*```[a-zA-Z0-9]*\s*\n?(.*?)\n?\s*```\s*$", re.DOTALL)
_OPENS_OBJECT = re.compile(r"\s*(?:[\"']|$)")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_NUMBER = re.compile(r"^[+-]?\d{1,9}(?:\.\d{1,9})?$")
_FRACTION = re.compile(r"^(\d{1,9}(?:\.\d{1,9})?)\s*/\s*(\d{1,9})$")
_LINE = re.compile(r"^\s*[*_#>\-\s]*([^\n:：]{1,40}?)[*_]*\s*[:：]\s*(.{1,120}?)\s*$")
_VOTE = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}\n]{1,60})\}?\}")


class Unreadable(ImarenaError):
    """A reply without a verdict that can be read with certainty."""

    def __init__(self, message: str, status: Status = Status.UNPARSABLE) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Choice:
    """A stated choice, and the JSON object that held it (empty for a plain reply)."""

    outcome: Outcome
    fields: JsonDict


# ---------------------------------------------------------------- JSON


def answer_part(text: str) -> str:
    """The reply without its thinking: what follows the last ``</think>``. A thought without an end is no reply."""
    if len(text) > _MAX_CHARACTERS:
        raise Unreadable(f"the reply has {len(text)} characters, more than {_MAX_CHARACTERS}")
    _, closed, rest = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        raise Unreadable("the reply ends inside its thinking")
    answer = (rest if closed else text).strip()
    if not answer:
        raise Unreadable("the reply is empty")
    return answer


def find_object(text: str) -> JsonDict | None:
    """The one JSON object in a reply; None where there is none.

    A fence, a prefix and trailing prose do not matter. Two objects are accepted only when they are equal, and a
    broken or cut-off object beside a good one makes the reply unreadable, since either may be the answer.
    """
    answer = answer_part(text)
    found, broken = _objects(answer)
    if not found and broken:
        repaired = _python_literal(answer)
        found, broken = ([repaired], False) if repaired is not None else _objects(_TRAILING_COMMA.sub(r"\1", answer))
    if broken:
        raise Unreadable("the reply holds JSON that is broken or cut off")
    if any(other != found[0] for other in found[1:]):
        raise Unreadable(f"the reply holds {len(found)} different JSON objects")
    return found[0] if found else None


def _objects(text: str) -> tuple[list[JsonDict], bool]:
    """Top-level objects in `text`, and whether something that looks like one could not be read."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    found: list[JsonDict] = []
    broken = False
    position = text.find("{")
    while position >= 0:
        if len(found) >= _MAX_OBJECTS:
            raise Unreadable(f"the reply holds more than {_MAX_OBJECTS} JSON objects")
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end, looks_like_json = _skip_broken(text, position)
            broken = broken or looks_like_json
        else:
            found.append(_shallow(value))
        position = text.find("{", end)
    return found, broken


def _shallow(value: JsonDict) -> JsonDict:
    """The object itself, unless it is nested so deep that comparing or storing it would fail."""
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
    """Where a broken object ends (the text's end when it is cut off), and whether it was meant to be JSON."""
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


def _python_literal(text: str) -> JsonDict | None:
    """A reply that is one Python dictionary, which some models write in place of JSON."""
    fenced = _FENCE.match(text)
    body = (fenced[1] if fenced else text).strip()
    if not (body.startswith("{'") and body.endswith("}")) or len(body) > 20_000:
        return None
    try:
        if _repeats_a_key(ast.parse(body, mode="eval")):
            return None
        value = ast.literal_eval(body)
        return dict(json.loads(json.dumps(value, allow_nan=False)))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _repeats_a_key(tree: ast.AST) -> bool:
    """Python keeps the last of two values without a word; which one was meant is not known."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len({str(key) for key in keys}) < len(keys):
                return True
    return False


# ---------------------------------------------------------------- values


def field(fields: Mapping[str, Any], *names: str) -> Any:
    """The value under the first of `names` that is there, spelt with any case, spaces or dashes; None if none is.

    Two spellings of one name with two values ('winner', 'Winner') raise.
    """
    spelt: dict[str, Any] = {}
    for name, value in fields.items():
        if spelt.setdefault(_key(name), value) != value:
            raise Unreadable(f"{name!r} is given twice, with two values")
    for name in names:
        if _key(name) in spelt:
            return spelt[_key(name)]
    return None


def _key(name: str) -> str:
    return re.sub(r"[\s_\-]+", "", name).casefold()


def read_number(value: Any, low: float, high: float, name: str, *, whole: bool = False) -> float:
    """A number in [low, high]: a JSON number, its digits in a string, or 'x/high'. Never clamped."""
    number = _as_number(value, high)
    if number is None or not math.isfinite(number):
        raise Unreadable(f"{name} is {str(value)[:60]!r}, not a number")
    if not low <= number <= high:
        raise Unreadable(f"{name} is {number:g}, outside {low:g} to {high:g}")
    if whole and number != int(number):
        raise Unreadable(f"{name} is {number:g}, not a whole number")
    return number


def _as_number(value: Any, high: float) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) <= 1e12 else None
    if isinstance(value, str):
        text = value.strip()
        fraction = _FRACTION.match(text)
        if fraction is not None and float(fraction[2]) == high:
            return float(fraction[1])
        if _NUMBER.match(text) is not None:
            return float(text)
    return None


def is_not_applicable(value: Any) -> bool:
    """Whether a field says that its criterion does not apply."""
    return value is None or (isinstance(value, str) and plain(value) in words().not_applicable)


# ---------------------------------------------------------------- verdicts

WINNER_FIELDS = (
    "winner", "better_response", "better", "better_image", "better_candidate", "preference", "choice", "verdict",
)  # fmt: skip


def read_choice(text: str, *, ties: bool = False, both_bad: bool = False) -> Choice:
    """Which side a pairwise reply names: in its JSON object, or, without one, in a plain statement.

    A tie counts only where `ties` allows it; elsewhere the reply is unreadable, because a choice was asked for.
    """
    fields = find_object(text)
    outcome = _named_in(fields) if fields is not None else _stated(answer_part(text))
    if outcome is Outcome.BOTH_BAD and not both_bad:
        raise Unreadable("the reply calls both bad, which was not an option")
    if outcome is Outcome.TIE and not ties:
        raise Unreadable("the reply calls a tie where a choice was asked for")
    return Choice(outcome, fields or {})


def _named_in(fields: JsonDict) -> Outcome:
    named = {name: value for name in WINNER_FIELDS if (value := field(fields, name)) is not None}
    if not named:
        raise Unreadable("the reply names no winner")
    outcomes = set()
    for name, value in named.items():
        outcome = side_named(value) if isinstance(value, str) else None
        if outcome is None:
            status = Status.REFUSED if isinstance(value, str) and is_refusal(value) else Status.UNPARSABLE
            raise Unreadable(f"{name} is {str(value)[:60]!r}, which names no side", status)
        outcomes.add(outcome)
    if len(outcomes) > 1:
        raise Unreadable("the reply names two winners")
    return outcomes.pop()


def _stated(answer: str) -> Outcome:
    """A plain reply: nothing but a side, or marked statements ('Winner: B', '[[A>B]]', '\\boxed{A}') that agree."""
    whole = side_named(answer)
    if whole is not None:
        return whole
    marked = [side_named(match[1]) for pattern in (_VOTE, _BOXED) for match in pattern.finditer(answer)]
    for line in answer.splitlines():
        match = _LINE.match(line)
        if match is not None and plain(match[1]) in words().keys:
            marked.append(side_named(match[2]))
    outcomes = set(marked)
    if len(outcomes) == 1 and None not in outcomes:
        return next(outcome for outcome in outcomes if outcome is not None)
    if outcomes:
        raise Unreadable("the reply states its choice in more than one way, or in words that name no side")
    status = Status.REFUSED if is_refusal(answer) else Status.UNPARSABLE
    raise Unreadable("the reply is a refusal" if status is Status.REFUSED else "the reply names no winner", status)


def read_object(text: str) -> JsonDict:
    """The reply's JSON object; a refusal or its absence raises."""
    fields = find_object(text)
    if fields is None:
        refused = is_refusal(answer_part(text))
        raise Unreadable(
            "the reply is a refusal" if refused else "the reply holds no JSON object",
            Status.REFUSED if refused else Status.UNPARSABLE,
        )
    return fields


def is_refusal(text: str) -> bool:
    """Whether a text opens with one of the phrases that decline to answer."""
    opening = plain(text[:400])
    return opening.startswith(words().refusals)


def check_score_agrees(score: float, outcome: Outcome, low: float, high: float) -> None:
    """A score above the middle of the scale is for the left side, below for the right one (GenArena, A.4)."""
    middle = (low + high) / 2
    if score == middle:
        raise Unreadable(f"a score of {score:g} is on neither side")
    if outcome in (Outcome.LEFT, Outcome.RIGHT) and (score > middle) != (outcome is Outcome.LEFT):
        raise Unreadable(f"the score {score:g} contradicts the winner")
