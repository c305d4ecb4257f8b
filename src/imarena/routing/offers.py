"""Who gets what next: consent, practice, qualification, quota; then gold and repeats at their rates.

Rules only, on plain values: `workflows/rating` reads the facts and writes the leases.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal
from urllib.parse import quote

from imarena.core import sha256_hex
from imarena.core.records import Assignment, now
from imarena.routing.campaign_plan import CampaignPlan, KnownTask, ParticipationOutcome

Stage = Literal[
    "consent", "practice", "qualification", "open", "not_qualified", "quota", "paused", "on_hold", "waiting", "done",
    "closed", "not_invited",
]  # fmt: skip
"""waiting: nothing for this rater now, but tasks that others hold may come back. done: nothing can come back."""
PersonalPurpose = Literal["practice", "qualification", "gold", "repeat"]
TRAINING = ("practice", "qualification")
"""Purposes and stages of tasks that are no real work."""
ANSWERING = ("open", *TRAINING)
"""Stages at which tasks are given out."""
WITH_WORK = (*ANSWERING, "quota", "consent")
"""Stages at which work waits: now, next week, or once the rater agrees."""
WITHOUT_UNDO = ("closed", "on_hold", "paused")
"""A closed campaign's items can be looked up: who changed a vote then might know the models."""
DECIDING_ACCESS = ("qualification",)
"""Purposes of tasks whose answers decide who takes part: if they could be taken back, a failed test could be passed."""
QUOTA_PERIOD = timedelta(days=7)
REPEAT_GAP = 5
"""A repeat is of a task that lies at least this many answers back."""


@dataclass(frozen=True)
class RaterStanding:
    """Where a rater stands in a campaign."""

    stage: Stage
    done: int
    quota: int
    quota_left: int


class RaterFact(StrEnum):
    """A count that few decisions need: it is read only for those."""

    PRACTICE_SKIPPED = "practice_skipped"
    QUALIFICATION_SKIPPED = "qualification_skipped"
    QUALIFICATION_RIGHT = "qualification_right"
    """Test tasks that were answered as expected."""


@dataclass(frozen=True)
class RaterFacts:
    """What is on record of a rater in a campaign."""

    is_open: bool
    invited: bool
    active: bool = True
    consented_at: str | None = None
    done: int = 0
    """Real work, in all."""
    recent: int = 0
    """Real work within the period of the quota."""
    practice_done: int = 0
    qualification_done: int = 0
    counts: Mapping[RaterFact, int] = field(default_factory=dict)
    """Those of the rarely needed facts that were read."""


def quota_start(moment: datetime) -> datetime:
    """From when on answers count for the weekly quota."""
    return moment - QUOTA_PERIOD


def quota_left(plan: CampaignPlan, recent: int) -> int:
    """How many answers a rater may still give within the period."""
    return max(0, plan.weekly_quota - recent)


def rater_standing(plan: CampaignPlan, facts: RaterFacts) -> RaterStanding | RaterFact:
    """Where a rater stands; or the fact that this depends on, where it was not read yet."""
    stage = _stage(plan, facts)
    if isinstance(stage, RaterFact):
        return stage
    return RaterStanding(stage, facts.done, plan.weekly_quota, quota_left(plan, facts.recent))


def _stage(plan: CampaignPlan, facts: RaterFacts) -> Stage | RaterFact:
    before_work = _not_admitted(plan, facts) or _in_training(plan, facts)
    if before_work is not None:
        return before_work
    return "open" if quota_left(plan, facts.recent) else "quota"


def _not_admitted(plan: CampaignPlan, facts: RaterFacts) -> Stage | None:
    if not facts.invited:
        return "not_invited"
    if not facts.is_open:
        return "closed"
    if plan.paused:
        return "on_hold"
    if not facts.active:
        return "paused"
    if plan.consent and (facts.consented_at or "") <= plan.consent_since:
        return "consent"
    return None


