"""Create campaigns from a workspace, find them, and report their progress."""

import secrets
from collections.abc import Iterator
from typing import Any

from pydantic import Field
from sqlalchemy import Select, func, or_, select, union, union_all

from imarena import routing
from imarena.core import UserError, command_line, moment_text
from imarena.core.records import Assignment, Campaign, FrozenModel, Item, Output, Status, now
from imarena.storage import Workspace, access, from_row, leases, reading, withdrawn_images, writing
from imarena.storage.schema import assignments as assignments_table
from imarena.storage.schema import campaigns as campaigns_table
from imarena.storage.schema import events as events_table
from imarena.storage.schema import leases as leases_table
from imarena.storage.schema import outputs as outputs_table
from imarena.storage.schema import participants
from imarena.storage.schema import votes as votes_table
from imarena.workflows.rating.answers import count_check_tasks
from imarena.workflows.rating.edit_regions import require_regions
from imarena.workflows.rating.held_tasks import Refusal
from imarena.workflows.rating.task_counts import EXCLUDED, WITHDRAWN, count_of_skips, state_of_task, tasks_not_dealt

_CHUNK = 2_000
_WITH_PIXELS = select(outputs_table.c.id).where(outputs_table.c.image_sha256.is_not(None))


class CampaignProgress(FrozenModel):
    """How far a campaign is."""

    campaign_id: str
    name: str
    kind: str
    open: bool
    paused: bool
    created_at: str
    units: int
    slots: int
    votes: int
    held: int
    skipped: int
    raters: int
    complete_units: int
    checks: int
    checks_done: int
    """Check tasks (repeats, known answers), all and answered. They measure raters; no other figure includes them."""
    held_until: str | None
    """When the last lease of the held tasks expires."""
    settings: dict[str, object] = Field(exclude=True)
    """Without the history of changes."""
    disputed: int
    """Units sent to adjudication because raters disagree."""
    adjudicated: int
    """Disputed units that have been adjudicated."""


def create_campaign(workspace: Workspace, plan: routing.CampaignPlan) -> Campaign:
    """Create a campaign and its assignments; it opens once all of them are stored."""
    check_plan(workspace, plan)
    units = plan_units(workspace, plan)
    if not units:
        raise UserError(
            "Nothing in the workspace fits this campaign.",
            hint=f"It needs items with outputs that have an image. Check the filters; `{command_line('status')}` "
            "counts outputs.",
        )
    if plan.show_region:
        require_regions(workspace, plan.kind, {unit.item_id for unit in units})
    campaign = Campaign(
        campaign_id=f"campaign_{secrets.token_hex(8)}",
        name=plan.name,
        kind=plan.kind,
        settings=plan.model_dump(mode="json", exclude={"name", "kind"}),
        open=False,
    )
    workspace.store.put(campaign)
    offered = list(routing.unit_assignments(plan, campaign.campaign_id, units))
    for start in range(0, len(offered), _CHUNK):
        part = offered[start : start + _CHUNK]
        workspace.store.add([assignment for assignment, _ in part])
        with writing(workspace.store.engine) as connection:
            leases.offer_tasks(connection, part)
    opened = campaign.model_copy(update={"open": True})
    workspace.store.put(opened)
    return opened


def check_plan(workspace: Workspace, plan: routing.CampaignPlan) -> None:
    """Raise if a campaign cannot be created: its name is taken, or its tasks with known answers do not fit."""
    require_new_name(workspace, plan.name)
    _check_known(workspace, plan)


def offer_missing(workspace: Workspace) -> int:
    """Offer assignments created elsewhere (routing, an import) that nobody can take yet; returns how many.

    Skips assignments for a named rater, of another purpose than `vote`, or without pixels to show.
    """
    left, right = assignments_table.c.left_id, assignments_table.c.right_id
    waiting = (
        select(assignments_table)
        .outerjoin(leases_table, leases_table.c.assignment_id == assignments_table.c.id)
        .join(campaigns_table, campaigns_table.c.id == assignments_table.c.campaign_id)
        .where(
            leases_table.c.assignment_id.is_(None),
            assignments_table.c.rater_id.is_(None),
            assignments_table.c.purpose == "vote",
            campaigns_table.c.kind.in_(routing.RATERS_PER_UNIT),
            *(or_(side.is_(None), side.in_(_WITH_PIXELS)) for side in (left, right)),
            ~select(votes_table.c.seq).where(votes_table.c.assignment_id == assignments_table.c.id).exists(),
        )
        .order_by(assignments_table.c.seq)
    )
    with writing(workspace.store.engine) as connection:
        offered = [from_row(Assignment, row) for row in connection.execute(waiting).mappings().all()]
        leases.offer_tasks(connection, ((assignment, position) for position, assignment in enumerate(offered)))
    return len(offered)


