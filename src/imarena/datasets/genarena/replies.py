"""Strict reader of the raw replies in GenArena's audit logs: what is not clearly A or B is unparsable."""

import json
import re
from typing import Any

from imarena.core.records import Outcome, Status

PARSER = "genarena-strict-1"
_FENCE = re.compile(r"^```(?:json)?\s*\n(?P<body>.*)\n?```$", re.DOTALL)
_ACCEPTED = {
    "a": Outcome.LEFT,
    "response a": Outcome.LEFT,
    "image a": Outcome.LEFT,
    "b": Outcome.RIGHT,
    "response b": Outcome.RIGHT,
    "image b": Outcome.RIGHT,
}


def strict_preference(raw: str) -> tuple[Outcome | None, str]:
    """Which of the two images the reply prefers (left: the one shown first), or None and the reason.

    The reply must be one JSON object whose `better_response` names a side. Its score, from 1 (second much better) to 6
    (first much better), must agree: a reply that contradicts itself has no preference.
    """
    text = raw.strip()
    fenced = _FENCE.match(text)
    try:
        value: Any = json.loads(fenced["body"] if fenced else text)
    except (ValueError, RecursionError):
        return None, "the reply is not one JSON object"
    if not isinstance(value, dict):
        return None, "the reply is not one JSON object"
    answer = value.get("better_response")
    outcome = _ACCEPTED.get(" ".join(answer.lower().split())) if isinstance(answer, str) else None
    if outcome is None:
        return None, f"better_response is {answer!r}"
    score = value.get("score")
    if isinstance(score, int | float) and not isinstance(score, bool):
        if not 1 <= score <= 6:
            return None, f"the score {score} is not from 1 to 6"
        if (score > 3.5) != (outcome is Outcome.LEFT):
            return None, f"the score {score} contradicts better_response {answer!r}"
    return outcome, ""


def call_status(error: str) -> Status:
    """The status of a call without a reply."""
    lowered = error.lower()
    return Status.TIMEOUT if "timeout" in lowered or "timed out" in lowered else Status.API_ERROR