def _in_training(plan: CampaignPlan, facts: RaterFacts) -> Stage | RaterFact | None:
    practice: tuple[Stage, int, int, RaterFact]
    practice = ("practice", facts.practice_done, len(plan.practice), RaterFact.PRACTICE_SKIPPED)
    test: tuple[Stage, int, int, RaterFact]
    test = ("qualification", facts.qualification_done, len(plan.qualification), RaterFact.QUALIFICATION_SKIPPED)
    for stage, done, asked, skipped in (practice, test):
        # a task with a known answer that was skipped does not come back; in a test it counts as not right
        if done < asked:
            if skipped not in facts.counts:
                return skipped
            if done + facts.counts[skipped] < asked:
                return stage
    if not plan.qualification:
        return None
    right = facts.counts.get(RaterFact.QUALIFICATION_RIGHT)
    if right is None:
        return RaterFact.QUALIFICATION_RIGHT
    return None if right >= plan.pass_share * len(plan.qualification) else "not_qualified"


def standing_of_lead(plan: CampaignPlan, standing: RaterStanding) -> RaterStanding:
    """Where a lead stands, who may take part without an invitation."""
    if standing.stage != "not_invited":
        return standing
    return replace(standing, stage="consent" if plan.consent else "open")


def standing_after_answer(standing: RaterStanding) -> RaterStanding:
    """Where a rater will stand once the task in hand is answered."""
    return replace(standing, done=standing.done + 1, quota_left=max(0, standing.quota_left - 1))


def may_prefetch(standing: RaterStanding) -> bool:
    """May a task be kept ready beside the one in hand? Never past the weekly quota."""
    return standing.stage in ANSWERING and (standing.stage != "open" or standing.quota_left >= 2)


# ---------------------------------------------------------------- tasks for one rater


def fixed_chance(campaign_id: str, rater_id: str, done: int, what: str) -> float:
    """A number in [0, 1) that the past decides: asking again does not throw the dice again."""
    return int(sha256_hex(f"{what}:{campaign_id}:{rater_id}:{done}".encode())[:12], 16) / 16**12


def gold_due(plan: CampaignPlan, campaign_id: str, rater_id: str, done: int) -> bool:
    """Is it time for a task with a known answer?"""
    return bool(plan.gold) and fixed_chance(campaign_id, rater_id, done, "gold") < plan.gold_rate


def repeat_due(plan: CampaignPlan, campaign_id: str, rater_id: str, done: int) -> bool:
    """Is it time for a task that the rater answered before?"""
    return bool(plan.repeat_rate) and fixed_chance(campaign_id, rater_id, done, "repeat") < plan.repeat_rate


def due_purposes(
    plan: CampaignPlan, campaign_id: str, rater_id: str, standing: RaterStanding
) -> tuple[PersonalPurpose, ...]:
    """The tasks for this rater alone that it is time for: the first of them that there is one of is given out."""
    training: dict[Stage, PersonalPurpose] = {"practice": "practice", "qualification": "qualification"}
    if standing.stage in training:
        return (training[standing.stage],)
    gold: tuple[PersonalPurpose, ...] = ("gold",) if gold_due(plan, campaign_id, rater_id, standing.done) else ()
    repeat: tuple[PersonalPurpose, ...] = ("repeat",) if repeat_due(plan, campaign_id, rater_id, standing.done) else ()
    return gold + repeat


def known_assignments(
    plan: CampaignPlan, campaign_id: str, purpose: PersonalPurpose, rater_id: str
) -> Iterator[Assignment]:
    """Assignments of the tasks with a known answer, in the order in which a rater gets them."""
    known: dict[PersonalPurpose, tuple[KnownTask, ...]]
    known = {"practice": plan.practice, "qualification": plan.qualification, "gold": plan.gold}
    for task in known[purpose]:
        yield Assignment(
            campaign_id=campaign_id,
            item_id=task.item_id,
            left_id=task.left_id,
            right_id=task.right_id,
            kind=plan.kind,
            unit=task.unit,
            rater_id=rater_id,
            purpose=purpose,
            params={"expected": task.expected()},
        )


