"""Results of the voting desk: the task that a rater holds, an accepted vote, and a refusal."""

from dataclasses import dataclass

from imarena.core import UserError
from imarena.core.records import Assignment
from imarena.routing import Answer, PracticeResult, RaterStanding


@dataclass(frozen=True)
class HeldTask:
    """A task that a rater holds."""

    assignment: Assignment
    address: str
    until: str
    standing: RaterStanding
    previous: Answer | None = None
    handed_at: str | None = None
    """When the task was handed out; None: it is prefetched and not handed out yet."""
    can_undo: bool | None = None
    """Whether an answer can be undone now; None: not looked up."""


@dataclass(frozen=True)
class AcceptedVote:
    """A stored vote, and the rater's progress including it."""

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
