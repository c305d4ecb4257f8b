"""agree: what raters gave, in a file or in a workspace, and how far they agree on it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from imarena.agreement import Agreement, RatingColumns, filter_ratings, measure_agreement
from imarena.core import UserError
from imarena.storage import is_workspace, open_workspace
from imarena.workflows.studies.columns import ratings_from_store
from imarena.workflows.studies.pair_agreement import votes_in_workspace


def ratings_in_folder(root: Path, what: str) -> list[RatingColumns]:
    """What raters of a workspace gave: ratings, then votes on pairs; never nothing."""
    if what not in ("ratings", "votes", "all"):
        raise UserError(f"Unknown --what '{what}'.", hint="Known: ratings, votes, all.")
    if not is_workspace(root):
        raise UserError("Name a ratings table.", hint="imarena agree --from ratings.csv, or --workspace DIR")
    with open_workspace(root) as workspace:
        found = [] if what == "votes" else [ratings_from_store(workspace)]
        found += [] if what == "ratings" else [votes_in_workspace(workspace)]
    return [columns for columns in found if len(columns)] or found[:1]


def agree_on_each(
    read: Sequence[RatingColumns], by: Sequence[str], only: Sequence[str], order: Sequence[str], **options: Any
) -> list[Agreement]:
    """Agreement on the first columns and on those beside them, whose groups and order need not fit."""
    if only:
        read = filter_ratings(list(read), list(only))
    first = measure_agreement(read[0], by=tuple(by), order=tuple(order), **options)
    beside = [
        measure_agreement(columns, by=tuple(name for name in by if name in columns.labels), order=(), **options)
        for columns in read[1:]
    ]
    return [first, *beside]
