"""Route: draw a batch of battles and write assignments for raters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from imarena import routing
from imarena.core import UserError, command_line, content_id
from imarena.core.notices import Notice, notice_fields
from imarena.core.records import Assignment, Campaign, JsonDict, Output, Rater
from imarena.routing import AssignmentRequest
from imarena.storage import Workspace, leases, writing
from imarena.workflows.active_elo.planning import check_confidence, current_belief
from imarena.workflows.active_elo.sheets import atomic_sheet
from imarena.workflows.boards import calibration_for, curve_of, read_vote_data


@dataclass(frozen=True)
class AssignReport:
    """What was assigned; `stopped`: nothing, because the order of the best models is known."""

    judge: str
    notices: tuple[Notice, ...]
    stopped: bool = False
    campaign: str = ""
    policy: str = ""
    assignments: int = 0
    offered: int = 0
    for_named_raters: int = 0
    battles: int = 0
    repeats: int = 0
    gold: int = 0
    top_confidence: float | None = None
    file: str | None = None

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        notices = notice_fields(self.notices)
        if self.stopped:
            data = {"stopped": True, "top_confidence": self.top_confidence, "assignments": 0, "judge": self.judge}
            return {**data, **notices}
        fields = (
            "policy", "assignments", "offered", "for_named_raters", "battles", "repeats", "gold", "top_confidence",
            "file",
        )  # fmt: skip
        first = {"stopped": False, "campaign": self.campaign, "judge": self.judge}
        return {**first, **notices, **{name: getattr(self, name) for name in fields}}


def assign_battles(
    workspace: Workspace, judge: str | None, request: AssignmentRequest, out: Path | None = None
) -> AssignReport:
    """Make a campaign, or extend the one of this name: assignments in the store and, if requested, a sheet."""
    if request.budget < 1:
        raise UserError("The budget is zero: nobody is asked.", hint="Give --budget with at least one vote.")
    policy = routing.find_policy(request.policy)
    if request.votes_per_battle < 1 or (request.raters and request.votes_per_battle > len(request.raters)):
        raise UserError("There are fewer raters than votes per battle.", hint="Name more --raters, or lower --votes.")
    check_confidence(request.confidence)
    _check_raters(workspace, request.raters)
    vote_data = read_vote_data(workspace, judge, people_alone=True)
    if not vote_data.judge and policy.needs_scores:
        raise UserError(
            f"The policy '{request.policy}' needs a judge's scores.",
            hint=f"Choose --policy information or random, or run: {command_line('judge')}",
        )
    belief = current_belief(vote_data, claims=request.stop_top > 0)
    sure = routing.top_order_confidence(belief, request.stop_top) if request.stop_top else None
    if sure is not None and sure >= request.confidence:
        return AssignReport(vote_data.judge, tuple(vote_data.notices), stopped=True, top_confidence=sure)
    rng = np.random.default_rng([request.seed, len(vote_data.votes), int(vote_data.pool.asked.sum())])
    votes = vote_data.votes
    answers = routing.gold_answers(vote_data.pool, vote_data.gold, votes.item, votes.pair, votes.points)
    known: list[JsonValue] = [task.model_dump(mode="json") for task in routing.known_tasks(vote_data, answers)]
    campaign = _campaign(workspace, vote_data.judge, request, known)

    def curve() -> routing.Curve:
        return curve_of(calibration_for(workspace, vote_data.judge), paper_compat=request.paper_compat)

    batch = routing.draw_batch(vote_data.pool, vote_data.gold, belief, request, rng, curve)
    assignments = routing.AssignmentMaker(vote_data, answers, request, campaign.campaign_id, rng).make(batch)
    with atomic_sheet(workspace, assignments, out):
        workspace.store.put(campaign)
        _keep_raters(workspace, request.raters)
        before = sum(workspace.store.count(Assignment, campaign_id=campaign.campaign_id).values())
        added = workspace.store.add(assignments)
        offered = _offer(workspace, assignments, before)
    return AssignReport(
        vote_data.judge,
        (*vote_data.notices, *_short(request, len(batch))),
        campaign=campaign.campaign_id,
        policy=request.policy,
        assignments=added.new,
        offered=offered,
        for_named_raters=sum(assignment.rater_id is not None for assignment in assignments),
        battles=len(batch),
        repeats=sum(assignment.purpose == "repeat" for assignment in assignments),
        gold=sum(assignment.purpose == "gold" for assignment in assignments),
        top_confidence=sure,
        file=None if out is None else str(out),
    )


def _short(request: AssignmentRequest, battles: int) -> tuple[Notice, ...]:
    if battles >= request.battles:
        return ()
    return (Notice(code="few_battles_left", values={"battles": battles, "wanted": request.battles}),)


def _offer(workspace: Workspace, assignments: list[Assignment], before: int) -> int:
    """Offer open assignments in the web application, if both sides have pixels."""
    ids = sorted(
        {
            side
            for assignment in assignments
            for side in (assignment.left_id, assignment.right_id)
            if side and assignment.rater_id is None
        }
    )
    pixels = {row["id"] for row in workspace.store.rows(Output, id=ids) if row["image_sha256"]} if ids else set()
    free = [
        assignment
        for assignment in assignments
        if assignment.rater_id is None and {assignment.left_id, assignment.right_id} <= pixels
    ]
    with writing(workspace.store.engine) as connection:
        leases.offer_tasks(connection, [(assignment, before + index) for index, assignment in enumerate(free)])
    return len(free)


def _campaign(workspace: Workspace, judge: str, request: AssignmentRequest, answers: list[JsonValue]) -> Campaign:
    identity = content_id("campaign", request.name)
    campaign = workspace.store.get(Campaign, identity)
    if campaign is not None and not campaign.open:
        raise UserError(
            f"The campaign '{request.name}' is closed: nobody would be given its tasks.",
            hint="Name another with --campaign, or open it again on its page.",
        )
    if campaign is not None:
        return _with_answers(campaign, answers)
    settings: JsonDict = {
        "judge": judge, "policy": request.policy, "raters_per_unit": request.votes_per_battle,
        "repeat_rate": request.repeats, "gold_rate": request.gold, "gold": answers,
    }  # fmt: skip
    return Campaign(campaign_id=identity, name=request.name, kind="preference", settings=settings)


def _with_answers(campaign: Campaign, answers: list[JsonValue]) -> Campaign:
    """Add the gold answers that new votes have made known to a campaign; its earlier ones are kept."""
    had = campaign.settings.get("gold")
    stored = had if isinstance(had, list) else []
    new = [task for task in answers if task not in stored]
    return campaign.model_copy(update={"settings": {**campaign.settings, "gold": [*stored, *new]}}) if new else campaign


def _check_raters(workspace: Workspace, names: tuple[str, ...]) -> None:
    """Reject assignments for raters who have left."""
    raters = [workspace.store.get(Rater, name) for name in names]
    inactive = [rater.rater_id for rater in raters if rater is not None and not rater.active]
    if inactive:
        raise UserError(
            f"The rater '{inactive[0]}' was withdrawn.", hint="Name others with --raters, or use another id."
        )


def _keep_raters(workspace: Workspace, names: tuple[str, ...]) -> None:
    missing = [name for name in names if workspace.store.get(Rater, name) is None]
    workspace.store.add(Rater(rater_id=name) for name in missing)
