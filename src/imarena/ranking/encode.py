"""Convert an Arrow table of battles to arrays: read the labels, and count the rows that are left out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from imarena.core import NOT_COUNTED, TESTS_OF_RATERS, CodeArray, FloatArray, UserError, suggestion, unknown_name
from imarena.ranking.battles import LEFT_WINS, RIGHT_WINS, TIED, Battles, CodedColumn
from imarena.tables import ColumnWriter, filter_column, row_slices, take_in_parts, used_codes


@runtime_checkable
class CodedTable(Protocol):
    """A table that gives text columns as codes, unlike an Arrow table, which has its own arrays."""

    def coded(self, name: str) -> CodedColumn | None:
        """The codes of a text column, -1 for missing values; None for other columns."""

    def words(self, name: str) -> Iterable[Any]:
        """The names that occur in a text column."""

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, with NaN for missing values."""

    def signed_bytes(self, name: str) -> Iterator[Any]:
        """The bytes of a column that is not text, for the signature."""


_ReadOutcomes: TypeAlias = Callable[[slice], NDArray[np.int8]]
_RowRule: TypeAlias = Callable[[slice, NDArray[np.int8]], NDArray[np.bool_]]
"""Takes some rows and their outcomes, and returns which of them to leave out."""
BOTH_BAD = 3
NO_WINNER = 4
LABELS = {"left": LEFT_WINS, "tie": TIED, "right": RIGHT_WINS, "both_bad": BOTH_BAD}


def encode_battles(
    table: Any,
    *,
    both_bad: str = "tie",
    missing: str = "exclude",
    covariates: Sequence[str] = (),
    scores_decide: bool = False,
    all_votes: bool = False,
) -> Battles:
    """Encode a table from `imarena.tables.plain` (text dictionary-encoded, numbers float64).

    `both_bad`: ``tie`` or ``exclude``. `missing`: if status_left or status_right says that a side has no output,
    ``exclude`` the battle or count a ``loss``. `scores_decide`: a judge's battle without a winner is decided by its
    scores (active Elo). `all_votes`: include votes that a campaign's table marks as not counted (tests of raters,
    excluded raters). A battle without a winner is left out and counted, never made a tie.
    """
    _choice("--both-bad", both_bad, ("tie", "exclude"))
    _choice("--missing", missing, ("exclude", "loss"))
    models, left, right = _models(table)
    weight = _numbers(table, "weight")
    rules = [
        *_failed_rules(table, missing),
        *([] if all_votes else _uncounted_rules(table)),
        ("missing_winner", lambda _, outcome: outcome == NO_WINNER),
        *([("both_bad", lambda _, outcome: outcome == BOTH_BAD)] if both_bad == "exclude" else []),
        ("same_model_on_both_sides", lambda rows, _: left[rows] == right[rows]),
        *([] if weight is None else [("weight_zero", lambda rows, _: weight[rows] == 0)]),
    ]
    outcome, valid, excluded = _apply_rules(left.size, _outcomes(table, scores_decide), rules)
    rows: Any = valid if excluded else slice(None)
    models, left, right, unranked = _played(models, _select(left, rows), _select(right, rows))
    return Battles(
        models=models,
        unranked=unranked,
        left=left,
        right=right,
        outcome=_select(outcome, rows),
        weight=_optional_part(weight, rows),
        item=_codes(table, "item", rows),
        rater=_codes(table, "rater", rows),
        dimension=_codes(table, "dimension", rows),
        judged=_is_judge(table, rows),
        score_left=_optional_part(_numbers(table, "score_left"), rows),
        score_right=_optional_part(_numbers(table, "score_right"), rows),
        covariates=_covariates(table, covariates, rows) if covariates else None,
        covariate_names=tuple(covariates),
        excluded=excluded,
    )


