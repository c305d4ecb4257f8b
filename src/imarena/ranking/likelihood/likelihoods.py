"""Three likelihoods of a battle, as functions of eta, the left side's lead in natural-log strength.

Each has at most one more parameter per group, `aux`: the log of Davidson's tie parameter, or the logit of a rater's
reliability. All arrays have the shape (K,) or (K, R): K cells, R bootstrap rounds at once. Information is Fisher's,
which is never negative.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray
from imarena.ranking.likelihood.pair_counts import PairCells

OutcomeCounts = tuple[FloatArray, FloatArray, FloatArray]
"""Numbers of left wins, ties and right wins, each (K,) or (K, R)."""


@dataclass(frozen=True)
class Information:
    """Negative second derivatives in eta, in eta and aux, and in aux. Each (K,)."""

    eta: FloatArray
    cross: FloatArray | None = None
    aux: FloatArray | None = None


@dataclass(frozen=True)
class Aux:
    """The groups' extra parameter: starting values (G,), which are free (G,), and a Beta-shaped prior (2, G)."""

    start: FloatArray
    free: NDArray[np.bool_]
    prior: FloatArray


NO_AUX = Aux(np.zeros(1), np.zeros(1, bool), np.zeros((2, 1)))


class Likelihood(Protocol):
    """A model of the outcome of a battle."""

    has_aux: bool
    canonical: bool
    """Is Fisher's information equal to the curvature?"""

    def ready(self, aux: Aux, cells: PairCells) -> Aux:
        """Extra parameters for these counts."""
        ...

    def value(self, eta: FloatArray, aux: FloatArray | None, outcomes: OutcomeCounts) -> float: ...

    def gradient(
        self, eta: FloatArray, aux: FloatArray | None, outcomes: OutcomeCounts
    ) -> tuple[FloatArray, FloatArray | None]: ...

    def information(self, eta: FloatArray, aux: FloatArray | None, total: FloatArray) -> Information: ...


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + exp(-x)) without overflow."""
    half: FloatArray = np.tanh(x * 0.5)
    half *= 0.5
    half += 0.5
    return half


class BradleyTerry:
    """P(left wins) = sigma(eta); a tie is half a win for each side."""

    has_aux = False
    canonical = True

    def ready(self, aux: Aux, cells: PairCells) -> Aux:  # noqa: ARG002
        return NO_AUX

    def value(self, eta: FloatArray, aux: FloatArray | None, outcomes: OutcomeCounts) -> float:  # noqa: ARG002
        left, tie, right = outcomes
        return -float(np.sum((left + 0.5 * tie) * np.logaddexp(0, -eta) + (right + 0.5 * tie) * np.logaddexp(0, eta)))

    def gradient(
        self,
        eta: FloatArray,
        aux: FloatArray | None,  # noqa: ARG002
        outcomes: OutcomeCounts,
    ) -> tuple[FloatArray, FloatArray | None]:
        # (left - right) / 2 - n tanh(eta / 2) / 2 is the same as points - n sigma(eta), with less rounding
        left, tie, right = outcomes
        return 0.5 * ((left - right) - (left + tie + right) * np.tanh(0.5 * eta)), None

    def information(self, eta: FloatArray, aux: FloatArray | None, total: FloatArray) -> Information:  # noqa: ARG002
        p = sigmoid(eta)
        return Information(total * p * (1 - p))


class Davidson:
    """Davidson (1970): left, right and tie are proportional to exp(eta / 2), exp(-eta / 2) and nu; aux is log nu.

    This nu is twice that of GEditBench v2, which writes the tie as 2 nu.
    """

    has_aux = True
    canonical = True

    def ready(self, aux: Aux, cells: PairCells) -> Aux:
        """Log nu of each group: fixed at "no ties" if there are none, with a prior if it would diverge."""
        n = aux.start.size
        ties = np.bincount(cells.group, cells.counts[:, 1], n)
        decisive = np.bincount(cells.group, cells.counts[:, 0] + cells.counts[:, 2], n)
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.where(decisive == 0, 2.0, np.log(2 * ties / decisive))
        loose = np.array([ties[g] > 0 and not _wins_go_round(cells, g) for g in range(n)])
        prior = np.where(loose, 1.0, 0.0)
        return Aux(np.where(ties == 0, -np.inf, start), ties > 0, np.stack([prior, prior]))

    @staticmethod
    def _shares(eta: FloatArray, aux: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        log_tie = np.full_like(eta, -np.inf) if aux is None else np.broadcast_to(aux, eta.shape)
        top = np.maximum(np.abs(eta) * 0.5, log_tie)
        left, right, tie = np.exp(eta * 0.5 - top), np.exp(-eta * 0.5 - top), np.exp(log_tie - top)
        total = left + right + tie
        return left / total, tie / total, right / total, np.log(total) + top

    def value(self, eta: FloatArray, aux: FloatArray | None, outcomes: OutcomeCounts) -> float:
        left, tie, right = outcomes
        log_total = self._shares(eta, aux)[3]
        ties = 0.0 if aux is None else np.sum(np.where(tie > 0, tie * np.where(tie > 0, aux, 0.0), 0.0))
        return float(np.sum((left - right) * eta * 0.5) + ties - np.sum((left + tie + right) * log_total))

    def gradient(
        self, eta: FloatArray, aux: FloatArray | None, outcomes: OutcomeCounts
    ) -> tuple[FloatArray, FloatArray | None]:
        left, tie, right = outcomes
        p_left, p_tie, p_right, _ = self._shares(eta, aux)
        total = left + tie + right
        return 0.5 * ((left - right) - total * (p_left - p_right)), tie - total * p_tie

    def information(self, eta: FloatArray, aux: FloatArray | None, total: FloatArray) -> Information:
        p_left, p_tie, p_right, _ = self._shares(eta, aux)
        lead = 0.5 * (p_left - p_right)
        return Information(
            total * (0.25 * (p_left + p_right) - lead**2), -total * lead * p_tie, total * p_tie * (1 - p_tie)
        )


def _wins_go_round(cells: PairCells, group: int) -> bool:
    """Is there a cycle with more wins than ties? Without one the likelihood grows as nu and strengths grow together.

    Wins then need a lead of at least 2 log nu and ties one of at most that, which some strengths satisfy for every nu.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import NegativeCycleError, bellman_ford

    mask = cells.group == group
    left, tie, right = (cells.counts[mask] > 0).T
    if (left & right).any():
        return True
    i, j = cells.left[mask], cells.right[mask]
    heads = np.concatenate([i[tie], j[tie], i[left], j[right]])
    tails = np.concatenate([j[tie], i[tie], j[left], i[right]])
    lengths = np.concatenate([np.ones(2 * int(tie.sum())), -np.ones(int(left.sum() + right.sum()))])
    # one pair may have a win and a tie in the same direction: the shorter edge counts
    order = np.argsort(-lengths, kind="stable")
    n = cells.n_models
    shortest = np.full((n, n), np.inf)
    shortest[heads[order], tails[order]] = lengths[order]
    rows, columns = np.nonzero(np.isfinite(shortest))
    graph = coo_matrix((shortest[rows, columns], (rows, columns)), shape=(n, n)).tocsr()
    try:
        bellman_ford(graph)
    except NegativeCycleError:
        return True
    return False


