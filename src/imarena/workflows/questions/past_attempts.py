"""Questions that were asked before. Only an ok answer counts as one; failures are asked again."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from imarena.storage import Claims
from imarena.workflows.questions.shared_work import SharedWork

W = TypeVar("W")


@dataclass(frozen=True)
class PastAttempts:
    """Questions with an ok answer, and the number of the next attempt for each question asked."""

    done: set[str] = field(default_factory=set)
    attempts: dict[str, int] = field(default_factory=dict)

    def since(self, planned: Mapping[str, int]) -> set[str]:
        """Return the questions that another process asked after these attempts were planned."""
        return {question for question, attempt in planned.items() if self.attempts.get(question, 0) > attempt}


def past_attempts(stored: Iterable[tuple[str, int, bool]]) -> PastAttempts:
    """Read stored attempts: the question, the attempt's number, whether it was ok."""
    past = PastAttempts()
    for question, attempt, ok in stored:
        past.attempts[question] = max(past.attempts.get(question, 0), attempt + 1)
        if ok:
            past.done.add(question)
    return past


def shared_attempts(
    claims: Claims,
    key: Callable[[W], str],
    planned: Callable[[W], tuple[str, int]],
    stored: Callable[[Sequence[W]], PastAttempts],
) -> tuple[SharedWork[W], Callable[[Sequence[W], str], int]]:
    """Return `shared` and `finish` of a `JudgeRun` whose questions are planned from `PastAttempts`.

    `planned` returns a question and the number of its attempt, `stored` what the store now holds for given work.
    """

    def asked_elsewhere(work: Sequence[W]) -> set[str]:
        new_attempts = stored(work).since(dict(map(planned, work)))
        return {key(piece) for piece in work if planned(piece)[0] in new_attempts}

    def finish(work: Sequence[W], _: str) -> int:
        return len({planned(piece)[0] for piece in work} - stored(work).done)

    return SharedWork(claims, key, asked_elsewhere), finish
