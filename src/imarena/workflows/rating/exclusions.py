"""Exclude a rater's votes, all or from a given time, and include them again. Nothing is deleted.

Boards, agreement and exports apply exclusions; open campaigns get new tasks in place of the excluded ones.
"""

from datetime import UTC, datetime

import numpy as np
from pydantic import BaseModel
from sqlalchemy import select

from imarena.core import UserError, command_line, moment_text
from imarena.core.records import Campaign, Exclusion, Rater, now
from imarena.routing import RATERS_PER_UNIT
from imarena.storage import Workspace, add_exclusion, lift_exclusions, read_exclusions, reading, writing
from imarena.storage.schema import leases
from imarena.workflows.rating.task_counts import set_slots
from imarena.workflows.views import View


class ExclusionChange(BaseModel, frozen=True, extra="forbid"):
    """What excluding or including a rater did."""

    rater_id: str
    name: str
    excluded: bool
    since: str | None
    """Start of the exclusion; None: all votes."""
    reason: str
    by: str
    votes: int
    """Number of the rater's votes that no longer count, or that count again."""


def exclude_rater(workspace: Workspace, rater: str, *, since: datetime | None, reason: str, by: str) -> ExclusionChange:
    """Exclude a rater's votes: all, or those from `since` on."""
    person = find_rater(workspace, rater)
    if not reason.strip():
        raise UserError("An exclusion needs a reason.", hint="Add --reason 'answers without looking'.")
    if since is not None and since > now():
        raise UserError("The date is in the future.", hint="Name the first day whose votes do not count.")
    before = _counting(workspace, person.rater_id)
    exclusion = Exclusion(rater_id=person.rater_id, since=since, reason=reason.strip(), by=by)
    with writing(workspace.store.engine, durable=True) as connection:
        for earlier in read_exclusions(connection, person.rater_id, live=True):
            if earlier.since is None or (since is not None and earlier.since <= since):
                raise UserError(
                    f"These votes of '{rater}' are excluded already: {earlier.reason}",
                    hint=f"To change the date or the reason, first: {command_line('campaign include', rater)}",
                )
        add_exclusion(connection, exclusion)
    _adjust_campaigns(workspace, person.rater_id)
    return ExclusionChange(
        rater_id=person.rater_id, name=person.name, excluded=True, reason=exclusion.reason, by=by,
        since=None if since is None else moment_text(since), votes=before - _counting(workspace, person.rater_id),
    )  # fmt: skip


def include_rater(workspace: Workspace, rater: str, *, reason: str, by: str) -> ExclusionChange:
    """Let a rater's votes count again. The exclusion stays on record, with who lifted it and when."""
    person = find_rater(workspace, rater)
    before = _counting(workspace, person.rater_id)
    with writing(workspace.store.engine, durable=True) as connection:
        lifted = lift_exclusions(connection, person.rater_id, moment=moment_text(now()), by=by, reason=reason.strip())
    if not lifted:
        raise UserError(
            f"The votes of '{rater}' are not excluded.", hint=f"`{command_line('campaign status')}` lists the raters."
        )
    _adjust_campaigns(workspace, person.rater_id)
    votes = _counting(workspace, person.rater_id) - before
    return ExclusionChange(
        rater_id=person.rater_id, name=person.name, excluded=False, since=None, reason=reason.strip(), by=by,
        votes=votes,
    )  # fmt: skip


def live_exclusions(workspace: Workspace) -> dict[str, Exclusion]:
    """Currently excluded raters, each with the exclusion that starts earliest."""
    with reading(workspace.store.engine) as connection:
        live = read_exclusions(connection, live=True)
    earliest = datetime.min.replace(tzinfo=UTC)
    return {
        exclusion.rater_id: exclusion for exclusion in sorted(live, key=lambda own: own.since or earliest, reverse=True)
    }


def find_rater(workspace: Workspace, rater: str) -> Rater:
    """Find a rater by id, or by name if the name is unique."""
    person = workspace.store.get(Rater, rater)
    if person is not None:
        return person
    matches = [own for own in workspace.store.records(Rater) if own.name == rater] if rater else []
    if len(matches) > 1:
        ids = ", ".join(own.rater_id for own in matches[:10])
        raise UserError(f"{len(matches)} raters are called '{rater}'.", hint=f"Name one by the id: {ids}.")
    if not matches:
        raise UserError(
            f"There is no rater '{rater}'.",
            hint=f"`{command_line('campaign status')}` lists who joined, `{command_line('campaign links')}` who "
            "was invited.",
        )
    return matches[0]


def _counting(workspace: Workspace, rater_id: str) -> int:
    """How many of a rater's votes count."""
    votes = View(workspace).votes
    if rater_id not in votes.rater.names:
        return 0
    return int(np.count_nonzero(votes.counts & (votes.rater.of == votes.rater.names.index(rater_id))))


def _adjust_campaigns(workspace: Workspace, rater_id: str) -> None:
    """Adjust the number of tasks per unit in open campaigns in which the rater has tasks."""
    query = select(leases.c.campaign_id).where(leases.c.rater_id == rater_id).distinct()
    joined = sorted(workspace.store.values(query))
    for campaign in workspace.store.records(Campaign, id=joined, open=1, kind=list(RATERS_PER_UNIT)) if joined else ():
        set_slots(workspace, campaign)
