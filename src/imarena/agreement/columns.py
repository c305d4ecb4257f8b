"""Input columns of `agree` and `align`, and how to read them from a file.

Any other source, such as a workspace, uses the same functions by filling the same columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from imarena.core import NOT_COUNTED, UserError, command_line, grouped, unknown_name
from imarena.core.records import Outcome
from imarena.stats import MIRROR
from imarena.tables import TablePath, column_names

ScaleRange = tuple[float, float]
"""Lowest and highest value of a scale."""


@dataclass(frozen=True)
class RatingColumns:
    """Ratings row by row. `labels` holds the other text columns (criterion, model, task, ...), all of the same length.

    `value` holds numbers, or words if the ratings are labels; None is a missing rating.
    """

    unit: Sequence[str]
    rater: Sequence[str]
    value: Sequence[float | None] | Sequence[str | None]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    source: str = "ratings"
    votes: bool = False
    """The values are outcomes of votes on pairs, with the sides in the same order for all votes on a pair."""
    scales: Mapping[str, ScaleRange] = field(default_factory=dict)
    """The scale of each criterion, if known."""
    rule: str = ""
    """The rule that produced the marks of the criterion `overall`; empty if raters gave them."""
    bad_values: Mapping[int, str] = field(default_factory=dict)
    """Row (from 1) to a cell that is not a number: the rating is missing."""

    def __len__(self) -> int:
        return len(self.unit)


@dataclass(frozen=True)
class ScoreColumns:
    """Scores row by row: one output of one model, one judge or metric. None is a missing score."""

    unit: Sequence[str]
    judge: Sequence[str]
    score: Sequence[float | None]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The other text columns; `model` is always present, `criterion` and `task` may be."""
    source: str = "scores"
    scales: Mapping[str, ScaleRange] = field(default_factory=dict)
    """The scale of each judge's scores, if known."""
    lower_is_better: frozenset[str] = frozenset()
    """Judges whose low scores are good, if the source says so."""

    def __len__(self) -> int:
        return len(self.unit)


@dataclass(frozen=True)
class VerdictColumns:
    """Verdicts on battles row by row. None is a missing verdict."""

    item: Sequence[str]
    left: Sequence[str]
    right: Sequence[str]
    winner: Sequence[str | None]
    rater: Sequence[str]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    source: str = "battles"
    gap: Sequence[float | None] = ()
    """Left score minus right score, if the judge scores both sides; empty if no judge does."""
    reason: Sequence[str] = ()
    """Why a verdict is missing; empty if the source does not say."""
    covers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Judge to the dimensions of the votes that it is compared with; a judge without an entry meets all votes."""

    def __len__(self) -> int:
        return len(self.item)


def ratings_from_file(path: TablePath, *, skip_bad: bool = False) -> RatingColumns:
    """Read a ratings table: CSV, TSV, JSON Lines or Parquet.

    A word among numbers raises; with `skip_bad` it is skipped and listed in `bad_values`.
    """
    from imarena.tables import read_table

    bad: dict[int, str] = {}
    table = read_table(path, "ratings", bad_values=bad if skip_bad else None)
    labels = _labels(table, ("unit", "rater", "value"))
    return RatingColumns(
        _list(table, "unit"), _list(table, "rater"), _list(table, "value"), labels, str(path), bad_values=bad
    )


def scores_from_file(path: TablePath) -> ScoreColumns:
    """Read a scores table: CSV, TSV, JSON Lines or Parquet."""
    from imarena.tables import read_table

    table = read_table(path, "scores")
    labels = _labels(table, ("unit", "judge", "score"))
    scores = ScoreColumns(_list(table, "unit"), _list(table, "judge"), _list(table, "score"), labels, str(path))
    return _exported_scores(scores) if labels.keys() >= EXPORTED else scores


EXPORTED = frozenset(("kind", "dimension", "repeat", "higher_is_better"))
"""Columns that occur together only in files of `export scores`."""


def _exported_scores(columns: ScoreColumns) -> ScoreColumns:
    """Convert to a workspace's scores: the mean over repeats, without verdicts on pairs and rows that do not count."""
    labels = columns.labels
    off = labels.get("not_counted", [""] * len(columns))
    rows_by_output: dict[tuple[str, ...], list[int]] = {}
    for row, judge in enumerate(columns.judge):
        if labels["kind"][row] == "score" and not off[row] and columns.score[row] is not None:
            about = labels["dimension"][row]
            name = judge if about == "overall" else f"{judge}, {about}"
            rows_by_output.setdefault((name, columns.unit[row], labels["model"][row]), []).append(row)
    first = take_rows(columns, [rows[0] for rows in rows_by_output.values()])
    means = [sum(columns.score[row] or 0.0 for row in rows) / len(rows) for rows in rows_by_output.values()]
    names = [key[0] for key in rows_by_output]
    low = {name for name, higher in zip(names, first.labels["higher_is_better"], strict=True) if higher == "False"}
    labels_of_output = {name: first.labels[name] for name in ("model", "task")}
    return replace(first, judge=names, score=means, labels=labels_of_output, lower_is_better=frozenset(low))


