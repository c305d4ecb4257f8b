"""Read battles, ratings and scores from CSV, TSV, JSON Lines, Parquet, frames or columns as one Arrow table.

Text columns are dictionary-encoded without loss (a model named ``007``, ``NA`` or ``1e5`` keeps its name); number
columns are float64. An empty cell is null. Errors name the file and the row; rows are counted from 1, without
the header.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from imarena.core import NOT_COUNTED, UserError, suggestion, unknown_name
from imarena.tables.files import RenamedFile, TablePath, read_batches, read_file

TEXT = pa.dictionary(pa.int32(), pa.string())
_WORDS_LISTED = 5
"""How many unknown outcomes an error lists."""
OUTCOMES = ("left", "right", "tie", "both_bad")
NOT_A_NUMBER = ("NA", "N/A", "na", "n/a", "null", "None", "NaN", "nan", "-")
"""Cells that mean "missing" in a number column."""


@dataclass(frozen=True)
class TableKind:
    """The columns of one kind of table."""

    text: tuple[str, ...]
    """Required text columns whose cells must not be empty."""
    optional_text: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    """Required number columns; an empty cell is a missing value."""
    optional_numbers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Required text columns whose cells may be empty."""
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other names of required columns, used if the column itself is missing."""

    @property
    def required(self) -> tuple[str, ...]:
        return (*self.text, *self.labels, *self.numbers)

    @property
    def known_text(self) -> frozenset[str]:
        return frozenset((*self.text, *self.optional_text, *self.labels))

    @property
    def known_numbers(self) -> frozenset[str]:
        return frozenset((*self.numbers, *self.optional_numbers))


TABLE_KINDS: dict[str, TableKind] = {
    "battles": TableKind(
        text=("left", "right"),
        labels=("winner",),
        optional_text=(
            "item",
            "rater",
            "source",
            "task",
            "dimension",
            "status_left",
            "status_right",
            "purpose",
            NOT_COUNTED,
        ),
        optional_numbers=("weight", "score_left", "score_right"),
    ),
    "ratings": TableKind(
        text=("unit", "rater"),
        labels=("value",),
        optional_text=("criterion", "model", "task", "item"),
        synonyms={"unit": ("item", "key"), "rater": ("annotator",), "value": ("rating", "score")},
    ),
    "scores": TableKind(
        text=("unit", "model", "judge"),
        numbers=("score",),
        optional_text=("criterion", "task", "item"),
        synonyms={"unit": ("item", "key"), "model": ("editor",), "judge": ("metric",), "score": ("value",)},
    ),
    "board": TableKind(text=("model",), optional_text=("date",), optional_numbers=("rating", "rank")),
}


def read_table(
    path: TablePath,
    kind: str,
    *,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    extra: Sequence[str] | None = None,
    bad_values: dict[int, str] | None = None,
) -> pa.Table:
    """Read a table of battles, ratings or scores.

    `path` is a .csv, .tsv, .jsonl or .parquet file (CSV and JSON Lines may be .gz); `kind` is ``battles``,
    ``ratings``, ``scores`` or ``board``. `columns` maps our column name to the file's, such as
    ``{"left": "model_a"}``; `labels` maps the file's outcome labels to ours, such as ``{"model_a": "left"}``
    (battles only). `extra` names other columns to keep; None keeps all.

    Known text columns are returned as dictionary<int32, string>, known numbers as float64; ``value`` of ratings as
    float64 if every cell is a number or missing, else as text (nominal labels). If most cells are numbers, a word
    raises, unless `bad_values` is given: it receives such cells by row, and the table has null there.
    """
    spec = _kind(kind)
    renames = dict(columns or {})
    text = _text_columns(spec, renames)
    column_names = None if extra is None else text | frozenset(extra)
    source = path if isinstance(path, RenamedFile) else Path(path)
    return _checked(read_file(source, text=text, wanted=column_names), spec, str(path), renames, labels, bad_values)


def read_table_batches(
    path: Path, kind: str, *, columns: Mapping[str, str] | None = None, labels: Mapping[str, str] | None = None
) -> Iterator[pa.Table]:
    """The same table with all columns, some rows at a time. Row numbers in errors are relative to the batch."""
    spec, renames = _kind(kind), dict(columns or {})
    for batch in read_batches(Path(path), text=_text_columns(spec, renames)):
        yield _checked(batch, spec, str(path), renames, labels)


def _text_columns(spec: TableKind, renames: Mapping[str, str]) -> frozenset[str]:
    synonyms = frozenset(other for names in spec.synonyms.values() for other in names)
    return synonyms | frozenset(renames.get(name, name) for name in spec.known_text | spec.known_numbers)


def as_table(
    data: object,
    kind: str,
    *,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> pa.Table:
    """Make the same table from a pandas or polars frame, an Arrow table, a mapping of columns or a list of rows."""
    return _checked(_to_arrow(data), _kind(kind), "table", dict(columns or {}), labels)


def _kind(kind: str) -> TableKind:
    if kind not in TABLE_KINDS:
        raise unknown_name("No table kind", kind, TABLE_KINDS)
    return TABLE_KINDS[kind]


def _to_arrow(data: object) -> pa.Table:
    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, Mapping):
            return pa.table({str(name): _plain(values) for name, values in data.items()})
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
        if isinstance(data, list) and all(isinstance(row, Mapping) for row in data):
            return pa.Table.from_pylist(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UserError(f"table: {error}", hint="Every column must hold values of one type.") from error
    raise UserError(
        f"Cannot read a table from {type(data).__name__}.",
        hint="Pass a path, a pandas or polars frame, an Arrow table, a mapping of columns or a list of rows.",
    )


def _plain(values: Any) -> Any:
    return values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)


def _checked(
    table: pa.Table,
    spec: TableKind,
    name: str,
    columns: Mapping[str, str],
    labels: Mapping[str, str] | None,
    bad_values: dict[int, str] | None = None,
) -> pa.Table:
    table = _renamed(table, spec, name, columns)
    for column in table.column_names:
        if column in spec.known_numbers:
            table = _with(table, column, _numbers(table[column], name, column))
        elif column == "value":
            table = _with(table, column, _values(table[column], name, bad_values))
        elif column in spec.known_text:
            table = _with(table, column, _text(table[column], name, column))
    for column in spec.text:
        if table[column].null_count:
            _refuse(pc.is_null(table[column]), name, f"column '{column}' is empty", "Every row needs one.")
    if spec is TABLE_KINDS["battles"]:
        table = _battles(table, name, labels or {})
    return table


def _renamed(table: pa.Table, spec: TableKind, name: str, columns: Mapping[str, str]) -> pa.Table:
    present = frozenset(table.column_names)
    names_text = ", ".join(table.column_names) or "none"
    columns = {**_synonyms(spec, present, columns), **columns}
    source = {theirs: ours for ours, theirs in columns.items()}
    for theirs in source:
        if theirs not in table.column_names:
            hint = suggestion(theirs, table.column_names, f"It has: {names_text}.")
            raise UserError(f"{name}: no column '{theirs}'.", hint=hint)
    replaced = set(columns) - set(source)
    source_names = [column for column in table.column_names if column not in replaced]
    table = table.select(source_names).rename_columns([source.get(column, column) for column in source_names])
    if len(set(table.column_names)) < table.num_columns:
        double = sorted({column for column in table.column_names if table.column_names.count(column) > 1})
        raise UserError(f"{name}: column '{double[0]}' appears twice.", hint="Give every column its own name.")
    missing = [column for column in spec.required if column not in table.column_names]
    if missing:
        raise UserError(
            f"{name}: no {'column' if len(missing) == 1 else 'columns'} {_quoted(missing)}. It has: {names_text}.",
            hint=f"Needed: {', '.join(spec.required)}. " + _how_named(spec, missing),
        )
    return table


def _quoted(names: Sequence[str]) -> str:
    *before, last = (f"'{name}'" for name in names)
    return f"{', '.join(before)} and {last}" if before else last


def _how_named(spec: TableKind, missing: Sequence[str]) -> str:
    option = f"If they have other names: --columns {','.join(f'{name}=NAME' for name in missing)}."
    if spec is TABLE_KINDS["board"]:  # no command has the option for it
        option = "Rename the column that holds it."
    synonyms = [f"{name} ({', '.join(spec.synonyms[name])})" for name in missing if name in spec.synonyms]
    return f"Other accepted names: {'; '.join(synonyms)}. {option}" if synonyms else option


def _synonyms(spec: TableKind, present: frozenset[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The file's names of required columns that are missing under their own names."""
    free = present - set(columns.values())
    missing = [name for name in spec.synonyms if name not in present and name not in columns]
    renames = {name: next((other for other in spec.synonyms[name] if other in free), "") for name in missing}
    return {name: other for name, other in renames.items() if other}