def coverage(table: Any, models: tuple[str, ...]) -> FloatArray | None:
    """(m,) share of a model's items in the table for which its output exists.

    None if the table does not name items, or has no statuses: then it does not show which outputs are missing.
    """
    stated = any(name in table.column_names for name in ("status_left", "status_right"))
    if not stated or "item" not in table.column_names or table.num_rows == 0:
        return None
    item = _column(table, "item")
    n_items = len(item.names)
    everyone, *sides = _models(table)
    if n_items == 0 or len(everyone) * n_items > 200_000_000:
        return None
    needs, has_output = (np.zeros((len(everyone), n_items), bool) for _ in range(2))
    for codes, name in zip(sides, ("status_left", "status_right"), strict=True):
        failed = _failed(table, name)
        for rows in row_slices(codes.size):
            named = item.of[rows] >= 0
            ok = named & ~failed(rows)
            needs[codes[rows][named], item.of[rows][named]] = True
            has_output[codes[rows][ok], item.of[rows][ok]] = True
    row = {model: index for index, model in enumerate(everyone)}
    played = [row[model] for model in models]
    number = needs[played].sum(axis=1)
    return np.asarray(has_output[played].sum(axis=1) / number) if number.all() else None


def _models(table: Any) -> tuple[tuple[str, ...], CodeArray, CodeArray]:
    left, right = _column(table, "left"), _column(table, "right")
    models = tuple(sorted(set(left.names) | set(right.names)))
    code = {model: index for index, model in enumerate(models)}
    return models, _mapped(left, code), _mapped(right, code)


def _played(
    models: tuple[str, ...], left: CodeArray, right: CodeArray
) -> tuple[tuple[str, ...], CodeArray, CodeArray, tuple[str, ...]]:
    """Drop models without any battle left."""
    played = used_codes(len(models), left, right)
    if played.all():
        return models, left, right, ()
    new_code = (np.cumsum(played) - 1).astype(np.int32)
    remaining = tuple(model for model, is_used in zip(models, played, strict=True) if is_used)
    return (
        remaining,
        take_in_parts(new_code, left),
        take_in_parts(new_code, right),
        tuple(sorted(set(models) - set(remaining))),
    )


def _mapped(column: CodedColumn, code: dict[str, int]) -> CodeArray:
    lookup = np.array([code[name] for name in column.names], np.int32)
    return take_in_parts(lookup, column.of) if lookup.size else column.of


def _column(table: Any, name: str) -> CodedColumn:
    """A dictionary-encoded column as codes; -1 is null."""
    coded = table.coded(name) if isinstance(table, CodedTable) else None
    if coded is not None:
        return coded
    column = table[name].combine_chunks()
    if hasattr(column, "num_chunks"):
        column = column.chunk(0)
    indices = column.indices
    if indices.null_count:
        indices = indices.fill_null(-1)
    return CodedColumn(indices.to_numpy(), tuple(column.dictionary.to_pylist()))


def _apply_rules(
    n: int, outcomes: _ReadOutcomes, rules: Sequence[tuple[str, _RowRule]]
) -> tuple[NDArray[np.int8], NDArray[np.bool_], dict[str, int]]:
    """(n,) outcomes, (n,) rows to keep, and how many rows each rule leaves out; the first matching rule counts."""
    codes, valid, excluded = (
        ColumnWriter(np.int8, n),
        ColumnWriter(bool, n),
        dict.fromkeys((name for name, _ in rules), 0),
    )
    for rows in row_slices(n):
        outcome = outcomes(rows)
        left = np.ones(outcome.size, bool)
        for name, rule in rules:
            out = rule(rows, outcome) & left
            excluded[name] += int(out.sum())
            left &= ~out
        outcome[outcome == BOTH_BAD] = TIED
        codes.append(outcome)
        valid.append(left)
    return codes.column(), valid.column(), {name: number for name, number in excluded.items() if number}


def _outcomes(table: Any, scores_decide: bool) -> _ReadOutcomes:
    column = _column(table, "winner")
    unknown = [name for name in column.names if name not in LABELS]
    if unknown:
        raise unknown_name("Unknown winner", unknown[0], LABELS)
    lookup = np.array([*(LABELS[name] for name in column.names), NO_WINNER], np.int8)
    left, right = _numbers(table, "score_left"), _numbers(table, "score_right")
    by_judge = _is_judge(table, slice(None))
    if not scores_decide or left is None or right is None or by_judge is None:
        return lambda rows: lookup[column.of[rows]]

    def from_scores(rows: slice) -> NDArray[np.int8]:
        outcome, ours, theirs = lookup[column.of[rows]], left[rows], right[rows]
        open_ = (outcome == NO_WINNER) & by_judge[rows] & np.isfinite(ours) & np.isfinite(theirs)
        decided = np.where(ours > theirs, LEFT_WINS, np.where(ours < theirs, RIGHT_WINS, TIED)).astype(np.int8)
        return np.where(open_, decided, outcome)

    return from_scores


