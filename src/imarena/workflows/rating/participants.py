"""Who takes part in which campaign."""

from dataclasses import dataclass

from imarena.core.records import Campaign
from imarena.routing import RATERS_PER_UNIT
from imarena.storage import Workspace, membership, reading, writing
from imarena.workflows.rating.rater_work import RaterWork, rater_work
from imarena.workflows.rating.refusal import Refusal


@dataclass(frozen=True)
class JoinedCampaigns:
    """A page of a rater's campaigns, each with the number that pages go by, and how many there are on all pages."""

    campaigns: list[tuple[int, str]]
    total: int


def campaigns_of_rater(
    workspace: Workspace, rater_id: str, *, leads: bool, after: int = 0, limit: int = 50
) -> JoinedCampaigns:
    """The campaigns that a rater joined; for leads, who need no invitation, all that are open."""
    store = workspace.store
    if not leads:
        with reading(store.engine) as connection:
            return JoinedCampaigns(*membership.memberships(connection, rater_id, after, limit))
    kinds = list(RATERS_PER_UNIT)
    rows = store.rows(Campaign, after=after, limit=limit, open=1, kind=kinds)
    campaigns = [(int(row["seq"]), str(row["id"])) for row in rows]
    return JoinedCampaigns(campaigns, sum(store.count(Campaign, open=1, kind=kinds).values()))


def pause_rater(workspace: Workspace, campaign: Campaign, rater_id: str, *, active: bool) -> RaterWork:
    """Pause a rater in a campaign, or let them go on (`active`); returns the rater's work."""
    with writing(workspace.store.engine) as connection:
        changed = membership.change_membership(connection, campaign.campaign_id, rater_id, active=int(active))
    if not changed:
        raise Refusal("not_found", "This rater does not take part in the campaign.")
    return next(work for work in rater_work(workspace, campaign) if work.rater_id == rater_id)
