"""The strict reader of judges' replies: a verdict that the text states, or a status that says why there is none.

Nothing is guessed, clamped, defaulted or searched for inside words. What cannot be read with certainty raises
`Unreadable`, which the judge turns into `unparsable` or `refused`. A reply that names two winners names none.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from imarena.core.records import JsonDict, Outcome, Status
from imarena.judges.replies.reply_text import Unreadable, answer_part, locate
from imarena.judges.replies.sentences import winner_in_prose
from imarena.judges.replies.statements import claims, marked_statements
from imarena.judges.replies.winner import side_named
from imarena.judges.replies.words import normalise_phrase, word_table

PARSER_VERSION = "6"

_NUMBER = re.compile(r"^[+-]?\d{1,9}(?:\.\d{1,9})?$")
_FRACTION = re.compile(r"^(\d{1,9}(?:\.\d{1,9})?)\s*(?:/|out of|of|von|sur|de|su|из)\s*(\d{1,9})$")
_PERCENT = re.compile(r"^(\d{1,3}(?:\.\d{1,9})?)\s*(?:%|percent)$")
_SCORE = re.compile(r"(?:^|[{,;|\n])[ \t*_#>\-\"']*score[*_\"']*\s*[:：][ \t*_\"']*(\d[^\s,;}|]*)", re.IGNORECASE)
_CORRECTS = re.compile(
    r"\b(?:on second thought|on reflection|correction\s*:|i made a mistake|let me (?:correct|revise|redo)"
    r"|should (?:actually |rather |instead )?(?:be|have been) \d)|更正|修正",
    re.IGNORECASE,
)
_FULL_WIDTH = {0xFF01 + offset: 0x21 + offset for offset in range(94)}


@dataclass(frozen=True)
class Choice:
    """A stated choice, and the JSON object that held it (empty for a plain reply)."""

    outcome: Outcome
    fields: JsonDict


# ---------------------------------------------------------------- values


def field(fields: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of `names` that exists, ignoring case, spaces and dashes; None if none exists.

    Raises if two spellings of one name ('winner', 'Winner') have different values.
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
    """Read a number in [low, high]: a JSON number, its digits in a string, 'x/high' or 'x out of high'. Never clamped.

    Percentages are accepted only on the scales 0 to 1 and 0 to 100.
    """
    number = _as_number(value, low, high)
    if number is None or not math.isfinite(number):
        raise Unreadable(f"{name} is {str(value)[:60]!r}, not a number")
    if not low <= number <= high:
        raise Unreadable(f"{name} is {number:g}, outside {low:g} to {high:g}")
    if whole and number != int(number):
        raise Unreadable(f"{name} is {number:g}, not a whole number")
    return number


def _as_number(value: Any, low: float, high: float) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) <= 1e12 else None
    if isinstance(value, str):
        text = value.translate(_FULL_WIDTH).strip().casefold()
        fraction = _FRACTION.match(text)
        if fraction is not None and float(fraction[2]) == high:
            return float(fraction[1])
        percent = _PERCENT.match(text)
        if percent is not None and low == 0 and high in (1, 100):
            return float(percent[1]) * high / 100
        if _NUMBER.match(text) is not None:
            return float(text)
    return None


def read_marks(
    fields: Mapping[str, Any], names: Iterable[str], low: float, high: float, *, whole: bool = False
) -> dict[str, float]:
    """Read a number per name, from the object itself or its `scores`; a mark may be an object with a `score`.

    On a scale to 1000, small marks with fractions (such as 0.85) are rejected: they are on another scale.
    """
    inner = field(fields, "scores", "score", "ratings")
    expected = tuple(names)
    if isinstance(inner, dict) and all(field(fields, name) is None for name in expected):
        fields = inner
    numbers = {}
    for name in expected:
        value = field(fields, name)
        value = field(value, "score", "value", "rating") if isinstance(value, dict) else value
        numbers[name] = read_number(value, low, high, name, whole=whole)
    if high >= 1000 and max(numbers.values()) <= high / 10 and any(mark % 1 for mark in numbers.values()):
        raise Unreadable(f"the marks {', '.join(f'{mark:g}' for mark in numbers.values())} are on another scale")
    return numbers


def stated_score(text: str, low: float, high: float) -> float | None:
    """The score that a reply without JSON states ('Score: 5'); None if there is none, several, or one out of range."""
    scores = {match[1].rstrip("*_.)\"'") for match in _SCORE.finditer(answer_part(text))}
    number = _as_number(scores.pop(), low, high) if len(scores) == 1 else None
    return number if number is not None and low <= number <= high else None


def is_not_applicable(value: Any) -> bool:
    """Does a field say that its criterion does not apply?"""
    return value is None or (isinstance(value, str) and normalise_phrase(value) in word_table().not_applicable)


# ---------------------------------------------------------------- verdicts

WINNER_FIELDS = (
    "winner", "better_response", "better", "better_image", "better_candidate", "preference", "choice", "verdict",
)  # fmt: skip


REASON_FIELDS = (
    "reason", "reasons", "reasoning", "explanation", "summary", "comparison_summary", "rationale", "justification",
    "analysis", "comment", "comments", "conclusion", "thought", "thoughts",
)  # fmt: skip
SUMMARY_FIELDS = ("summary", "comparison_summary", "conclusion", "overall")
"""Fields of the reasons that are about the whole, not about a criterion."""


def read_choice(text: str, *, ties: bool = False, both_bad: bool = False) -> Choice:
    """Read which side a pairwise reply names, in its JSON object or, without one, in a plain statement.

    Without `ties`, a tie makes the reply unreadable, because a choice was asked for. So does prose that claims another
    winner than the answer.
    """
    located = locate(text)
    if located is None:
        outcome, fields = _read_plain(answer_part(text)), {}
    else:
        fields = located.fields
        outcome = _named_in(fields)
        marked, _, _, _ = marked_statements(f"{located.before}\n{located.after}")
        _check_prose(outcome, located.before, located.after, marked)
        for name in REASON_FIELDS:
            reason = field(fields, name)
            parts = [field(reason, part) for part in SUMMARY_FIELDS] if isinstance(reason, dict) else [reason]
            for part in parts:
                if isinstance(part, str):
                    _check_prose(outcome, part)
    if outcome is Outcome.BOTH_BAD and not both_bad:
        raise Unreadable("the reply calls both bad, which was not an option")
    if outcome is Outcome.TIE and not ties:
        raise Unreadable("the reply calls a tie where a choice was asked for")
    return Choice(outcome, fields)


def _check_prose(outcome: Outcome, before: str, after: str = "", marked: list[Outcome] | None = None) -> None:
    """Raise if prose names another winner: in a mark, as the last claim before the answer, or in any claim after it.

    Earlier claims before the answer are part of the reasoning: 'B is better here. ... A is better.'
    """
    claimed = [*(marked or []), *claims(before)[-1:], *claims(after, ties=True)]
    if any(other is not outcome for other in claimed):
        raise Unreadable("the reply names two different winners")


def _named_in(fields: JsonDict) -> Outcome:
    winners = {name: value for name in WINNER_FIELDS if (value := field(fields, name)) is not None}
    if not winners:
        raise Unreadable("the reply names no winner")
    outcomes = set()
    for name, value in winners.items():
        outcome = side_named(value) if isinstance(value, str) else None
        if outcome is None:
            status = Status.REFUSED if isinstance(value, str) and is_refusal(value) else Status.UNPARSABLE
            raise Unreadable(f"{name} is {str(value)[:60]!r}, which names no side", status)
        outcomes.add(outcome)
    if len(outcomes) > 1:
        raise Unreadable("the reply names two winners")
    return outcomes.pop()


def _read_plain(answer: str) -> Outcome:
    """Read a plain reply: only a side, marked statements ('Winner: B', '[[A>B]]') that agree, or a plain sentence."""
    side = side_named(answer) if "\n" not in answer else None
    if side is not None:
        return side
    outcomes, vague, begins, ends = marked_statements(answer)
    if len(set(outcomes)) == 1 and not vague:
        _check_prose(outcomes[0], answer[:begins], answer[ends:])
        return outcomes[0]
    if outcomes or vague:
        raise Unreadable("the reply states its choice in more than one way, or in words that name no side")
    winner = winner_in_prose(answer)
    if winner is not None:
        return winner
    status = Status.REFUSED if is_refusal(answer) else Status.UNPARSABLE
    raise Unreadable("the reply is a refusal" if status is Status.REFUSED else "the reply names no winner", status)


def read_object(text: str) -> JsonDict:
    """Return the reply's JSON object; raises for a refusal, no object, or prose that corrects it."""
    located = locate(text)
    if located is None:
        refused = is_refusal(answer_part(text))
        raise Unreadable(
            "the reply is a refusal" if refused else "the reply holds no JSON object",
            Status.REFUSED if refused else Status.UNPARSABLE,
        )
    if _CORRECTS.search(located.after):
        raise Unreadable("the reply corrects itself after its answer")
    return located.fields


def is_refusal(text: str) -> bool:
    """Does the text start with a phrase that declines to answer?"""
    return normalise_phrase(text[:400]).startswith(word_table().refusals)


def check_score_agrees(score: float, outcome: Outcome, low: float, high: float) -> None:
    """Raise unless the score agrees with the winner: above the middle for left, below for right (GenArena, A.4)."""
    middle = (low + high) / 2
    if score == middle:
        raise Unreadable(f"a score of {score:g} is on neither side")
    if outcome in (Outcome.LEFT, Outcome.RIGHT) and (score > middle) != (outcome is Outcome.LEFT):
        raise Unreadable(f"the score {score:g} contradicts the winner")
