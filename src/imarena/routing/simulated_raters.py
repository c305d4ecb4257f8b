"""Simulated raters, to rehearse a campaign: how each kind answers, and how long it takes. All randomness is seeded."""

import random
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
    values = _SimulatedTask(assignment, profile, chance, chance.random() < profile.follows, seed).values()
    seconds = round(profile.seconds * chance.lognormvariate(0.0, 0.35), 2)
    return Answer(**values, time_spent_s=seconds)


@dataclass(frozen=True)
class _SimulatedTask:
    """A task, and whether its rater follows the truth this time."""

    assignment: Assignment
    profile: RaterProfile
    chance: random.Random
    follows: bool
    seed: int

    def values(self) -> dict[str, Any]:
        """The fields of the answer that a task of this kind needs."""
        kinds = {"preference": self._preference, "yes_no": self._yes_no, "rating": self._rating, "check": self._check}
        return kinds[self.assignment.kind]()

    def _quality(self, output_id: str | None) -> float:
        return int(sha256_hex(f"quality:{self.seed}:{output_id}".encode())[:8], 16) / 16**8

    def _expected(self, name: str) -> Any:
        expected = self.assignment.params.get("expected")
        return expected.get(name) if isinstance(expected, dict) else None

    def _preference(self) -> dict[str, Any]:
        if self.profile.side is not None:
            return {"preference": self.profile.side}
        if not self.follows:
            return {"preference": self.chance.choice(_PREFERENCES)}
        left, right = self._quality(self.assignment.left_id), self._quality(self.assignment.right_id)
        return {"preference": self._expected("preference") or ("left" if left >= right else "right")}

    def _yes_no(self) -> dict[str, Any]:
        if self.profile.side is not None:
            return {"answer": True}
        expected = self._expected("answer")
        truth = bool(expected) if expected is not None else self._quality(self.assignment.left_id) >= 0.5
        return {"answer": truth if self.follows else self.chance.random() < 0.5}

    def _rating(self) -> dict[str, Any]:
        expected = self._expected("ratings")
        answers = expected if isinstance(expected, dict) else {}
        ratings = {}
        for question in forms().criteria:
            middle = question.low + round(self._quality(self.assignment.left_id) * (question.high - question.low))
            truth = int(answers.get(question.name, middle))
            value = truth if self.follows else self.chance.randint(question.low, question.high)
            ratings[question.name] = question.high if self.profile.side is not None else value
        return {
            "ratings": ratings, "no_object_issues": True, "no_segment_issues": True, "comment": "simulated answer",
        }  # fmt: skip

    def _check(self) -> dict[str, Any]:
        sound = self.follows or self.profile.side is not None or self.chance.random() < 0.5
        checks = {question.name: sound for question in forms().checks}
        return {"checks": checks, "decision": "accept" if sound else "repair", "comment": "simulated answer"}
