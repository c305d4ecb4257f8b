"""Simulate: compare ways of spending the same human budget, on recorded or simulated judges and raters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.core import UserError
from imarena.ranking import fit_calibrated
from imarena.routing import DEFERRAL, SHIFT, TABLE_EDGES, Gates, agreement_table
from imarena.workflows.active_elo.simulation.boards import Figures, SimulatedBoards, board_figures, simulated_boards
from imarena.workflows.active_elo.simulation.campaigns import (
    Campaigns,
    Votes,
    default_gates,
    make_campaigns,
    run_campaigns,
)
from imarena.workflows.active_elo.simulation.worlds import World

POLICIES: dict[str, tuple[str, str]] = {
    "human-only": ("random", "votes"),
    "judge-only": ("random", "judge"),
    "quality-only": ("quality", "mixture"),
    "ambiguity-only": ("ambiguity", "mixture"),
    "two-gate": ("two-gate", "mixture"),
    "information": ("information", "corrected"),
}
"""A policy is whom to ask and what to make of the answers. `information` is ours; the others are the paper's."""
EXTRA_POLICIES: dict[str, tuple[str, str]] = {
    "random, corrected": ("random", "corrected"),
    "quality-only, corrected": ("quality", "corrected"),
    "ambiguity-only, corrected": ("ambiguity", "corrected"),
    "two-gate, corrected": ("two-gate", "corrected"),
    "two-gate, own calibration": ("two-gate", "mixture-own"),
    "two-gate, constant q": ("two-gate", "mixture-constant"),
    "two-gate, online": ("two-gate", "online"),
    "two-gate, online without rho": ("two-gate", "online-no-rho"),
    "information, votes alone": ("information", "votes"),
}

SENSITIVITY: dict[str, tuple[str, str]] = {
    "two-gate": ("two-gate", "mixture"),
    "two-gate, loose": ("two-gate-loose", "mixture"),
    "two-gate, tight": ("two-gate-tight", "mixture"),
}
"""CV-Arena table 9: both thresholds loosened and tightened by 50 points of a judge of 0 to 1000."""


SEPARATOR = ";"
"""Between policies, some of whose names hold commas; a comma serves where none does."""


def named_policies(text: str) -> tuple[str, ...]:
    """The policies that a text names: paper, sensitivity, all, or a list."""
    if text == "paper":
        return tuple(POLICIES)
    if text == "sensitivity":
        return tuple(SENSITIVITY)
    if text == "all":
        return (*POLICIES, *EXTRA_POLICIES)
    whole = [part.strip() for part in text.split(SEPARATOR) if part.strip()]
    if len(whole) == 1 and whole[0] not in {**POLICIES, **EXTRA_POLICIES, **SENSITIVITY}:
        whole = [part.strip() for part in text.split(",") if part.strip()]
    return tuple(whole)


@dataclass(frozen=True)
class SimulationPlan:
    """What to compare."""

    budgets: tuple[int, ...] = (50, 100, 200, 400)
    seeds: int = 200
    policies: tuple[str, ...] = tuple(POLICIES)
    rounds: int = 20
    deferral: float = DEFERRAL
    gates: Gates | None = None
    held_out: float = 0.5
    seed: int = 0


def simulate(world: World, plan: SimulationPlan, told: Callable[[str], None] | None = None) -> dict[str, Any]:
    """One document: agreement by gap, the gates, and a line for each policy and budget."""
    known = {**POLICIES, **EXTRA_POLICIES, **SENSITIVITY}
    for name in plan.policies:
        if name not in known:
            raise UserError(f"No policy '{name}'.", hint=f"Known: {'; '.join(known)}.")
    if not plan.budgets or min(plan.budgets) < 1:
        raise UserError("A budget of zero asks nobody.", hint="Such as --budgets 50,100,200,400.")
    fleet = make_campaigns(world, plan.seeds, held_out=plan.held_out, seed=plan.seed)
    gates = plan.gates or default_gates(world, deferral=plan.deferral)
    asked: dict[str, Votes] = {}
    lines = []
    for name in plan.policies:
        selection, aggregation = known[name]
        if selection not in asked:
            asked[selection] = run_campaigns(fleet, selection, plan.budgets, gates)
        lines += [
            _line(fleet, asked[selection].first(budget), (name, selection, aggregation), plan.rounds)
            for budget in plan.budgets
        ]
        if told is not None:
            told(name)
    return {
        "models": list(world.models),
        "n_items": len(world.scores),
        "settings": _settings(world, plan, gates),
        "agreement_by_gap": gap_lines(world),
        "true_order_accuracy": _ceiling(fleet),
        "policies": lines,
    }


