"""Online Elo: ratings that move after every battle. Order matters; the state can be kept and resumed."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray
from imarena.ranking.battles import Battles
from imarena.ranking.options import Options

TimesArray: TypeAlias = NDArray[np.uint16]
NO_TIMES: TimesArray = np.empty((0, 0), np.uint16)


@dataclass(frozen=True)
class EloState:
    """Ratings so far, by model, and how many battles made them. Pass it on to go on where it stopped."""

    ratings: dict[str, float]
    battles: int = 0

    def start(self, models: tuple[str, ...], initial: float) -> FloatArray:
        """(m,) starting ratings; a model that is new starts at `initial`."""
        return np.array([self.ratings.get(model, initial) for model in models])

    def after(self, models: tuple[str, ...], ratings: FloatArray, battles: int) -> "EloState":
        """The state after more battles; models that did not play keep their rating."""
        return EloState({**self.ratings, **dict(zip(models, ratings.tolist(), strict=True))}, self.battles + battles)


EMPTY = EloState({})


def order_of(battles: Battles, options: Options) -> NDArray[np.int64] | None:
    """(n,) the order of play; None is the order of the rows."""
    if options.elo.order == "given":
        return None
    return np.random.default_rng(options.seed).permutation(len(battles))


def elo_ratings(battles: Battles, options: Options, start: FloatArray, times: TimesArray | None = None) -> FloatArray:
    """Ratings after all battles: R += K w (points - expected). A weight scales the whole update.

    (1, m); with `times` (R, n) battle b is played times[r, b] times in its place, and the result is (R, m). That costs
    rounds times battles.
    """
    from imarena.ranking import kernels

    order = order_of(battles, options)
    rows: Any = slice(None) if order is None else order
    times = NO_TIMES if times is None else times
    ratings = np.repeat(start[None, :], max(times.shape[0], 1), axis=0)
    kernels.elo(
        ratings,
        battles.left[rows],
        battles.right[rows],
        battles.outcome[rows],
        np.empty(0) if battles.weight is None else battles.weight[rows],
        times if times.size == 0 else times[:, rows],
        options.elo.k,
        1.0 / options.per_log,
    )
    return ratings
