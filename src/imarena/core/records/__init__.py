"""The nouns of the arena: every stored fact is one of these."""

from imarena.core.records.base import (
    ImageRef,
    JsonDict,
    Moment,
    Noun,
    Origin,
    Outcome,
    Record,
    Status,
    now,
)
from imarena.core.records.evidence import Evidence
from imarena.core.records.item import Item, Turn
from imarena.core.records.judgment import TIE_KIND, UNSTATED, Judgment, Order, Reply, Usage, tie_is_unstated
from imarena.core.records.output import Mode, Output
from imarena.core.records.ranking import Ranking, Standing
from imarena.core.records.run import Calibration, Run, Tombstone, Trace, Verification
from imarena.core.records.vote import Assignment, Campaign, Event, EventKind, Issue, Rater, Vote

__all__ = [
    "TIE_KIND",
    "UNSTATED",
    "Assignment",
    "Calibration",
    "Campaign",
    "Event",
    "EventKind",
    "Evidence",
    "ImageRef",
    "Issue",
    "Item",
    "JsonDict",
    "Judgment",
    "Mode",
    "Moment",
    "Noun",
    "Order",
    "Origin",
    "Outcome",
    "Output",
    "Ranking",
    "Rater",
    "Record",
    "Reply",
    "Run",
    "Standing",
    "Status",
    "Tombstone",
    "Trace",
    "Turn",
    "Usage",
    "Verification",
    "Vote",
    "now",
    "tie_is_unstated",
]
