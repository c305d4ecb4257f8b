"""One rater's answers in a campaign: the question, the answer, the time taken, and how many others agree."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from imarena.core.records import Campaign, Item, Output, Vote
from imarena.routing import ParticipationOutcome, participation_outcome, plan_of, preference_label
from imarena.storage import Workspace
from imarena.workflows.rating.answers import AnsweredTask, answered_tasks, is_known_answer_right
from imarena.workflows.rating.held_tasks import Refusal
from imarena.workflows.rating.payments import rater_stage
from imarena.workflows.rating.rater_work import RaterWork, rater_work
from imarena.workflows.rating.voting import Voting
from imarena.workflows.views import View, numbered_instructions, uncounted_votes

MOST = 200


class RaterAnswer(BaseModel, frozen=True, extra="forbid"):
    """One answer of a rater, as a lead sees it."""

    vote_id: str
    item: str
    instruction: str
    left: str
    right: str
    answer: str
    """left, right, tie or both_bad; yes or no; or the ratings."""
    comment: str
    purpose: str
    created_at: str
    time_spent_s: float | None
    measured_time_s: float | None
    seen: bool | None
    """Whether the server sent all pictures; None if not recorded."""
    right_answer: bool | None
    """Whether a task with a known answer was answered correctly; None for other tasks."""
    agrees: float | None
    """Share of the others who gave the same answer; None if nobody else answered."""
    not_counted: str
    """Why the vote does not count; empty if it does."""


@dataclass(frozen=True)
class RaterDetails:
    """A rater's work in a campaign with the newest answers, at most 200."""

    work: RaterWork
    stage: str
    outcome: ParticipationOutcome | None
    answers: list[RaterAnswer]
    total: int
    """Total number of answers."""


def rater_details(workspace: Workspace, campaign: Campaign, rater_id: str) -> RaterDetails:
    """A rater's work in a campaign with their answers, newest first."""
    work = next((own for own in rater_work(workspace, campaign) if own.rater_id == rater_id), None)
    if work is None:
        raise Refusal("not_found", "This rater does not take part in the campaign.")
    answered = list(answered_tasks(workspace, campaign, excluded=True))
    tasks = sorted((cast for cast in answered if cast.vote.rater_id == rater_id), key=lambda cast: cast.vote.created_at)
    newest = tasks[::-1][:MOST]
    standing = rater_stage(Voting(workspace), campaign, work)
    outcome = None if standing is None else participation_outcome(plan_of(campaign), standing)
    answers = _answers(workspace, campaign, newest, answered)
    return RaterDetails(work, "sheet" if standing is None else standing.stage, outcome, answers, len(tasks))


def _answers(
    workspace: Workspace, campaign: Campaign, tasks: Sequence[AnsweredTask], answered: Sequence[AnsweredTask]
) -> list[RaterAnswer]:
    votes_on: dict[str, list[Vote]] = defaultdict(list)
    for cast in answered:
        if cast.assignment.purpose == "vote":
            votes_on[cast.assignment.unit].append(cast.vote)
    items = {
        item.item_id: item
        for item in workspace.store.records(Item, id=sorted({cast.vote.item_id for cast in tasks}))
    } if tasks else {}  # fmt: skip
    sides = sorted({side for cast in tasks for side in (cast.vote.left_id, cast.vote.right_id) if side})
    outputs = {row["id"]: row["editor"] for row in workspace.store.rows(Output, id=sides)} if sides else {}
    known_tasks = {task.unit: task for task in plan_of(campaign).known()}
    uncounted = uncounted_votes(View(workspace))
    answers = []
    for cast in tasks:
        vote, item = cast.vote, items[cast.vote.item_id]
        tests = cast.assignment.purpose in ("gold", "practice", "qualification")
        answers.append(
            RaterAnswer(
                vote_id=vote.vote_id,
                item=item.key,
                instruction=_instruction(item, vote),
                left=outputs.get(vote.left_id) or "",
                right=outputs.get(vote.right_id or "") or "",
                answer=_answer_text(vote),
                comment=vote.comment,
                purpose=cast.assignment.purpose,
                created_at=vote.created_at.isoformat(),
                time_spent_s=vote.time_spent_s,
                measured_time_s=vote.measured_time_s,
                seen=False if vote.unseen else True if vote.pictures_served_at is not None else None,
                right_answer=is_known_answer_right(cast.assignment, vote, known_tasks) if tests else None,
                agrees=_agreeing(vote, votes_on[cast.assignment.unit]),
                not_counted=uncounted.get(vote.vote_id) or "",
            )
        )
    return answers


def _instruction(item: Item, vote: Vote) -> str:
    """The instruction that the rater was shown."""
    if vote.turn >= len(item.turns):
        return ""
    if vote.first_turn is not None:
        return numbered_instructions(item, vote.first_turn, vote.turn)
    return item.turns[vote.turn].instruction


def _answer_text(vote: Vote) -> str:
    if vote.preference is not None:
        return vote.preference.value
    if vote.scale == (0.0, 1.0):
        return "yes" if all(vote.ratings.values()) else "no"
    return ", ".join(f"{name} {value:g}" for name, value in vote.ratings.items())


def _agreeing(vote: Vote, votes: Sequence[Vote]) -> float | None:
    """Share of the unit's other raters who gave the same answer."""
    others = [other for other in votes if other.rater_id != vote.rater_id]
    matches = [preference_label(other) == preference_label(vote) and other.ratings == vote.ratings for other in others]
    return sum(matches) / len(matches) if matches else None
