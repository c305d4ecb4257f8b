"""Votes on pairs as ratings, so that `agree` can say how far voters say the same."""

from pathlib import Path

from imarena.core.errors import UserError
from imarena.core.records import Outcome
from imarena.workflows.columns import RatingColumns, verdicts_from_file


def votes_as_ratings(path: Path) -> RatingColumns:
    """A battles table with `item` and `rater`: a unit is a pair on an item, whichever side its two models stood on."""
    from imarena.datasets.table_files import column_names

    known = {"item" if name == "key" else name for name in column_names(path)}
    missing = [name for name in ("item", "rater") if name not in known]
    if missing:
        raise UserError(
            f"{path} holds votes on pairs without a column '{missing[0]}'.",
            hint="Voters agree where two of them saw the same pair: item, left, right, winner and rater are needed. "
            f"A board needs no more than this: imarena rank --from {path}",
        )
    found = verdicts_from_file(path, words=[outcome.value for outcome in Outcome])
    units, values = [], []
    for item, left, right, winner in zip(found.item, found.left, found.right, found.winner, strict=True):
        first, second = sorted((left, right))
        units.append(f"{item}: {first} or {second}")
        said = None if winner is None else Outcome(winner)
        values.append(None if said is None else (said if first == left else said.mirrored()).value)
    labels = {("criterion" if name == "dimension" else name): column for name, column in found.labels.items()}
    return RatingColumns(units, found.rater, values, labels, found.source)
