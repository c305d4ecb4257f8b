"""Leaderboards: arrays in, a frozen `Ranking` out."""

from imarena.ranking.battles import LEFT, RIGHT, TIE, Battles, Codes
from imarena.ranking.compare import Comparison, compare
from imarena.ranking.elo import EloState
from imarena.ranking.encode import coverage, encode
from imarena.ranking.options import ActiveEloOptions, EloOptions, MixtureOptions, Options
from imarena.ranking.rank import rank_battles

__all__ = [
    "LEFT",
    "RIGHT",
    "TIE",
    "ActiveEloOptions",
    "Battles",
    "Codes",
    "Comparison",
    "EloOptions",
    "EloState",
    "MixtureOptions",
    "Options",
    "compare",
    "coverage",
    "encode",
    "rank_battles",
]
