"""The boards from a simulated campaign's votes, with their accuracy and stability (CV-Arena eq. 28 to 31)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking import ActiveEloOptions, fit_calibrated, fit_corrected, mid_ranks, refit_strengths
from imarena.routing import FINE_EDGES, LEAST_PAIRS, Curve, fit_curve, reliability
from imarena.workflows.active_elo.simulation.campaigns import Campaigns, Votes, vote_batch

WIDE = 600.0
"""The score gap that represents all gaps above the last of `FINE_EDGES`, on the paper's scale of 0 to 1000."""
ACTIVE = ActiveEloOptions()
"""The paper's online update. The paper gives no K, alpha, q of people or floor; these values are ours."""
MIDDLE = 500.0
"""S of a battle without scores, in rating points."""


@dataclass(frozen=True)
class SimulatedBoards:
    """B boards: `theta` (B, m) and resampled boards (B, R, m)."""

    theta: FloatArray
    draws: FloatArray


@dataclass(frozen=True)
class BoardFigures:
    """Each (B,): one value per seed."""

    accuracy: FloatArray
    spearman: FloatArray
    rank_std: FloatArray


def simulated_boards(fleet: Campaigns, votes: Votes, aggregation: str, rounds: int) -> SimulatedBoards:
    """Aggregate the votes in every campaign."""
    makers: dict[str, Callable[[], SimulatedBoards]] = {
        "votes": lambda: _votes(fleet, votes, rounds),
        "judge": lambda: _mixture(fleet, votes.first(0), rounds, certain=True),
        "mixture": lambda: _mixture(fleet, votes, rounds),
        "mixture-constant": lambda: _mixture(fleet, votes, rounds, constant=True),
        "mixture-own": lambda: _mixture(fleet, votes, rounds, own=True),
        "online": lambda: _online(fleet, votes, rounds),
        "online-no-rho": lambda: _online(fleet, votes, rounds, weighed=False),
        "corrected": lambda: _corrected_boards(fleet, votes, rounds),
    }
    return makers[aggregation]()


def board_figures(fleet: Campaigns, simulated: SimulatedBoards) -> BoardFigures:
    """Compute Acc_H on held-out pairs that people decide, bootstrap Spearman, and RankStd."""
    world = fleet.world
    left, right = world.sides
    held_out = (~fleet.train).astype(np.float64)
    wins, losses = held_out @ (world.truth == 1), held_out @ (world.truth == -1)
    lead = np.sign(np.round(simulated.theta[:, left] - simulated.theta[:, right], 9))
    right_calls = wins * (lead > 0) + losses * (lead < 0) + 0.5 * (wins + losses) * (lead == 0)
    accuracy = right_calls.sum(axis=1) / np.maximum((wins + losses).sum(axis=1), 1)
    spearman, spread = np.empty(fleet.size), np.empty(fleet.size)
    for index in range(fleet.size):
        ranks = mid_ranks(np.vstack([simulated.theta[index], simulated.draws[index]]))
        off = ranks - ranks.mean(axis=1, keepdims=True)
        size = np.sqrt((off[0] ** 2).sum() * (off[1:] ** 2).sum(axis=1))
        spearman[index] = float(np.mean(np.divide(off[1:] @ off[0], size, out=np.zeros(size.size), where=size > 0)))
        spread[index] = float(ranks[1:].std(axis=0).mean())
    return BoardFigures(accuracy, spearman, spread)


def curves(fleet: Campaigns) -> list[Curve]:
    """Return one calibration per campaign, on all decided pairs of its own items: more than a lab would have, in favour
    of the methods that need it.
    """
    gap = np.round(fleet.world.gap, 9)
    usable = np.isfinite(gap) & (gap != 0) & (fleet.world.truth != 0)
    agrees = (np.sign(np.nan_to_num(gap)) == fleet.world.truth).astype(np.float64)
    return [fit_curve(np.abs(gap[row][usable[row]]), agrees[row][usable[row]], rounds=0) for row in fleet.train]


