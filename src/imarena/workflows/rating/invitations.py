"""Invitation links: create, list, revoke and restore them, and check who may do so."""

from dataclasses import asdict, dataclass
from urllib.parse import quote

from sqlalchemy import select

from imarena.core import UserError, command_line, moment_text
from imarena.core.records import Campaign, Rater, now
from imarena.storage import StoredInvitation, Workspace, access, reading
from imarena.storage.schema import participants
from imarena.workflows.rating.campaigns import get_campaign, need_named, offer_missing
from imarena.workflows.rating.exclusions import find_rater
from imarena.workflows.rating.held_tasks import Refusal

_MOST_LINKS = 1000


@dataclass(frozen=True)
class InvitationRequest:
    """Settings of a new link."""

    campaign_id: str | None
    role: str = "rater"
    name: str = ""
    days: float = 14
    max_people: int = 1
    person_param: str = ""
    """The URL parameter that identifies the person on a shared link."""
    rater_id: str | None = None
    """Bind a personal link to a rater for whom routing created tasks."""


@dataclass(frozen=True)
class NewInvitation:
    """A newly created link. Its secret is not stored."""

    invitation: StoredInvitation
    secret: str
    person_param: str = ""

    @property
    def path(self) -> str:
        """The link on any server, without a person's parameter."""
        return _join_path(self.secret)

    def link(self, server: str) -> str:
        """The whole link; a crowd platform replaces the value of the person's parameter by the person's id."""
        return server.rstrip("/") + _join_path(self.secret, self.person_param)


def _join_path(secret: str, person_param: str = "") -> str:
    who = "{{%PROLIFIC_PID%}}" if person_param == "PROLIFIC_PID" else "WHO"
    query = f"?{quote(person_param, safe='')}={who}" if person_param else ""
    return f"/join{query}#{secret}"


@dataclass(frozen=True)
class InvitationList:
    """A page of invitations, newest first, and their total on all pages."""

    invitations: list[StoredInvitation]
    total: int


def list_links(
    workspace: Workspace, *, campaign_id: str | None = None, before: int | None = None, limit: int = 50
) -> InvitationList:
    """Invitations to one campaign or to all."""
    engine = workspace.store.engine
    invitations = access.invitation_rows(engine, campaign_id=campaign_id, before=before, limit=limit)
    return InvitationList(invitations, access.count_invitations(engine, campaign_id=campaign_id))


def unopened_links(workspace: Workspace, campaign: Campaign) -> tuple[StoredInvitation, ...]:
    """The links of raters to a campaign that work and that nobody has opened, oldest first."""
    listed = list_links(workspace, campaign_id=campaign.campaign_id, limit=_MOST_LINKS).invitations
    today = moment_text(now())
    waiting = [link for link in listed if not link.people and not link.revoked and link.expires_at > today]
    return tuple(reversed(waiting))


def make_link(
    workspace: Workspace, campaign: Campaign | None, request: InvitationRequest, *, by_role: str | None
) -> NewInvitation:
    """Create a link. Only an administrator may invite a lead; raters are invited to a campaign."""
    if request.role == "lead" and by_role != "admin":
        raise Refusal("not_allowed", "Only the administrator may invite a lead.")
    if request.role == "rater" and campaign is None:
        raise UserError("A rater is invited to a campaign.", hint="Give campaign_id.")
    if campaign is not None and request.name and request.max_people == 1:
        _need_new_name(workspace, campaign, request)
    if request.rater_id is not None:
        if request.role != "rater" or request.max_people != 1:
            raise UserError("A link for a named rater is for one person, as a rater.")
        if campaign is not None:
            need_named(workspace, campaign, request.rater_id)
    return _create(workspace, request)


def _create(workspace: Workspace, request: InvitationRequest) -> NewInvitation:
    engine = workspace.store.engine
    identity, secret = access.invite(engine, **asdict(request))
    (invitation,) = access.invitation_rows(engine, campaign_id=None, before=None, limit=1, identity=identity)
    return NewInvitation(invitation, secret, request.person_param)


