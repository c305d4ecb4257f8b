"""A simulated campaign asks people: a selection rule spends a budget, and votes are revealed only on request."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imarena import routing
from imarena.core import FloatArray, IntArray, UserError
from imarena.ranking import VoteBatch, fit_corrected
from imarena.workflows.active_elo.simulation.worlds import World

MOVED = {"two-gate-loose": 1, "two-gate-tight": -1}
"""Policy `two-gate` with both thresholds moved, as in CV-Arena table 9: by 50 points of a judge of 0 to 1000."""
BATCH = 25
"""Number of votes between two updates of the board (the information rule)."""


@dataclass(frozen=True)
class Votes:
    """What B campaigns asked, in order: item, pair and points of the left model, each (B, n)."""

    item: IntArray
    pair: IntArray
    points: FloatArray

    def first(self, n: int) -> "Votes":
        """The first n votes of each campaign."""
        return Votes(self.item[:, :n], self.pair[:, :n], self.points[:, :n])

    def concat(self, other: "Votes") -> "Votes":
        """Join both, one after the other."""
        joined = (np.concatenate(two, axis=1) for two in zip(self.columns, other.columns, strict=True))
        return Votes(*joined)

    @property
    def columns(self) -> tuple[IntArray, IntArray, FloatArray]:
        return self.item, self.pair, self.points


@dataclass(frozen=True)
class Campaigns:
    """B campaigns on one world, each with its own split: items in `train` (B, N) may be asked, the rest is held out.

    `standards`: scores on the common scale, with means over each campaign's items.
    """

    world: World
    train: NDArray[np.bool_]
    standards: tuple[routing.StandardScores, ...]
    seed: int

    @property
    def size(self) -> int:
        return len(self.standards)


def make_campaigns(world: World, seeds: int, *, held_out: float = 0.5, seed: int = 0) -> Campaigns:
    """Split the items anew for every seed."""
    if seeds < 2:
        raise UserError("At least two seeds are needed for an interval.", hint="Such as --seeds 200.")
    n = len(world.scores)
    train = np.zeros((seeds, n), bool)
    for index in range(seeds):
        order = np.random.default_rng([seed, index, 0]).permutation(n)
        train[index, order[round(n * held_out) :]] = True
    standards = tuple(routing.standardise(world.scores, np.flatnonzero(row)) for row in train)
    return Campaigns(world, train, standards, seed)


def default_gates(world: World, *, deferral: float) -> routing.Gates:
    """Return both thresholds for a deferral rate, from scores alone."""
    pool = _pool(world, np.ones(len(world.scores), bool))
    return routing.gates_for(pool.lower.ravel(), np.abs(pool.gap).ravel(), deferral=deferral)


def run_campaigns(fleet: Campaigns, selection: str, budgets: Sequence[int], gates: routing.Gates) -> Votes:
    """Spend the largest budget in every campaign. The votes of smaller budgets are its first ones."""
    policy = routing.find_policy("two-gate" if selection in MOVED else selection)
    if min(budgets) < 1:
        raise UserError("A budget of zero asks nobody.", hint="Give budgets of at least one vote.")
    pools = [_pool(fleet.world, row) for row in fleet.train]
    rngs = [np.random.default_rng([fleet.seed, n, _stream(selection)]) for n in range(fleet.size)]
    empty = np.zeros((fleet.size, 0), np.int64)
    votes = Votes(empty, empty, empty.astype(np.float64))
    ends = sorted({*budgets, *(range(BATCH, max(budgets), BATCH) if policy.uses_belief else ())})
    for end in ends:
        beliefs = _beliefs(fleet, pools, votes) if policy.uses_belief else None
        votes = votes.concat(_step(fleet, pools, rngs, selection, gates, beliefs, end - votes.item.shape[1]))
    return votes


def _step(
    fleet: Campaigns,
    pools: list[routing.Pool],
    rngs: list[np.random.Generator],
    selection: str,
    gates: routing.Gates,
    beliefs: list[routing.Belief] | None,
    size: int,
) -> Votes:
    m = pools[0].n_models
    blank = routing.Belief(np.zeros(m), np.eye(m))
    items, pairs, points = [], [], []
    for index, (pool, rng) in enumerate(zip(pools, rngs, strict=True)):
        belief = blank if beliefs is None else beliefs[index]
        weights = routing.combine_strategies(
            [routing.limit_votes(1), *_rule(selection, gates, fleet, index)], pool, belief
        )
        batch = routing.sample_battles(weights, size, pool, rng, by_task=False)
        if len(batch) < size:
            raise UserError(
                f"Only {len(batch)} battles are left for '{selection}', {size} were asked for.",
                hint="Lower the budget, or loosen the gates.",
            )
        mixed = rng.permutation(size)
        item, pair = batch.item[mixed], batch.pair[mixed]
        pool.asked[item, pair] += 1
        items.append(item)
        pairs.append(pair)
        points.append(fleet.world.ask(item, pair, rng))
    return Votes(np.stack(items), np.stack(pairs), np.stack(points))


def _stream(selection: str) -> int:
    """The number that seeds a selection; 6 and 7 are the places of policies that are not simulated."""
    return 6 + list(MOVED).index(selection) if selection in MOVED else list(routing.POLICIES).index(selection) + 1


def shifted_gates(world: World, gates: routing.Gates) -> dict[str, routing.Gates]:
    """Return both thresholds loosened and tightened."""
    shift = world.range.points(routing.SHIFT)
    return {name: gates.moved(sign * shift) for name, sign in MOVED.items()}


def _rule(selection: str, gates: routing.Gates, fleet: Campaigns, index: int) -> list[routing.Strategy]:
    if selection in MOVED:
        selection, gates = "two-gate", shifted_gates(fleet.world, gates)[selection]
    inputs = routing.PolicyInputs(lambda: gates, standard=fleet.standards[index])
    return routing.POLICIES[selection].strategies(inputs)


def _pool(world: World, train: NDArray[np.bool_]) -> routing.Pool:
    pairs = len(world.sides[0])
    voted = np.isfinite(world.votes).any(axis=0)
    present = np.repeat(train[:, None], len(world.models), axis=1)
    counts = np.where(voted, 0, 999).astype(np.int16).reshape(-1, pairs)
    return routing.Pool(world.scores, present, world.task, counts, world.models)


def vote_batch(fleet: Campaigns, votes: Votes) -> VoteBatch:
    """Return the votes in the form of the corrected board."""
    left, right = fleet.world.sides
    rows = np.arange(fleet.size)[:, None]
    means = np.stack([standard.means for standard in fleet.standards])
    first, second = left[votes.pair], right[votes.pair]
    filled = fleet.standards[0].filled  # the scale comes from the world, not from the split
    own = filled[votes.item, first] - filled[votes.item, second]
    return VoteBatch(first, second, votes.points, own - (means[rows, first] - means[rows, second]), means)


def _beliefs(fleet: Campaigns, pools: list[routing.Pool], votes: Votes) -> list[routing.Belief]:
    fit = fit_corrected(vote_batch(fleet, votes))
    beliefs = []
    for index, pool in enumerate(pools):
        decisive = routing.chance_of_decision(
            pool,
            fleet.standards[index].filled,
            votes.item[index],
            votes.pair[index],
            (votes.points[index] != 0.5).astype(np.float64),
        )
        beliefs.append(
            routing.Belief(
                fit.theta[index],
                fit.covariance[index],
                float(fit.slopes[index, 0]),
                float(fit.dispersion[index]),
                decisive,
            )
        )
    return beliefs
