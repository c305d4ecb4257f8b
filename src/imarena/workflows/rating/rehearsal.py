"""Rehearse a campaign: simulated raters go through all of it in a copy of the workspace."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import update

from imarena.core import UserError, command_line, counted, moment_text
from imarena.core.notices import Notice, notice_fields
from imarena.core.records import Campaign, Rater, Vote, now
from imarena.routing import RATER_PROFILES, RaterBehaviour, participation_outcome, plan_of, simulated_answer
from imarena.storage import Workspace, copy_workspace, membership, to_row, writing
from imarena.storage.schema import votes
from imarena.workflows.rating.campaigns import campaign_progress, get_campaign, offer_missing
from imarena.workflows.rating.held_tasks import HeldTask
from imarena.workflows.rating.quality import CriterionAgreement, agreement
from imarena.workflows.rating.rater_work import rater_work
from imarena.workflows.rating.voting import Voting

USUAL: dict[RaterBehaviour, int] = {"careful": 2, "fast": 1, "one_sided": 1, "random": 1}
MOST_TASKS = 100_000
"""Maximum number of answers of all raters together: a rehearsal of a huge campaign ends here."""


@dataclass(frozen=True)
class RehearsedRater:
    """What a simulated rater did, and the notices that a lead would see."""

    rater_id: str
    behaviour: RaterBehaviour
    votes: int
    stage: str
    outcome: str | None
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Rehearsal:
    """The result of a rehearsal, and the path of the copy."""

    workspace: str
    campaign_id: str
    votes: int
    units: int
    complete_units: int
    disputed: int
    raters: list[RehearsedRater]
    agreement: list[CriterionAgreement]
    real_votes: int = 0
    """Votes that the campaign already had."""
    adjudication: bool = False
    """Whether units on which raters disagree are answered once more; otherwise none is counted as disputed."""
    raters_per_unit: int = 1
    weekly_quota: int = 0

    @property
    def why_incomplete(self) -> str:
        """Why some units have fewer answers than they need; empty if all are complete."""
        if self.complete_units >= self.units:
            return ""
        if any(rater.stage == "quota" for rater in self.raters):
            return f"raters reached the weekly quota of {counted(self.weekly_quota, 'vote')} (--weekly-quota)"
        if len(self.raters) < self.raters_per_unit:
            return f"each unit needs {counted(self.raters_per_unit, 'rater')}, and {len(self.raters)} took part"
        return "no rater was given the remaining tasks: each unit needs other raters"

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        raters = [
            {
                **{name: value for name, value in vars(rater).items() if name != "notices"},
                **notice_fields(rater.notices),
            }
            for rater in self.raters
        ]
        values = {name: value for name, value in vars(self).items() if name not in ("raters", "agreement")}
        return {**values, "raters": raters, "agreement": [criterion.model_dump() for criterion in self.agreement]}


def rehearse_campaign(
    workspace: Workspace, campaign: str, to: Path, people: Mapping[RaterBehaviour, int] | None = None, *, seed: int = 0
) -> Rehearsal:
    """Copy the workspace to a new folder and let simulated raters do the campaign there."""
    record = get_campaign(workspace, campaign)
    if not record.open or plan_of(record).paused:
        state, *command = ("paused", "change", "--resume") if record.open else ("closed", "close", "--reopen")
        hint = command_line(f"campaign {command[0]}", record.name, command[1])
        raise UserError(f"'{record.name}' is {state}: nobody is given tasks.", hint=hint)
    counts = dict(USUAL if people is None else people)
    if not any(counts.values()):
        raise UserError("There are no raters to rehearse with.", hint="Ask for at least one, such as --careful 2.")
    with copy_workspace(workspace, to) as copy:
        offer_missing(copy)
        before = campaign_progress(copy, record).votes
        raters = _join(copy, record, counts)
        stages = _rate(copy, record, raters, seed)
        _set_times(copy, raters)
        progress = campaign_progress(copy, record)
        work = {own.rater_id: own for own in rater_work(copy, record)}
        rehearsed = [
            RehearsedRater(rater_id, kind, work[rater_id].votes, *stages[rater_id], work[rater_id].notices)
            for rater_id, kind in raters.items()
        ]
        return Rehearsal(
            str(to), record.campaign_id, progress.votes - before, progress.units, progress.complete_units,
            progress.disputed, rehearsed, agreement(copy, record), before, plan_of(record).adjudication != "off",
            plan_of(record).raters, plan_of(record).weekly_quota,
        )  # fmt: skip


def _join(copy: Workspace, campaign: Campaign, counts: Mapping[RaterBehaviour, int]) -> dict[str, RaterBehaviour]:
    """Add simulated raters who have joined the campaign and given consent."""
    raters: dict[str, RaterBehaviour] = {}
    for behaviour in RATER_PROFILES:
        for number in range(1, counts.get(behaviour, 0) + 1):
            rater_id = f"rehearsal-{behaviour}-{number}"
            copy.store.add([Rater(rater_id=rater_id, name=f"{behaviour.replace('_', '-')} {number} (simulated)")])
            with writing(copy.store.engine) as connection:
                membership.join_campaign(connection, campaign.campaign_id, rater_id, moment_text(now()))
            Voting(copy).consent(campaign.campaign_id, rater_id)
            raters[rater_id] = behaviour
    return raters


def _rate(
    copy: Workspace, campaign: Campaign, raters: Mapping[str, RaterBehaviour], seed: int
) -> dict[str, tuple[str, str | None]]:
    """Let the raters take turns until nobody gets a task; returns each rater's final stage and outcome."""
    voting, plan = Voting(copy), plan_of(campaign)
    stages: dict[str, tuple[str, str | None]] = {}
    before, answered = -1, 0
    while before < answered < MOST_TASKS:  # a round in which nobody got a task is the last
        before = answered
        for rater_id, behaviour in raters.items():
            task = voting.next(campaign.campaign_id, rater_id)
            if not isinstance(task, HeldTask):
                stages[rater_id] = (task.stage, participation_outcome(plan, task))
                continue
            answer = simulated_answer(task.assignment, behaviour, rater_id, seed)
            voting.vote(task.address, rater_id, f"rehearsal-{secrets.token_hex(8)}", answer)
            stages[rater_id] = (task.standing.stage, None)
            answered += 1
    voting.close()
    return stages


def _set_times(copy: Workspace, raters: Mapping[str, RaterBehaviour]) -> None:
    """Set the times of simulated votes in the copy, as if the raters had taken their time and seen the pictures."""
    cast: Sequence[Vote] = [vote for vote in copy.store.records(Vote) if vote.rater_id in raters and not vote.retracted]
    with writing(copy.store.engine) as connection:
        for vote in cast:
            begun = vote.created_at - timedelta(seconds=vote.time_spent_s or 0.0)
            timed = vote.model_copy(update={"handed_out_at": begun, "pictures_served_at": begun, "unseen": False})
            body = to_row(timed)["body"]
            connection.execute(update(votes).where(votes.c.id == vote.vote_id).values(body=body))
