"""Change a running campaign: what may change, and who changed what and when.

The question cannot change (kind, dimension, items and editors, seed, tasks with known answers, pass mark): otherwise
votes before and after would answer different questions under one name. Create another campaign for that.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, select, update

from imarena.core import UserError, command_line, moment_text
from imarena.core.records import Campaign, Exclusion, FrozenModel, JsonDict, now
from imarena.routing import ParticipationOutcome, plan_of
from imarena.storage import Workspace, from_row, read_exclusions, reading, to_row, writing
from imarena.storage.schema import campaigns as campaigns_table
from imarena.workflows.rating.adjudication import hand_over_open, offer_adjudications
from imarena.workflows.rating.campaigns import require_new_name
from imarena.workflows.rating.rater_work import rater_names
from imarena.workflows.rating.task_counts import set_slots

_NO_NUL = r"^[^\x00]*$"
Code = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9_.-]*$")]
"""A completion code; empty: none."""


class CampaignChanges(BaseModel):
    """Changes to a campaign; fields that are not given stay as they are."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    open: bool | None = None
    """False: no new tasks, and its items can be looked up again. Held tasks can still be answered."""
    paused: bool | None = None
    """True: no new tasks for now; its items stay hidden."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_NUL)] | None = None
    consent: Annotated[str, StringConstraints(max_length=4000, pattern=_NO_NUL)] | None = None
    """A changed text is shown to every rater again before their next task."""
    guidelines: Annotated[str, StringConstraints(max_length=20_000, pattern=_NO_NUL)] | None = None
    weekly_quota: Annotated[int, Field(ge=1, le=100_000)] | None = None
    raters_per_unit: Annotated[int, Field(ge=1, le=50)] | None = None
    """A higher number adds tasks; a lower one withdraws tasks that nobody has taken. Votes stay."""
    lease_s: Annotated[int, Field(ge=10, le=86_400)] | None = None
    """Applies to tasks taken from now on."""
    gold_rate: Annotated[float, Field(ge=0, le=0.5)] | None = None
    repeat_rate: Annotated[float, Field(ge=0, le=0.5)] | None = None
    completion_url: Annotated[str, StringConstraints(max_length=1000, pattern=r"^(https://[^\s\"'<>]+)?$")] | None = (
        None
    )
    """Empty: no link. `{code}` is replaced by the completion code."""
    completion_codes: dict[ParticipationOutcome, Code] | None = None
    complete_after: Annotated[int, Field(ge=1, le=100_000)] | None = None
    min_seconds: Annotated[float, Field(ge=0, le=600)] | None = None
    """Minimum time from handing out a task to accepting its answer, in seconds."""
    adjudication: Literal["off", "rater", "lead"] | None = None
    adjudication_answers: Literal["hidden", "shown"] | None = None


class CampaignEdit(FrozenModel):
    """One change of a campaign: when, by whom, and the old and the new value of each setting.

    Or the exclusion or inclusion of a rater's votes (`kind`), with the reason.
    """

    at: str
    by: str
    changes: dict[str, dict[str, object]]
    kind: Literal["settings", "excluded", "included"]
    rater_id: str | None
    rater: str
    """The rater's name."""
    reason: str
    since: str | None
    """Start of an exclusion; None: it covers all votes."""


def change_campaign(workspace: Workspace, campaign_id: str, changes: CampaignChanges, by: str) -> Campaign:
    """Change a campaign and record who did; unchanged settings are not recorded."""
    settings = changes.model_dump(exclude_none=True)
    if "completion_url" in settings:
        settings["completion_url"] = settings["completion_url"] or None
    campaign = workspace.store.get(Campaign, campaign_id)
    if "name" in settings and campaign is not None and settings["name"] != campaign.name:
        require_new_name(workspace, settings["name"])
    with writing(workspace.store.engine) as connection:
        old = _lock(connection, campaign_id)
        new = _with_changes(old, settings, by)
        if new is not old:
            row = to_row(new)
            connection.execute(update(campaigns_table).where(campaigns_table.c.id == campaign_id).values(row))
    if "raters_per_unit" in settings:
        set_slots(workspace, new)
    if "adjudication" in settings:
        hand_over_open(workspace, new)
        offer_adjudications(workspace, new)
    return new


def history(campaign: Campaign) -> list[CampaignEdit]:
    """Changes to settings, newest first."""
    stored = campaign.settings.get("history")
    entries: list[Any] = [entry for entry in stored if isinstance(entry, dict)] if isinstance(stored, list) else []
    edits = ({name: entry[name] for name in ("at", "by", "changes")} for entry in reversed(entries))
    return [CampaignEdit(**edit, kind="settings", rater_id=None, rater="", reason="", since=None) for edit in edits]


def campaign_history(workspace: Workspace, campaign: Campaign) -> list[CampaignEdit]:
    """Changes to settings, and exclusions and inclusions of the campaign's raters; newest first."""
    with reading(workspace.store.engine) as connection:
        exclusions = read_exclusions(connection)
    if not exclusions:
        return history(campaign)
    people = rater_names(workspace, campaign)
    edits = history(campaign)
    for exclusion in exclusions:
        if exclusion.rater_id in people:
            edits += _exclusion_edits(exclusion, people[exclusion.rater_id])
    return sorted(edits, key=lambda edit: edit.at, reverse=True)


def _exclusion_edits(exclusion: Exclusion, name: str) -> Iterator[CampaignEdit]:
    """Yield a history entry for an exclusion, and another for its end."""
    since = None if exclusion.since is None else moment_text(exclusion.since)
    edit = CampaignEdit(
        at=moment_text(exclusion.created_at), by=exclusion.by, changes={}, kind="excluded",
        rater_id=exclusion.rater_id, rater=name, reason=exclusion.reason, since=since,
    )  # fmt: skip
    yield edit
    if exclusion.lifted_at is not None:
        at, by, reason = moment_text(exclusion.lifted_at), exclusion.lifted_by, exclusion.lifted_reason
        yield edit.model_copy(update={"at": at, "by": by, "kind": "included", "reason": reason})


def _lock(connection: Connection, campaign_id: str) -> Campaign:
    query = select(campaigns_table).where(campaigns_table.c.id == campaign_id).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        raise UserError("There is no such campaign.", hint=f"`{command_line('campaign list')}` lists them.")
    return from_row(Campaign, row)


def _with_changes(old: Campaign, values: dict[str, Any], by: str) -> Campaign:
    plan = plan_of(old)
    if values.get("gold_rate") and not plan.gold:
        raise UserError(
            "This campaign has no tasks with known answers.", hint="They are chosen when a campaign is made."
        )
    before = {**plan.model_dump(mode="json"), "raters_per_unit": plan.raters, "open": old.open}
    differing = {name: value for name, value in values.items() if before[name] != value}
    if not differing:
        return old
    at = moment_text(now())
    changes: JsonDict = {name: {"old": before[name], "new": value} for name, value in differing.items()}
    history = old.settings.get("history")
    entry: JsonDict = {"at": at, "by": by, "changes": changes}
    settings: JsonDict = {
        **old.settings,
        **{name: value for name, value in differing.items() if name not in ("name", "open")},
        "history": [*(history if isinstance(history, list) else []), entry],
    }
    if "consent" in differing:
        settings["consent_since"] = at
    update_to = {"settings": settings, "name": values.get("name", old.name), "open": values.get("open", old.open)}
    return old.model_copy(update=update_to)
