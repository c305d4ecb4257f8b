"""Wire types for rating leads and the administrator."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from imarena.routing import CampaignKind, ParticipationOutcome
from imarena.storage import StoredInvitation, StoredSession, StoredToken
from imarena.web.wire import NO_NUL, Line, NoticeOut, Wire, Words
from imarena.workflows.rating import (
    CampaignChanges,
    CampaignEdit,
    CampaignProgress,
    Code,
    CriterionAgreement,
    ExclusionChange,
    RaterWork,
    SkippedTasks,
)

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
GrantedRole = Literal["lead", "rater", "viewer"]


class GoldIn(Wire):
    """A task with a known answer."""

    item_id: Name
    left_id: Name | None = None
    right_id: Name | None = None
    preference: Literal["left", "right", "tie", "both_bad"] | None = None
    answer: bool | None = None
    ratings: dict[str, Annotated[int, Field(ge=0, le=10)]] = Field(default_factory=dict, max_length=20)
    tolerance: Annotated[int, Field(ge=0, le=10)] = 1
    explanation: Line = ""


class KnownIn(Wire):
    """The source of tasks with known answers: a table (CSV) if one is given, otherwise votes that agree."""

    kind: Literal["preference", "rating", "yes_no"] = "preference"
    datasets: list[Name] = Field(default_factory=list, max_length=100)
    least_votes: Annotated[int, Field(ge=1, le=1000)] = 2
    least_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    table: Annotated[str, StringConstraints(max_length=900_000, pattern=NO_NUL)] = ""
    """Columns: item, (dataset), left, right and winner; or left and answer; or left and a column for each criterion."""


class KnownOut(Wire):
    """A task with its answer. `task` can be posted back among a campaign's gold, practice or qualification."""

    task: GoldIn
    item: str
    instruction: str
    left: str
    right: str
    votes: int
    use: Literal["", "gold", "practice", "qualification"]


class KnownPage(Wire):
    """Tasks with known answers, those with the most votes first, and unusable lines of the table."""

    tasks: list[KnownOut]
    problems: list[str]


class CampaignIn(Wire):
    """A new campaign: its units, number of raters and checks."""

    name: Name
    kind: CampaignKind = "preference"
    dimension: Name = "overall"
    datasets: list[Name] = Field(default_factory=list, max_length=100)
    tasks: list[Name] = Field(default_factory=list, max_length=200)
    topics: list[Name] = Field(default_factory=list, max_length=200)
    editors: list[Name] = Field(default_factory=list, max_length=200)
    """Empty: all."""
    per_stratum: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Items for each task and topic (ImagenWorld: 30); None: all of them."""
    max_units: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    raters_per_unit: Annotated[int, Field(ge=1, le=50)] | None = None
    """None: 1 for preferences, 3 for ratings, 2 for yes_no, 1 for checks."""
    gold_rate: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    repeat_rate: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    gold: list[GoldIn] = Field(default_factory=list, max_length=1000)
    practice: list[GoldIn] = Field(default_factory=list, max_length=100)
    qualification: list[GoldIn] = Field(default_factory=list, max_length=100)
    pass_share: Annotated[float, Field(ge=0, le=1)] = 0.8
    weekly_quota: Annotated[int, Field(ge=1, le=100_000)] = 200
    lease_s: Annotated[int, Field(ge=10, le=86_400)] = 900
    consent: Words = ""
    guidelines: Annotated[str, StringConstraints(max_length=20_000, pattern=NO_NUL)] = ""
    completion_url: Annotated[str, StringConstraints(max_length=1000, pattern=r"^https://[^\s\"'<>]+$")] | None = None
    """The URL to which people return on the crowd platform; `{code}` is replaced by the completion code."""
    completion_codes: dict[ParticipationOutcome, Code] = Field(default_factory=dict)
    complete_after: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Number of answers that counts as complete if no tasks are left for a rater; fewer count as partial."""
    min_seconds: Annotated[float, Field(ge=0, le=600)] = 0.0
    """Answers that arrive sooner after a task was handed out are not accepted yet."""
    adjudication: Literal["off", "rater", "lead"] = "off"
    """Who decides units on which raters disagree: one more rater, or the lead."""
    adjudication_answers: Literal["hidden", "shown"] = "hidden"
    show_region: bool = False
    """Outline the edit region on every picture (`imarena pvc regions` computes it)."""
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class CampaignChanged(CampaignEdit, Wire):
    """A change of a campaign: who, when, and the old and the new value of each setting.

    Or that a rater's votes were excluded or included again (`kind`), with the reason.
    """


