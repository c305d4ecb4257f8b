"""``imarena campaign links, revoke, restore, reinvite, payments``: people, their links and their payment."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imarena.cli.console import emit, session, session_workspace, stderr
from imarena.core import counted

if TYPE_CHECKING:
    from imarena.storage import StoredInvitation

CampaignName = Annotated[str, typer.Argument(help="The campaign's id, or its name.")]
CampaignOrAll = Annotated[str, typer.Argument(help="The campaign's id or name (default: all).")]
Days = Annotated[float, typer.Option(min=0.01, max=365, help="How many days the link is valid.")]
AddressOption = Annotated[str, typer.Option(help="The server's address (default: the running server).")]
LinkId = Annotated[str, typer.Argument(help="The link's id, as `campaign links` lists it.")]


def links(
    context: typer.Context,
    campaign: CampaignOrAll = "",
) -> None:
    """List invitation links, newest first. Their secrets are not stored."""
    from imarena.workflows.rating import get_campaign, list_links

    with session_workspace(context) as workspace:
        campaign_id = get_campaign(workspace, campaign).campaign_id if campaign else None
        invitations = list_links(workspace, campaign_id=campaign_id, limit=1000).invitations
    document = {"links": [link.model_dump() for link in invitations]}

    def show(console: Any) -> None:
        for link in invitations:
            state = "revoked" if link.revoked else "used" if link.used else f"expires {link.expires_at[:10]}"
            opens = "opens once" if link.one_use else f"used by {link.people} of {counted(link.max_people, 'person')}"
            console.print(f"{link.invitation_id}  {link.name or '-'}  {link.role}, {opens}, {state}", soft_wrap=True)
        if not invitations:
            console.print("There are no links.")

    emit(context, document, show)


def revoke(context: typer.Context, link: LinkId) -> None:
    """Revoke an invitation link, and sign out everybody who used it. `campaign restore` undoes it."""
    from imarena.workflows.rating import end_link

    with session_workspace(context) as workspace:
        end_link(workspace, link, by_role="admin")
    document = {"invitation_id": link, "revoked": True}
    emit(context, document, f"Revoked {link}.")


def unrevoke(context: typer.Context, link: LinkId) -> None:
    """Undo a revocation: the link works again, and the sessions that it ended continue."""
    from imarena.workflows.rating import restore_link

    with session_workspace(context) as workspace:
        restore_link(workspace, link, by_role="admin")
    document = {"invitation_id": link, "revoked": False}
    emit(context, document, f"Restored {link}.")


def reinvite(
    context: typer.Context,
    rater: Annotated[str, typer.Argument(help="The rater's id, or a name that only one rater has.")],
    campaign: Annotated[str, typer.Option(help="The campaign (default: the one they joined last).")] = "",
    days: Days = 14.0,
    address: AddressOption = "",
) -> None:
    """Create a new link for an existing rater, who continues under the same id."""
    from imarena.workflows.rating import reinvite_rater
    from imarena.workflows.serving import USUAL, find_server_address

    with session_workspace(context) as workspace:
        invited = reinvite_rater(workspace, rater, campaign=campaign or None, days=days, by_role="admin")
    server = address or find_server_address(session(context).workspace) or USUAL
    link = invited.link(server)
    emit(context, invitation_document(invited.invitation, link), lambda console: console.print(link, soft_wrap=True))
    if not session(context).json:
        who = invited.invitation.rater_id
        stderr().print(f"Link for the rater {who}, valid for {days:g} days. It is printed only once.", soft_wrap=True)


def invitation_document(invitation: "StoredInvitation", link: str) -> dict[str, Any]:
    """Return a new link, for ``--json``."""
    names = ("invitation_id", "campaign_id", "rater_id")
    return {**{name: getattr(invitation, name) for name in names}, "link": link}


def payments(
    context: typer.Context,
    campaign: CampaignName,
    to: Annotated[Path | None, typer.Option("--to", help="Write a CSV file; without it, print the list.")] = None,
) -> None:
    """List each rater's tasks, checks passed, minutes and completion code."""
    from imarena.workflows.rating import get_campaign, payment_list, payments_csv

    with session_workspace(context) as workspace:
        record = get_campaign(workspace, campaign)
        people = payment_list(workspace, record)
    if to is not None:
        to.write_text(payments_csv(people), encoding="utf-8")
    document = {"payments": [payment.model_dump() for payment in people], "file": None if to is None else str(to)}

    def show(console: Any) -> None:
        if to is not None:
            console.print(f"Wrote {to}: {counted(len(people), 'rater')}.")
            return
        if not people:
            console.print(f"No rater of '{record.name}' has answered a task yet: there is nothing to pay.")
        for payment in people:
            params = ", ".join(f"{name} {value}" for name, value in payment.params.items())
            who = " · ".join(text for text in (payment.name, params) if text) or payment.rater_id
            minutes = "no times" if payment.minutes is None else f"{payment.minutes:g} minutes"
            code = f", code {payment.completion_code}" if payment.completion_code else ""
            ended = (payment.outcome or "in progress").replace("_", " ")
            out = ", excluded" if payment.excluded else ""
            console.print(
                f"{who}: {counted(payment.tasks, 'task')}, checks passed {payment.checks_passed} of "
                f"{payment.checks_asked}, {minutes}, {ended}{code}{out}",
                soft_wrap=True,
            )

    emit(context, document, show)
