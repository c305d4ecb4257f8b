"""Who gets what next: consent, practice, qualification, quota; then gold and repeats at their rates.

Only rules on plain values: `workflows/rating` reads the facts and writes the leases.
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

RaterStage = Literal[
    "consent", "practice", "qualification", "open", "not_qualified", "quota", "paused", "on_hold", "waiting", "done",
    "closed", "not_invited",
]  # fmt: skip
"""waiting: nothing for this rater now, but tasks that others hold may return. done: nothing can return."""
PersonalPurpose = Literal["practice", "qualification", "gold", "repeat"]
TRAINING = ("practice", "qualification")
"""Purposes and stages of tasks that are not real work."""
ANSWERING = ("open", *TRAINING)
"""Stages at which tasks are given out."""
WITH_WORK = (*ANSWERING, "quota", "consent")
"""Stages with work to come: now, next week, or once the rater agrees."""
WITHOUT_UNDO = ("closed", "on_hold", "paused")
"""A closed campaign's items can be looked up, so a rater who changed a vote then might know the models."""
DECIDING_ACCESS = ("qualification",)
"""Purposes of tasks whose answers decide who takes part: with undo, a failed test could be passed."""
QUOTA_PERIOD = timedelta(days=7)
REPEAT_GAP = 5
"""A repeat comes at least this many answers after the original."""


@dataclass(frozen=True)
class RaterStanding:
    """A rater's state in a campaign."""

    stage: RaterStage
    done: int
    quota: int
    quota_left: int


class RaterFact(StrEnum):
    """Counts that few decisions need, so they are read only for those."""

    PRACTICE_SKIPPED = "practice_skipped"
    QUALIFICATION_SKIPPED = "qualification_skipped"
    QUALIFICATION_RIGHT = "qualification_right"
    """Number of test tasks that were answered as expected."""


@dataclass(frozen=True)
class RaterFacts:
    """The stored facts about a rater in a campaign."""

    is_open: bool
    invited: bool
    active: bool = True
    consented_at: str | None = None
    done: int = 0
    """Number of real tasks answered, in total."""
    recent: int = 0
    """Number of real tasks answered within the quota period."""
    practice_done: int = 0
    qualification_done: int = 0
    counts: Mapping[RaterFact, int] = field(default_factory=dict)
    """The rarely needed counts that were read."""


def quota_start(moment: datetime) -> datetime:
    """Return the time from which answers count for the weekly quota."""
    return moment - QUOTA_PERIOD


def quota_left(plan: CampaignPlan, recent: int) -> int:
    """Return how many answers a rater may still give within the period."""
    return max(0, plan.weekly_quota - recent)


def rater_standing(plan: CampaignPlan, facts: RaterFacts) -> RaterStanding | RaterFact:
    """Return a rater's standing, or the fact that must be read first to decide it."""
    stage = _stage(plan, facts)
    if isinstance(stage, RaterFact):
        return stage
    return RaterStanding(stage, facts.done, plan.weekly_quota, quota_left(plan, facts.recent))


def _stage(plan: CampaignPlan, facts: RaterFacts) -> RaterStage | RaterFact:
    before_work = _not_admitted(plan, facts) or _in_training(plan, facts)
    if before_work is not None:
        return before_work
    return "open" if quota_left(plan, facts.recent) else "quota"


def _not_admitted(plan: CampaignPlan, facts: RaterFacts) -> RaterStage | None:
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


def _in_training(plan: CampaignPlan, facts: RaterFacts) -> RaterStage | RaterFact | None:
    practice: tuple[RaterStage, int, int, RaterFact]
    practice = ("practice", facts.practice_done, len(plan.practice), RaterFact.PRACTICE_SKIPPED)
    test: tuple[RaterStage, int, int, RaterFact]
    test = ("qualification", facts.qualification_done, len(plan.qualification), RaterFact.QUALIFICATION_SKIPPED)
    for stage, done, required, skipped in (practice, test):
        # a skipped task with a known answer does not come back; in a test it counts as wrong
        if done < required:
            if skipped not in facts.counts:
                return skipped
            if done + facts.counts[skipped] < required:
                return stage
    if not plan.qualification:
        return None
    right = facts.counts.get(RaterFact.QUALIFICATION_RIGHT)
    if right is None:
        return RaterFact.QUALIFICATION_RIGHT
    return None if right >= plan.pass_share * len(plan.qualification) else "not_qualified"


def standing_of_lead(plan: CampaignPlan, standing: RaterStanding) -> RaterStanding:
    """Return the standing of a lead, who may take part without an invitation."""
    if standing.stage != "not_invited":
        return standing
    return replace(standing, stage="consent" if plan.consent else "open")


