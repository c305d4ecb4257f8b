"""Questions that were asked before. Only an ok answer counts as one; failures are asked again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


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
