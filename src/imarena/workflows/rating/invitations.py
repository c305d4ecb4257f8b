"""Invitation links: who may make and end which, and whom a link is for."""

from dataclasses import asdict, dataclass

from imarena.core import UserError
from imarena.core.records import Campaign
from imarena.storage import StoredInvitation, Workspace, access
from imarena.workflows.rating.campaigns import get_campaign, need_named, offer_missing
from imarena.workflows.rating.voting import Refusal


@dataclass(frozen=True)
class InvitationRequest:
    """What a new link should be good for."""

    campaign_id: str | None
    role: str = "rater"
    name: str = ""
    days: float = 14
    max_people: int = 1
    person_param: str = ""
    """The link's parameter that tells people apart on a shared link."""
    rater_id: str | None = None
    """Bind a personal link to a rater for whom routing made tasks."""


@dataclass(frozen=True)
class NewInvitation:
    """A link that was just made. Its secret is not kept."""

    invitation: StoredInvitation
    secret: str


@dataclass(frozen=True)
class InvitationList:
    """A page of invitations, newest first, and how many there are on all pages."""

    invitations: list[StoredInvitation]
    total: int


def list_links(
    workspace: Workspace, *, campaign_id: str | None = None, before: int | None = None, limit: int = 50
) -> InvitationList:
    """Invitations to one campaign or to all."""
    engine = workspace.store.engine
    found = access.invitation_rows(engine, campaign_id=campaign_id, before=before, limit=limit)
    return InvitationList(found, access.count_invitations(engine, campaign_id=campaign_id))


def make_link(
    workspace: Workspace, campaign: Campaign | None, wanted: InvitationRequest, *, by_role: str | None
) -> NewInvitation:
    """Make a link. Only an administrator may invite a lead; raters are invited to a campaign."""
    if wanted.role == "lead" and by_role != "admin":
        raise Refusal("not_allowed", "Only the administrator may invite a lead.")
    if wanted.role == "rater" and campaign is None:
        raise UserError("A rater is invited to a campaign.", hint="Give campaign_id.")
    if wanted.rater_id is not None:
        if wanted.role != "rater" or wanted.max_people != 1:
            raise UserError("A link for a named rater is for one person, as a rater.")
        if campaign is not None:
            need_named(workspace, campaign, wanted.rater_id)
    engine = workspace.store.engine
    identity, secret = access.invite(engine, **asdict(wanted))
    (made,) = access.invitation_rows(engine, campaign_id=None, before=None, limit=1, identity=identity)
    return NewInvitation(made, secret)


def invite_raters(
    workspace: Workspace, campaign: str, *, name: str, days: float, max_people: int, person_param: str,
    rater_id: str | None,
) -> NewInvitation:  # fmt: skip
    """Make a link to a campaign, named by its id or name, from where everything is allowed; its tasks are offered."""
    found = get_campaign(workspace, campaign)
    offer_missing(workspace)
    wanted = InvitationRequest(found.campaign_id, "rater", name, days, max_people, person_param, rater_id)
    return make_link(workspace, found, wanted, by_role="admin")


def end_link(workspace: Workspace, invitation_id: str, *, by_role: str | None) -> None:
    """End a link and the sessions that came from it. Only an administrator may end a lead's."""
    engine = workspace.store.engine
    found = access.invitation_rows(engine, campaign_id=None, before=None, limit=1, identity=invitation_id)
    if found and found[0].role == "lead" and by_role != "admin":
        raise Refusal("not_allowed", "Only the administrator may end a lead's invitation.")
    if not access.revoke_invitation(engine, invitation_id):
        raise Refusal("not_found", "There is no such invitation.")
