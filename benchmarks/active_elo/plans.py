"""What `route plan`, `--stop-top` and `--place` promise, on simulated arenas whose truth is known.

    python -m benchmarks.active_elo.plans [--arenas 200]

Eight models, 150 items, a judge that favours models. The tables are part of docs/design/active-elo-tables.md.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from imarena.ranking.likelihood.corrected import Posterior, VoteBatch, fit_corrected
from imarena.ranking.likelihood.corrected_draws import draw_boards
from imarena.routing import (
    Belief,
    Pool,
    StandardScores,
    combine_strategies,
    forecast,
    limit_votes,
    ranking_information,
    restrict_to_models,
    sample_battles,
    standardise,
    top_order_confidence,
)

Floats = NDArray[np.float64]
PER_LOG = 400 / np.log(10)
MODELS, ITEMS = 8, 150
OWN = 0.6
"""Of one output's quality around its model's strength, in log odds."""


@dataclass
class Campaign:
    """One arena: strengths are known to us, not to the campaign; it asks, and believes what it hears."""

    rng: np.random.Generator
    apart: float = 1.0
    """Standard deviation of the strengths, in log odds."""
    bias: float = 0.6
    ties: float = 0.0
    """Log odds between which people call it a tie."""
    item: list[int] = field(default_factory=list)
    pair: list[int] = field(default_factory=list)
    points: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = self.rng
        self.truth = rng.normal(0, self.apart, MODELS)
        self.quality = self.truth + rng.normal(0, OWN, (ITEMS, MODELS))
        scores = 500 + 60 * (self.quality + rng.normal(0, self.bias, MODELS) + rng.normal(0, OWN, (ITEMS, MODELS)))
        pairs = MODELS * (MODELS - 1) // 2
        task, asked = np.zeros(ITEMS, np.int64), np.zeros((ITEMS, pairs), np.int16)
        self.pool = Pool(scores, np.ones((ITEMS, MODELS), bool), task, asked)
        self.standard: StandardScores = standardise(scores)

    def ask(self, votes: int, policy: str = "random", place: int | None = None, top: int = 0) -> None:
        """Draw battles and hear people."""
        rules = [limit_votes(4)]
        if place is not None:
            rules.append(restrict_to_models([place]))
        if policy == "information":
            rules.append(ranking_information(self.standard, top=top))
        batch = sample_battles(
            combine_strategies(rules, self.pool, self.belief(claims=False)), votes, self.pool, self.rng, by_task=False
        )
        left, right = self.pool.left[batch.pair], self.pool.right[batch.pair]
        lead = self.quality[batch.item, left] - self.quality[batch.item, right] + self.rng.logistic(size=left.size)
        self.pool.asked[batch.item, batch.pair] += 1
        self.item += batch.item.tolist()
        self.pair += batch.pair.tolist()
        self.points += np.where(np.abs(lead) < self.ties, 0.5, lead > 0).tolist()

    def found(self) -> tuple[VoteBatch, Posterior]:
        item, pair = np.array(self.item, np.int64), np.array(self.pair, np.int64)
        left, right = self.pool.left[pair], self.pool.right[pair]
        filled, means = self.standard.filled, self.standard.means
        within = filled[item, left] - filled[item, right] - (means[left] - means[right])
        ballot = VoteBatch(left[None], right[None], np.array(self.points)[None], within[None], means[None])
        return ballot, fit_corrected(ballot)

    def belief(self, *, claims: bool = True) -> Belief:
        ballot, found = self.found()
        drawn = draw_boards(ballot, found, 2000) if claims else None
        slope, dispersion = float(found.slopes[0, 0]), float(found.dispersion[0])
        return Belief(found.theta[0], found.covariance[0], slope, dispersion, boards=drawn)

    def widest(self) -> float:
        return float(forecast(self.belief(), per_log=PER_LOG).now.max())


def plan_table(arenas: int) -> Iterator[str]:
    """After the number of votes that a plan asks for: does the widest interval match the forecast?"""
    yield "| models apart by | ties | votes so far | target | votes asked for | widest then: median, mean | in range |"
    yield "|---|---|---|---|---|---|---|"
    kinds = (
        (0.6, 0.0, 0, 80), (1.0, 0.0, 0, 80), (0.6, 0.0, 100, 80), (1.0, 0.0, 100, 80), (1.5, 0.0, 100, 100),
        (1.0, 0.0, 400, 60), (1.0, 1.0, 100, 60),
    )  # fmt: skip
    for apart, ties, first, target in kinds:
        asked, reached, inside = [], [], []
        for seed in range(arenas):
            one = Campaign(np.random.default_rng([5, seed]), apart, ties=ties)
            if first:
                one.ask(first)
            belief = one.belief()
            need = forecast(belief, per_log=PER_LOG, own=belief.slope_within * 0.85).needed(target)
            widths = []
            for votes in (need.likely[0], need.votes, need.likely[1]):
                end = first + min(votes or 1, 4 * ITEMS * MODELS)
                while len(one.item) < end:  # a draw gives a battle once; whole boards of them are asked again and again
                    one.ask(min(end - len(one.item), 2000))
                widths.append(one.widest())
            asked.append(need.votes or 0)
            reached.append(widths[1])
            inside.append(widths[0] >= target >= widths[2])
        told = f"{np.median(reached):.0f}, {np.mean(reached):.0f} | {np.mean(inside):.2f}"
        yield f"| {apart:g} | {'yes' if ties else 'no'} | {first} | {target} | {np.median(asked):.0f} | {told} |"


def stop_table(arenas: int) -> Iterator[str]:
    """Stop as soon as the best three are in order at 95%, checked after every 100 votes, up to 800."""
    yield "| bias | ties | policy | stopped | in order | votes, median |"
    yield "|---|---|---|---|---|---|"
    kinds = (
        (0.6, 0.0, "information", 3), (0.6, 0.0, "information", 0), (0.6, 0.0, "random", 0),
        (2.0, 0.0, "information", 3), (0.6, 1.0, "information", 3),
    )  # fmt: skip
    for bias, ties, policy, top in kinds:
        right, votes = [], []
        for seed in range(arenas):
            one = Campaign(np.random.default_rng([6, seed]), bias=bias, ties=ties)
            for _ in range(8):
                one.ask(100, policy, top=top)
                belief = one.belief()
                if top_order_confidence(belief, 3) >= 0.95:
                    right.append((np.argsort(-belief.theta)[:3] == np.argsort(-one.truth)[:3]).all())
                    votes.append(len(one.item))
                    break
        told = f"{np.mean(right):.3f} | {np.median(votes):.0f}" if right else "- | -"
        name = f"{policy}, for the best {top}" if top else policy
        yield f"| {bias:g} | {'yes' if ties else 'no'} | {name} | {len(right)} of {arenas} | {told} |"


def place_table(arenas: int) -> Iterator[str]:
    """A new model without votes next to seven models that share 400 votes: the share of its pairs in order."""
    budgets = (0, 10, 20, 40, 80)
    yield "| votes by | " + " | ".join(f"{votes} votes" for votes in budgets) + " |"
    yield "|---" * (len(budgets) + 1) + "|"
    kinds = (("--place", "information", 0), ("information", "information", None), ("random", "random", None))
    for name, policy, place in kinds:
        table = np.zeros((arenas, len(budgets)))
        for seed in range(arenas):
            one = Campaign(np.random.default_rng([7, seed]))
            one.pool.asked[:, one.pool.left == 0] = 9
            one.ask(400)
            one.pool.asked[:, one.pool.left == 0] = 0
            for column, budget in enumerate(budgets):
                if more := budget - (len(one.item) - 400):
                    one.ask(more, policy, place)
                theta = one.belief(claims=False).theta
                table[seed, column] = (np.sign(theta[0] - theta[1:]) == np.sign(one.truth[0] - one.truth[1:])).mean()
        yield f"| {name} | " + " | ".join(f"{value:.3f}" for value in table.mean(axis=0)) + " |"


def tables(arenas: int) -> Iterator[str]:
    """All three."""
    for name, table in (("Plans", plan_table), ("Stopping", stop_table), ("A new model", place_table)):
        yield f"\n## {name}\n\n{table.__doc__}\n"
        yield from table(arenas)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--arenas", type=int, default=200)
    for line in tables(parser.parse_args().arenas):
        print(line, flush=True)


if __name__ == "__main__":
    main()
