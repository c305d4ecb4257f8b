"""How much could any choice of battles gain? Selections with and without the true results, on recorded votes.

    python -m benchmarks.active_elo.bound [--seeds 200]

All votes go to the corrected board. `given the true order` is our rule with the true strengths instead of its estimate;
`given the ties` asks where the raters will decide; `given both` uses both. They are upper bounds, not usable rules. The
tables are part of docs/design/active-elo-tables.md (`python -m benchmarks.active_elo.recorded_votes --tables FILE`).
"""

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.active_elo.recorded_votes import JUDGES, recorded_world
from imarena.ranking.likelihood.calibrated import fit_calibrated
from imarena.ranking.likelihood.corrected import fit_corrected
from imarena.routing import Belief, Pool, combine_strategies, limit_votes, ranking_information, sample_battles
from imarena.workflows.active_elo.simulation.boards import SimulatedBoards, board_figures
from imarena.workflows.active_elo.simulation.campaigns import (
    Campaigns,
    Votes,
    default_gates,
    make_campaigns,
    run_campaigns,
    vote_batch,
)
from imarena.workflows.active_elo.simulation.worlds import World

Floats = NDArray[np.float64]
Weights = Callable[[Pool, Belief], Floats]
BUDGETS = {"IE": (50, 100, 200, 400), "IG": (25, 50, 100)}
BATCH = 25
SEED = 123_000
"""No setting was chosen while looking at these splits and draws."""


def true_strengths(world: World) -> Floats:
    """(m,) from all votes on all items."""
    left, right = world.sides
    wins, losses = ((world.truth == sign).sum(axis=0).astype(np.float64)[None, :, None] for sign in (1, -1))
    return np.asarray(fit_calibrated(left, right, wins, losses, np.ones(1), len(world.models))[0])


def decided(world: World) -> Floats:
    """(N, P) share of the raters who decide."""
    return np.asarray((world.votes != 0.5).mean(axis=0))


def _pool(world: World, train: NDArray[np.bool_]) -> Pool:
    asked = np.zeros(world.truth.shape, np.int16)
    return Pool(world.scores, np.repeat(train[:, None], len(world.models), axis=1), world.task, asked, world.models)


def spend(fleet: Campaigns, weights: Weights, budget: int) -> Votes:
    """Ask in batches, by weights that may look at what is believed now."""
    world = fleet.world
    pools = [_pool(world, row) for row in fleet.train]
    rngs = [np.random.default_rng([fleet.seed, n, 77]) for n in range(fleet.size)]
    none = np.zeros((fleet.size, 0), np.int64)
    votes = Votes(none, none, none.astype(np.float64))
    while votes.item.shape[1] < budget:
        found = fit_corrected(vote_batch(fleet, votes))
        columns = []
        for n, (pool, rng) in enumerate(zip(pools, rngs, strict=True)):
            belief = Belief(found.theta[n], found.covariance[n], float(found.slopes[n, 0]), float(found.dispersion[n]))
            batch = sample_battles(
                combine_strategies([limit_votes(1), weights], pool, belief), BATCH, pool, rng, by_task=False
            )
            pool.asked[batch.item, batch.pair] += 1
            columns.append((batch.item, batch.pair, world.ask(batch.item, batch.pair, rng)))
        votes = votes.concat(Votes(*(np.stack(column) for column in zip(*columns, strict=True))))
    return votes


def selections(fleet: Campaigns, budgets: tuple[int, ...]) -> Iterator[tuple[str, Votes]]:
    """By name, the votes that each asks for."""
    world, most = fleet.world, budgets[-1]
    gates = default_gates(world, deferral=0.337)
    for name in ("two-gate", "random", "information"):
        yield name, run_campaigns(fleet, name, budgets, gates)
    order, ties = true_strengths(world), decided(world) ** 4 + 1e-6
    informed = ranking_information()

    def knows_order(pool: Pool, belief: Belief) -> Floats:
        return informed(pool, replace(belief, theta=order))

    yield "given the true order", spend(fleet, knows_order, most)
    yield "given the ties", spend(fleet, lambda *_: ties, most)
    yield "given both", spend(fleet, lambda pool, belief: ties * knows_order(pool, belief), most)


def bound_table(folder: Path, task: str, seeds: int) -> Iterator[str]:
    """Acc_H by selection, with the standard error of the difference from random votes on the same splits."""
    budgets = BUDGETS[task]
    yield "| judge | selection | " + " | ".join(f"{n} votes" for n in budgets) + " | votes that decide |"
    yield "|---" * (len(budgets) + 3) + "|"
    for key, judge in JUDGES.items():
        world = recorded_world(folder, key, task)
        fleet = make_campaigns(world, seeds, seed=SEED)
        found: dict[str, list[Floats]] = {}
        told: dict[str, float] = {}
        for name, votes in selections(fleet, budgets):
            told[name] = float((votes.points != 0.5).mean())
            for budget in budgets:
                theta = fit_corrected(vote_batch(fleet, votes.first(budget))).theta
                found.setdefault(name, []).append(board_figures(fleet, SimulatedBoards(theta, theta[:, None])).accuracy)
        for name, by in found.items():
            cells = [f"{values.mean():.4f}" for values in by]
            if name != "random":
                off = [values - plain for values, plain in zip(by, found["random"], strict=True)]
                cells = [f"{c} ({o.mean():+.4f} +- {_error(o):.4f})" for c, o in zip(cells, off, strict=True)]
            yield f"| {judge} | {name} | " + " | ".join(cells) + f" | {told[name]:.2f} |"
    yield ""


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("IMARENA_SHARED_DATA", beside)))
    given = parser.parse_args()
    for task, name in (("IE", "text-guided editing"), ("IG", "text to image")):
        print(f"## What any choice of battles could gain: {name}\n")
        for line in bound_table(given.data, task, given.seeds * (2 if task == "IG" else 1)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