class CampaignOut(CampaignProgress, Wire):
    """A campaign with its progress."""

    kind: CampaignKind
    settings: dict[str, object]
    history: list[CampaignChanged]
    """Changes since the campaign was created, newest first."""
    notices: list[NoticeOut]
    """Conspicuous raters; nobody is excluded because of it. Empty in lists of campaigns, like `history`."""


class CampaignChange(CampaignChanges):
    """Changes of a campaign. The question (kind, items, editors, known answers) cannot change."""


class CampaignPage(Wire):
    """Campaigns, newest first."""

    campaigns: list[CampaignOut]
    total: int
    """Number of campaigns on all pages."""
    next_cursor: str | None


class RaterOut(RaterWork, Wire):
    """A rater's work in a campaign. None: there are no data for a figure."""

    notices: list[NoticeOut]  # type: ignore[assignment]  # here with their texts
    """The reasons why this rater is conspicuous in words, with the figures."""


class RaterPage(Wire):
    """Raters of a campaign."""

    raters: list[RaterOut]
    total: int
    """Number of raters on all pages."""
    least_look_s: float
    """Raters with a shorter median time are marked: it is too short to look at the pictures."""
    least_answers: int
    """Raters with fewer answers are not marked for it."""
    next_cursor: str | None


class RaterChange(Wire):
    """Pause or resume a rater."""

    active: bool


class ExclusionIn(Wire):
    """Exclude a rater's votes."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=2000, pattern=NO_NUL)]
    since: AwareDatetime | None = None
    """None: all votes."""


class ExclusionOut(ExclusionChange, Wire):
    """The effect of excluding or including a rater."""


class AgreementOut(CriterionAgreement, Wire):
    """Agreement among raters on one criterion. An undefined figure is None, with the reason."""


class SkipReason(SkippedTasks, Wire):
    """One reason for skipping: its count, items (newest first, at most 20) and comments."""


class SkipReport(Wire):
    """The reasons why tasks of a campaign were skipped, the most frequent first."""

    reasons: list[SkipReason]


class AgreementReport(Wire):
    """Agreement in a campaign, by criterion."""

    criteria: list[AgreementOut]


class InvitationIn(Wire):
    """A new invitation link."""

    campaign_id: Name | None = None
    role: GrantedRole = "rater"
    name: Line = ""
    days: Annotated[float, Field(gt=0, le=365)] = 14
    max_people: Annotated[int, Field(ge=1, le=100_000)] = 1
    """1: the link belongs to one person, who may open it again. More: a shared link, such as for a crowd platform."""
    person_param: Annotated[str, StringConstraints(max_length=60, pattern=NO_NUL)] = ""
    """Name of the link's parameter that identifies people on a shared link, such as PROLIFIC_PID."""
    rater_id: Name | None = None
    """Bind a personal link to a rater for whom routing made tasks: whoever opens it gets exactly those."""


class InvitationOut(StoredInvitation, Wire):
    """An invitation, without its secret."""

    role: GrantedRole


class InvitationMade(Wire):
    """The link is returned only once, here; only its hash is stored."""

    invitation: InvitationOut
    token: str
    path: str
    """Append it to the server's address."""


class InvitationPage(Wire):
    """Invitations, newest first."""

    invitations: list[InvitationOut]
    total: int
    """Number of invitations on all pages."""
    next_cursor: str | None


class TokenIn(Wire):
    """A new token for a program."""

    name: Name
    role: Literal["admin", "lead", "viewer"] = "viewer"
    days: Annotated[float, Field(gt=0, le=3650)] = 90


class TokenOut(StoredToken, Wire):
    """A program's token, without its secret."""


class TokenMade(Wire):
    """The secret is returned only once, here; only its hash is stored."""

    token: TokenOut
    secret: str


class TokenPage(Wire):
    """Tokens, newest first."""

    tokens: list[TokenOut]
    next_cursor: str | None


class SessionOut(StoredSession, Wire):
    """A session of a user."""

    mine: bool
    """The session of this request."""


class SessionPage(Wire):
    """Open sessions, newest first."""

    sessions: list[SessionOut]
    next_cursor: str | None
