"""Machines that give verdicts."""

from imarena.judges.catalog import CARDS, JUDGES, Card, MakeJudge
from imarena.judges.orders import BattleVerdict, battle, combine_orders, compare_scores, orders_for, recorded, shown

__all__ = [
    "CARDS",
    "JUDGES",
    "BattleVerdict",
    "Card",
    "MakeJudge",
    "battle",
    "combine_orders",
    "compare_scores",
    "orders_for",
    "recorded",
    "shown",
]
