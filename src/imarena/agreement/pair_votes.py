"""Votes on pairs as ratings, so that `agree` measures how far voters agree."""

from dataclasses import replace
from pathlib import Path

from imarena.agreement.columns import RatingColumns, VerdictColumns, verdicts_from_file
from imarena.core import UserError
from imarena.core.records import Outcome
from imarena.stats import MIRROR
from imarena.tables import column_names


def votes_as_ratings(path: Path, *, by_unit: bool = False, all_votes: bool = False) -> RatingColumns:
    """A battles table with `item` and `rater`: a unit is a pair on an item, whichever side its two models stood on.

    `by_unit`: of a campaign's table, which names its tasks: two turns of an item are two of them.
    `all_votes`: also those that the table marks as not counted.
    """
    known = {"item" if name == "key" else name for name in column_names(path)}
    missing = [name for name in ("item", "rater") if name not in known]
    if missing:
        raise UserError(
            f"{path} holds votes on pairs without a column '{missing[0]}'.",
            hint="Voters agree where two of them saw the same pair: item, left, right, winner and rater are needed. "
            f"A board needs no more than this: imarena rank --from {path}",
        )
    votes = verdicts_from_file(path, outcomes=[outcome.value for outcome in Outcome], all_votes=all_votes)
    return pair_ratings(replace(votes, item=votes.labels["unit"]) if by_unit else votes)


def pair_ratings(votes: VerdictColumns) -> RatingColumns:
    """Votes as ratings of pairs, the sides of each pair in one order; the dimension of a vote is its criterion."""
    units, values = [], []
    for item, left, right, winner in zip(votes.item, votes.left, votes.right, votes.winner, strict=True):
        first, second = sorted((left, right))
        units.append(f"{item}: {first} or {second}")
        values.append(winner if winner is None or first == left else MIRROR[winner])
    labels = {("criterion" if name == "dimension" else name): column for name, column in votes.labels.items()}
    return RatingColumns(units, votes.rater, values, labels, votes.source, votes=True)
