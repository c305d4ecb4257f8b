"""Changing a campaign that is under way: what may change, with who changed what and when.

What is asked does not change (kind, dimension, which items and editors, seed, the tasks with known answers and the pass
mark): votes before and after would answer different questions under one name. Make another campaign for that.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, select, update

from imarena.core import UserError, moment_text
from imarena.core.records import Campaign, JsonDict, now
from imarena.routing import plan_of
from imarena.storage import Workspace, from_row, to_row, writing
from imarena.storage.schema import campaigns as campaigns_table
from imarena.workflows.rating.task_counts import set_slots

_NO_NUL = r"^[^\x00]*$"


class CampaignChanges(BaseModel):
    """What may change in a campaign; a field that is not given stays as it is."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    open: bool | None = None
    """False: no new tasks, and its items can be looked up again. Tasks in hand can still be answered."""
    paused: bool | None = None
    """True: no tasks for now; its items stay hidden."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_NUL)] | None = None
    consent: Annotated[str, StringConstraints(max_length=4000, pattern=_NO_NUL)] | None = None
    """Another text is shown to everybody again before their next task."""
    guidelines: Annotated[str, StringConstraints(max_length=20_000, pattern=_NO_NUL)] | None = None
    weekly_quota: Annotated[int, Field(ge=1, le=100_000)] | None = None
    raters_per_unit: Annotated[int, Field(ge=1, le=50)] | None = None
    """More: tasks are added. Fewer: tasks that nobody has taken are withdrawn; votes stay."""
    lease_s: Annotated[int, Field(ge=10, le=86_400)] | None = None
    """For tasks taken from now on."""
    gold_rate: Annotated[float, Field(ge=0, le=0.5)] | None = None
    repeat_rate: Annotated[float, Field(ge=0, le=0.5)] | None = None
    completion_url: Annotated[str, StringConstraints(max_length=1000, pattern=r"^(https://[^\s\"'<>]+)?$")] | None = (
        None
    )
    """Empty: none."""


@dataclass(frozen=True)
class CampaignEdit:
    """One change of a campaign: when, by whom, and the old and the new value of each setting."""

    at: str
    by: str
    changes: dict[str, dict[str, Any]]


def change_campaign(workspace: Workspace, campaign_id: str, changes: CampaignChanges, by: str) -> Campaign:
    """Change a campaign and note who did; what is the same as before is not noted."""
    wanted = changes.model_dump(exclude_none=True)
    if "completion_url" in wanted:
        wanted["completion_url"] = wanted["completion_url"] or None
    with writing(workspace.store.engine) as connection:
        old = _locked(connection, campaign_id)
        new = _changed(old, wanted, by)
        if new is not old:
            row = to_row(new)
            connection.execute(update(campaigns_table).where(campaigns_table.c.id == campaign_id).values(row))
    if "raters_per_unit" in wanted:
        set_slots(workspace, new)
    return new


def history(campaign: Campaign) -> list[CampaignEdit]:
    """What was changed, the newest first."""
    found = campaign.settings.get("history")
    entries: list[Any] = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [CampaignEdit(one["at"], one["by"], one["changes"]) for one in reversed(entries)]


def _locked(connection: Connection, campaign_id: str) -> Campaign:
    query = select(campaigns_table).where(campaigns_table.c.id == campaign_id).with_for_update()
    row = connection.execute(query).mappings().first()
    found = from_row(Campaign, row) if row is not None else None
    if not isinstance(found, Campaign):
        raise UserError("There is no such campaign.", hint="'imarena campaign status' lists them.")
    return found


def _changed(old: Campaign, wanted: dict[str, Any], by: str) -> Campaign:
    plan = plan_of(old)
    if wanted.get("gold_rate") and not plan.gold:
        raise UserError(
            "This campaign has no tasks with known answers.", hint="They are chosen when a campaign is made."
        )
    before = {**plan.model_dump(mode="json"), "raters_per_unit": plan.raters, "open": old.open}
    differing = {name: value for name, value in wanted.items() if before[name] != value}
    if not differing:
        return old
    at = moment_text(now())
    told: JsonDict = {name: {"old": before[name], "new": value} for name, value in differing.items()}
    kept = old.settings.get("history")
    entry: JsonDict = {"at": at, "by": by, "changes": told}
    settings: JsonDict = {
        **old.settings,
        **{name: value for name, value in differing.items() if name not in ("name", "open")},
        "history": [*(kept if isinstance(kept, list) else []), entry],
    }
    if "consent" in differing:
        settings["consent_since"] = at
    update_to = {"settings": settings, "name": wanted.get("name", old.name), "open": wanted.get("open", old.open)}
    return old.model_copy(update=update_to)