def _with(table: pa.Table, column: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, values)


def _text(values: Any, name: str, column: str) -> Any:
    """Dictionary-encoded text, one dictionary for all chunks; an empty string is null."""
    kind = values.type
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(values), TEXT)])
    if not pa.types.is_dictionary(kind):
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise UserError(f"{name}: column '{column}' holds {kind}, not text.", hint="Give plain names or numbers.")
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            values = values.cast(pa.string())
        values = values.dictionary_encode()
    if values.type != TEXT:
        values = values.cast(TEXT)
    values = values.unify_dictionaries()
    if values.num_chunks and pc.any(pc.equal(values.chunk(0).dictionary, "")).as_py():
        plain = values.cast(pa.string())
        return pc.if_else(pc.equal(plain, ""), pa.scalar(None, pa.string()), plain).dictionary_encode()
    return values


def _numbers(values: Any, name: str, column: str) -> Any:
    """Convert to float64; empty cells, the usual words for "missing" and NaN become null."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = _parsed(values, name, column)
    try:
        values = values.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UserError(f"{name}: column '{column}' holds {values.type}, not numbers.") from error
    _refuse(pc.is_inf(values), name, f"column '{column}' is infinite", "Give a finite number or leave the cell empty.")
    return pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)


def _parsed(values: Any, name: str, column: str) -> Any:
    trimmed = pc.utf8_trim_whitespace(values)
    missing = pc.is_in(trimmed, value_set=pa.array(["", *NOT_A_NUMBER], trimmed.type))
    trimmed = pc.if_else(missing, pa.scalar(None, trimmed.type), trimmed)
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        row = _first_not_a_number(trimmed)
        cell = trimmed[row].as_py()
        raise UserError(
            f"{name}, row {row + 1}: '{_short(cell)}' in column '{column}' is not a number.",
            hint="Leave the cell empty where there is no value.",
        ) from None


def _first_not_a_number(values: Any) -> int:
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            values.slice(low, middle - low).cast(pa.float64())
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _values(values: Any, name: str, bad_values: dict[int, str] | None) -> Any:
    """Convert ratings to numbers if all are numbers, else to nominal labels. A few words among numbers are an error."""
    try:
        return _numbers(values, name, "value")
    except UserError:
        if not pa.types.is_dictionary(values.type) and not pa.types.is_string(values.type):
            raise
        if not _mostly_numbers(values):
            return _text(values, name, "value")
        if bad_values is None:
            raise
        cells = values.cast(pa.string()).to_pylist()
        bad = {row: cell for row, cell in enumerate(cells) if cell is not None and not _is_value(cell)}
        bad_values.update({row + 1: _short(cell) for row, cell in bad.items()})
        texts = [None if row in bad else cell for row, cell in enumerate(cells)]
        return _numbers(pa.chunked_array([pa.array(texts, pa.string())]), name, "value")


def _is_value(cell: str) -> bool:
    """Is the cell a finite number, or a word for a missing one?"""
    return cell.strip() in ("", *NOT_A_NUMBER) or (_is_number(cell) and math.isfinite(float(cell)))


def _mostly_numbers(values: Any) -> bool:
    """Are more than half of the non-empty cells numbers?"""
    counts = {row["values"]: row["counts"] for row in pc.value_counts(values.cast(pa.string())).to_pylist()}
    filled = {word: number for word, number in counts.items() if word and word.strip() not in NOT_A_NUMBER}
    return bool(2 * sum(number for word, number in filled.items() if _is_number(word)) > sum(filled.values()))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _battles(table: pa.Table, name: str, labels: Mapping[str, str]) -> pa.Table:
    for theirs, ours in labels.items():
        if ours not in OUTCOMES:
            raise UserError(f"Label '{theirs}' cannot mean '{ours}'.", hint=f"Outcomes are: {', '.join(OUTCOMES)}.")
    table = _with(table, "winner", _relabelled(table["winner"], labels))
    _check_values(table, name, "winner", OUTCOMES)
    if "source" in table.column_names:
        _check_values(table, name, "source", ("human", "judge"))
    if "weight" in table.column_names:
        low = pc.less(table["weight"], 0.0)
        _refuse(pc.fill_null(low, True), name, "column 'weight' is empty or below 0", "Give a number, 0 or more.")
    return table


def _relabelled(values: Any, labels: Mapping[str, str]) -> Any:
    if not labels or not values.num_chunks:
        return values
    renamed = [labels.get(word, word) for word in values.chunk(0).dictionary.to_pylist()]
    indices = pa.chunked_array([chunk.indices for chunk in values.chunks], pa.int32())
    return pc.take(pa.array(renamed, pa.string()), indices).dictionary_encode()


def _check_values(table: pa.Table, name: str, column: str, choices: tuple[str, ...]) -> None:
    values = table[column]
    if not values.num_chunks:
        return
    if all(word in choices for word in values.chunk(0).dictionary.to_pylist()):
        return
    unknown = [word for word in pc.unique(values).to_pylist() if word is not None and word not in choices]
    for word in unknown[:1]:
        hint = suggestion(word, choices, f"Known: {', '.join(choices)}.")
        if column == "winner":
            hint += f" If it means one of these: --labels '{word}=left' (or right, tie, both_bad)."
            hint = _model_hint(table, word) or hint
        more_words = [f"'{_short(other)}'" for other in unknown[1:]]
        also = f" (and {', '.join(more_words[:_WORDS_LISTED])})" if more_words else ""
        _refuse(pc.equal(values.cast(pa.string()), word), name, f"unknown {column} '{_short(word)}'{also}", hint)


def _model_hint(table: pa.Table, word: str) -> str:
    """A hint for a winner that is given as a model's name; empty for other words."""
    for side in ("left", "right"):
        models = table[side].chunk(0).dictionary.to_pylist() if table[side].num_chunks else []
        if word.casefold() in {str(model).casefold() for model in models}:
            return f"'{_short(word)}' is a model: write 'left' or 'right', the side that it is on."
    return ""


def _refuse(bad: Any, name: str, problem: str, hint: str) -> None:
    row = pc.index(bad, pa.scalar(True)).as_py()
    if row >= 0:
        raise UserError(f"{name}, row {row + 1}: {problem}.", hint=hint)


def _short(cell: str, limit: int = 60) -> str:
    return cell if len(cell) <= limit else cell[: limit - 1] + "…"