def verdicts_from_file(path: TablePath, *, outcomes: Sequence[str], all_votes: bool = False) -> VerdictColumns:
    """Read a battles table: `winner` is one of `outcomes` or empty. Without a `rater` column the file names the rater.

    The plain reader of battles allows only the four outcomes. A judge may say that two outputs are equal without saying
    whether both are good or bad, so the words are checked here. `all_votes`: include those that do not count.
    """
    table = _exported(_battle_file(path), all_votes)
    keys = ("item", "left", "right", "winner")
    for name in keys:
        if name not in table.column_names:
            raise UserError(
                f"{path}: no column '{name}'. It has: {', '.join(table.column_names)}.",
                hint=f"Verdicts are compared battle by battle: {', '.join(keys)} are needed.",
            )
    winner = _list(table, "winner")
    for row, word in enumerate(winner):
        if word is not None and word not in outcomes:
            raise unknown_name(f"{path}, row {row + 1}: unknown winner", word, outcomes)
    columns = {name: _list(table, name) for name in keys[:3]}
    for name, cells in columns.items():
        if None in cells:
            raise UserError(
                f"{path}, row {cells.index(None) + 1}: column '{name}' is empty.", hint="Every row needs one."
            )
    raters = _list(table, "rater") if "rater" in table.column_names else [path.stem] * len(winner)
    voters = [rater or path.stem for rater in raters]
    return VerdictColumns(
        columns["item"], columns["left"], columns["right"], winner, voters, _labels(table, (*keys, "rater")), str(path)
    )


def is_battle_file(path: TablePath) -> bool:
    """Return whether a table holds battles, judging by its columns."""
    return "winner" in _battle_file(path).column_names


def _battle_file(path: TablePath) -> Any:
    from imarena.tables import read_file

    names = ("item", "key", "left", "right", "winner", "rater", "judge", "task", "dimension", "source", "purpose")
    return read_file(path, text=frozenset((*names, NOT_COUNTED)), wanted=None)


WORK = "vote"
"""The purpose of answers about models in a campaign's table; other purposes test the rater."""


def _exported(table: Any, all_votes: bool) -> Any:
    """Return the votes that a campaign or `export table` writes: without those that do not count, with items by key."""
    import pyarrow.compute as pc

    if "key" in table.column_names and "item" not in table.column_names:
        table = table.rename_columns(["item" if name == "key" else name for name in table.column_names])
    if all_votes:
        return table
    if "purpose" in table.column_names:
        table = table.filter(pc.fill_null(pc.equal(pc.cast(table["purpose"], "string"), WORK), False))
    if NOT_COUNTED in table.column_names:
        table = table.filter(pc.equal(pc.fill_null(pc.cast(table[NOT_COUNTED], "string"), ""), ""))
    return table


def check_groups(labels: Mapping[str, Sequence[str]], by: Sequence[str], source: str) -> None:
    """Reject a column to group by that does not exist."""
    for name in by:
        if name not in labels:
            raise UserError(
                f"{source} has no column '{name}' to group by.",
                hint=f"It can group by: {', '.join(labels) or 'nothing'}.",
            )


AnyColumns = TypeVar("AnyColumns", RatingColumns, ScoreColumns, VerdictColumns)


def take_rows(columns: AnyColumns, rows: Sequence[int]) -> AnyColumns:
    """Return only these rows, in this order."""
    values = {part.name: getattr(columns, part.name) for part in fields(columns)}
    selection: dict[str, Any] = {
        name: [column[row] for row in rows]
        for name, column in values.items()
        if column and isinstance(column, Sequence) and not isinstance(column, str)
    }
    labels = {name: [column[row] for row in rows] for name, column in columns.labels.items()}
    return replace(columns, **selection, labels=labels)