def standing_after_answer(standing: RaterStanding) -> RaterStanding:
    """Return a rater's standing after the current task is answered."""
    return replace(standing, done=standing.done + 1, quota_left=max(0, standing.quota_left - 1))


def may_prefetch(standing: RaterStanding) -> bool:
    """Return whether another task may be kept ready in addition to the current one, within the weekly quota."""
    return standing.stage in ANSWERING and (standing.stage != "open" or standing.quota_left >= 2)


# ---------------------------------------------------------------- tasks for one rater


def fixed_chance(campaign_id: str, rater_id: str, done: int, event: str) -> float:
    """Return a number in [0, 1) that depends only on the past: asking again does not roll the dice again."""
    return int(sha256_hex(f"{event}:{campaign_id}:{rater_id}:{done}".encode())[:12], 16) / 16**12


def gold_due(plan: CampaignPlan, campaign_id: str, rater_id: str, done: int) -> bool:
    """Return whether a task with a known answer is due."""
    return bool(plan.gold) and fixed_chance(campaign_id, rater_id, done, "gold") < plan.gold_rate


def repeat_due(plan: CampaignPlan, campaign_id: str, rater_id: str, done: int) -> bool:
    """Return whether a repeat of an earlier task is due."""
    return bool(plan.repeat_rate) and fixed_chance(campaign_id, rater_id, done, "repeat") < plan.repeat_rate


def due_purposes(
    plan: CampaignPlan, campaign_id: str, rater_id: str, standing: RaterStanding
) -> tuple[PersonalPurpose, ...]:
    """Return the personal tasks that are due; the first one that is available is given out."""
    training: dict[RaterStage, PersonalPurpose] = {"practice": "practice", "qualification": "qualification"}
    if standing.stage in training:
        return (training[standing.stage],)
    gold: tuple[PersonalPurpose, ...] = ("gold",) if gold_due(plan, campaign_id, rater_id, standing.done) else ()
    repeat: tuple[PersonalPurpose, ...] = ("repeat",) if repeat_due(plan, campaign_id, rater_id, standing.done) else ()
    return gold + repeat


def known_assignments(
    plan: CampaignPlan, campaign_id: str, purpose: PersonalPurpose, rater_id: str
) -> Iterator[Assignment]:
    """Yield assignments of the tasks with a known answer, in the order in which a rater gets them."""
    tasks: tuple[KnownTask, ...] = getattr(plan, purpose)
    for task in tasks:
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
    """Return how many of the newest answers not to repeat: current tasks are answered before the repeat is shown."""
    return max(0, REPEAT_GAP - in_hand)


def repeat_of(first: Assignment, rater_id: str) -> Assignment:
    """Return a task for the rater again, with the sides swapped at random."""
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


# ---------------------------------------------------------------- how many tasks are to come


@dataclass(frozen=True)
class TasksGiven:
    """Tasks that a rater got so far: votes answered or in progress; gold and repeats, skipped ones included."""

    votes: int = 0
    gold: int = 0
    repeats: int = 0


def tasks_to_come(
    plan: CampaignPlan, campaign_id: str, rater_id: str, done: int, so_far: TasksGiven, free: int, most: int
) -> int:
    """Return how many tasks will come as `due_purposes` chooses: gold, a repeat, or one of `free`, until none is left.

    `done`: number of answers before the first of them. Counts up to one more than `most`.
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
    """Return the average number of repeats for a rater who answers `units` tasks, as `tasks_to_come` counts them.

    From the sixth answer on there are `rate / (1 - rate)` repeats per task, however many gold tasks come between.
    """
    return max(0, units - REPEAT_GAP) * min(1.0, plan.repeat_rate / (1 - min(plan.repeat_rate, 0.5)))


def held_work(purposes: Sequence[str]) -> int:
    """Return how many of the current tasks are real work."""
    return sum(purpose not in TRAINING for purpose in purposes)


_PLACEHOLDER = "{code}"


def participation_outcome(plan: CampaignPlan, standing: RaterStanding) -> ParticipationOutcome | None:
    """Return how a rater's participation ended; None while there is more to come.

    A rater without answers, because others were faster, found the quota full. A rater with fewer than `complete_after`
    answers when the work ends completed in part.
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
    """Return the code of an outcome; None if the lead set none."""
    return plan.completion_codes.get(outcome) or None if outcome is not None else None


def completion_address(plan: CampaignPlan, outcome: ParticipationOutcome | None) -> str | None:
    """Return where to send a rater at the end. An address without a placeholder is only for those who completed."""
    code = completion_code(plan, outcome)
    if plan.completion_url is None or outcome is None:
        return None
    if _PLACEHOLDER in plan.completion_url:
        return plan.completion_url.replace(_PLACEHOLDER, quote(code, safe="")) if code else None
    return plan.completion_url if outcome == "completed" else None
