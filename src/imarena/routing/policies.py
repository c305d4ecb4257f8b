"""The policies that choose which battles people are asked about: one table for assignments and for simulations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from imarena.core import Mask, UserError, command_line, unknown_name
from imarena.routing.calibration import Curve
from imarena.routing.drawing import Batch, sample_battles
from imarena.routing.gates import DEFERRAL, Gates, choose_gates
from imarena.routing.pool import Belief, Pool, StandardScores
from imarena.routing.strategies import (
    Strategy,
    combine_strategies,
    item_fairness,
    limit_votes,
    per_cost,
    ranking_information,
    require_gates,
    restrict_to_models,
)


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
    deferral: float = DEFERRAL
    new_models: tuple[str, ...] = ()
    """If not empty, only battles of these models are assigned."""
    stop_top: int = 0
    confidence: float = 0.95
    cost_vote: float = 0.1
    cost_judgment: float = 0.01
    paper_compat: bool = False
    name: str = "active elo"
    seed: int = 0

    @property
    def battles(self) -> int:
        """How many battles the budget pays for."""
        return -(-self.budget // self.votes_per_battle)


@dataclass(frozen=True)
class PolicyInputs:
    """What a policy chooses by. Gates and the curve are computed only for a policy that asks for them."""

    gates: Callable[[], Gates]
    curve: Callable[[], Curve] | None = None
    """The judge's calibration; None in simulations."""
    request: AssignmentRequest = AssignmentRequest(0)
    standard: StandardScores | None = None


@dataclass(frozen=True)
class Policy:
    """A rule that turns its inputs into strategies."""

    strategies: Callable[[PolicyInputs], list[Strategy]]
    gates: tuple[str, ...] = ()
    """The thresholds that it looks at: tau, delta."""
    needs_scores: bool = False
    uses_belief: bool = False
    """The choice depends on the board so far: simulations update it between batches."""
    inside_gold: bool = False
    """Only battles of the gold set; other policies ask none of these."""
    simulated: bool = True
    """`simulate` offers it; False if it needs a calibration or a gold set."""


def _quality(inputs: PolicyInputs) -> list[Strategy]:
    return [require_gates(replace(inputs.gates(), delta=None))]


def _ambiguity(inputs: PolicyInputs) -> list[Strategy]:
    return [require_gates(replace(inputs.gates(), tau=None))]


def _information(inputs: PolicyInputs) -> list[Strategy]:
    return [ranking_information(inputs.standard, top=inputs.request.stop_top)]


def _per_cost(inputs: PolicyInputs) -> list[Strategy]:
    if inputs.curve is None:
        raise UserError(
            "The policy 'per-cost' needs a calibrated judge.", hint=f"Run: {command_line('route calibrate')}"
        )
    request = inputs.request
    return [
        per_cost(
            inputs.curve(),
            cost_vote=request.cost_vote,
            cost_judgment=request.cost_judgment,
            paper_compat=request.paper_compat,
        )
    ]


POLICIES: Mapping[str, Policy] = {
    "random": Policy(lambda _: []),
    "quality": Policy(_quality, gates=("tau",), needs_scores=True),
    "ambiguity": Policy(_ambiguity, gates=("delta",), needs_scores=True),
    "two-gate": Policy(lambda inputs: [require_gates(inputs.gates())], gates=("tau", "delta"), needs_scores=True),
    "information": Policy(_information, uses_belief=True),
    "per-cost": Policy(_per_cost, needs_scores=True, simulated=False),
    "gold": Policy(lambda _: [], inside_gold=True, simulated=False),
}
"""Every policy by name. Add new ones at the end: the place of a policy seeds its simulation."""


def find_policy(name: str) -> Policy:
    """Return a policy, or raise with the names of all."""
    if name not in POLICIES:
        raise unknown_name("No policy", name, POLICIES)
    return POLICIES[name]


def draw_batch(
    pool: Pool,
    gold: Mask,
    belief: Belief,
    request: AssignmentRequest,
    rng: np.random.Generator,
    curve: Callable[[], Curve] | None = None,
) -> Batch:
    """Draw battles by the policy's chain of strategies, evenly over tasks. `gold` (N,) items of the gold set."""
    policy = find_policy(request.policy)
    if policy.inside_gold and not gold.any():
        raise UserError("There is no gold set yet.", hint=f"Freeze one: {command_line('route gold --share 0.1')}")
    items = gold if policy.inside_gold else ~gold
    open_pool = pool if items.all() else replace(pool, present=pool.present & items[:, None])
    if not open_pool.askable.any():
        raise UserError(
            "There is no battle whose two images are here and differ.",
            hint=f"Import the outputs with their pixels, or make some: {command_line('edit')}",
        )
    _check_thresholds(policy, request)
    strategies: list[Strategy] = [limit_votes(request.votes_per_battle), item_fairness]
    if request.new_models:
        unknown = [name for name in request.new_models if name not in pool.models]
        if unknown:
            raise unknown_name("No model", unknown[0], pool.models)
        strategies.append(restrict_to_models([pool.models.index(name) for name in request.new_models]))
    inputs = PolicyInputs(
        lambda: choose_gates(pool, gold, request.tau, request.delta, request.deferral), curve, request
    )
    strategies += policy.strategies(inputs)
    return sample_battles(combine_strategies(strategies, open_pool, belief), request.battles, open_pool, rng)


def _check_thresholds(policy: Policy, request: AssignmentRequest) -> None:
    """A policy with a single gate rejects the other gate's threshold without its own."""
    if len(policy.gates) != 1 or getattr(request, policy.gates[0]) is not None:
        return
    other = "delta" if policy.gates == ("tau",) else "tau"
    if getattr(request, other) is not None:
        raise UserError(
            f"The policy '{request.policy}' does not look at {other}.",
            hint=f"Give --{policy.gates[0]}, or neither threshold.",
        )
