"""Simulated raters, to rehearse a campaign: how each kind answers, and how long it takes. All randomness is seeded."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from imarena.core import sha256_hex
from imarena.core.records import Assignment
from imarena.routing.ballots import Answer
from imarena.routing.forms import forms

RaterBehaviour = Literal["careful", "fast", "one_sided", "random"]
_PREFERENCES = ("left", "right", "tie", "both_bad")


@dataclass(frozen=True)
class RaterProfile:
    """How a kind of rater works: the share of answers that follow the truth, the median time, and a fixed side."""

    follows: float
    seconds: float
    side: str | None = None


RATER_PROFILES: dict[RaterBehaviour, RaterProfile] = {
    "careful": RaterProfile(follows=0.9, seconds=14.0),
    "fast": RaterProfile(follows=0.6, seconds=0.9),
    "one_sided": RaterProfile(follows=0.0, seconds=7.0, side="left"),
    "random": RaterProfile(follows=0.0, seconds=7.0),
}


def simulated_answer(assignment: Assignment, behaviour: RaterBehaviour, rater_id: str, seed: int) -> Answer:
    """Return an answer that the form accepts.

    Careful raters follow the known answer, or an order of outputs fixed by the seed: there is no truth about the images
    here.
    """
    profile, chance = RATER_PROFILES[behaviour], random.Random(f"{seed}:{rater_id}:{assignment.assignment_id}")
    values = _KINDS[assignment.kind](assignment, profile, chance, chance.random() < profile.follows, seed)
    seconds = round(profile.seconds * chance.lognormvariate(0.0, 0.35), 2)
    return Answer(**values, time_spent_s=seconds)


def _quality(seed: int, output_id: str | None) -> float:
    return int(sha256_hex(f"quality:{seed}:{output_id}".encode())[:8], 16) / 16**8


def _expected(assignment: Assignment) -> dict[str, Any]:
    expected = assignment.params.get("expected")
    return dict(expected) if isinstance(expected, dict) else {}


def _preference(
    assignment: Assignment, profile: RaterProfile, chance: random.Random, follows: bool, seed: int
) -> dict[str, Any]:
    if profile.side is not None:
        return {"preference": profile.side}
    if not follows:
        return {"preference": chance.choice(_PREFERENCES)}
    better = "left" if _quality(seed, assignment.left_id) >= _quality(seed, assignment.right_id) else "right"
    return {"preference": _expected(assignment).get("preference") or better}


def _yes_no(
    assignment: Assignment, profile: RaterProfile, chance: random.Random, follows: bool, seed: int
) -> dict[str, Any]:
    if profile.side is not None:
        return {"answer": True}
    expected = _expected(assignment).get("answer")
    truth = bool(expected) if expected is not None else _quality(seed, assignment.left_id) >= 0.5
    return {"answer": truth if follows else chance.random() < 0.5}


def _rating(
    assignment: Assignment, profile: RaterProfile, chance: random.Random, follows: bool, seed: int
) -> dict[str, Any]:
    expected = _expected(assignment).get("ratings")
    answers = expected if isinstance(expected, dict) else {}
    ratings = {}
    for question in forms().criteria:
        middle = question.low + round(_quality(seed, assignment.left_id) * (question.high - question.low))
        truth = int(answers.get(question.name, middle))
        value = truth if follows else chance.randint(question.low, question.high)
        ratings[question.name] = question.high if profile.side is not None else value
    return {
        "ratings": ratings, "no_object_issues": True, "no_segment_issues": True, "comment": "simulated answer",
    }  # fmt: skip


def _check(
    assignment: Assignment,  # noqa: ARG001 - all kinds are called alike
    profile: RaterProfile,
    chance: random.Random,
    follows: bool,
    seed: int,  # noqa: ARG001
) -> dict[str, Any]:
    sound = follows or profile.side is not None or chance.random() < 0.5
    checks = {question.name: sound for question in forms().checks}
    return {"checks": checks, "decision": "accept" if sound else "repair", "comment": "simulated answer"}


_KINDS: dict[str, Callable[[Assignment, RaterProfile, random.Random, bool, int], dict[str, Any]]] = {
    "preference": _preference, "yes_no": _yes_no, "rating": _rating, "check": _check,
}  # fmt: skip
