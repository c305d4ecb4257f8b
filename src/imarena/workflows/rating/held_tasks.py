"""What the voting desk gives back: a task in a rater's hands, and the receipt of a vote."""

from dataclasses import dataclass

from imarena.core.records import Assignment
from imarena.routing import Answer, PracticeResult, RaterStanding


@dataclass(frozen=True)
class HeldTask:
    """A task in a rater's hands."""

    assignment: Assignment
    address: str
    until: str
    standing: RaterStanding
    previous: Answer | None = None
    handed_at: str | None = None
    """When the rater got it to answer; None: it is kept ready and not handed out yet."""
    can_undo: bool | None = None
    """Can an answer be taken back now? None: it was not looked up."""


@dataclass(frozen=True)
class AcceptedVote:
    """A vote that is stored, and how much the rater has done with it."""

    late: bool
    done: int
    quota_left: int
    feedback: str | None
    can_undo: bool = True
    practice: PracticeResult | None = None
    """After a practice task: the expected answer."""