def _counts(fleet: Campaigns, votes: Votes, times: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """(B, P) points of the left and of the right model."""
    pairs = len(fleet.world.sides[0])
    key = (np.arange(fleet.size)[:, None] * pairs + votes.pair).ravel()
    weight = np.ones(votes.pair.shape) if times is None else times
    sums = [
        np.bincount(key, (weight * points).ravel(), fleet.size * pairs).reshape(fleet.size, pairs)
        for points in (votes.points, 1 - votes.points)
    ]
    return np.asarray(sums[0], np.float64), np.asarray(sums[1], np.float64)


def _times(fleet: Campaigns, votes: Votes, rounds: int) -> FloatArray:
    """(R, B, n) how often each vote is drawn."""
    n = votes.pair.shape[1]
    rng = np.random.default_rng([fleet.seed, 99])
    return rng.multinomial(n, np.full(n, 1 / n), size=(rounds, fleet.size)).astype(np.float64)


def _fit(fleet: Campaigns, wins: FloatArray, losses: FloatArray, q: FloatArray) -> FloatArray:
    left, right = fleet.world.sides
    return fit_calibrated(left, right, wins, losses, q, len(fleet.world.models))


def _votes(fleet: Campaigns, votes: Votes, rounds: int) -> SimulatedBoards:
    certain = np.ones(1)

    def strengths(times: FloatArray | None) -> FloatArray:
        wins, losses = _counts(fleet, votes, times)
        return _fit(fleet, wins[:, :, None], losses[:, :, None], certain)

    draws = [strengths(times) for times in _times(fleet, votes, rounds)]
    return SimulatedBoards(strengths(None), np.stack(draws, axis=1))


def _corrected_boards(fleet: Campaigns, votes: Votes, rounds: int) -> SimulatedBoards:
    papers = vote_batch(fleet, votes)
    fit = fit_corrected(papers)
    draws = [refit_strengths(papers, fit, times) for times in _times(fleet, votes, rounds)]
    return SimulatedBoards(fit.theta, np.stack(draws, axis=1))


def _mixture(
    fleet: Campaigns, votes: Votes, rounds: int, *, constant: bool = False, certain: bool = False, own: bool = False
) -> SimulatedBoards:
    """Add judge battles on every pair without votes, in bands of the gap with calibrated q; votes have q = 1.

    `own`: calibrate on the campaign's own votes alone, which is all that a lab has without a separate calibration set.
    """
    wins, losses = _judge_counts(fleet, votes)
    groups = wins.shape[2]
    q = np.ones((fleet.size, groups + 1))
    if not certain:
        bands = fleet.world.range.edges((0.0, *FINE_EDGES, WIDE))
        middles = (np.array(bands[:-1]) + np.array(bands[1:])) / 2
        calibrated = [] if own else curves(fleet)
        for index in range(fleet.size):
            rates = _own_rates(fleet, votes, index, middles) if own else calibrated[index].at(middles)
            if constant:
                share = (wins + losses)[index].sum(axis=0)
                rates = np.full(groups, float(rates @ share / max(share.sum(), 1)))
            q[index, :groups] = reliability(rates)
    human = _counts(fleet, votes)
    counts = [
        np.concatenate([judge, people[:, :, None]], axis=2) for judge, people in zip((wins, losses), human, strict=True)
    ]
    rng = np.random.default_rng([fleet.seed, 98])
    draws = [
        _fit(fleet, rng.poisson(counts[0]).astype(np.float64), rng.poisson(counts[1]).astype(np.float64), q)
        for _ in range(rounds)
    ]
    return SimulatedBoards(_fit(fleet, counts[0], counts[1], q), np.stack(draws, axis=1))


def _own_rates(fleet: Campaigns, votes: Votes, index: int, at: FloatArray) -> FloatArray:
    """(G,) agreement by gap from a campaign's own votes; one rate for all gaps if there are too few for a curve."""
    left, right = fleet.world.sides
    item, pair, points = votes.item[index], votes.pair[index], votes.points[index]
    gap = np.round(fleet.world.scores[item, left[pair]] - fleet.world.scores[item, right[pair]], 9)
    usable = np.isfinite(gap) & (gap != 0) & (points != 0.5)
    gap, agrees = np.abs(gap[usable]), ((gap > 0) == (points > 0.5))[usable].astype(np.float64)
    if gap.size < LEAST_PAIRS or np.ptp(gap) == 0:
        return np.full(at.size, (agrees.sum() + 1) / (agrees.size + 2))
    return fit_curve(gap, agrees, rounds=0).at(at)


def _judge_counts(fleet: Campaigns, votes: Votes) -> tuple[FloatArray, FloatArray]:
    """(B, P, G) the judge's wins and losses of the left model on pairs without a vote, by band of the gap."""
    gap = np.round(fleet.world.gap, 9)
    edges = fleet.world.range.edges(FINE_EDGES)
    band = np.searchsorted(edges, np.abs(np.nan_to_num(gap)), side="right")
    groups = len(edges) + 1
    points = np.where(gap == 0, 0.5, gap > 0)
    pairs = gap.shape[1]
    wins = np.zeros((fleet.size, pairs, groups))
    losses = np.zeros_like(wins)
    pair = np.broadcast_to(np.arange(pairs), gap.shape)
    for index in range(fleet.size):
        mask = np.isfinite(gap) & fleet.train[index][:, None]
        mask[votes.item[index], votes.pair[index]] = False
        key = pair[mask] * groups + band[mask]
        size = pairs * groups
        wins[index] = np.bincount(key, points[mask], size).reshape(-1, groups)
        losses[index] = np.bincount(key, 1 - points[mask], size).reshape(-1, groups)
    return wins, losses


def _online(fleet: Campaigns, votes: Votes, rounds: int, *, weighed: bool = True) -> SimulatedBoards:
    """Run the paper's update (q = a) over all pairs in random order; without rho every q is 1."""
    from imarena.ranking import kernels

    world, m = fleet.world, len(fleet.world.models)
    theta, draws = np.empty((fleet.size, m)), np.empty((fleet.size, rounds, m))
    calibrated = curves(fleet)
    for index in range(fleet.size):
        rng = np.random.default_rng([fleet.seed, index, 97])
        item, pair, points, human = _stream(fleet, votes, index, rng)
        left, right = world.sides[0][pair], world.sides[1][pair]
        left_score, right_score = world.scores[item, left], world.scores[item, right]
        mean = world.range.on_paper_scale(0.5 * (left_score + right_score))
        scale = np.maximum(np.nan_to_num(mean, nan=MIDDLE), ACTIVE.scale_floor)
        rate = reliability(calibrated[index].at(np.nan_to_num(np.abs(left_score - right_score))), paper_compat=True)
        q = np.where(human, ACTIVE.q_human, rate) if weighed else np.ones(item.size)
        step = np.where(human, ACTIVE.k_human, ACTIVE.alpha * ACTIVE.k_human)
        times = rng.multinomial(item.size, np.full(item.size, 1 / item.size), size=rounds).astype(np.int64)
        ratings = np.full((rounds + 1, m), 1000.0)
        battles = (left.astype(np.int32), right.astype(np.int32), points, scale, q, step)
        kernels.active_elo(ratings[:1], *battles, np.ones((1, item.size), np.int64))
        kernels.active_elo(ratings[1:], *battles, times)
        theta[index], draws[index] = ratings[0], ratings[1:]
    return SimulatedBoards(theta, draws)


def _stream(
    fleet: Campaigns, votes: Votes, index: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray, "np.ndarray[tuple[int], np.dtype[np.bool_]]"]:
    """Return all battles in random order: votes where they exist, else the judge's. Equal scores go to the first side,
    which a coin decides: by name it would favour names early in the alphabet.
    """
    gap = fleet.world.gap
    mask = np.isfinite(gap) & fleet.train[index][:, None]
    mask[votes.item[index], votes.pair[index]] = False
    judged_item, judged_pair = np.nonzero(mask)
    item = np.concatenate([judged_item, votes.item[index]])
    pair = np.concatenate([judged_pair, votes.pair[index]])
    lead = np.round(gap[judged_item, judged_pair], 9)
    first = rng.random(lead.size) < 0.5
    points = np.concatenate([np.where(lead == 0, first, lead > 0).astype(np.float64), votes.points[index]])
    human = np.arange(item.size) >= judged_item.size
    order = rng.permutation(item.size)
    return item[order], pair[order], points[order], human[order]