class Mixture:
    """CV-Arena eq. 18-19: with probability q the label follows Bradley-Terry, else it is a coin flip; aux is logit q.

    A tie is half a win for each side.
    """

    has_aux = True
    canonical = False

    def ready(self, aux: Aux, cells: PairCells) -> Aux:  # noqa: ARG002
        return aux

    @staticmethod
    def _chance(eta: FloatArray, aux: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        p = sigmoid(eta)
        q = np.ones_like(p) if aux is None else np.broadcast_to(sigmoid(np.asarray(aux)), p.shape)
        return p, q, np.clip(q * p + 0.5 * (1 - q), 1e-300, 1 - 1e-16)

    def value(self, eta: FloatArray, aux: FloatArray | None, outcomes: OutcomeCounts) -> float:
        left, tie, right = outcomes
        _, _, chance = self._chance(eta, aux)
        return float(np.sum((left + 0.5 * tie) * np.log(chance) + (right + 0.5 * tie) * np.log1p(-chance)))

    def gradient(
        self, eta: FloatArray, aux: FloatArray | None, outcomes: OutcomeCounts
    ) -> tuple[FloatArray, FloatArray | None]:
        left, tie, right = outcomes
        p, q, chance = self._chance(eta, aux)
        slope = (left + 0.5 * tie) / chance - (right + 0.5 * tie) / (1 - chance)
        return slope * q * p * (1 - p), slope * q * (1 - q) * (p - 0.5)

    def information(self, eta: FloatArray, aux: FloatArray | None, total: FloatArray) -> Information:
        p, q, chance = self._chance(eta, aux)
        scale = total / (chance * (1 - chance))
        in_eta, in_aux = q * p * (1 - p), q * (1 - q) * (p - 0.5)
        return Information(scale * in_eta**2, scale * in_eta * in_aux, scale * in_aux**2)
