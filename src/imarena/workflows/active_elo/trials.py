"""Route: what other policies, thresholds, weights and judges would have given with the votes that are there.

The votes of a workspace are a recorded world: half of the items that people voted on are held out in every seed, votes
on the other half are revealed only when a policy asks for them, and Acc_H is counted on the held-out ones. Policies
(CV-Arena table 2), thresholds (table 9), dimension weights (table 10), judges (appendix I).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError
from imarena.judges import range_of
from imarena.routing import Gates
from imarena.stats import ScoreRange
from imarena.workflows.active_elo.simulation.campaigns import default_gates, make_campaigns, shifted_gates
from imarena.workflows.active_elo.simulation.compare import (
    EXTRA_POLICIES,
    POLICIES,
    SENSITIVITY,
    SimulationPlan,
    simulate,
)
from imarena.workflows.active_elo.simulation.worlds import World
from imarena.workflows.boards import Arena

ABLATION = (*POLICIES, "two-gate, constant q", "two-gate, online", "two-gate, online without rho")
THRESHOLDS = tuple(SENSITIVITY)
TWO = ("two-gate", "information")
LEAST = 10
"""Fewest votes a campaign of a trial must be able to ask for."""


@dataclass(frozen=True)
class Trial:
    """How often to repeat, and the gates (None: for the paper's deferral rate)."""

    seeds: int = 100
    rounds: int = 20
    gates: Gates | None = None
    seed: int = 0
    score_range: ScoreRange | None = None
    """Of the scores; None: as the judge declares it, or as its scores show it."""


def recorded_world(
    arena: Arena, scores: NDArray[np.float64] | None = None, score_range: ScoreRange | None = None
) -> World:
    """The votes outside the gold set as a world of the items that have any; `scores` (N, m) in place of the judge's."""
    votes = arena.work
    if not len(votes):
        raise UserError(
            "There are no votes to try policies on.", hint="Collect some: imarena route assign, then ingest."
        )
    rows, item = np.unique(votes.item, return_inverse=True)
    pairs = arena.pool.left.size
    battle = item * pairs + votes.pair
    order = np.argsort(battle, kind="stable")
    first = np.searchsorted(battle[order], battle[order])
    layer = np.arange(battle.size) - first
    table = np.full((int(layer.max()) + 1, rows.size * pairs), np.nan)
    table[layer, battle[order]] = votes.points[order]
    seen = np.isfinite(table)
    mean = np.where(seen, table - 0.5, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    used = arena.pool.scores if scores is None else scores
    shape = (rows.size, pairs)
    return World(
        arena.pool.models, used[rows], table.reshape(-1, *shape), np.sign(np.round(mean, 9)).reshape(shape),
        arena.pool.task[rows], score_range=range_of(arena.judge, used, score_range).range,
    )  # fmt: skip


def policy_lines(arena: Arena, trial: Trial) -> dict[str, Any]:
    """Table 2 with the votes that are there: routing, constant against gap-dependent q, rho on and off."""
    return _compared(recorded_world(arena, score_range=trial.score_range), _plan(ABLATION, trial))


def threshold_lines(arena: Arena, trial: Trial) -> dict[str, Any]:
    """Table 9: both thresholds as they are, loosened and tightened by a twentieth of the judge's range."""
    return _compared(recorded_world(arena, score_range=trial.score_range), _plan(THRESHOLDS, trial))


def judge_lines(arenas: Mapping[str, Arena], trial: Trial) -> dict[str, Any]:
    """Appendix I: the same campaign with each judge. Every judge has its own thresholds."""
    return _each({name: recorded_world(arena) for name, arena in arenas.items()}, replace(trial, gates=None))


def weight_lines(arena: Arena, tables: Mapping[str, NDArray[np.float64]], trial: Trial) -> dict[str, Any]:
    """Table 10: the same campaign with scores (N, m) recomputed under each weighting of the dimensions."""
    worlds = {name: recorded_world(arena, scores, trial.score_range) for name, scores in tables.items()}
    return _each(worlds, trial)


def _each(worlds: Mapping[str, World], trial: Trial) -> dict[str, Any]:
    """The two rules in every world, at the budget that all of them can spend.

    A world that does not allow it is named in `left_out` with the reason; the others are compared all the same.
    """
    plan = _plan(TWO, trial)
    left_out: dict[str, str] = {}
    able: dict[str, int] = {}
    for name, world in worlds.items():
        try:
            able[name] = _budget(world, plan)
        except UserError as error:
            left_out[name] = str(error).splitlines()[0]
    lines, settings = [], {}
    for name in able:
        try:
            found = _compared(worlds[name], plan, min(able.values()))
        except UserError as error:
            left_out[name] = str(error).splitlines()[0]
            continue
        settings = found["settings"]
        lines += [{"what": name, **line} for line in found["lines"]]
    if not lines:
        raise UserError(next(iter(left_out.values())))
    return {"settings": settings, "lines": lines, "left_out": left_out}


def _plan(policies: tuple[str, ...], trial: Trial) -> SimulationPlan:
    return SimulationPlan(seeds=trial.seeds, rounds=trial.rounds, policies=policies, gates=trial.gates, seed=trial.seed)


def _compared(world: World, plan: SimulationPlan, budget: int | None = None) -> dict[str, Any]:
    document = simulate(world, replace(plan, budgets=(budget or _budget(world, plan),)))
    return {"settings": {**document["settings"], "items": len(world.scores)}, "lines": document["policies"]}


def _budget(world: World, plan: SimulationPlan) -> int:
    """The most votes that every rule can ask for in every seed, at most half of those that are there."""
    known = {**POLICIES, **EXTRA_POLICIES, **SENSITIVITY}
    selections = {known[name][0] for name in plan.policies}
    gates = plan.gates or default_gates(world, deferral=plan.deferral)
    moved = shifted_gates(world, gates)
    moved |= {"two-gate": gates, "quality": Gates(gates.tau, None), "ambiguity": Gates(None, gates.delta)}
    left, right = world.sides
    gap = np.abs(world.scores[:, left] - world.scores[:, right])
    lower = np.minimum(world.scores[:, left], world.scores[:, right])
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
