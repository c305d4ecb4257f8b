"""Online Elo: ratings that move after every battle. Order matters; the state can be saved and resumed.

Also CV-Arena's reliability-weighted Elo: section 4.2, equations 5 to 7.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, UserError
from imarena.ranking.battles import TIED, Battles
from imarena.ranking.islands import islands_of
from imarena.ranking.options import Q_JUDGE, Options
from imarena.stats import ScoreRange, observed_range

TimesArray: TypeAlias = NDArray[np.uint16]
NO_TIMES: TimesArray = np.empty((0, 0), np.uint16)


@dataclass(frozen=True)
class EloState:
    """Ratings so far, by model, and the number of battles behind them. Pass it on to continue from there."""

    ratings: dict[str, float]
    battles: int = 0
    groups: tuple[tuple[str, ...], ...] = ()
    """The groups of models that never met; empty if all models of the state met."""

    def start(self, models: tuple[str, ...], initial: float) -> FloatArray:
        """(m,) starting ratings; a new model starts at `initial`."""
        return np.array([self.ratings.get(model, initial) for model in models])

    def after(self, battles: Battles, ratings: FloatArray) -> "EloState":
        """The state after more battles; models that did not play keep their rating."""
        played = dict(zip(battles.models, ratings.tolist(), strict=True))
        groups = self._linked(battles)
        return EloState({**self.ratings, **played}, self.battles + len(battles), groups if len(groups) > 1 else ())

    def _linked(self, battles: Battles) -> tuple[tuple[str, ...], ...]:
        """The groups of all models that these battles and the earlier ones connect."""
        groups = [{*group} for group in self.groups or ((*self.ratings,),)]
        island = islands_of(battles.left, battles.right, len(battles.models))
        for number in range(int(island.max(initial=-1)) + 1):
            members = {battles.models[index] for index in np.flatnonzero(island == number)}
            joined = [group for group in groups if group & members]
            groups = [group for group in groups if not group & members] + [members.union(*joined)]
        return tuple(tuple(sorted(group)) for group in groups if group)


EMPTY = EloState({})


def order_of(battles: Battles, options: Options) -> NDArray[np.int64] | None:
    """(n,) the order of play; None for the order of the rows."""
    if options.elo.order == "given":
        return None
    return np.random.default_rng(options.seed).permutation(len(battles))


def elo_ratings(battles: Battles, options: Options, start: FloatArray, times: TimesArray | None = None) -> FloatArray:
    """Ratings after all battles: R += K w (points - expected). A weight scales the whole update.

    The result is (1, m). With `times` (R, n), battle b is played times[r, b] times in a row, and the result is (R, m).
    That costs rounds times battles.
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


@dataclass(frozen=True)
class UpdateTerms:
    """What the update needs for each battle, all (n,): points of the left side, scale S, reliability q and step K."""

    points: FloatArray
    scale: FloatArray
    q: FloatArray
    k: FloatArray
    score_range: ScoreRange
    """Lowest and highest score of the judge, as used for S."""


def update_terms(battles: Battles, options: Options) -> UpdateTerms:
    """Read scores and sources. A battle without scores gets the median S of the battles with scores.

    S is in rating points, which the paper equates with the points of a judge on 0 to 1000; other scores are first
    put on that scale. A judge on 0 to 10 would otherwise have an S of 5, so that a lead of 5 points decided a battle.
    """
    active, n = options.active, len(battles)
    by_judge = np.zeros(n, bool) if battles.judged is None else battles.judged
    if battles.score_left is None or battles.score_right is None:
        left = right = np.full(n, np.nan)
    else:
        left, right = battles.score_left, battles.score_right
    scored = np.isfinite(left) & np.isfinite(right)
    if active.q_by_gap and bool((by_judge & ~scored).any()):
        raise UserError(
            f"{int((by_judge & ~scored).sum())} judge battles have no scores, so that their score gap is not known.",
            hint="Give score_left and score_right, or a constant reliability.",
        )
    scores = active.score_range or observed_range(np.concatenate([left, right]))
    mean = np.where(scored, scores.on_paper_scale(0.5 * (left + right)), np.nan)
    usual = float(np.median(mean[scored])) if scored.any() else options.per_log
    scale = np.maximum(np.where(scored, mean, usual), active.scale_floor)
    q_judge: FloatArray | float = Q_JUDGE if active.q_judge is None else active.q_judge
    if active.q_by_gap:
        gaps, qs = np.array(active.q_by_gap).T
        q_judge = np.interp(np.where(scored, np.abs(left - right), 0.0), gaps, qs)
    points = battles.points
    if active.paper_compat:  # the paper's z is binary: equal scores go to the first side
        points = np.where(by_judge & scored & (left == right) & (battles.outcome == TIED), 1.0, points)
    return UpdateTerms(
        points=points,
        scale=scale,
        q=np.where(by_judge, q_judge, active.q_human),
        k=np.where(by_judge, active.alpha * active.k_human, active.k_human)
        * (1.0 if battles.weight is None else battles.weight),
        score_range=scores,
    )


def active_elo_ratings(
    battles: Battles, terms: UpdateTerms, start: FloatArray, times: TimesArray | None = None
) -> FloatArray:
    """Ratings after all battles in the order of the rows: (1, m), or (R, m) with `times` (R, n) as in `elo_ratings`."""
    from imarena.ranking import kernels

    times = NO_TIMES if times is None else times
    ratings = np.repeat(start[None, :], max(times.shape[0], 1), axis=0)
    kernels.active_elo(ratings, battles.left, battles.right, terms.points, terms.scale, terms.q, terms.k, times)
    return ratings