def _need_new_name(workspace: Workspace, campaign: Campaign, request: InvitationRequest) -> None:
    """Refuse a name that the campaign has already: a lead could not distinguish two people with one name."""
    with reading(workspace.store.engine) as connection:
        joined = select(participants.c.rater_id).where(participants.c.campaign_id == campaign.campaign_id)
        identities = sorted(connection.execute(joined).scalars())
        used = request.rater_id is None and access.is_live_name(connection, campaign.campaign_id, request.name)
    raters = workspace.store.records(Rater, id=identities) if identities else ()
    namesakes = [rater for rater in raters if rater.name == request.name and rater.rater_id != request.rater_id]
    if namesakes:
        raise Refusal(
            "name_used",
            f"A rater of this campaign has the name '{request.name}' already.",
            hint=f"Invite that rater again ({command_line('campaign reinvite', namesakes[0].rater_id)}), or use "
            "another name.",
            fields=("name",),
        )
    if used:
        raise Refusal(
            "name_used",
            f"There is a link for '{request.name}' in this campaign already.",
            hint=f"Send that one, or revoke it (its id: `{command_line('campaign links')}`) and invite again.",
            fields=("name",),
        )


def reinvite_rater(
    workspace: Workspace, rater: str, *, campaign: str | None, days: float, by_role: str | None
) -> NewInvitation:
    """Create a new link for an existing rater; whoever opens it continues as that rater."""
    person = find_rater(workspace, rater)
    if person.role != "rater" and by_role != "admin":
        raise Refusal("not_allowed", "Only the administrator may invite a lead.")
    with reading(workspace.store.engine) as connection:
        query = select(participants.c.campaign_id).where(participants.c.rater_id == person.rater_id)
        joined = list(connection.execute(query.order_by(participants.c.seq)).scalars())
    if campaign is not None:
        joined = [get_campaign(workspace, campaign).campaign_id]
    if not joined:
        raise UserError(f"'{rater}' takes part in no campaign.", hint="Name the campaign that the link is for.")
    offer_missing(workspace)
    return _create(workspace, InvitationRequest(joined[-1], person.role, person.name, days, rater_id=person.rater_id))


def invite_raters(
    workspace: Workspace, campaign: str, *, name: str, days: float, max_people: int, person_param: str,
    rater_id: str | None,
) -> NewInvitation:  # fmt: skip
    """Create a link to a campaign (id or name) with an administrator's rights, and offer tasks not yet offered."""
    invited_to = get_campaign(workspace, campaign)
    if not invited_to.open:
        raise UserError(
            f"The campaign '{invited_to.name}' is closed: a link to it would offer no task.",
            hint=f"Open it again: `{command_line('campaign close', invited_to.name)} --reopen`.",
        )
    offer_missing(workspace)
    request = InvitationRequest(invited_to.campaign_id, "rater", name, days, max_people, person_param, rater_id)
    return make_link(workspace, invited_to, request, by_role="admin")


def end_link(workspace: Workspace, invitation_id: str, *, by_role: str | None) -> None:
    """End a link and the sessions that came from it. Only an administrator may end a lead's."""
    _find_link(workspace, invitation_id, by_role, "end")
    access.revoke_invitation(workspace.store.engine, invitation_id)


def restore_link(workspace: Workspace, invitation_id: str, *, by_role: str | None) -> StoredInvitation:
    """Undo the revocation of a link: it and the sessions that ended with it are valid again."""
    invitation = _find_link(workspace, invitation_id, by_role, "restore")
    if not access.restore_invitation(workspace.store.engine, invitation_id):
        raise Refusal("not_revoked", "This invitation is not revoked.")
    return invitation.model_copy(update={"revoked": False})


def _find_link(workspace: Workspace, invitation_id: str, by_role: str | None, verb: str) -> StoredInvitation:
    """Return an invitation that somebody with this role may end or restore."""
    engine = workspace.store.engine
    invitations = access.invitation_rows(engine, campaign_id=None, before=None, limit=1, identity=invitation_id)
    if not invitations:
        raise Refusal("not_found", "There is no such invitation.")
    if invitations[0].role == "lead" and by_role != "admin":
        raise Refusal("not_allowed", f"Only the administrator may {verb} a lead's invitation.")
    return invitations[0]
