"""Wire types for people who sign in and rate.

A type that raters can see has no field that could name a model, an output, a file or a hash. Text fields contain
untrusted text (instructions, names): they are data, and pages show them as plain text.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from imarena.routing import CampaignKind, ParticipationOutcome

Purpose = Literal["vote", "practice", "qualification", "adjudication"]
"""A task's purpose as shown to raters. Gold and repeated tasks look like any other."""
ShownStage = Literal[
    "consent", "practice", "qualification", "open", "not_qualified", "quota", "paused", "on_hold", "waiting", "done",
    "closed",
]  # fmt: skip
"""waiting: nothing for this rater now, but tasks of others may come back. done: nothing can come back."""
VoteChoice = Literal["left", "right", "tie", "both_bad"]

NO_NUL = r"^[^\x00]*$"
"""Text without NUL characters, which PostgreSQL cannot store."""

Line = Annotated[str, StringConstraints(max_length=500, pattern=NO_NUL)]
Words = Annotated[str, StringConstraints(max_length=4000, pattern=NO_NUL)]
IdempotencyKey = Annotated[str, StringConstraints(min_length=8, max_length=100, pattern=r"^[A-Za-z0-9_.:-]+$")]


class Wire(BaseModel):
    """Anything that is sent or received; an unknown field is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, from_attributes=True)

    @classmethod
    def of(cls, source: object, /, **others: Any) -> Self:
        """`others`, and every other field copied by name from `source`; wire types inside are made in the same way."""
        return cls(**{name: getattr(source, name) for name in cls.model_fields if name not in others}, **others)


class Problem(Wire):
    """Why a request failed: a message for people, and what to do next."""

    code: str
    message: str
    hint: str = ""
    field: str = ""
    """The invalid part of the request, such as ``ratings.artifacts``."""
    fields: list[str] = Field(default_factory=list)
    """All invalid parts; for `pictures_not_seen`, the pictures that were not requested."""
    wait_s: float | None = None
    """The same request may be accepted after this many seconds."""


class NoticeOut(Wire):
    """A notice about a result: `code` and `values` for programs, `text` for people."""

    code: str
    values: dict[str, JsonValue]
    text: str


# ---------------------------------------------------------------- signing in


class Password(Wire):
    """Sign-in as the administrator."""

    password: Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class Launch(Wire):
    """Sign-in with the address that ``imarena serve`` prints if it listens on this machine only."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Invitation(Wire):
    """Sign-in with an invitation link. `params` are the link parameters set by a crowd platform."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    params: dict[Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL)], Line] = Field(
        default_factory=dict, max_length=20
    )


class Me(Wire):
    """The current user. Send `csrf` in the header ``X-CSRF-Token`` of every request that changes something."""

    role: Literal["admin", "lead", "rater", "viewer"] | None
    name: str
    csrf: str
    public: bool
    """Is this a public, read-only arena?"""
    arena: str
    can_look: bool
    """May this person open the leaderboard and the explorer?"""
    version: str
    rating_as: str | None = None
    """The rater whose session this browser has too; the rating routes use that session."""


# ---------------------------------------------------------------- rating


class Anchor(Wire):
    """The meaning of one value of a criterion."""

    value: int
    text: str


class Criterion(Wire):
    """A question with its scale."""

    name: str
    label: str
    question: str
    low: int
    high: int
    anchors: list[Anchor]


class RaterCampaign(Wire):
    """A campaign as one of its raters sees it."""

    campaign_id: str
    name: str
    kind: CampaignKind
    stage: ShownStage
    consent: str
    guidelines: str
    done: int
    quota: int
    quota_left: int
    waiting: int
    """Number of tasks for this rater now, including the current one."""
    more_waiting: bool
    """There are more tasks than that."""
    can_undo: bool
    """Can this rater undo an answer now? Never one that decides access."""
    min_seconds: float
    outcome: ParticipationOutcome | None
    """The outcome of the participation; None while there is more to do."""


class RaterCampaignPage(Wire):
    """Campaigns of a rater, in the order in which they joined."""

    campaigns: list[RaterCampaign]
    total: int
    """Number of campaigns on all pages."""
    next_cursor: str | None


class Picture(Wire):
    """An image of a task, under an address that is random for this assignment.

    `url` is a JPEG of at most 1,600 px per side. Tiles are PNG with true pixels, at
    ``{tiles_url}/{level}/{column}/{row}``: level 0 is the smallest, `max_level` is 1:1, each level doubles both sides.
    """

    url: str
    tiles_url: str
    width: int
    height: int
    tile_size: int
    max_level: int


class SegmentOut(Wire):
    """A numbered region of an image: outlines in pixels, and the position of the number."""

    number: int
    outlines: list[list[tuple[int, int]]]
    label_x: int
    label_y: int
    box: tuple[int, int, int, int]


class Segments(Wire):
    """The numbered regions of the rated image."""

    width: int
    height: int
    segments: list[SegmentOut]


class IssueIn(Wire):
    """An issue: an object by name, a numbered segment, a box in pixels (x0, y0, x1, y1), or a text."""

    kind: Literal["object", "segment", "box", "other"]
    label: Line = ""
    segment: Annotated[int, Field(ge=1, le=10_000)] | None = None
    box: tuple[float, float, float, float] | None = None
    criterion: Annotated[str, StringConstraints(max_length=60, pattern=NO_NUL)] | None = None
    note: Line = ""


class Ballot(Wire):
    """A vote as it is posted. Which fields are needed depends on the task's kind.

    preference: `preference`. rating: `ratings` for every criterion, `issues` or the explicit `no_object_issues` and
    `no_segment_issues`, and for any criterion under its highest value an issue or a comment. yes_no: `answer`.
    check: `checks` for every check and `decision`.
    """

    idempotency_key: IdempotencyKey
    preference: VoteChoice | None = None
    ratings: dict[Annotated[str, StringConstraints(max_length=60)], Annotated[int, Field(ge=0, le=10)]] = Field(
        default_factory=dict, max_length=20
    )
    answer: bool | None = None
    checks: dict[Annotated[str, StringConstraints(max_length=60)], bool] = Field(default_factory=dict, max_length=20)
    decision: Literal["accept", "repair", "discard"] | None = None
    issues: list[IssueIn] = Field(default_factory=list, max_length=200)
    no_object_issues: bool = False
    no_segment_issues: bool = False
    new_image: bool = False
    returned_input: bool = False
    comment: Words = ""
    time_spent_s: Annotated[float, Field(ge=0, le=86_400)] | None = None


class OtherAnswer(Wire):
    """Another rater's answer to the same question, without the name."""

    preference: VoteChoice | None = None
    answer: bool | None = None
    ratings: dict[str, float] = Field(default_factory=dict)
    comment: str = ""