def _failed(table: Any, name: str) -> Callable[[slice], NDArray[np.bool_]]:
    """Return a function that says which of some rows have no output on this side."""
    if name not in table.column_names:
        return lambda rows: np.zeros(rows.stop - rows.start, bool)
    column = _column(table, name)
    lookup = np.array([*(status != "ok" for status in column.names), False], bool)
    return lambda rows: lookup[column.of[rows]]


def _failed_rules(table: Any, missing: str) -> list[tuple[str, _RowRule]]:
    """Rules for battles in which an editor gave no output; with `loss`, the other one wins."""
    left, right = (_failed(table, name) for name in ("status_left", "status_right"))
    if missing == "exclude":
        return [("missing_output", lambda rows, _: left(rows) | right(rows))]

    def neither(rows: slice, outcome: NDArray[np.int8]) -> NDArray[np.bool_]:
        outcome[left(rows) & ~right(rows)], outcome[right(rows) & ~left(rows)] = RIGHT_WINS, LEFT_WINS
        return left(rows) & right(rows)

    return [("missing_output_on_both_sides", neither)]


def _uncounted_rules(table: Any) -> list[tuple[str, _RowRule]]:
    """Rules for votes of a campaign's table that test the rater or are marked as not counted, with the reason."""
    rules: list[tuple[str, _RowRule]] = []
    for name, words in (("purpose", TESTS_OF_RATERS), (NOT_COUNTED, None)):
        if name in table.column_names:
            column = _column(table, name)
            reasons = [words.get(value) if words is not None else value for value in column.names]
            rules += [(why, _has_code(column.of, code)) for code, why in enumerate(reasons) if why]
    return rules


def _has_code(codes: CodeArray, code: int) -> _RowRule:
    return lambda rows, _: codes[rows] == code


def _codes(table: Any, name: str, rows: Any) -> CodedColumn | None:
    """A grouping column; None if no row has a name. Rows without a name are called (none)."""
    if name not in table.column_names:
        return None
    column = _column(table, name)
    unnamed = sum(int(np.count_nonzero(column.of[part] < 0)) for part in row_slices(column.of.size))
    if not unnamed:
        of = _select(column.of, rows)
        # one name in all rows takes no memory
        return CodedColumn(np.broadcast_to(np.int32(0), of.size) if len(column.names) == 1 else of, column.names)
    if unnamed == column.of.size:
        return None
    of = take_in_parts(np.arange(len(column.names) + 1, dtype=np.int32), column.of)  # -1 is the last entry
    return CodedColumn(_select(of, rows), (*column.names, "(none)"), unnamed=len(column.names))


def _is_judge(table: Any, rows: Any) -> NDArray[np.bool_] | None:
    if "source" not in table.column_names:
        return None
    column = _column(table, "source")
    lookup = np.array([*(name == "judge" for name in column.names), False], bool)
    return _select(take_in_parts(lookup, column.of), rows)


def _numbers(table: Any, name: str) -> FloatArray | None:
    if name not in table.column_names:
        return None
    return table.numbers(name) if isinstance(table, CodedTable) else np.asarray(table[name].to_numpy(), np.float64)


def _optional_part(values: FloatArray | None, rows: Any) -> FloatArray | None:
    return None if values is None else _select(values, rows)


def _select(values: NDArray[Any], rows: Any) -> NDArray[Any]:
    return values[rows] if isinstance(rows, slice) else filter_column(values, rows)


def _covariates(table: Any, names: Sequence[str], rows: Any) -> FloatArray:
    """(n, p) left minus right, from the column NAME or from NAME_left and NAME_right."""
    columns = []
    for name in names:
        sides = [_numbers(table, f"{name}_{side}") for side in ("left", "right")]
        values = sides[0] - sides[1] if sides[0] is not None and sides[1] is not None else _numbers(table, name)
        if values is None:
            raise UserError(
                f"No column '{name}', nor '{name}_left' and '{name}_right'.",
                hint="A covariate is a column of differences (left minus right), or two columns.",
            )
        values = values[rows]
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise UserError(
                f"Covariate '{name}' is missing in counted battle {row + 1}.", hint="Fill it or drop the row."
            )
        columns.append(values)
    return np.column_stack(columns)


def _choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UserError(f"{option} cannot be '{value}'.", hint=suggestion(value, choices))