def _line(fleet: Campaigns, votes: Votes, policy: tuple[str, str, str], rounds: int) -> dict[str, Any]:
    name, selection, aggregation = policy
    found: Figures = board_figures(fleet, simulated_boards(fleet, votes, aggregation, rounds))
    line: dict[str, Any] = {
        "policy": name,
        "selection": selection,
        "aggregation": aggregation,
        "budget": votes.item.shape[1],
    }
    for key, values in (("accuracy", found.accuracy), ("spearman", found.spearman), ("rank_std", found.rank_std)):
        mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))
        line[key] = {"mean": mean, "low": mean - 1.96 * error, "high": mean + 1.96 * error}
    line["decisive"] = float((votes.points != 0.5).mean()) if aggregation != "judge" else None
    return line


def _settings(world: World, plan: SimulationPlan, gates: Gates) -> dict[str, Any]:
    left, right = world.sides
    lower = np.minimum(world.scores[:, left], world.scores[:, right])
    through = gates.passes(lower, np.abs(world.scores[:, left] - world.scores[:, right]))
    return {
        "budgets": list(plan.budgets), "seeds": plan.seeds, "rounds": plan.rounds, "seed": plan.seed,
        "held_out": plan.held_out, "tau": gates.tau, "delta": gates.delta, "deferral": float(through.mean()),
        "interval": "95 %, normal, over seeds", "ties": "half a vote to each side; they cost budget",
        "q": "max(0, 2a - 1) in the mixture, a in the online update",
        "score_range": [world.range.low, world.range.high], "shift": world.range.points(SHIFT),
    }  # fmt: skip


GAP_EDGES = (*TABLE_EDGES, 400.0)
"""Those of table 5 and one more, on the paper's scale of 0 to 1000."""


def gap_lines(world: World, edges: Sequence[float] | None = None) -> list[dict[str, Any]]:
    """Agreement of the judge with people together, by score gap, over pairs that people decide; gap 0 takes no side.

    `edges` are gaps between the judge's own scores; None: `GAP_EDGES` on its range.
    """
    left, right = world.sides
    gap = np.round(world.scores[:, left] - world.scores[:, right], 9)
    decided = np.isfinite(gap) & (world.truth != 0)
    sided = decided & (gap != 0)
    same = (np.sign(gap[sided]) == world.truth[sided]).astype(np.float64)
    rows = agreement_table(np.abs(gap[sided]), same, edges or world.range.edges(GAP_EDGES))
    lines = [
        {"low": row.low, "high": row.high, "n": row.n, "agreement": row.agreement, "fraction": row.fraction}
        for row in rows
    ]
    return [
        *lines,
        {"low": 0.0, "high": 0.0, "n": int((decided & (gap == 0)).sum()), "agreement": None, "fraction": None},
    ]


def _ceiling(fleet: Campaigns) -> float:
    """Acc_H of the order that all votes on all items together give."""
    world = fleet.world
    left, right = world.sides
    wins, losses = (world.truth == 1).sum(axis=0), (world.truth == -1).sum(axis=0)
    theta = fit_calibrated(
        left,
        right,
        wins[None, :, None].astype(float),
        losses[None, :, None].astype(float),
        np.ones(1),
        len(world.models),
    )
    full = np.repeat(theta, fleet.size, axis=0)
    return float(board_figures(fleet, SimulatedBoards(full, full[:, None, :])).accuracy.mean())
