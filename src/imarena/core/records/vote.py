"""What people do: raters, campaigns, assignments, their events, and votes."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from pydantic import Field, model_validator

from imarena.core.ids import content_id
from imarena.core.records.base import FrozenModel, JsonDict, Moment, Origin, Outcome, Record, moment_text


class Rater(Record):
    """A person. Personal data (`name`, `contact`) can be withdrawn; the id and the votes stay."""

    rater_id: str
    name: str = ""
    contact: str = ""
    role: str = "rater"
    active: bool = True
    params: JsonDict = Field(default_factory=dict)
    origin: Origin | None = None


class Campaign(Record):
    """A rating campaign: its units, form, raters per unit, and deadline."""

    campaign_id: str
    name: str
    kind: str
    settings: JsonDict = Field(default_factory=dict)
    open: bool = True


class Assignment(Record):
    """A blinded task: what is shown on which side, fixed when the task is made."""

    campaign_id: str
    item_id: str
    turn: int = 0
    left_id: str | None = None
    """None if the rater looks at the item itself (a check)."""
    right_id: str | None = None
    kind: str = "preference"
    """preference, rating, yes_no or check."""
    unit: str = ""
    """Assignments with the same unit are the same task given to several raters."""
    slot: int = 0
    rater_id: str | None = None
    purpose: str = "vote"
    """vote, gold, repeat, practice or qualification."""
    probability: float | None = None
    """The probability with which routing chose it, for weighting in later estimates."""
    params: JsonDict = Field(default_factory=dict)

    @cached_property
    def assignment_id(self) -> str:
        """Identity: the task of a campaign, and its copy."""
        return content_id(
            "assignment", self.campaign_id, self.item_id, self.turn, self.left_id, self.right_id,
            self.kind, self.unit, self.slot, self.purpose, self.rater_id,
        )  # fmt: skip


TESTS_OF_RATERS: Mapping[str, str] = {
    "practice": "practice", "qualification": "test", "gold": "gold", "repeat": "repeat",
}  # fmt: skip
"""Purposes of assignments whose votes measure the rater, not the models, each with a word for it in lists of excluded
votes."""


NOT_COUNTED = "not_counted"
"""The column in an exported table of votes with the reason why a vote does not count; empty if it does."""


class EventKind(StrEnum):
    """Events of an assignment."""

    LEASED = "leased"
    SKIPPED = "skipped"
    UNSKIPPED = "unskipped"
    """A skip was undone."""
    EXPIRED = "expired"
    VOTED = "voted"
    UNDONE = "undone"
    RETURNED = "returned"
    """Returned before it was shown."""


class Event(Record):
    """An event of an assignment. Appended, never rewritten."""

    event_id: str
    assignment_id: str
    kind: EventKind
    rater_id: str | None = None
    until: Moment | None = None
    reason: str = ""


class Issue(FrozenModel):
    """Something a rater found wrong: an object by name, a numbered segment, or a box in pixels."""

    kind: str
    """object, segment, box, new_image, returned_input, other, or none (an explicit 'none' for the list in `label`)."""
    label: str = ""
    segment: int | None = None
    box: tuple[float, float, float, float] | None = None
    criterion: str | None = None
    note: str = ""


class Vote(Record):
    """A person's verdict on an assignment, or on an imported pair or output."""

    rater_id: str
    item_id: str
    turn: int = 0
    left_id: str
    right_id: str | None = None
    assignment_id: str | None = None
    first_turn: int | None = None
    """For two outputs from different chains: the rater saw the images before this turn, and all instructions from it
    to `turn`. None: the instruction of `turn` alone."""
    dimension: str = "overall"
    """The dimension of the preference, if the rater was asked about one dimension only."""
    preference: Outcome | None = None
    ratings: dict[str, float] = Field(default_factory=dict)
    scale: tuple[float, float] | None = None
    """Lowest and highest possible rating."""
    issues: tuple[Issue, ...] = ()
    comment: str = ""
    time_spent_s: float | None = None
    """The time reported by the rater's page or the sheet."""
    handed_out_at: Moment | None = None
    pictures_served_at: Moment | None = None
    """By the server's clock: when the rater got the task, and when the last of its images was first requested. None for
    sheets, programs and votes of earlier versions."""
    unseen: bool = False
    """True if the server did not send the task's images to this rater: the answer came from a sheet or a program."""
    idempotency_key: str = ""
    supersedes: str | None = None
    retracted: bool = False
    """True for the record of an undo: it has `supersedes` and no verdict."""
    origin: Origin | None = None

    @model_validator(mode="after")
    def _has_a_verdict(self) -> "Vote":
        if self.retracted:
            if self.supersedes is None:
                raise ValueError("a retraction names the vote that it takes back")
            return self
        if self.preference is None and not self.ratings:
            raise ValueError("a vote needs a preference or ratings")
        if self.preference is not None and self.right_id is None:
            raise ValueError("a preference needs two outputs")
        if self.scale is not None:
            low, high = self.scale
            for criterion, value in self.ratings.items():
                if not low <= value <= high:
                    raise ValueError(f"{criterion} is {value:g}, outside the scale {low:g} to {high:g}")
        return self

    @property
    def measured_time_s(self) -> float | None:
        """Seconds between the task with all its images and the answer, measured by the server."""
        if self.handed_out_at is None or self.pictures_served_at is None:
            return None
        return max(0.0, (self.created_at - max(self.handed_out_at, self.pictures_served_at)).total_seconds())

    @cached_property
    def vote_id(self) -> str:
        """Identity of the vote: the place in the file for imported votes, the idempotency key for live ones."""
        origin = [self.origin.source, self.origin.file_sha256, self.origin.row] if self.origin is not None else None
        return content_id(
            "vote", self.rater_id, self.assignment_id, self.idempotency_key, self.item_id, self.turn,
            self.left_id, self.right_id, self.supersedes, self.retracted, origin,
        )  # fmt: skip


class Exclusion(Record):
    """A rater's votes do not count: all of them, or those from a moment on. Nothing is deleted; it can be lifted."""

    rater_id: str
    since: Moment | None = None
    """None: all votes."""
    reason: str
    by: str = ""
    lifted_at: Moment | None = None
    lifted_by: str = ""
    lifted_reason: str = ""

    @cached_property
    def exclusion_id(self) -> str:
        """Identity: the rater, the start, and the time of the decision."""
        since = "" if self.since is None else moment_text(self.since)
        return content_id("exclusion", self.rater_id, since, moment_text(self.created_at))
