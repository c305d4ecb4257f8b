"""Votes and ratings of a plain folder.

    votes.csv       key,left,right,winner[,rater,dimension,comment,id]    left and right name editors
    ratings.csv     key,editor[,rater,scale,comment,id],<criterion>,...   one vote per row, an empty cell is not rated

`winner` is left, right, tie or both_bad. Two equal rows are two votes; an `id`, if given, distinguishes them.
Every row counts, even if the rater voted on the same pair before: a notice says how many such rows there are.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Skip, UserError, command_line, content_id
from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Outcome, Rater, Vote
from imarena.datasets.contents import DatasetIndex
from imarena.datasets.folder import Folder, table_header
from imarena.datasets.imported import bad_row_text
from imarena.datasets.rows import labelled_rows, read_each

RATING_DETAIL_COLUMNS = ("key", "editor", "rater", "scale", "comment", "id")
_LONG_COLUMNS = frozenset({"unit", "rater", "value"})
_CAMPAIGN_COLUMNS = frozenset({"purpose", "winner", "item", "rater"})
"""Columns that only `imarena campaign export` writes together."""
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SCALE = re.compile(rf"({_NUMBER})-({_NUMBER})")


def read_vote_rows(folder: Folder, index: DatasetIndex, raters: set[str]) -> Iterator[Importable]:
    """The votes of votes.csv, with each rater before their first vote. `raters`: those that were already yielded."""
    yield from _read(folder, index, "votes.csv", ("key", "left", "right", "winner"), _vote, raters)


def read_rating_rows(folder: Folder, index: DatasetIndex, scale: str | None, raters: set[str]) -> Iterator[Importable]:
    """The ratings of ratings.csv; `scale` (such as 1-5) applies to rows without a scale."""
    default = parse_scale(scale) if scale else None

    def rating(cells: Mapping[str, str], index: DatasetIndex) -> dict[str, Any]:
        return _rating(cells, index, default)

    yield from _read(folder, index, "ratings.csv", ("key", "editor"), rating, raters)


def parse_scale(text: str) -> tuple[float, float]:
    """Parse the lowest and highest value of a scale such as ``1-5`` or ``0-1``."""
    match = _SCALE.fullmatch(text.strip())
    if match is None or float(match.group(1)) >= float(match.group(2)):
        raise UserError(f"'{text}' is not a scale.", hint="Write it as LOW-HIGH, for example 1-5.")
    return float(match.group(1)), float(match.group(2))


def _read(
    folder: Folder,
    index: DatasetIndex,
    name: str,
    required: tuple[str, ...],
    parse: Callable[[Mapping[str, str], DatasetIndex], dict[str, Any]],
    raters: set[str],
) -> Iterator[Importable]:
    path = folder.file(name)
    if not path.is_file():
        return
    repeats: Counter[tuple[str, ...]] = Counter()
    by_rater: Counter[tuple[object, ...]] = Counter()

    def read_row(_: str, cells: dict[str, Any]) -> Iterator[Importable]:
        rater_id = cells.get("rater") or f"{index.dataset}/people"
        columns = [column for column in (*required, "dimension") if column != "winner"]
        subject = (name, index.dataset, rater_id, *(cells.get(column, "") for column in columns))
        values = parse(cells, index)
        mark = cells.get("id") or content_id("row", *subject, repeats[subject])
        vote = Vote(rater_id=rater_id, comment=cells.get("comment", ""), idempotency_key=mark, **values)
        repeats[subject] += 1
        if cells.get("rater"):
            sides = frozenset(cells[side] for side in ("left", "right", "editor") if side in required)
            by_rater[rater_id, cells["key"], sides, cells.get("dimension", "")] += 1
        if rater_id not in raters:
            raters.add(rater_id)
            yield Rater(rater_id=rater_id)
        yield vote

    try:
        yield from read_each(labelled_rows(path, name, required), name, read_row, bad_row_text)
    except UserError as error:
        yield Skip(name, "", _unusable(path, name, error))
    repeated = [number for number in by_rater.values() if number > 1]
    if repeated:
        counts: JsonDict = {"file": name, "rows": sum(repeated), "subjects": len(repeated)}
        yield Notice(code="votes_repeated", values=counts)


def _unusable(path: Path, name: str, error: UserError) -> str:
    """Why the whole file cannot be read; for an export of a campaign, also which commands read it."""
    sentences = [line.rstrip(".") for line in str(error).splitlines()]
    try:
        header = table_header(path, name, ",")
    except UserError:
        header = []
    if _CAMPAIGN_COLUMNS.issubset(header):
        readers = f"`{command_line('rank --from')}` and `{command_line('agree --from')}`"
        sentences.append(f"A file of `{command_line('campaign export')}` is read by {readers}, not by import")
    elif _LONG_COLUMNS.issubset(header):
        readers = f"`{command_line('agree --from')}` and `{command_line('align --against')}`"
        sentences.append(f"A table with a rating per row is read by {readers}, not by import")
    return ". ".join(sentences)


def _vote(cells: Mapping[str, str], index: DatasetIndex) -> dict[str, Any]:
    if cells["winner"] not in set(Outcome):
        raise UserError(f"the winner is '{cells['winner']}', not one of {', '.join(Outcome)}")
    if cells["left"] == cells["right"]:
        raise UserError(f"'{cells['left']}' is on both sides")
    return {
        "item_id": _item_id(cells, index),
        "left_id": _output_id(cells, "left", index),
        "right_id": _output_id(cells, "right", index),
        "preference": Outcome(cells["winner"]),
        "dimension": cells.get("dimension") or "overall",
    }


def _rating(cells: Mapping[str, str], index: DatasetIndex, scale: tuple[float, float] | None) -> dict[str, Any]:
    ratings: dict[str, float] = {}
    for column, cell in cells.items():
        if column in RATING_DETAIL_COLUMNS or not cell.strip():
            continue
        if re.fullmatch(_NUMBER, cell.strip()) is None:
            raise UserError(f"{column} is '{cell}', not a number")
        ratings[column] = float(cell)
    if not ratings:
        raise UserError("no criterion is rated")
    return {
        "item_id": _item_id(cells, index),
        "left_id": _output_id(cells, "editor", index),
        "ratings": ratings,
        "scale": parse_scale(cells["scale"]) if cells.get("scale") else scale,
    }


def _item_id(cells: Mapping[str, str], index: DatasetIndex) -> str:
    item_id = index.item_id(cells["key"])
    if item_id is None:
        raise UserError(index.no_item(cells["key"]))
    return item_id


def _output_id(cells: Mapping[str, str], column: str, index: DatasetIndex) -> str:
    output_id = index.output_id(cells["key"], cells[column])
    if output_id is None:
        raise UserError(f"'{cells[column]}' has no output for '{cells['key']}'")
    return output_id
