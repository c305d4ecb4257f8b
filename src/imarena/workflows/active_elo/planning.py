"""Route: calibrate a judge, freeze a gold set, compute the current belief, and plan how many votes are needed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from imarena import routing
from imarena.core import Document, UserError, command_line, content_id
from imarena.core.notices import Notice, notice_fields
from imarena.core.records import Calibration, Campaign, JsonDict
from imarena.judges import JudgeRange, range_of
from imarena.ranking import Options, VoteBatch, draw_boards, fit_corrected
from imarena.storage import Workspace
from imarena.workflows.boards import (
    ALL,
    GOLD,
    CalibrationOptions,
    GapTables,
    VoteData,
    calibration_record,
    gap_tables,
    gold_set,
    read_vote_data,
    store_newest,
)


@dataclass(frozen=True)
class FrozenGold:
    """The gold set: its number of items, and whether it was just made."""

    gold_items: int
    new: bool


def freeze_gold(workspace: Workspace, *, share: float = 0.1, seed: int = 0) -> FrozenGold:
    """Set items aside permanently: no calibration or routing uses them; their votes check the boards.

    The set is frozen when it is made. A second call returns the same set, and no items ever join it.
    """
    gold = gold_set(workspace)
    if gold:
        return FrozenGold(len(gold), new=False)
    if not 0 < share < 1:
        raise UserError(f"A gold share of {share:g} leaves nothing.", hint="Give a share between 0 and 1, such as 0.1.")
    from imarena.core.records import Item, Mode, Output

    ids = sorted(row["id"] for row in workspace.store.rows(Item))
    edited = {str(key[0]) for key in workspace.store.count(Output, "item_id", mode=Mode.SINGLE.value)}
    if edited:  # items edited only in several turns have no battles here: nobody could vote on them
        ids = [item_id for item_id in ids if item_id in edited]
    if not ids:
        raise UserError(
            "There are no items here.", hint=f"Import a benchmark first: {command_line('import FORMAT PATH')}"
        )
    positions = np.random.default_rng(seed).choice(len(ids), max(1, round(share * len(ids))), replace=False)
    gold_ids = [ids[index] for index in sorted(positions)]
    settings: JsonDict = {"items": list(gold_ids), "share": share, "seed": seed}
    workspace.store.put(
        Campaign(campaign_id=content_id("campaign", GOLD, settings), name="gold set", kind=GOLD, settings=settings)
    )
    return FrozenGold(len(gold_ids), new=True)


def calibration_pairs(vote_data: VoteData) -> tuple[Any, Any, Any]:
    """Score gap (k,), agreement (k,) and family of every decided vote on a pair that the judge scored differently.

    Votes on gold items and controls are left out. Ties and both_bad have no winner, equal scores no preference.
    """
    votes = vote_data.work
    gap = np.round(vote_data.pool.gap[votes.item, votes.pair], 9)
    usable = np.isfinite(gap) & (gap != 0) & (votes.points != 0.5)
    agrees = ((gap > 0) == (votes.points > 0.5))[usable].astype(np.float64)
    return np.abs(gap[usable]), agrees, vote_data.families[votes.item[usable]]


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """The curves stored for a judge, and its agreement with people by score gap."""

    judge: str
    method: str
    score_range: JudgeRange
    n_pairs: int
    curves: tuple[Calibration, ...]
    too_few: Mapping[str, int]
    """Families without a curve of their own, with their number of pairs."""
    tables: GapTables
    notices: tuple[Notice, ...]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "judge": self.judge, "method": self.method, "score_range": self.score_range.document,
            "n_pairs": self.n_pairs,
            "curves": [{"group": record.group, "n_pairs": record.n_pairs, **record.curve} for record in self.curves],
            "too_few": dict(self.too_few), **asdict(self.tables),
            "q": "the mixture takes max(0, 2a - 1); the paper's online update takes a",
            **notice_fields(self.notices),
        }  # fmt: skip


def calibrate_judge(workspace: Workspace, judge: str | None, fit: CalibrationOptions | None = None) -> JudgeCalibration:
    """Fit q_AI(gap) for a judge, and for each family with enough pairs; store every curve with its data."""
    fit = fit or CalibrationOptions()
    vote_data = read_vote_data(workspace, judge, ratings=True)
    scores = range_of(vote_data.judge, vote_data.pool.scores, fit.score_range)
    gap, agrees, families = calibration_pairs(vote_data)
    by_family = {family: families == family for family in np.unique(families).tolist()}
    groups: dict[str, Any] = {ALL: np.ones(gap.size, bool), **by_family}
    stored, skipped = [], {}
    for name, rows in groups.items():
        if name != ALL and (int(rows.sum()) < routing.LEAST_PAIRS or np.ptp(gap[rows]) == 0):
            skipped[name] = int(rows.sum())
            continue
        curve = routing.fit_curve(
            gap[rows], agrees[rows], method=fit.method, rounds=fit.rounds, seed=fit.seed, what=f"'{vote_data.judge}'",
            ridge=fit.ridge,
        )  # fmt: skip
        record = calibration_record(vote_data.judge, name, curve, gap[rows], agrees[rows], vote_data.versions, fit)
        stored.append(store_newest(workspace, record))
    tables = gap_tables(gap, agrees, scores.range, fit.gap_edges)
    return JudgeCalibration(
        vote_data.judge, fit.method, scores, int(gap.size), tuple(stored), skipped, tables, tuple(vote_data.notices)
    )


WIDEST_RANGE = 20
"""If the ends of a forecast of votes differ by a larger factor, it is useless for planning."""
BOARDS = 4000
"""Number of boards drawn to estimate the confidence in an order."""


def current_belief(vote_data: VoteData, *, claims: bool) -> routing.Belief:
    """Return the belief from votes outside the gold set and the scores corrected by them. `claims`: draw boards."""
    votes = vote_data.work
    standard = routing.standardise(vote_data.pool.scores)
    left, right = vote_data.pool.left[votes.pair], vote_data.pool.right[votes.pair]
    usual = standard.means[left] - standard.means[right]
    own = standard.filled[votes.item, left] - standard.filled[votes.item, right]
    ballot = VoteBatch(left[None], right[None], votes.points[None], (own - usual)[None], standard.means[None])
    fit = fit_corrected(ballot)
    decided = (votes.points != 0.5).astype(np.float64)
    decisive = routing.chance_of_decision(vote_data.pool, standard.filled, votes.item, votes.pair, decided)
    slope, dispersion = float(fit.slopes[0, 0]), float(fit.dispersion[0])
    boards = draw_boards(ballot, fit, BOARDS) if claims else None
    return routing.Belief(fit.theta[0], fit.covariance[0], slope, dispersion, decisive, boards)


@dataclass(frozen=True)
class FamilyDeferral:
    """The number of pairs in a family, and how many of them pass the gates; `rate` None: no pairs."""

    family: str
    pairs: int
    routed: int
    rate: float | None


def deferral_by_family(vote_data: VoteData, gates: routing.Gates) -> list[FamilyDeferral]:
    """Return the share of pairs outside the gold set that pass the gates, overall and by family (CV-Arena table 7).

    Only pairs whose outputs both have a score are counted.
    """
    pairs = (
        vote_data.pool.open
        & ~vote_data.gold[:, None]
        & np.isfinite(vote_data.pool.lower)
        & np.isfinite(vote_data.pool.gap)
    )
    through = gates.passes(vote_data.pool.lower, np.abs(vote_data.pool.gap)) & pairs
    families = vote_data.families
    lines = [_deferral("all", through, pairs)]
    return lines + [
        _deferral(name, through[families == name], pairs[families == name]) for name in np.unique(families).tolist()
    ]


def _deferral(name: str, through: Any, open_pairs: Any) -> FamilyDeferral:
    n = int(open_pairs.sum())
    return FamilyDeferral(name, n, int(through.sum()), float(through.sum()) / n if n else None)


@dataclass(frozen=True)
class PlanTarget:
    """The goal of a plan: half-widths in rating points, or the order of the best `top` with `confidence`."""

    target: float = 25.0
    level: float = 0.95
    top: int = 3
    confidence: float = 0.95
    cost_vote: float = 0.1
    raters: int = 1


@dataclass(frozen=True)
class ModelForecast:
    """One model: its rating, its current half-width, and the votes on the whole board until it reaches the target."""

    model: str
    rating: float
    half_width_now: float
    votes_needed: int | None
    """None: over a million."""


@dataclass(frozen=True)
class VotesNeeded:
    """The votes needed overall and per model, and the votes available here. None: over a million."""

    votes_needed: int | None
    votes_likely: tuple[int | None, ...]
    range_known: bool
    """Whether the range is narrow enough to plan with: its ends differ by no more than a factor of `WIDEST_RANGE`."""
    votes_per_rater: int | None
    cost: float | None
    half_width_now: float
    half_width_then: float
    widest: str
    by_model: tuple[ModelForecast, ...]
    battles: int
    votes_left: int
    half_width_left: float


@dataclass(frozen=True)
class VotePlan(Document):
    """Votes and cost to reach an interval width, and whether the top models are already known."""

    judge: str
    notices: tuple[Notice, ...]
    items: int
    models: int
    votes_so_far: int
    controls_so_far: int
    wanted: VotesNeeded
    target: float
    top: tuple[str, ...]
    top_confidence: float
    stop: bool
    tau: float | None
    delta: float | None
    deferral: tuple[FamilyDeferral, ...]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        document = super().to_json()
        wanted = document.pop("wanted")
        return {**document, **wanted, "spread": "evenly: route assign --policy random"}


def check_confidence(confidence: float) -> None:
    """Reject a confidence that no order can reach, or that every order reaches."""
    if not 0 < confidence < 1:
        raise UserError(
            f"An order cannot be known with a confidence of {confidence:g}.",
            hint="Give one between 0 and 1: --confidence 0.95.",
        )


def _own_gap(vote_data: VoteData) -> float:
    """Return the root mean square of item-specific score gaps (less the models' mean gaps), on the common scale."""
    standard = routing.standardise(vote_data.pool.scores)
    own = standard.filled - standard.means
    m = own.shape[1]
    return float(np.sqrt(2 * m / (m - 1) * own.var(axis=1).mean()))


def plan_votes(
    workspace: Workspace, judge: str | None, wish: PlanTarget, gates: routing.Gates | None, deferral: float
) -> VotePlan:
    """Plan votes, votes per rater and cost to reach an interval width; check whether the top is already known."""
    check_confidence(wish.confidence)
    vote_data = read_vote_data(workspace, judge, people_alone=True)
    belief = current_belief(vote_data, claims=True)
    expected = routing.forecast(
        belief, per_log=Options().per_log, level=wish.level, own=belief.slope_within * _own_gap(vote_data)
    )
    limits = gates or routing.Gates(None, None)  # people alone: gates have no scores to check
    if gates is None and vote_data.judge:
        limits = routing.choose_gates(vote_data.pool, vote_data.gold, None, None, deferral)
    top = min(wish.top, vote_data.pool.n_models)
    sure = routing.top_order_confidence(belief, top)
    order = np.argsort(-belief.theta)
    need = _votes_needed(vote_data, belief, expected, wish)
    return VotePlan(
        judge=vote_data.judge,
        notices=(*vote_data.notices, *_plan_notices(need, wish)),
        items=vote_data.pool.n_items,
        models=vote_data.pool.n_models,
        votes_so_far=len(vote_data.work),
        controls_so_far=len(vote_data.votes) - len(vote_data.work),
        wanted=need,
        target=wish.target,
        top=tuple(vote_data.pool.models[index] for index in order[:top]),
        top_confidence=sure,
        stop=sure >= wish.confidence,
        tau=limits.tau,
        delta=limits.delta,
        deferral=tuple(deferral_by_family(vote_data, limits)),
    )


def _at_most(votes: int | None) -> int:
    """The forecast of votes; the largest one if it is not known."""
    return routing.MOST if votes is None else votes


def _is_narrow(likely: tuple[int | None, int | None]) -> bool:
    low, high = map(_at_most, likely)
    return high <= WIDEST_RANGE * max(low, 1)


def _votes_needed(
    vote_data: VoteData, belief: routing.Belief, expected: routing.Forecast, wish: PlanTarget
) -> VotesNeeded:
    """Return the votes needed overall and per model, and the votes available here."""
    need = expected.needed(wish.target)
    options = Options()
    ratings = options.centre + options.per_log * (belief.theta - belief.theta.mean())
    lines = [
        ModelForecast(
            model=vote_data.pool.models[index],
            rating=float(ratings[index]),
            half_width_now=float(expected.now[index]),
            votes_needed=expected.needed(wish.target, np.array([index])).votes,
        )
        for index in np.argsort(-belief.theta).tolist()
    ]
    battles = int((vote_data.pool.askable & ~vote_data.gold[:, None]).sum())
    left = max(battles * wish.raters - len(vote_data.work), 0)
    widest = max(lines, key=lambda line: _at_most(line.votes_needed))
    return VotesNeeded(
        votes_needed=need.votes,
        votes_likely=tuple(need.likely),
        range_known=_is_narrow(need.likely),
        votes_per_rater=None if need.votes is None else -(-need.votes // wish.raters),
        cost=None if need.votes is None else need.votes * wish.cost_vote,
        half_width_now=float(expected.now.max()),
        half_width_then=float(expected.now.max()) if need.votes == 0 else expected.widest(need.votes or routing.MOST),
        widest=widest.model,
        by_model=tuple(lines),
        battles=battles,
        votes_left=left,
        half_width_left=expected.widest(left) if left else float(expected.now.max()),
    )


def _plan_notices(estimate: VotesNeeded, wish: PlanTarget) -> list[Notice]:
    """Return the obstacles to the goal in this workspace."""
    notices = []
    need, widest = estimate.votes_needed, estimate.widest
    runner_up = max(_at_most(line.votes_needed) for line in estimate.by_model if line.model != widest)
    if _at_most(need) > 2 * max(runner_up, 1):
        values: JsonDict = {"model": widest, "target": wish.target, "votes": runner_up}
        notices.append(Notice(code="one_model_needs_most_votes", values=values))
    if _at_most(need) > estimate.votes_left:
        values = {"battles": estimate.battles, "votes_left": estimate.votes_left}
        values |= {"raters": wish.raters, "half_width": estimate.half_width_left, "target": wish.target}
        notices.append(Notice(code="too_few_votes_left", values=values))
    return notices
