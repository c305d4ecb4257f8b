"""What a rater has in hand, what the voting desk gives back for a vote, and what the rules forbid."""

from dataclasses import dataclass

from imarena.core import UserError
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


class Refusal(UserError):
    """A request that the rules forbid; `code` is for programs, `fields` names the parts of the request it is about."""

    def __init__(
        self, code: str, message: str, *, hint: str = "", fields: tuple[str, ...] = (), wait_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.fields = fields
        self.wait_s = wait_s
        """The same request may be accepted after this many seconds."""