class RegionBox(Wire):
    """A box relative to an image's width and height, from 0 to 1."""

    left: float
    top: float
    right: float
    bottom: float


class TaskOut(Wire):
    """A blinded task. `address` names it in every later request; it is random."""

    address: str
    campaign_id: str
    kind: CampaignKind
    purpose: Purpose
    instruction: str
    dimension: str
    """What is asked, such as 'overall'."""
    question: str
    sources: list[Picture]
    references: list[Picture]
    left: Picture | None
    right: Picture | None
    criteria: list[Criterion]
    checks: list[Criterion]
    stands_under: str
    """In a check: the item's family, task and topic, against which it is checked. Otherwise empty."""
    expected_objects: list[str]
    region: list[RegionBox] | None
    """The edit region, the same for every picture. None: the campaign does not show it; empty: unknown."""
    segments_url: str | None
    held_until: str
    done: int
    quota_left: int
    previous: Ballot | None
    """The answer before an undo."""
    min_seconds: float
    """Minimum time from handing out a task to its answer; 0: none."""
    wait_s: float
    """Remaining part of it, by the server's clock."""
    can_undo: bool | None
    """After an undo: can another answer be undone? Otherwise None."""
    other_answers: list[OtherAnswer]
    """In an adjudication that shows them: the others' answers, with the sides of this task."""


class Next(Wire):
    """The next task, or the reason why there is none."""

    stage: ShownStage
    task: TaskOut | None
    outcome: ParticipationOutcome | None = None
    """The outcome of the participation; None while there is more to do."""
    completion_code: str | None = None
    completion_url: str | None = None
    """The URL to which people return on the crowd platform, for this outcome."""


class Ahead(Wire):
    """The next task, reserved for a short time so that its images can be fetched. None if there is none."""

    task: TaskOut | None


class PracticeOut(Wire):
    """An answer to a practice task and the expected one, for pages in other languages than English."""

    correct: bool | None
    preference: VoteChoice | None
    answer: bool | None
    ratings: dict[str, float]
    tolerance: float
    explanation: str


class Receipt(Wire):
    """The vote is stored. `feedback` (English) and `practice` are set only after a practice task."""

    accepted: Literal[True] = True
    late: bool
    """The time to answer was over, but nobody else had taken the task, so the vote counts."""
    done: int
    quota_left: int
    feedback: str | None
    can_undo: bool
    practice: PracticeOut | None


class SkipIn(Wire):
    """A skip with its reason."""

    reason: Literal["cannot_tell", "broken_image", "offensive", "unclear_instruction", "other"]
    note: Line = ""


class Consent(Wire):
    """Consent to take part."""

    accepted: Literal[True]


class Done(Wire):
    """The request succeeded."""

    done: Literal[True] = True