def repeat_gap(in_hand: int) -> int:
    """How many of the newest answers no repeat is of: tasks in hand are answered by the time it is shown."""
    return max(0, REPEAT_GAP - in_hand)


def repeat_of(first: Assignment, rater_id: str) -> Assignment:
    """A task that the rater answered, once more, with the sides as chance has it."""
    swap = first.right_id is not None and fixed_chance(first.unit, rater_id, 0, "side") < 0.5
    return first.model_copy(
        update={
            "left_id": first.right_id if swap else first.left_id,
            "right_id": first.left_id if swap else first.right_id,
            "slot": 0,
            "rater_id": rater_id,
            "purpose": "repeat",
            "params": {**first.params, "repeats": first.assignment_id},
            "created_at": now(),
        }
    )


# ---------------------------------------------------------------- how much there is to come


@dataclass(frozen=True)
class TasksGiven:
    """What a rater was given so far: votes answered or in hand, gold and repeats also where they were skipped."""

    votes: int = 0
    gold: int = 0
    repeats: int = 0


def tasks_to_come(
    plan: CampaignPlan, campaign_id: str, rater_id: str, done: int, so_far: TasksGiven, free: int, most: int
) -> int:
    """How many tasks will come, as `due_purposes` will choose: gold, a repeat, or one of `free`, until none is left.

    `done`: answers when the first of them comes. Counts up to one more than `most`.
    """
    gold, votes, repeats, count = len(plan.gold) - so_far.gold, so_far.votes, so_far.repeats, 0
    while count <= most:
        if gold > 0 and gold_due(plan, campaign_id, rater_id, done + count):
            gold -= 1
        elif votes - REPEAT_GAP > repeats and repeat_due(plan, campaign_id, rater_id, done + count):
            repeats += 1
        elif free > 0:
            free -= 1
            votes += 1
        else:
            break
        count += 1
    return count


def expected_repeats(plan: CampaignPlan, units: int) -> float:
    """How many repeats a rater who answers `units` tasks gets on average, as `tasks_to_come` counts them.

    From the sixth answer on there are `rate / (1 - rate)` repeats per task, whatever gold comes between.
    """
    return max(0, units - REPEAT_GAP) * min(1.0, plan.repeat_rate / (1 - min(plan.repeat_rate, 0.5)))


def held_work(purposes: Sequence[str]) -> int:
    """How many of the tasks in hand are real work."""
    return sum(purpose not in TRAINING for purpose in purposes)


_PLACEHOLDER = "{code}"


def participation_outcome(plan: CampaignPlan, standing: RaterStanding) -> ParticipationOutcome | None:
    """How a rater's participation ended; None while there is more to come.

    Who answered nothing because others were faster found the quota full. Who has less than `complete_after` answers
    when the work ends completed a part.
    """
    if standing.stage == "not_qualified":
        return "screened_out"
    if standing.stage not in ("done", "quota", "waiting", "closed", "paused"):
        return None
    if standing.done >= plan.complete_after:
        return "completed"
    if standing.stage == "waiting":
        return None
    if standing.done:
        return "partial"
    return None if standing.stage == "paused" else "quota_full"


def completion_code(plan: CampaignPlan, outcome: ParticipationOutcome | None) -> str | None:
    """The code of an outcome; None where the lead set none."""
    return plan.completion_codes.get(outcome) or None if outcome is not None else None


def completion_address(plan: CampaignPlan, outcome: ParticipationOutcome | None) -> str | None:
    """Where to send a rater at the end. An address without a place for the code is for those who completed only."""
    code = completion_code(plan, outcome)
    if plan.completion_url is None or outcome is None:
        return None
    if _PLACEHOLDER in plan.completion_url:
        return plan.completion_url.replace(_PLACEHOLDER, quote(code, safe="")) if code else None
    return plan.completion_url if outcome == "completed" else None