def plan_units(workspace: Workspace, plan: routing.CampaignPlan) -> list[routing.Unit]:
    """The units that a plan asks about, in the order in which they are offered."""
    items = routing.choose_campaign_items(plan, candidate_items(workspace))
    return routing.choose_units(plan, items, () if plan.kind == "check" else _candidate_outputs(workspace))


def candidate_items(workspace: Workspace) -> Iterator[routing.CandidateItem]:
    """All items, with the fields by which a campaign chooses."""
    for row in workspace.store.rows(Item):
        yield routing.CandidateItem(row["id"], row["dataset"], row["task"], row["topic"])


def _candidate_outputs(workspace: Workspace) -> Iterator[routing.CandidateOutput]:
    """First samples of named editors that have pixels to show."""
    withdrawn = withdrawn_images(workspace)
    for row in workspace.store.rows(Output, status=Status.OK.value):
        image = row["image_sha256"]
        if row["editor"] is not None and row["sample"] == 0 and image and image not in withdrawn:
            yield routing.CandidateOutput(row["id"], row["item_id"], row["turn"], row["mode"], row["editor"], image)


def _check_known(workspace: Workspace, plan: routing.CampaignPlan) -> None:
    if len({task.unit for task in plan.known()}) < len(plan.known()):
        raise UserError(
            "The same task is among those with a known answer twice.",
            hint="A practice task shows its answer: it can be neither gold nor in the test.",
        )
    if plan.gold_rate and not plan.gold:
        raise UserError(
            "A share of tasks with known answers needs such tasks, and there are none.",
            hint=f"`{command_line('campaign known --to known.json')}` finds them; create the campaign with "
            "--settings known.json.",
        )
    for task in plan.known():
        item = workspace.store.get(Item, task.item_id)
        sides = [workspace.store.get(Output, side) for side in (task.left_id, task.right_id) if side is not None]
        fits = all(side is not None and side.item_id == task.item_id and side.image is not None for side in sides)
        if item is None or not fits or len(sides) != {"preference": 2, "check": 0}.get(plan.kind, 1):
            raise UserError(
                "A task with a known answer names an item or outputs that are not in the workspace.",
                hint="Give item_id, and left_id and right_id of its outputs.",
            )
        if not _has_answer(plan.kind, task):
            raise UserError("A task with a known answer has no answer.", hint="Give preference, answer or ratings.")


def _has_answer(kind: str, task: routing.KnownTask) -> bool:
    has_answer = {
        "preference": task.preference is not None,
        "yes_no": task.answer is not None,
        "rating": bool(task.ratings),
    }
    return has_answer.get(kind, True)


def require_new_name(workspace: Workspace, name: str) -> None:
    """Refuse a name that another campaign has, because commands accept campaigns by name."""
    for campaign in workspace.store.records(Campaign, name=name, kind=list(routing.RATERS_PER_UNIT)):
        raise Refusal(
            "name_used",
            f"There is a campaign '{name}' already ({campaign.campaign_id}).",
            hint=f"Choose another name, or look at it with `{command_line('campaign status')}`.",
            fields=("name",),
        )


def get_campaign(workspace: Workspace, campaign_id: str) -> Campaign:
    """Find a campaign by id, or by name if the name is unique."""
    campaign = workspace.store.get(Campaign, campaign_id)
    if campaign is not None and campaign.kind in routing.RATERS_PER_UNIT:
        return campaign
    matches = list(workspace.store.records(Campaign, name=campaign_id, kind=list(routing.RATERS_PER_UNIT)))
    if len(matches) > 1:
        ids = ", ".join(match.campaign_id for match in matches)
        raise UserError(f"{len(matches)} campaigns are called '{campaign_id}'.", hint=f"Name one by its id: {ids}.")
    if not matches:
        raise UserError(f"There is no campaign '{campaign_id}'.", hint=f"`{command_line('campaign list')}` lists them.")
    return matches[0]


def all_campaigns(workspace: Workspace, *, before: int | None = None, limit: int = 200) -> list[tuple[int, Campaign]]:
    """Campaigns, newest first, with their sequence numbers for paging; excludes routing's gold set, stored as one."""
    return workspace.store.newest(Campaign, before=before, limit=limit, kind=list(routing.RATERS_PER_UNIT))


def count_campaigns(workspace: Workspace) -> int:
    """How many campaigns there are."""
    return sum(workspace.store.count(Campaign, kind=list(routing.RATERS_PER_UNIT)).values())


