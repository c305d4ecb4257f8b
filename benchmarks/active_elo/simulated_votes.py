"""What the corrected board claims of itself, on simulated votes: routing does not bias it, and its intervals hold.

    python -m benchmarks.active_elo.simulated_votes [--worlds 800]

The tables are part of docs/design/active-elo-tables.md (see recorded_votes.py).
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imarena.ranking.boards.pairs import percentile_ends
from imarena.ranking.likelihood.corrected import PRIORS, VoteBatch, fit_corrected
from imarena.ranking.likelihood.corrected_draws import draw_boards

Floats = NDArray[np.float64]
M = 8
NOISE = 0.6
"""Of one output's quality around its model's strength, in log odds: what no mean over items shows."""


@dataclass(frozen=True)
class Asked:
    """B worlds with n votes each: the true strengths (B, M), the ballots, and how likely each battle was (B, n)."""

    truth: Floats
    ballot: VoteBatch
    chance: Floats


def routed(how: str, *, worlds: int, votes: int, bias: float, bend: float = 1.0, seed: int = 1) -> Asked:
    """Votes by Bradley-Terry on qualities; a judge favours models by N(0, bias^2); battles are chosen by its scores."""
    rng = np.random.default_rng(seed)
    pool = 6 * votes
    truth = rng.normal(0, 0.6, (worlds, M))
    favour = rng.normal(0, bias, (worlds, M))
    left = rng.integers(M, size=(worlds, pool))
    right = (left + rng.integers(1, M, size=(worlds, pool))) % M
    rows = np.arange(worlds)[:, None]
    qualities = [truth[rows, side] + rng.normal(0, NOISE, side.shape) for side in (left, right)]
    scores = [
        np.sign(value) * np.abs(value) ** bend
        for quality, side in zip(qualities, (left, right), strict=True)
        for value in [quality + favour[rows, side] + rng.normal(0, 0.4, side.shape)]
    ]
    gap = scores[0] - scores[1]
    scale = np.sqrt((gap**2).mean(axis=1, keepdims=True))
    weight = _weights(how, gap / scale, np.minimum(*scores))
    chosen = np.argsort(-np.log(np.maximum(rng.random(weight.shape), 1e-12)) / np.maximum(weight, 1e-12), axis=1)
    taken = chosen[:, :votes]
    means = np.zeros((worlds, M))
    for model in range(M):
        seen = np.concatenate([np.where(side == model, value, np.nan)
                               for side, value in zip((left, right), scores, strict=True)], axis=1)  # fmt: skip
        means[:, model] = np.nanmean(seen, axis=1)
    means = (means - means.mean(axis=1, keepdims=True)) / scale
    one, other = left[rows, taken], right[rows, taken]
    lead = (qualities[0] - qualities[1])[rows, taken]
    points = (rng.random(lead.shape) < 1 / (1 + np.exp(-lead))).astype(np.float64)
    within = (gap / scale)[rows, taken] - (means[rows, one] - means[rows, other])
    return Asked(truth, VoteBatch(one, other, points, within, means), np.take_along_axis(weight, taken, axis=1))


def _weights(how: str, gap: Floats, lower: Floats) -> Floats:
    if how == "mostly close":
        return np.asarray(1 / (0.1 + np.abs(gap)))
    if how == "only close":
        return (np.abs(gap) < 0.4).astype(np.float64)
    if how == "mostly good":
        return np.asarray(1 / (1 + np.exp(-2 * lower)))
    return np.ones_like(gap)


def routing_table(worlds: int = 60, votes: int = 1500) -> Iterator[str]:
    """Scale of the strengths (1: true) and share of pairs in order, by what was asked."""
    yield "| votes | scale of the strengths | its error | pairs in order | scale, bent scores | pairs in order, bent |"
    yield "|---|---|---|---|---|---|"
    for how in ("random", "mostly close", "only close", "mostly good"):
        for weighed in (False, True) if how.startswith("mostly") else (False,):
            cells: list[str] = []
            for bend in (1.0, 1.6):
                asked = routed(how, worlds=worlds, votes=votes, bias=0.4, bend=bend)
                ballot = asked.ballot
                if weighed:
                    weight = 1 / asked.chance
                    ballot = VoteBatch(ballot.left, ballot.right, ballot.points, ballot.within, ballot.means,
                                    weight / weight.mean(axis=1, keepdims=True))  # fmt: skip
                scale, order = _recovered(asked.truth, fit_corrected(ballot).theta)
                error = scale.std(ddof=1) / np.sqrt(worlds)
                cells += [f"{scale.mean():.3f}", *([f"{error:.3f}"] if bend == 1.0 else []), f"{order.mean():.3f}"]
            yield f"| {how}{', weighed by 1 / probability' if weighed else ''} | " + " | ".join(cells) + " |"


def _recovered(truth: Floats, found: Floats) -> tuple[Floats, Floats]:
    truth, found = (values - values.mean(axis=1, keepdims=True) for values in (truth, found))
    left, right = np.triu_indices(M, 1)
    same = np.sign(truth[:, left] - truth[:, right]) == np.sign(found[:, left] - found[:, right])
    return (truth * found).sum(axis=1) / (truth**2).sum(axis=1), same.mean(axis=1)


def believed(worlds: int, votes: int, *, bias: float | None = None, models: int = M, seed: int = 2) -> Floats:
    """Share of the differences inside their 95% intervals, and these intervals' usual width in rating points.

    Worlds are drawn from the prior, or with a spread of bias.
    """
    rng = np.random.default_rng(seed)
    within = rng.normal(*PRIORS.slope_within, worlds)
    slope = within + rng.normal(0, PRIORS.extra, worlds)
    spread = (
        PRIORS.spread[0] * np.exp(rng.normal(0, PRIORS.spread[1], worlds)) if bias is None else np.full(worlds, bias)
    )
    means = rng.normal(0, 0.35, (worlds, models))
    truth = slope[:, None] * means + rng.normal(0, 1, (worlds, models)) * spread[:, None]
    left = rng.integers(models, size=(worlds, votes))
    right = (left + rng.integers(1, models, size=(worlds, votes))) % models
    rows, own = np.arange(worlds)[:, None], rng.normal(0, 0.85, (worlds, votes))
    lead = truth[rows, left] - truth[rows, right] + within[:, None] * own
    points = (rng.random(lead.shape) < 1 / (1 + np.exp(-lead))).astype(np.float64)
    ballot = VoteBatch(left, right, points, own, means)
    found, one, other = fit_corrected(ballot), *np.triu_indices(models, 1)
    inside, wide = [], []
    for at in range(worlds):
        drawn = draw_boards(ballot, found, 1000, at=at)
        low, high = percentile_ends(drawn[:, one] - drawn[:, other], 0.95)
        true = truth[at, one] - truth[at, other]
        inside.append((low <= true) & (true <= high))
        wide.append(np.median(high - low))
    return np.array([np.mean(inside), np.median(wide) * 400 / np.log(10)])


def held(worlds: int, votes: int, *, bias: float | None, models: int) -> Floats:
    """The same over many worlds, some hundred at a time: memory stays small."""
    parts = max(worlds * models // 2000, 1)
    found = [believed(worlds // parts, votes, bias=bias, models=models, seed=2 + k) for k in range(parts)]
    return np.asarray(np.mean(found, axis=0))


def interval_table(worlds: int = 800) -> Iterator[str]:
    """Coverage and width by number of votes, over the prior and in single kinds of worlds."""
    budgets = (50, 100, 200, 400, 1000)
    yield f"Share of differences inside their 95% intervals, and the typical width in points; {worlds} worlds.\n"
    yield "| worlds | " + " | ".join(f"{votes} votes" for votes in budgets) + " |"
    yield "|---" * (len(budgets) + 1) + "|"
    kinds: list[tuple[str, float | None, int]] = [("drawn from the prior", None, M)]
    kinds += [(f"bias {bias:g}", bias, M) for bias in (0.0, 0.3, 1.0, 2.0, 4.0)]
    kinds += [(f"bias {bias:g}, 21 models", bias, 21) for bias in (0.3, 1.0)]
    for name, bias, models in kinds:
        many = worlds if models == M else worlds // 4
        cells = ["{:.3f}, {:.0f}".format(*held(many, votes, bias=bias, models=models)) for votes in budgets]
        yield f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=800)
    given = parser.parse_args()
    print("## Routing and the corrected board\n")
    for line in routing_table():
        print(line, flush=True)
    print("\n## Intervals of the corrected board\n")
    for line in interval_table(given.worlds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
