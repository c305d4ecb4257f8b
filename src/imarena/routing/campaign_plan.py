"""A campaign's plan: its settings, as stored in the campaign's record."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from imarena.core.records import Campaign, JsonDict

CampaignKind = Literal["preference", "rating", "yes_no", "check"]
ParticipationOutcome = Literal["completed", "screened_out", "quota_full", "partial"]
"""How a rater's participation ended, in the categories of crowd platforms."""
RATERS_PER_UNIT: dict[str, int] = {"preference": 1, "rating": 3, "yes_no": 2, "check": 1}


class KnownTask(BaseModel):
    """A task with a known right answer: gold, practice or qualification."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item_id: str
    left_id: str | None = None
    right_id: str | None = None
    preference: str | None = None
    answer: bool | None = None
    ratings: dict[str, int] = Field(default_factory=dict)
    tolerance: int = 1
    explanation: str = ""

    def expected(self) -> JsonDict:
        """Return the expected answer."""
        return self.model_dump(mode="json", include={"preference", "answer", "ratings", "tolerance", "explanation"})

    @property
    def unit(self) -> str:
        """The same unit with either side on the left."""
        return unit_of(self.item_id, self.left_id, self.right_id)


class CampaignPlan(BaseModel):
    """Settings of a campaign. Weekly quota, raters per unit and stratified subset follow CV-Arena and ImagenWorld."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: CampaignKind = "preference"
    dimension: str = "overall"
    datasets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    editors: tuple[str, ...] = ()
    per_stratum: int | None = None
    max_units: int | None = None
    raters_per_unit: int | None = None
    gold_rate: float = 0.0
    repeat_rate: float = 0.0
    gold: tuple[KnownTask, ...] = ()
    practice: tuple[KnownTask, ...] = ()
    qualification: tuple[KnownTask, ...] = ()
    pass_share: float = 0.8
    weekly_quota: int = 200
    lease_s: int = 900
    consent: str = ""
    guidelines: str = ""
    completion_url: str | None = None
    """Where to send a crowd platform's raters at the end; `{code}` in it is replaced by the completion code."""
    completion_codes: Mapping[ParticipationOutcome, str] = Field(default_factory=dict)
    complete_after: int = 1
    """Minimum number of answers of a rater who counts as completed when no tasks are left; with fewer, as partial."""
    min_seconds: float = 0.0
    """Answers that arrive sooner than this after the task was handed out are not accepted yet."""
    adjudication: Literal["off", "rater", "lead"] = "off"
    """Who gets units on which raters disagree: one more rater, or the lead."""
    adjudication_answers: Literal["hidden", "shown"] = "hidden"
    show_region: bool = False
    """Outline the requested edit region on every image of a comparison, if it is stored."""
    seed: int = 0
    paused: bool = False
    """No tasks are given out for now; unlike in a closed campaign, its items stay hidden."""
    consent_since: str = ""
    """When the consent text last changed: raters who agreed earlier are asked again."""

    @property
    def raters(self) -> int:
        """Number of different people who answer each unit."""
        return self.raters_per_unit or RATERS_PER_UNIT[self.kind]

    def known(self) -> tuple[KnownTask, ...]:
        """Return all tasks with a known answer, which are not also given as real work."""
        return (*self.gold, *self.practice, *self.qualification)


def plan_of(campaign: Campaign) -> CampaignPlan:
    """Read the plan in a campaign's record. Records from elsewhere may have fewer or more fields."""
    settings = {name: value for name, value in campaign.settings.items() if name in CampaignPlan.model_fields}
    kind = campaign.kind if campaign.kind in RATERS_PER_UNIT else "preference"
    return CampaignPlan.model_validate({**settings, "name": campaign.name, "kind": kind})


def unit_of(item_id: str, left_id: str | None, right_id: str | None, turn: int = 0) -> str:
    """Return the name of a task, independent of the order of its sides."""
    sides = sorted(side for side in (left_id, right_id) if side is not None)
    return "|".join([item_id, str(turn), *sides])
