"""Route: what other policies, thresholds, weights and judges would have achieved with the existing votes.

The votes of a workspace are a recorded world: half of the items that people voted on are held out in every seed, votes
on the other half are revealed only when a policy asks for them, and Acc_H is counted on the held-out ones. Policies
(CV-Arena table 2), thresholds (table 9), dimension weights (table 10), judges (appendix I).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError, command_line, first_line
from imarena.judges import range_of
from imarena.routing import Gates
from imarena.stats import ScoreRange
from imarena.workflows.active_elo.simulation import compare
from imarena.workflows.active_elo.simulation.campaigns import default_gates, make_campaigns, shifted_gates
from imarena.workflows.active_elo.simulation.compare import SimulationPlan
from imarena.workflows.active_elo.simulation.worlds import World
from imarena.workflows.boards import VoteData

ABLATION = (*compare.POLICIES, "two-gate, constant q", "two-gate, online", "two-gate, online without rho")
THRESHOLDS = tuple(compare.SENSITIVITY)
TWO = ("two-gate", "information")
LEAST = 10
"""Minimum number of votes that a trial campaign must be able to ask for."""


def world_of_votes(
    vote_data: VoteData, scores: NDArray[np.float64] | None = None, score_range: ScoreRange | None = None
) -> World:
    """Return the votes outside the gold set as a world of items with votes; `scores` (N, m) replaces the judge's."""
    votes = vote_data.work
    if not len(votes):
        raise UserError(
            "There are no votes to try policies on.",
            hint=f"Collect some: {command_line('route assign')}, then `route ingest`.",
        )
    rows, item = np.unique(votes.item, return_inverse=True)
    pairs = vote_data.pool.left.size
    battle = item * pairs + votes.pair
    order = np.argsort(battle, kind="stable")
    layer = np.arange(battle.size) - np.searchsorted(battle[order], battle[order])
    table = np.full((int(layer.max()) + 1, rows.size * pairs), np.nan)
    table[layer, battle[order]] = votes.points[order]
    voted = np.isfinite(table)
    mean = np.where(voted, table - 0.5, 0.0).sum(axis=0) / np.maximum(voted.sum(axis=0), 1)
    used = vote_data.pool.scores if scores is None else scores
    shape = (rows.size, pairs)
    return World(
        vote_data.pool.models, used[rows], table.reshape(-1, *shape), np.sign(np.round(mean, 9)).reshape(shape),
        vote_data.pool.task[rows], score_range=range_of(vote_data.judge, used, score_range).range,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WeightBoard:
    """The board on all votes under one weighting of the dimensions."""

    weights: str
    values: tuple[float, ...]
    spearman: float | None
    """Correlation with the board of the default weights."""
    top: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The results of policies tried on a workspace's votes."""

    settings: compare.SimulationSettings
    items: int
    lines: tuple[tuple[str, compare.PolicyResult], ...]
    """Each with its judge or weighting; empty if there is only one."""
    left_out: Mapping[str, str] | None = None
    """Judges or weightings that could not be tried, with the reason; None if there is only one."""
    boards: tuple[WeightBoard, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        document: dict[str, Any] = {
            "settings": {**asdict(self.settings), "items": self.items},
            "lines": [{**({"what": what} if what else {}), **asdict(line)} for what, line in self.lines],
        }
        if self.left_out is not None:
            document["left_out"] = dict(self.left_out)
        if self.boards:
            document["boards"] = [
                {**asdict(board), "values": list(board.values), "top": list(board.top)} for board in self.boards
            ]
        return document


def try_policies(vote_data: VoteData, plan: SimulationPlan, score_range: ScoreRange | None) -> TrialResult:
    """Try table 2 on the existing votes: routing, constant against gap-dependent q, rho on and off."""
    return _compare(world_of_votes(vote_data, score_range=score_range), replace(plan, policies=ABLATION))


def try_thresholds(vote_data: VoteData, plan: SimulationPlan, score_range: ScoreRange | None) -> TrialResult:
    """Try table 9: both thresholds unchanged, loosened and tightened by a twentieth of the judge's range."""
    return _compare(world_of_votes(vote_data, score_range=score_range), replace(plan, policies=THRESHOLDS))


def try_judges(sources: Mapping[str, VoteData], plan: SimulationPlan) -> TrialResult:
    """Try appendix I: the same campaign with each judge. Every judge has its own thresholds."""
    return _each({name: world_of_votes(vote_data) for name, vote_data in sources.items()}, replace(plan, gates=None))


def try_weights(
    vote_data: VoteData, tables: Mapping[str, NDArray[np.float64]], plan: SimulationPlan,
    score_range: ScoreRange | None,
) -> TrialResult:  # fmt: skip
    """Try table 10: the same campaign with scores (N, m) recomputed under each weighting of the dimensions."""
    return _each({name: world_of_votes(vote_data, scores, score_range) for name, scores in tables.items()}, plan)


def _each(worlds: Mapping[str, World], plan: SimulationPlan) -> TrialResult:
    """Run both rules in every world, at the largest budget that all worlds allow.

    A world that allows none is listed in `left_out` with the reason; the others are compared anyway.
    """
    plan = replace(plan, policies=TWO)
    left_out: dict[str, str] = {}
    able: dict[str, int] = {}
    for name, world in worlds.items():
        try:
            able[name] = _budget(world, plan)
        except UserError as error:
            left_out[name] = first_line(error)
    results: dict[str, TrialResult] = {}
    for name in able:
        try:
            results[name] = _compare(worlds[name], plan, min(able.values()))
        except UserError as error:
            left_out[name] = first_line(error)
    if not results:
        raise UserError(next(iter(left_out.values())))
    *_, last = results.values()
    lines = tuple((name, line) for name, result in results.items() for _, line in result.lines)
    return replace(last, lines=lines, left_out=left_out)


def _compare(world: World, plan: SimulationPlan, budget: int | None = None) -> TrialResult:
    simulated = compare.simulate(world, replace(plan, budgets=(budget or _budget(world, plan),)))
    return TrialResult(simulated.settings, len(world.scores), tuple(("", line) for line in simulated.policies))


def _budget(world: World, plan: SimulationPlan) -> int:
    """Return the most votes that every rule can ask for in every seed, at most half of the existing ones."""
    selections = {compare.ALL_POLICIES[name][0] for name in plan.policies}
    gates = plan.gates or default_gates(world, deferral=plan.deferral)
    moved = shifted_gates(world, gates)
    moved |= {"two-gate": gates, "quality": Gates(gates.tau, None), "ambiguity": Gates(None, gates.delta)}
    gap, lower = np.abs(world.gap), world.lower
    voted = np.isfinite(world.votes).any(axis=0)
    train = make_campaigns(world, plan.seeds, held_out=plan.held_out, seed=plan.seed).train.astype(np.int64)
    least = int((train @ voted.sum(axis=1)).min()) // 2
    for name in sorted(selections & moved.keys()):
        through = int((train @ (voted & moved[name].passes(lower, gap)).sum(axis=1)).min())
        least = min(least, through)
    if least < LEAST:
        raise UserError(
            f"Only {least} voted battles can be asked for in every half of the items; {LEAST} are needed.",
            hint="Collect more votes, by chance too (route assign --policy random): gates leave none to tighten on.",
        )
    return least
