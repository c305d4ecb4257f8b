"""The pool of possible questions: every pair of models on every item, with judge scores and vote counts."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray, Mask, UserError, command_line


@dataclass(frozen=True)
class Pool:
    """N items and m models, so P = m (m - 1) / 2 pairs per item. Tables by item and pair are (N, P)."""

    scores: FloatArray
    """(N, m) the judge's scores; NaN for none."""
    present: Mask
    """(N, m) whether there is an output to show."""
    task: IntArray
    """(N,) code of the item's task."""
    asked: NDArray[np.int16]
    """(N, P) how many times this battle was given to people."""
    models: tuple[str, ...] = ()
    picture: NDArray[np.int32] | None = None
    """(N, m) image code of each output, -1 if it is absent; None: all are present and differ."""
    left: IntArray = field(init=False)
    """(P,) first model of each pair."""
    right: IntArray = field(init=False)

    def __post_init__(self) -> None:
        m = self.scores.shape[1]
        if m < 2:
            raise UserError("There are fewer than two models to compare.", hint="Import or make more outputs.")
        left, right = np.triu_indices(m, 1)
        object.__setattr__(self, "left", left.astype(np.int64))
        object.__setattr__(self, "right", right.astype(np.int64))

    @property
    def n_items(self) -> int:
        return int(self.scores.shape[0])

    @property
    def n_models(self) -> int:
        return int(self.scores.shape[1])

    @property
    def gap(self) -> FloatArray:
        """(N, P) left score minus right score."""
        return self.scores[:, self.left] - self.scores[:, self.right]

    @property
    def lower(self) -> FloatArray:
        """(N, P) the lower score of the two."""
        return np.minimum(self.scores[:, self.left], self.scores[:, self.right])

    @property
    def open(self) -> Mask:
        """(N, P) whether both outputs are there."""
        return np.asarray(self.present[:, self.left] & self.present[:, self.right])

    @cached_property  # every strategy of a chain uses it
    def askable(self) -> Mask:
        """(N, P) whether people can be asked: both images are there, and they differ."""
        if self.picture is None:
            return self.open
        left, right = self.picture[:, self.left], self.picture[:, self.right]
        return np.asarray(self.open & (left >= 0) & (right >= 0) & (left != right))


@dataclass(frozen=True)
class Belief:
    """The current belief about the ranking, in natural-log strengths: `theta` (m,) and `covariance` (m, m) for choosing
    what to ask next, and `boards` (R, m), equally likely ones, for claims: a best guess may be bolder than a claim.
    None: no claim is made.

    `slope_within` turns a standardised item gap into log odds; `dispersion` is the votes' variance against coins.
    """

    theta: FloatArray
    covariance: FloatArray
    slope_within: float = 0.0
    dispersion: float = 1.0
    decisive: FloatArray | None = None
    """(N, P) probability that people decide and do not call it a tie; None: not known."""
    boards: FloatArray | None = None


@dataclass(frozen=True)
class StandardScores:
    """A judge's scores on one scale for all judges: `filled` (N, m) with missing scores set to the model's mean,
    centred, and divided so that the root mean square gap within an item is 1; `means` (m,) by model.
    """

    filled: FloatArray
    means: FloatArray
    scale: float = 1.0
    """Points on the judge's own scale per unit."""


def standardise(scores: FloatArray, rows: IntArray | None = None) -> StandardScores:
    """Scale scores (N, m). `rows`: the items for the models' means; None: all."""
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(scores)
        counts = finite.sum(axis=0)
        means = np.where(counts > 0, np.where(finite, scores, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    if not finite.any():
        raise UserError("The judge gave no score.", hint=f"Judge the outputs first: {command_line('judge')}")
    means = np.where(np.isfinite(means), means, np.nanmean(means))
    filled = np.where(finite, scores, means)
    filled = filled - filled.mean()
    # mean square gap over all pairs of an item is 2 m / (m - 1) times the variance within the item
    m = scores.shape[1]
    scale = float(np.sqrt(2 * m / (m - 1) * filled.var(axis=1).mean())) or 1.0
    filled = filled / scale
    return StandardScores(filled, (filled if rows is None else filled[rows]).mean(axis=0), scale)
