"""Routing: which battles go to people, how far judges can be trusted, when to stop, who rates what."""

from imarena.routing.calibration import (
    Curve,
    GapRow,
    agreement_table,
    fit_curve,
    reliability,
    reliability_points,
)
from imarena.routing.decisive import chance_of_decision
from imarena.routing.drawing import Batch, draw
from imarena.routing.gates import DEFERRAL, Gates, gates_for, information, information_paper, prefers_people
from imarena.routing.pool import Belief, Pool, Standard, standardise
from imarena.routing.stopping import Forecast, Need, forecast, top_order_confidence
from imarena.routing.strategies import (
    Strategy,
    at_most,
    chain,
    fair_to_items,
    gated,
    only_with,
    pair_worth,
    per_cost,
    ranking_information,
)

__all__ = [
    "DEFERRAL",
    "Batch",
    "Belief",
    "Curve",
    "Forecast",
    "GapRow",
    "Gates",
    "Need",
    "Pool",
    "Standard",
    "Strategy",
    "agreement_table",
    "at_most",
    "chain",
    "chance_of_decision",
    "draw",
    "fair_to_items",
    "fit_curve",
    "forecast",
    "gated",
    "gates_for",
    "information",
    "information_paper",
    "only_with",
    "pair_worth",
    "per_cost",
    "prefers_people",
    "ranking_information",
    "reliability",
    "reliability_points",
    "standardise",
    "top_order_confidence",
]
