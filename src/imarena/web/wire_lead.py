"""What goes over the wire to rating leads and to the administrator."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from imarena.web.wire import NO_NUL, Kind, Line, Wire, Words

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
Role = Literal["lead", "rater", "viewer"]


class GoldIn(Wire):
    """A task whose right answer is known."""

    item_id: Name
    left_id: Name | None = None
    right_id: Name | None = None
    preference: Literal["left", "right", "tie", "both_bad"] | None = None
    answer: bool | None = None
    ratings: dict[str, Annotated[int, Field(ge=0, le=10)]] = Field(default_factory=dict, max_length=20)
    tolerance: Annotated[int, Field(ge=0, le=10)] = 1
    explanation: Line = ""


class CampaignIn(Wire):
    """A new campaign: what is shown, to how many, with which checks."""

    name: Name
    kind: Kind = "preference"
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
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class CampaignOut(Wire):
    """A campaign with how far it is."""

    campaign_id: str
    name: str
    kind: Kind
    open: bool
    created_at: str
    units: int
    slots: int
    votes: int
    held: int
    skipped: int
    raters: int
    complete_units: int
    settings: dict[str, object]


class CampaignChange(Wire):
    """Opening or closing a campaign."""

    open: bool


class CampaignPage(Wire):
    """Campaigns, newest first."""

    campaigns: list[CampaignOut]
    next_cursor: str | None


class RaterOut(Wire):
    """A rater's work in a campaign. None where there is nothing to compute it from."""

    rater_id: str
    name: str
    active: bool
    votes: int
    skipped: int
    median_time_s: float | None
    gold_right: int
    gold_asked: int
    repeats_same: int
    repeats_asked: int
    agreement: float | None
    """Share of this rater's votes that others on the same unit share."""
    left_share: float | None
    """Of the votes for a side, the share for the left one."""
    flags: list[str]
    """Why this rater stands out."""


class RaterPage(Wire):
    """Raters of a campaign."""

    raters: list[RaterOut]
    next_cursor: str | None


class RaterChange(Wire):
    """Pausing a rater, or letting them go on."""

    active: bool


class Agreement(Wire):
    """Agreement among raters on one criterion. A figure that is undefined is None, with the reason."""

    criterion: str
    alpha: float | None
    fleiss_kappa: float | None
    pairwise_agreement: float | None
    n_units: int
    n_raters: int
    reason: str


class AgreementReport(Wire):
    """Agreement in a campaign, by criterion."""

    criteria: list[Agreement]


class InvitationIn(Wire):
    """A new invitation link."""

    campaign_id: Name | None = None
    role: Role = "rater"
    name: Line = ""
    days: Annotated[float, Field(gt=0, le=365)] = 14
    max_people: Annotated[int, Field(ge=1, le=100_000)] = 1
    """1: the link belongs to one person, who may open it again. More: a shared link, such as for a crowd platform."""
    person_param: Annotated[str, StringConstraints(max_length=60, pattern=NO_NUL)] = ""
    """Name of the link's parameter that tells people apart on a shared link, such as PROLIFIC_PID."""


class InvitationOut(Wire):
    """An invitation, without its secret."""

    invitation_id: str
    campaign_id: str | None
    role: Role
    name: str
    created_at: str
    expires_at: str
    revoked: bool
    max_people: int
    people: int


class InvitationMade(Wire):
    """The link is told once, here; only its hash is kept."""

    invitation: InvitationOut
    token: str
    path: str
    """To be put behind the server's address."""


class InvitationPage(Wire):
    """Invitations, newest first."""

    invitations: list[InvitationOut]
    next_cursor: str | None


class TokenIn(Wire):
    """A new token for a machine."""

    name: Name
    role: Literal["admin", "lead", "viewer"] = "viewer"
    days: Annotated[float, Field(gt=0, le=3650)] = 90


class TokenOut(Wire):
    """A machine's token, without its secret."""

    token_id: str
    name: str
    role: str
    created_at: str
    expires_at: str
    revoked: bool


class TokenMade(Wire):
    """The secret is told once, here; only its hash is kept."""

    token: TokenOut
    secret: str


class TokenPage(Wire):
    """Tokens, newest first."""

    tokens: list[TokenOut]
    next_cursor: str | None
