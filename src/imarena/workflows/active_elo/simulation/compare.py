"""Simulate: compare ways of spending the same human budget, on recorded or simulated judges and raters."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imarena.core import FloatArray, UserError, suggestion
from imarena.ranking import fit_calibrated
from imarena.routing import DEFERRAL, SHIFT, TABLE_EDGES, GapRow, Gates, agreement_table
from imarena.routing import POLICIES as ROUTING
from imarena.stats import Z95
from imarena.workflows.active_elo.simulation import campaigns
from imarena.workflows.active_elo.simulation.boards import (
    BoardFigures,
    SimulatedBoards,
    board_figures,
    simulated_boards,
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
"""Policies: a selection rule for votes and their aggregation. `information` is ours; the others are the paper's."""
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
ALL_POLICIES = {
    **POLICIES,
    **EXTRA_POLICIES,
    **SENSITIVITY,
    **{name: (name, "corrected") for name, policy in ROUTING.items() if policy.simulated and name not in POLICIES},
}
"""The above, and every other policy of `routing` that can be simulated, by its own name."""

SEPARATOR = ";"
"""The separator of policies if one of the names contains a comma; otherwise a comma."""


def named_policies(text: str) -> tuple[str, ...]:
    """Parse policies: paper, sensitivity, all, or a list."""
    if text == "paper":
        return tuple(POLICIES)
    if text == "sensitivity":
        return tuple(SENSITIVITY)
    if text == "all":
        return (*POLICIES, *EXTRA_POLICIES)
    names = [part.strip() for part in text.split(SEPARATOR) if part.strip()]
    if len(names) == 1 and names[0] not in ALL_POLICIES:
        names = [part.strip() for part in text.split(",") if part.strip()]
    return tuple(names)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """The settings of a comparison, and how to read its figures."""

    budgets: tuple[int, ...]
    seeds: int
    rounds: int
    seed: int
    held_out: float
    tau: float | None
    delta: float | None
    deferral: float
    interval: str = "95%, normal, over seeds"
    ties: str = "half a vote to each side; they cost budget"
    q: str = "max(0, 2a - 1) in the mixture, a in the online update"
    score_range: tuple[float, float]
    shift: float


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean over seeds with its 95% interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """The results of one policy at one budget."""

    policy: str
    selection: str
    aggregation: str
    budget: int
    accuracy: MeanInterval
    spearman: MeanInterval
    rank_std: MeanInterval
    decisive: float | None
    """Fraction of votes that were not ties; None if the policy uses no votes."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """Agreement of the judge with people by score gap, and every policy at every budget."""

    models: tuple[str, ...]
    n_items: int
    settings: SimulationSettings
    agreement_by_gap: tuple[GapRow, ...]
    true_order_accuracy: float
    policies: tuple[PolicyResult, ...]


def simulate(world: World, plan: SimulationPlan, report_done: Callable[[str], None] | None = None) -> Simulation:
    """Simulate every policy of the plan at every budget; `report_done` gets each policy's name when it is done."""
    for name in plan.policies:
        if name not in ALL_POLICIES:
            names = f"Known: {'; '.join(ALL_POLICIES)}."  # some names contain commas
            raise UserError(f"No policy '{name}'.", hint=suggestion(name, ALL_POLICIES, names))
    if not plan.budgets or min(plan.budgets) < 1:
        raise UserError("A budget of zero asks nobody.", hint="Such as --budgets 50,100,200,400.")
    fleet = campaigns.make_campaigns(world, plan.seeds, held_out=plan.held_out, seed=plan.seed)
    gates = plan.gates or campaigns.default_gates(world, deferral=plan.deferral)
    votes_of: dict[str, campaigns.Votes] = {}
    results = []
    for name in plan.policies:
        selection, aggregation = ALL_POLICIES[name]
        if selection not in votes_of:
            votes_of[selection] = campaigns.run_campaigns(fleet, selection, plan.budgets, gates)
        results += [
            _result(fleet, votes_of[selection].first(budget), (name, selection, aggregation), plan.rounds)
            for budget in plan.budgets
        ]
        if report_done is not None:
            report_done(name)
    settings = _settings(world, plan, gates)
    return Simulation(world.models, len(world.scores), settings, gap_rows(world), _ceiling(fleet), tuple(results))


def _result(
    fleet: campaigns.Campaigns, votes: campaigns.Votes, policy: tuple[str, str, str], rounds: int
) -> PolicyResult:
    figures: BoardFigures = board_figures(fleet, simulated_boards(fleet, votes, policy[2], rounds))
    return PolicyResult(
        *policy,
        budget=votes.item.shape[1],
        accuracy=_mean(figures.accuracy),
        spearman=_mean(figures.spearman),
        rank_std=_mean(figures.rank_std),
        decisive=float((votes.points != 0.5).mean()) if policy[2] != "judge" else None,
    )


def _mean(values: FloatArray) -> MeanInterval:
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))
    return MeanInterval(mean, mean - Z95 * error, mean + Z95 * error)


def _settings(world: World, plan: SimulationPlan, gates: Gates) -> SimulationSettings:
    return SimulationSettings(
        budgets=plan.budgets, seeds=plan.seeds, rounds=plan.rounds, seed=plan.seed, held_out=plan.held_out,
        tau=gates.tau, delta=gates.delta, deferral=float(gates.passes(world.lower, np.abs(world.gap)).mean()),
        score_range=(world.range.low, world.range.high), shift=world.range.points(SHIFT),
    )  # fmt: skip


GAP_EDGES = (*TABLE_EDGES, 400.0)
"""The edges of table 5 and one more, on the paper's scale of 0 to 1000."""


def gap_rows(world: World) -> tuple[GapRow, ...]:
    """Return the judge's agreement with people's joint verdict by score gap, over pairs that people decide.

    The bands are `GAP_EDGES` on the judge's range. The last row holds pairs with a gap of 0: they have no preference.
    """
    gap = np.round(world.gap, 9)
    decided = np.isfinite(gap) & (world.truth != 0)
    sided = decided & (gap != 0)
    agrees = (np.sign(gap[sided]) == world.truth[sided]).astype(np.float64)
    rows = agreement_table(np.abs(gap[sided]), agrees, world.range.edges(GAP_EDGES))
    return (*rows, GapRow(0.0, 0.0, int((decided & (gap == 0)).sum()), None, None))


def _ceiling(fleet: campaigns.Campaigns) -> float:
    """Return Acc_H of the order from all votes on all items together."""
    world = fleet.world
    left, right = world.sides
    wins, losses = (world.truth == 1).sum(axis=0), (world.truth == -1).sum(axis=0)
    wins, losses = (points[None, :, None].astype(float) for points in (wins, losses))
    theta = fit_calibrated(left, right, wins, losses, np.ones(1), len(world.models))
    full = np.repeat(theta, fleet.size, axis=0)
    return float(board_figures(fleet, SimulatedBoards(full, full[:, None, :])).accuracy.mean())
