"""Route: draw a batch of battles and write assignments for raters."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from imarena import routing
from imarena.core import UserError, content_id, unknown_name
from imarena.core.notices import Notice, notice_fields
from imarena.core.records import Assignment, Campaign, JsonDict, Output, Rater
from imarena.storage import Workspace, leases, writing
from imarena.workflows.active_elo.planning import check_confidence, choose_gates, current_belief
from imarena.workflows.active_elo.sheets import atomic_sheet
from imarena.workflows.boards import VoteData, calibration_for, curve_of, read_vote_data

NEEDS_SCORES = ("two-gate", "quality", "ambiguity", "per-cost")
POLICIES = ("information", "two-gate", "quality", "ambiguity", "per-cost", "random", "gold")


@dataclass(frozen=True)
class AssignmentRequest:
    """What to assign."""

    budget: int
    policy: str = "information"
    raters: tuple[str, ...] = ()
    """Named raters take turns. Without names, assignments are open: any rater takes the next one."""
    votes_per_battle: int = 1
    repeats: float = 0.05
    """Fraction of battles that the same rater sees again, with sides swapped."""
    gold: float = 0.05
    """Fraction of battles from the gold set, whose answer is known."""
    tau: float | None = None
    delta: float | None = None
    deferral: float = routing.DEFERRAL
    new_models: tuple[str, ...] = ()
    """If not empty, only battles of these models are assigned."""
    stop_top: int = 0
    confidence: float = 0.95
    cost_vote: float = 0.1
    cost_judgment: float = 0.01
    paper_compat: bool = False
    name: str = "active elo"
    seed: int = 0


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
    if request.policy not in POLICIES:
        raise unknown_name("No policy", request.policy, POLICIES)
    if request.votes_per_battle < 1 or (request.raters and request.votes_per_battle > len(request.raters)):
        raise UserError("There are fewer raters than votes per battle.", hint="Name more --raters, or lower --votes.")
    check_confidence(request.confidence)
    _check_raters(workspace, request.raters)
    vote_data = read_vote_data(workspace, judge, people_alone=True)
    if not vote_data.judge and request.policy in NEEDS_SCORES:
        raise UserError(
            f"The policy '{request.policy}' needs a judge's scores.",
            hint="Choose --policy information or random, or run: imarena judge.",
        )
    belief = current_belief(vote_data, claims=request.stop_top > 0)
    sure = routing.top_order_confidence(belief, request.stop_top) if request.stop_top else None
    if sure is not None and sure >= request.confidence:
        return AssignReport(vote_data.judge, tuple(vote_data.notices), stopped=True, top_confidence=sure)
    rng = np.random.default_rng([request.seed, len(vote_data.votes), int(vote_data.pool.asked.sum())])
    campaign = _campaign(workspace, vote_data, request)
    batch = draw_batch(workspace, vote_data, belief, request, rng)
    assignments = _Maker(vote_data, request, campaign.campaign_id, rng).make(batch)
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
    needed = -(-request.budget // request.votes_per_battle)
    if battles >= needed:
        return ()
    return (Notice(code="few_battles_left", values={"battles": battles, "wanted": needed}),)


def draw_batch(
    workspace: Workspace | None,
    vote_data: VoteData,
    belief: routing.Belief,
    request: AssignmentRequest,
    rng: np.random.Generator,
) -> routing.Batch:
    """Draw battles by the policy's chain of strategies: outside the gold set, or evenly inside it for policy `gold`."""
    if request.policy == "gold" and not vote_data.gold.any():
        raise UserError("There is no gold set yet.", hint="Freeze one: imarena route gold --share 0.1")
    items = vote_data.gold if request.policy == "gold" else ~vote_data.gold
    pool = vote_data.pool if items.all() else replace(vote_data.pool, present=vote_data.pool.present & items[:, None])
    if not pool.askable.any():
        raise UserError(
            "There is no battle whose two images are here and differ.",
            hint="Import the outputs with their pixels, or make some: imarena edit.",
        )
    strategies: list[routing.Strategy] = [routing.limit_votes(request.votes_per_battle), routing.item_fairness]
    if request.new_models:
        unknown = [name for name in request.new_models if name not in pool.models]
        if unknown:
            raise unknown_name("No model", unknown[0], pool.models)
        strategies.append(routing.restrict_to_models([pool.models.index(name) for name in request.new_models]))
    if request.policy == "information":
        strategies.append(routing.ranking_information(top=request.stop_top))
    elif request.policy == "per-cost" and workspace is not None:
        curve = curve_of(calibration_for(workspace, vote_data.judge), paper_compat=request.paper_compat)
        strategies.append(
            routing.per_cost(
                curve,
                cost_vote=request.cost_vote,
                cost_judgment=request.cost_judgment,
                paper_compat=request.paper_compat,
            )
        )
    elif request.policy in ("two-gate", "quality", "ambiguity"):
        strategies.append(routing.require_gates(_gates(vote_data, request)))
    battles = -(-request.budget // request.votes_per_battle)
    return routing.sample_battles(routing.combine_strategies(strategies, pool, belief), battles, pool, rng)


def _gates(vote_data: VoteData, request: AssignmentRequest) -> routing.Gates:
    """Return the policy's gates. A single-gate policy rejects the other gate's threshold without its own."""
    name = {"quality": "tau", "ambiguity": "delta"}.get(request.policy)
    if name and getattr(request, name) is None and (request.tau, request.delta) != (None, None):
        other = "delta" if name == "tau" else "tau"
        raise UserError(
            f"The policy '{request.policy}' does not look at {other}.", hint=f"Give --{name}, or neither threshold."
        )
    gates = choose_gates(vote_data, request.tau, request.delta, request.deferral)
    only = {"quality": routing.Gates(gates.tau, None), "ambiguity": routing.Gates(None, gates.delta)}
    return only.get(request.policy, gates)


class _Maker:
    """Turns battles into assignments: sides by coin, raters in turn, repeats and gold tasks at their rates."""

    def __init__(
        self, vote_data: VoteData, request: AssignmentRequest, campaign: str, rng: np.random.Generator
    ) -> None:
        self.vote_data, self.request, self.campaign, self.rng = vote_data, request, campaign, rng
        self.seen = set(vote_data.seen)
        self.load = dict.fromkeys(request.raters, 0)

    def make(self, batch: routing.Batch) -> list[Assignment]:
        """Return all assignments of a batch, in random order."""
        assignments: list[Assignment] = []
        for item, pair, chance in zip(
            batch.item.tolist(), batch.pair.tolist(), batch.probability.tolist(), strict=True
        ):
            for slot in range(self.request.votes_per_battle):
                rater = self._rater(item, pair)
                if rater == "":
                    continue
                assignments.append(self._assignment(item, pair, rater, slot=slot, probability=min(chance, 1.0)))
        n = len(assignments) if self.request.raters else 0  # open assignments choose repeats and gold tasks when taken
        again = self.rng.permutation(n)[: round(n * self.request.repeats)]
        assignments += [self._repeat(assignments[position]) for position in again]
        if self.request.policy != "gold":
            assignments += self._gold(round(n * self.request.gold))
        if not assignments:
            raise UserError("Every rater has seen every chosen battle.", hint="Name other raters with --raters.")
        return [assignments[position] for position in self.rng.permutation(len(assignments))]

    def _rater(self, item: int, pair: int) -> str | None:
        """Return the rater with the least work who has not seen this battle; None: anyone; "": nobody is left."""
        if not self.request.raters:
            return None
        free = [name for name in self.request.raters if (name, item, pair) not in self.seen]
        if not free:
            return ""
        rater = min(free, key=lambda name: self.load[name])
        self.load[rater] += 1
        self.seen.add((rater, item, pair))
        return rater

    def _assignment(self, item: int, pair: int, rater: str | None, **values: Any) -> Assignment:
        pool = self.vote_data.pool
        sides = [self.vote_data.output_id(item, int(model)) for model in (pool.left[pair], pool.right[pair])]
        if self.rng.random() < 0.5:
            sides.reverse()
        item_id, turn = self.vote_data.unit[item]
        return Assignment(
            campaign_id=self.campaign,
            item_id=item_id,
            turn=turn,
            left_id=sides[0],
            right_id=sides[1],
            unit=routing.unit_of(item_id, sides[0], sides[1], turn),
            rater_id=rater,
            **values,
        )

    def _repeat(self, first: Assignment) -> Assignment:
        """Return the same battle for the same rater with the sides swapped, to check whether the answer repeats."""
        swapped = {"left_id": first.right_id, "right_id": first.left_id, "purpose": "repeat", "probability": None}
        return first.model_copy(update=swapped)

    def _gold(self, number: int) -> list[Assignment]:
        battles = sorted(_answers(self.vote_data))
        assignments = []
        for position in self.rng.permutation(len(battles))[:number]:
            item, pair = battles[position]
            rater = self._rater(item, pair)
            if rater != "":
                assignments.append(self._assignment(item, pair, rater, purpose="gold"))
        return assignments


def _answers(vote_data: VoteData) -> dict[tuple[int, int], float]:
    """Return gold battles whose votes all agree: (item, pair) to the points of the pair's left model."""
    votes, askable = vote_data.votes, vote_data.pool.askable
    points_by_battle: dict[tuple[int, int], set[float]] = {}
    for item, pair, points in zip(votes.item.tolist(), votes.pair.tolist(), votes.points.tolist(), strict=True):
        if vote_data.gold[item] and askable[item, pair]:
            points_by_battle.setdefault((item, pair), set()).add(points)
    return {battle: next(iter(points)) for battle, points in points_by_battle.items() if points in ({0.0}, {1.0})}


def _known_answers(vote_data: VoteData) -> list[JsonValue]:
    """Return the known answers in the form that the web application reads."""
    answers: list[JsonValue] = []
    for (item, pair), points in sorted(_answers(vote_data).items())[:200]:
        left, right = (
            vote_data.output_id(item, int(side[pair])) for side in (vote_data.pool.left, vote_data.pool.right)
        )
        task = routing.KnownTask(
            item_id=vote_data.unit[item][0], left_id=left, right_id=right, preference="left" if points else "right"
        )
        answers.append(task.model_dump(mode="json"))
    return answers


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


def _campaign(workspace: Workspace, vote_data: VoteData, request: AssignmentRequest) -> Campaign:
    identity = content_id("campaign", request.name)
    campaign = workspace.store.get(Campaign, identity)
    if campaign is not None and not campaign.open:
        raise UserError(
            f"The campaign '{request.name}' is closed: nobody would be given its tasks.",
            hint="Name another with --campaign, or open it again on its page.",
        )
    if campaign is not None:
        return _with_answers(campaign, _known_answers(vote_data))
    settings: JsonDict = {
        "judge": vote_data.judge, "policy": request.policy, "raters_per_unit": request.votes_per_battle,
        "repeat_rate": request.repeats, "gold_rate": request.gold, "gold": _known_answers(vote_data),
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
