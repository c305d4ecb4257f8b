"""Input columns of `agree` and `align`, and how to read them from a plain file.

Any other source, such as a workspace, feeds the same verbs by filling the same columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from imarena.core import UserError

Range = tuple[float, float]
"""Lowest and highest value of a scale."""


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
    scales: Mapping[str, Range] = field(default_factory=dict)
    """The scale of each criterion, where it is known."""
    rule: str = ""
    """The rule by which marks of the criterion `overall` were made; empty where raters gave them."""

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
    scales: Mapping[str, Range] = field(default_factory=dict)
    """The scale of each judge's scores, where it is known."""
    lower_is_better: frozenset[str] = frozenset()
    """Judges whose low scores are good, where the source says so."""

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
    from imarena.tables import read_table

    table = read_table(path, "ratings")
    labels = _labels(table, ("unit", "rater", "value"))
    return RatingColumns(_list(table, "unit"), _list(table, "rater"), _list(table, "value"), labels, str(path))


def scores_from_file(path: Path) -> ScoreColumns:
    """A scores table: CSV, TSV, JSON Lines or Parquet."""
    from imarena.tables import read_table

    table = read_table(path, "scores")
    labels = _labels(table, ("unit", "judge", "score"))
    return ScoreColumns(_list(table, "unit"), _list(table, "judge"), _list(table, "score"), labels, str(path))


def verdicts_from_file(path: Path, *, words: Sequence[str]) -> VerdictColumns:
    """A battles table whose `winner` is one of `words` or empty; without a `rater` column the file's name is the rater.

    The plain reader of battles allows the four outcomes only. A judge may say that two are equal without saying
    whether both are good or bad, so that the words are checked here.
    """
    table = _exported(_battle_file(path))
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
    from imarena.tables import read_file

    text = frozenset(("item", "key", "left", "right", "winner", "rater", "task", "dimension", "source", "purpose"))
    return read_file(path, text=text, wanted=None)


WORK = "vote"
"""The purpose of an answer in a campaign's table that is about models; others test the rater."""


def _exported(table: Any) -> Any:
    """Votes as a campaign or `export table` writes them: without those that test the rater, items by their key."""
    import pyarrow.compute as pc

    if "key" in table.column_names and "item" not in table.column_names:
        table = table.rename_columns(["item" if name == "key" else name for name in table.column_names])
    if "purpose" in table.column_names:
        table = table.filter(pc.fill_null(pc.equal(pc.cast(table["purpose"], "string"), WORK), False))
    return table


def check_groups(labels: Mapping[str, Sequence[str]], by: Sequence[str], source: str) -> None:
    """Refuse to group by a column that is not there."""
    for name in by:
        if name not in labels:
            raise UserError(
                f"{source} has no column '{name}' to group by.",
                hint=f"It can group by: {', '.join(labels) or 'nothing'}.",
            )


Columns = TypeVar("Columns", RatingColumns, ScoreColumns)


def filter_rows(columns: Columns, conditions: Sequence[str]) -> Columns:
    """The rows that fit `COLUMN=VALUE` conditions. Several values of one column are alternatives."""
    wanted: dict[str, set[str]] = {}
    for condition in conditions:
        name, equals, value = condition.partition("=")
        if not equals:
            raise UserError(f"'{condition}' is not a condition.", hint="Write COLUMN=VALUE, such as model=MagicBrush.")
        wanted.setdefault(name, set()).add(value)
    for name, values in wanted.items():
        known = set(columns.labels.get(name, ()))
        if name not in columns.labels or values - known:
            missing = f"no column '{name}'" if name not in columns.labels else f"no {name} '{min(values - known)}'"
            listed = ", ".join(sorted(known or columns.labels))
            raise UserError(f"{columns.source} has {missing}.", hint=f"It has: {listed or 'none'}.")
    rows = [row for row in range(len(columns)) if all(columns.labels[name][row] in wanted[name] for name in wanted)]
    if len(rows) == len(columns):
        return columns
    names = [one.name for one in fields(columns) if one.name in ("unit", "rater", "value", "judge", "score")]
    kept: dict[str, Any] = {name: [getattr(columns, name)[row] for row in rows] for name in names}
    labels = {name: [column[row] for row in rows] for name, column in columns.labels.items()}
    return replace(columns, **kept, labels=labels)


def filter_ratings(read: Sequence[RatingColumns], conditions: Sequence[str]) -> list[RatingColumns]:
    """Of ratings and the votes beside them what fits; those without such a column or value are left out.

    Raises where nothing has it.
    """
    found, errors = [], []
    for columns in read:
        try:
            found.append(filter_rows(columns, conditions))
        except UserError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def group_rows(keys: Sequence[Sequence[str]], n: int) -> Iterable[tuple[tuple[str, ...], list[int]]]:
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