def campaign_progress(workspace: Workspace, campaign: Campaign) -> CampaignProgress:
    """How far a campaign is."""
    table, plan = leases_table, routing.plan_of(campaign)
    conditions = (table.c.campaign_id == campaign.campaign_id, table.c.purpose == "vote", table.c.state != WITHDRAWN)
    dealt = select(table.c.unit, state_of_task().label("state")).outerjoin(
        votes_table, votes_table.c.id == table.c.vote_id
    )
    # tasks for any rater that are not offered have no pixels here: they are not waiting for anybody
    undealt = tasks_not_dealt(campaign.campaign_id).where(assignments_table.c.rater_id.is_not(None)).subquery()
    work = union_all(dealt.where(*conditions), select(undealt.c.unit, undealt.c.state)).subquery()
    done = func.count().filter(work.c.state == "done")
    slots = func.count().filter(work.c.state != EXCLUDED)
    units = select(work.c.unit, slots.label("slots"), done.label("done")).group_by(work.c.unit).subquery()
    skips = (
        select(count_of_skips())
        .select_from(events_table.join(table, table.c.assignment_id == events_table.c.assignment_id))
        .where(table.c.campaign_id == campaign.campaign_id)
    )
    with reading(workspace.store.engine) as connection:
        totals = connection.execute(
            select(
                func.count().label("units"),
                func.coalesce(func.sum(units.c.slots), 0).label("slots"),
                func.coalesce(func.sum(units.c.done), 0).label("votes"),
                func.count().filter(units.c.done >= plan.raters).label("complete_units"),
            )
        ).mappings()
        figures: dict[str, Any] = dict(totals.one())
        in_hand = (table.c.campaign_id == campaign.campaign_id, table.c.state.in_(leases.HOLDING))
        held, until = connection.execute(select(func.count(), func.max(table.c.until)).where(*in_hand)).one()
        skipped = connection.execute(skips).scalar_one()
        raters = connection.execute(_people(campaign.campaign_id)).scalar_one()
        again = (table.c.campaign_id == campaign.campaign_id, table.c.purpose.in_(leases.ADJUDICATING))
        settled = func.count().filter(table.c.state == "done")
        disputed, adjudicated = connection.execute(select(func.count(), settled).where(*again)).one()
    checks, checks_done = count_check_tasks(workspace, campaign)
    figures["settings"] = {name: value for name, value in campaign.settings.items() if name != "history"}
    return CampaignProgress(
        campaign_id=campaign.campaign_id, name=campaign.name, kind=campaign.kind, open=campaign.open,
        paused=plan.paused, created_at=campaign.created_at.isoformat(), held=held, held_until=until, skipped=skipped,
        raters=raters, checks=checks, checks_done=checks_done, disputed=disputed, adjudicated=adjudicated, **figures,
    )  # fmt: skip


def _people(campaign_id: str) -> Select[Any]:
    """Query for the number of raters: those who joined here, and those who answered on a sheet."""
    joined = select(participants.c.rater_id).where(participants.c.campaign_id == campaign_id)
    sheets = (
        select(votes_table.c.rater_id)
        .join(assignments_table, assignments_table.c.id == votes_table.c.assignment_id)
        .where(assignments_table.c.campaign_id == campaign_id)
    )
    return select(func.count()).select_from(union(joined, sheets).subquery())


def need_named(workspace: Workspace, campaign: Campaign, rater_id: str) -> None:
    """Raise if a campaign has no tasks for this named rater, or if somebody who signed in here has this id."""
    if access.is_walk_in_rater(rater_id) or rater_id == "administrator":
        raise UserError(
            f"'{rater_id}' belongs to somebody who signed in here already.",
            hint="A link can be bound to a rater that `route assign --raters` names.",
        )
    table = assignments_table
    conditions = (table.c.campaign_id == campaign.campaign_id, table.c.purpose == "vote", table.c.rater_id.is_not(None))
    raters = sorted(workspace.store.values(select(table.c.rater_id).where(*conditions).distinct()))
    if rater_id not in raters:
        sentence = f"It has tasks for: {', '.join(raters[:20])}." if raters else "It has tasks for no named rater."
        hint = f"{sentence} `{command_line('route assign --raters', rater_id)}` makes some."
        raise UserError(f"The campaign '{campaign.name}' has no tasks for the rater '{rater_id}'.", hint=hint)


def items_in_open_campaigns(workspace: Workspace) -> set[str]:
    """Items that raters are looking at now: only leads may look them up.

    Tasks with a known answer count from the start, although they become assignments only when first handed out.
    """
    query = (
        select(assignments_table.c.item_id)
        .join(campaigns_table, campaigns_table.c.id == assignments_table.c.campaign_id)
        .where(campaigns_table.c.open == 1)
        .distinct()
    )
    dealt = set(workspace.store.values(query))
    running = workspace.store.records(Campaign, open=1, kind=list(routing.RATERS_PER_UNIT))
    return dealt.union(*({task.item_id for task in routing.plan_of(campaign).known()} for campaign in running))


def items_in_hand(workspace: Workspace) -> set[str]:
    """Items of closed campaigns with a held task, which may still be answered until its lease expires."""
    table = leases_table
    query = (
        select(assignments_table.c.item_id)
        .join(table, table.c.assignment_id == assignments_table.c.id)
        .join(campaigns_table, campaigns_table.c.id == table.c.campaign_id)
        .where(campaigns_table.c.open == 0, table.c.state.in_(leases.HOLDING), table.c.until >= moment_text(now()))
        .distinct()
    )
    return set(workspace.store.values(query))