def last_answers(columns: RatingColumns) -> RatingColumns:
    """Keep the last answer of each rater to each question."""
    names = [name for name in ("criterion", "model", "task") if name in columns.labels]
    keys = zip(columns.unit, columns.rater, *(columns.labels[name] for name in names), strict=True)
    return take_rows(columns, sorted({key: row for row, key in enumerate(keys)}.values()))


def filter_rows(columns: AnyColumns, conditions: Sequence[str]) -> AnyColumns:
    """Return the rows that match `COLUMN=VALUE` conditions. Several values of one column are alternatives."""
    choices: dict[str, set[str]] = {}
    for condition in conditions:
        name, equals, value = condition.partition("=")
        if not equals:
            raise UserError(f"'{condition}' is not a condition.", hint="Write COLUMN=VALUE, such as model=MagicBrush.")
        choices.setdefault(name, set()).add(value)
    for name, values in choices.items():
        present = set(columns.labels.get(name, ()))
        if name not in columns.labels or values - present:
            missing = f"no column '{name}'" if name not in columns.labels else f"no {name} '{min(values - present)}'"
            names = ", ".join(sorted(present or columns.labels))
            raise UserError(f"{columns.source} has {missing}.", hint=f"It has: {names or 'none'}.")
    rows = [row for row in range(len(columns)) if all(columns.labels[name][row] in choices[name] for name in choices)]
    return columns if len(rows) == len(columns) else take_rows(columns, rows)


def filter_ratings(read: Sequence[RatingColumns], conditions: Sequence[str]) -> list[RatingColumns]:
    """Filter ratings, and votes if given; leave out tables without such a column or value.

    Raises if no table has it.
    """
    filtered, errors = [], []
    for columns in read:
        try:
            filtered.append(filter_rows(columns, conditions))
        except UserError as error:
            errors.append(error)
    if not filtered:
        raise errors[0]
    return filtered


def group_rows(keys: Sequence[Sequence[str]], n: int) -> Iterable[tuple[tuple[str, ...], list[int]]]:
    """Return row numbers by the values of the key columns, in sorted order; without key columns there is one group."""
    return sorted(grouped((tuple(column[row] for column in keys), row) for row in range(n)).items())


def _list(table: Any, name: str) -> list[Any]:
    cells: list[Any] = table[name].to_pylist()
    return cells


def _labels(table: Any, own_names: Sequence[str]) -> dict[str, list[str]]:
    """Return the other columns as text; an empty cell becomes ""."""
    return {
        name: ["" if cell is None else str(cell) for cell in table[name].to_pylist()]
        for name in table.column_names
        if name not in own_names
    }


def votes_as_ratings(path: TablePath, *, by_unit: bool = False, all_votes: bool = False) -> RatingColumns:
    """Read a battles table with `item` and `rater`: a unit is a pair on an item, with its two models on either side.

    `by_unit`: for a campaign's table, which names its tasks: two turns of an item are two units. `all_votes`: include
    those that the table marks as not counted.
    """
    present = {"item" if name == "key" else name for name in column_names(path)}
    missing = [name for name in ("item", "rater") if name not in present]
    if missing:
        raise UserError(
            f"{path} holds votes on pairs without a column '{missing[0]}'.",
            hint="Voters agree where two of them saw the same pair: item, left, right, winner and rater are needed. "
            f"A board needs no more than this: {command_line('rank --from', path)}",
        )
    votes = verdicts_from_file(path, outcomes=[outcome.value for outcome in Outcome], all_votes=all_votes)
    return pair_ratings(replace(votes, item=votes.labels["unit"]) if by_unit else votes)


def pair_ratings(votes: VerdictColumns) -> RatingColumns:
    """Convert votes to ratings of pairs with sorted sides; the dimension of a vote becomes its criterion."""
    units, values = [], []
    for item, left, right, winner in zip(votes.item, votes.left, votes.right, votes.winner, strict=True):
        first, second = sorted((left, right))
        units.append(f"{item}: {first} or {second}")
        values.append(winner if winner is None or first == left else MIRROR[winner])
    labels = {("criterion" if name == "dimension" else name): column for name, column in votes.labels.items()}
    return RatingColumns(units, votes.rater, values, labels, votes.source, votes=True)
