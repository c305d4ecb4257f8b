"""Boards updated battle by battle: online Elo and CV-Arena's reliability-weighted Elo."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from imarena.core import CodeArray, FloatArray, UserError
from imarena.core.notices import Notice
from imarena.core.records import JsonDict
from imarena.ranking.battles import Battles
from imarena.ranking.boards.board import Result
from imarena.ranking.boards.board_settings import board_settings
from imarena.ranking.boards.pairs import centre_draws
from imarena.ranking.elo import EMPTY, EloState, TimesArray, UpdateTerms, active_elo_ratings, elo_ratings, update_terms
from imarena.ranking.likelihood.separation import never_met_notices
from imarena.ranking.options import Q_JUDGE, Options
from imarena.ranking.resample import cluster_notices, default_cluster

BATCH_BATTLES = 10_000_000
"""Battles times rounds that are played at once."""
MANY_BATTLES = 100_000_000
"""Battles times rounds from which `auto` uses all cores; this many take two seconds on one core."""


@dataclass(frozen=True)
class RoundRange:
    """Some of the bootstrap's rounds: their number, and the state of the random generator at the start."""

    state: Any
    number: int


@dataclass(frozen=True)
class EloReplay:
    """Everything needed to play the battles, here or in a worker. `unit` (n,) is the cluster of each battle."""

    battles: Battles
    options: Options
    start: FloatArray
    terms: UpdateTerms | None
    """None: plain Elo."""
    unit: CodeArray | None = None
    n_units: int = 0

    def ratings(self, times: TimesArray | None = None) -> FloatArray:
        """Ratings (1, m) after all battles; (R, m) with `times` (R, n)."""
        if self.terms is None:
            return elo_ratings(self.battles, self.options, self.start, times)
        return active_elo_ratings(self.battles, self.terms, self.start, times)

    def resampled(self, rng: np.random.Generator, rounds: int) -> FloatArray:
        """Ratings (R, m) of the next rounds: each battle is played as often as its unit is drawn."""
        times: TimesArray = np.empty((rounds, self.n_units), np.uint16)
        for row in times:
            row[:] = np.bincount(rng.integers(0, self.n_units, self.n_units), minlength=self.n_units)
        return self.ratings(times if self.unit is None else np.ascontiguousarray(times[:, self.unit]))

    def __call__(self, some: RoundRange) -> FloatArray:
        """Ratings of a range of rounds in the middle of the bootstrap."""
        rng = np.random.default_rng()
        rng.bit_generator.state = some.state
        return self.resampled(rng, some.number)

    def ranges(self, size: int) -> Iterator[RoundRange]:
        """Split the rounds into ranges. The draws of each range are repeated here to advance the random generator."""
        rng = np.random.default_rng(self.options.seed)
        for begin in range(0, self.options.rounds, size):
            number = min(size, self.options.rounds - begin)
            yield RoundRange(rng.bit_generator.state, number)
            for _ in range(number if begin + number < self.options.rounds else 0):
                rng.integers(0, self.n_units, self.n_units)


def online_board(battles: Battles, options: Options, state: EloState = EMPTY) -> Result:
    """Play all battles, then play them again in every bootstrap round, each as often as it was drawn.

    The bootstrap costs rounds times battles: the outcome depends on the order, so counts are not enough.
    """
    if options.anchors or options.position or battles.covariates is not None:
        raise UserError(
            f"Method {options.method} takes no anchors, position term or covariates.",
            hint="Use --method bt or davidson.",
        )
    interval = options.interval or "bootstrap"
    if interval == "bootstrap" and not options.rounds:
        interval = "none"
    if interval == "sandwich":
        raise UserError(f"Method {options.method} has no sandwich interval.", hint="Use --interval bootstrap.")
    start = state.start(battles.models, options.centre)
    cluster = options.cluster or default_cluster(battles)
    terms = None if options.method == "elo" else update_terms(battles, options)
    settings = _settings(options, interval, cluster, state, terms)
    replay = EloReplay(battles, options, start, terms)
    ratings = replay.ratings()[0]
    draws = None
    after = state.after(battles, ratings)
    notices = [Notice(code="order_matters"), *_separate_groups(battles, after)]
    if interval == "bootstrap":
        rounds, units = _rounds(replay, cluster)
        # A round plays some battles several times and leaves others out. A second win over the same opponent moves a
        # rating less than the first, so rounds are closer to the start than the rating, and all of them may be on
        # one side of it. The information in a round is its distance from the median of the rounds.
        draws = centre_draws(rounds, ratings)
        settings["units"] = units
        notices += cluster_notices(battles, cluster, units)
    groups: JsonDict = {"groups": [[*group] for group in after.groups]} if after.groups else {}
    details: JsonDict = {"state": {"ratings": dict(after.ratings), "battles": after.battles, **groups}}
    return Result(ratings, draws, settings, details, tuple(notices), centred=True)


def _separate_groups(battles: Battles, state: EloState) -> list[Notice]:
    """The notice about groups that never met: battles never move ratings from one group to another."""
    of = {model: number for number, group in enumerate(state.groups) for model in group}
    islands = [of.get(model, 0) for model in battles.models]
    return never_met_notices(np.unique(islands, return_inverse=True)[1], battles.models)


def _settings(options: Options, interval: str, cluster: str, state: EloState, terms: UpdateTerms | None) -> JsonDict:
    """The settings that were used, with defaults filled in."""
    written: JsonDict = {"interval": interval, "resumed_after": state.battles}
    unused = {"dimension_weight"}
    if interval == "bootstrap":
        written |= {"cluster": cluster, "rounds": options.rounds}
    else:
        unused |= {"cluster", "rounds"}
    if terms is None:
        written |= {"k": options.elo.k, "order": options.elo.order}
        return board_settings(options, written, options.elo, unused=unused)
    active = options.active
    for name in ("k_human", "alpha", "q_human", "scale_floor", "paper_compat"):
        written[name] = getattr(active, name)
    written["q_judge"] = Q_JUDGE if active.q_judge is None else active.q_judge
    written["q_by_gap"] = [list(point) for point in active.q_by_gap]
    written["score_range"] = [terms.score_range.low, terms.score_range.high]
    return board_settings(options, written, active, unused=unused, sparse=("base", "scale"))


def _rounds(replay: EloReplay, cluster: str) -> tuple[FloatArray, int]:
    """Ratings (R, m) of every round, and the number of units to draw from."""
    battles, options, n = replay.battles, replay.options, len(replay.battles)
    codes = {"item": battles.item, "rater": battles.rater, "battle": None}[cluster]
    if cluster != "battle" and codes is None:
        raise UserError(f"Resampling by {cluster} needs the column '{cluster}'.", hint="Or use --cluster battle.")
    played = replace(
        battles, item=None, rater=None, dimension=None, judged=None, score_left=None, score_right=None
    )  # what a worker needs
    n_units = n if codes is None else codes.n_units
    replay = replace(
        replay, battles=played, unit=None if codes is None else codes.units().astype(np.int32), n_units=n_units
    )
    size = max(1, min(options.rounds, BATCH_BATTLES // n))
    count = -(-options.rounds // size)
    if options.executor == "auto" and (count == 1 or n * options.rounds < MANY_BATTLES):
        rng = np.random.default_rng(options.seed)
        sizes = (min(size, options.rounds - begin) for begin in range(0, options.rounds, size))
        return np.concatenate([replay.resampled(rng, number) for number in sizes]), n_units
    from imarena.engine import map_on_executor

    return np.concatenate(map_on_executor(options.executor, replay, replay.ranges(size), count)), n_units
