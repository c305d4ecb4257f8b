"""The columns that `agree` and `align` work on, and how a plain file fills them.

Any other source, such as a workspace, feeds the same verbs by filling the same columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imarena.core.errors import UserError


@dataclass(frozen=True)
class RatingColumns:
    """Ratings row by row. `labels` holds the other text columns (criterion, model, task, ...), each of the same length.

    `value` holds numbers, or words where the ratings are labels; None is a rating that is missing.
    """

    unit: Sequence[str]
    rater: Sequence[str]
    value: Sequence[float | None] | Sequence[str | None]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    source: str = "ratings"
    votes: bool = False
    """The values are outcomes of votes on pairs, all votes on a pair with its sides in one order."""

    def __len__(self) -> int:
        return len(self.unit)


@dataclass(frozen=True)
class ScoreColumns:
    """Scores row by row: one output of one model, one judge or metric. None is a score that is missing."""

    unit: Sequence[str]
    judge: Sequence[str]
    score: Sequence[float | None]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The other text columns; `model` is always there, `criterion` and `task` may be."""
    source: str = "scores"

    def __len__(self) -> int:
        return len(self.unit)


@dataclass(frozen=True)
class VerdictColumns:
    """Verdicts on battles row by row. None is a verdict that is missing."""

    item: Sequence[str]
    left: Sequence[str]
    right: Sequence[str]
    winner: Sequence[str | None]
    rater: Sequence[str]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    source: str = "battles"
    gap: Sequence[float | None] = ()
    """The score of left less the score of right, where the judge scores both sides; empty where no judge does."""
    reason: Sequence[str] = ()
    """Why a verdict is missing; empty where the source does not say."""
    covers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Judge to the dimensions of the votes that it is compared with; a judge that is not named meets every vote."""

    def __len__(self) -> int:
        return len(self.item)


def ratings_from_file(path: Path) -> RatingColumns:
    """A ratings table: CSV, TSV, JSON Lines or Parquet."""
    from imarena.datasets.tables import read_table

    table = read_table(path, "ratings")
    labels = _labels(table, ("unit", "rater", "value"))
    return RatingColumns(_list(table, "unit"), _list(table, "rater"), _list(table, "value"), labels, str(path))


def scores_from_file(path: Path) -> ScoreColumns:
    """A scores table: CSV, TSV, JSON Lines or Parquet."""
    from imarena.datasets.tables import read_table

    table = read_table(path, "scores")
    labels = _labels(table, ("unit", "judge", "score"))
    return ScoreColumns(_list(table, "unit"), _list(table, "judge"), _list(table, "score"), labels, str(path))


def verdicts_from_file(path: Path, *, words: Sequence[str]) -> VerdictColumns:
    """A battles table whose `winner` is one of `words` or empty; without a `rater` column the file's name is the rater.

    The plain reader of battles allows the four outcomes only. A judge may say that two are equal without saying
    whether both are good or bad, so that the words are checked here.
    """
    table = _battle_file(path)
    needed = ("item", "left", "right", "winner")
    for name in needed:
        if name not in table.column_names:
            raise UserError(
                f"{path}: no column '{name}'. It has: {', '.join(table.column_names)}.",
                hint=f"Verdicts are compared battle by battle: {', '.join(needed)} are needed.",
            )
    winner = _list(table, "winner")
    for row, word in enumerate(winner):
        if word is not None and word not in words:
            raise UserError(f"{path}, row {row + 1}: unknown winner '{word}'.", hint=f"Known: {', '.join(words)}.")
    columns = {name: _list(table, name) for name in needed[:3]}
    for name, cells in columns.items():
        if None in cells:
            raise UserError(
                f"{path}, row {cells.index(None) + 1}: column '{name}' is empty.", hint="Every row needs one."
            )
    raters = _list(table, "rater") if "rater" in table.column_names else [path.stem] * len(winner)
    named = [rater or path.stem for rater in raters]
    return VerdictColumns(
        columns["item"], columns["left"], columns["right"], winner, named, _labels(table, (*needed, "rater")), str(path)
    )


def is_battle_file(path: Path) -> bool:
    """Whether a table holds battles, told by its columns."""
    return "winner" in _battle_file(path).column_names


def _battle_file(path: Path) -> Any:
    from imarena.datasets.table_files import read_file

    text = frozenset(("item", "left", "right", "winner", "rater", "task", "dimension", "source"))
    return read_file(path, text=text, wanted=None)


def check_groups(labels: Mapping[str, Sequence[str]], by: Sequence[str], source: str) -> None:
    """Refuse to group by a column that is not there."""
    for name in by:
        if name not in labels:
            raise UserError(
                f"{source} has no column '{name}' to group by.",
                hint=f"It can group by: {', '.join(labels) or 'nothing'}.",
            )


def grouped(keys: Sequence[Sequence[str]], n: int) -> Iterable[tuple[tuple[str, ...], list[int]]]:
    """Row numbers by the values of the key columns, in sorted order; everything is one group where there are none."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for row in range(n):
        rows.setdefault(tuple(column[row] for column in keys), []).append(row)
    return sorted(rows.items())


def _list(table: Any, name: str) -> list[Any]:
    cells: list[Any] = table[name].to_pylist()
    return cells


def _labels(table: Any, taken: Sequence[str]) -> dict[str, list[str]]:
    """The other columns as text; an empty cell is an empty word."""
    return {
        name: ["" if cell is None else str(cell) for cell in table[name].to_pylist()]
        for name in table.column_names
        if name not in taken
    }
