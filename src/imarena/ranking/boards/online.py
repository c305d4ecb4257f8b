"""Boards updated battle by battle: online Elo and CV-Arena's reliability-weighted Elo."""

from collections.abc import Callable

import numpy as np

from imarena.core import UserError
from imarena.core.notices import Notice
from imarena.core.records import JsonDict
from imarena.ranking.active_elo import active_elo_ratings, update_terms
from imarena.ranking.battles import Battles, FloatArray
from imarena.ranking.boards.board import Result
from imarena.ranking.elo import EMPTY, EloState, TimesArray, elo_ratings
from imarena.ranking.options import Q_JUDGE, ActiveEloOptions, Options
from imarena.ranking.pairs import centre_draws
from imarena.ranking.resample import cluster_notices, default_cluster
from imarena.stats import ScoreRange

BATCH_BATTLES = 20_000_000
Play = Callable[[TimesArray | None], FloatArray]


def online_board(battles: Battles, options: Options, state: EloState = EMPTY) -> Result:
    """Play all battles, then again in every bootstrap round with each battle as often as it was drawn.

    The bootstrap costs rounds times battles: the outcome hangs on the order, so that counts are not enough.
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
    settings: JsonDict = {
        "centre": options.centre, "interval": interval, "level": options.level, "seed": options.seed,
        "resumed_after": state.battles,
    }  # fmt: skip
    play: Play
    if options.method == "elo":
        settings.update(base=options.base, scale=options.scale, k=options.elo.k, order=options.elo.order)

        def play(times: TimesArray | None) -> FloatArray:
            return elo_ratings(battles, options, start, times)
    else:
        terms = update_terms(battles, options)
        settings |= _active_settings(options.active, terms.score_range)

        def play(times: TimesArray | None) -> FloatArray:
            return active_elo_ratings(battles, terms, start, times)

    ratings = play(None)[0]
    draws = None
    notices = [Notice(code="order_matters")]
    if interval == "bootstrap":
        cluster = options.cluster or default_cluster(battles)
        settings.update(cluster=cluster, rounds=options.rounds)
        drawn, units = _rounds(battles, options, cluster, play)
        # A round plays some battles several times and leaves others out. A second win over the same opponent moves a
        # rating less than the first, so that rounds lie nearer to the start than the rating, and all of them may lie on
        # one side of it. What a round tells is how far it lies from the middle of the rounds.
        draws = centre_draws(drawn, ratings)
        settings["units"] = units
        notices += cluster_notices(battles, cluster, units)
    after = state.after(battles.models, ratings, len(battles))
    details: JsonDict = {"state": {"ratings": dict(after.ratings), "battles": after.battles}}
    return Result(ratings, draws, settings, details, tuple(notices), centred=True)


def _active_settings(active: ActiveEloOptions, score_range: ScoreRange) -> JsonDict:
    """The settings as they were used."""
    plain = ("k_human", "alpha", "q_human", "scale_floor", "paper_compat")
    settings: JsonDict = {name: getattr(active, name) for name in plain}
    settings["q_judge"] = Q_JUDGE if active.q_judge is None else active.q_judge
    settings["q_by_gap"] = [list(point) for point in active.q_by_gap]
    settings["score_range"] = [score_range.low, score_range.high]
    return settings


def _rounds(battles: Battles, options: Options, cluster: str, play: Play) -> tuple[FloatArray, int]:
    """Ratings (R, m) of every round, and how many units there are to draw."""
    codes = {"item": battles.item, "rater": battles.rater, "battle": None}[cluster]
    if cluster != "battle" and codes is None:
        raise UserError(f"Resampling by {cluster} needs the column '{cluster}'.", hint="Or use --cluster battle.")
    n = len(battles)
    unit = np.arange(n) if codes is None else codes.units()
    n_units = int(unit.max()) + 1
    rng = np.random.default_rng(options.seed)
    size = max(1, min(options.rounds, BATCH_BATTLES // n))
    parts = []
    for begin in range(0, options.rounds, size):
        rounds = min(size, options.rounds - begin)
        times = np.stack([np.bincount(rng.integers(0, n_units, n_units), minlength=n_units) for _ in range(rounds)])
        drawn: TimesArray = times.astype(np.uint16)
        parts.append(play(drawn if codes is None else np.ascontiguousarray(drawn[:, unit])))
    return np.concatenate(parts), n_units
