"""Read table files as raw Arrow tables: CSV, TSV, JSON Lines or Parquet, by file name extension."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from imarena.core import UserError, suggestion

HEADER_BYTES = 1 << 20
BLOCK_BYTES = 16 << 20
BATCH_BYTES, BUFFER_BYTES, BATCH_ROWS = 4 << 20, 1 << 20, 1 << 16
"""Limits for reading a file some rows at a time."""


@dataclass(frozen=True)
class RenamedFile:
    """A table file whose columns have other names: `columns` maps our name to the file's."""

    path: Path
    columns: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def stem(self) -> str:
        return self.path.stem

    def ours(self, names: Iterable[str]) -> dict[str, str]:
        """Our names of these columns of the file, without those that another column replaces."""
        ours = {theirs: name for name, theirs in self.columns.items()}
        return {name: ours.get(name, name) for name in names if name in ours or name not in self.columns}


TablePath = Path | RenamedFile
"""A table file, with its own column names or with ours."""


def rename_columns(files: Iterable[Path], columns: Mapping[str, str]) -> list[TablePath]:
    """Give each file the names of `columns` (ours to theirs) for the columns that it has; each must be in a file."""
    paths = list(files)
    if not columns:
        return list(paths)
    present = {path: column_names(path) for path in paths}
    for theirs in columns.values():
        if not any(theirs in names for names in present.values()):
            every = [name for names in present.values() for name in names]
            where = " nor ".join(str(path) for path in paths)
            raise UserError(
                f"{where}: no column '{theirs}'.", hint=suggestion(theirs, every, f"It has: {', '.join(every)}.")
            )
    return [
        RenamedFile(path, {ours: theirs for ours, theirs in columns.items() if theirs in names})
        for path, names in present.items()
    ]


def read_file(path: TablePath, *, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:
    """Read one file. Columns in `text` are never parsed as numbers; `wanted` selects the columns to read."""
    if isinstance(path, RenamedFile):
        theirs = frozenset(path.columns.get(name, name) for name in text)
        table = read_file(path.path, text=theirs, wanted=None)
        names = {name: ours for name, ours in path.ours(table.column_names).items() if wanted is None or ours in wanted}
        return table.select(list(names)).rename_columns(list(names.values()))
    reader = _reader(path)
    _check_content(path)
    try:
        return reader(path, text, wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OSError) as error:
        reason = _first_line(error)
        if "invalid UTF8" in reason:
            row = re.search(r"line \d+", reason)
            raise _not_utf8(path, f" ({row[0]})" if row else "") from error
        raise UserError(f"{path}: {reason}.", hint="Every row must be complete.") from error


def read_batches(path: Path, *, text: frozenset[str]) -> Iterator[pa.Table]:
    """The same rows, some at a time (JSON Lines all at once). Errors are Arrow's and do not name the row."""
    reader = _reader(path)
    _check_content(path)
    if reader is _parquet:
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            text_columns = [name for name in file.schema_arrow.names if name in text]
        with parquet.ParquetFile(path, read_dictionary=text_columns, buffer_size=BUFFER_BYTES) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield pa.Table.from_batches([batch])
    elif reader is _jsonl:
        yield _jsonl(path, text, None)
    else:
        from pyarrow import csv as arrow_csv

        options = _csv_options(path, text, None)
        options["read_options"] = arrow_csv.ReadOptions(block_size=BATCH_BYTES)
        with arrow_csv.open_csv(path, **options) as batches:
            for batch in batches:
                yield pa.Table.from_batches([batch])


def _check_content(path: Path) -> None:
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty.", hint="A table needs a header and rows.")


def column_names(path: TablePath) -> list[str]:
    """The columns of a CSV or TSV file without reading its rows; other files are read."""
    if isinstance(path, RenamedFile):
        return list(path.ours(column_names(path.path)).values())
    if _reader(path) is _csv:
        return _header(path)[0]
    return list(read_file(path, text=frozenset(), wanted=None).column_names)


def _reader(path: Path) -> Callable[[Path, frozenset[str], frozenset[str] | None], pa.Table]:
    if path.is_dir():
        raise UserError(f"'{path}' is a folder.", hint="Name a file.")
    if not path.is_file():
        raise UserError(f"No file {path}.", hint="Check the path.")
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    if endings and endings[-1] == ".gz":
        endings = endings[:-1]
    ending = endings[-1] if endings else ""
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}
    if ending not in readers:
        raise UserError(f"{path}: unknown format.", hint=f"Known endings: {', '.join(readers)}.")
    return readers[ending]


def _csv_options(path: Path, text: frozenset[str], wanted: frozenset[str] | None) -> dict[str, Any]:
    from pyarrow import csv as arrow_csv

    names, delimiter = _header(path)
    columns = [name for name in names if wanted is None or name in wanted]
    convert = arrow_csv.ConvertOptions(
        column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in columns if name in text},
        include_columns=columns,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    return {"parse_options": parse, "convert_options": convert}


def _csv(path: Path, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:
    from pyarrow import csv as arrow_csv

    settings = _csv_options(path, text, wanted)

    def read_csv(threads: bool) -> pa.Table:
        options = arrow_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=threads)
        return arrow_csv.read_csv(path, read_options=options, **settings)

    try:
        return read_csv(threads=True)
    except pa.ArrowInvalid:
        return read_csv(threads=False)  # one thread counts rows, so its error names the line of the file


def _header(path: Path) -> tuple[list[str], str]:
    """The columns of a CSV or TSV file, and their delimiter (in CSV: comma, semicolon or tab)."""
    with pa.input_stream(str(path)) as stream:
        start = stream.read(HEADER_BYTES)
    try:
        line = start.split(b"\n", 1)[0].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    delimiter = "\t" if ".tsv" in [ending.lower() for ending in path.suffixes[-2:]] else csv_delimiter(line)
    # a file with bare carriage returns has only one line: the header ends at the first carriage return
    names = next(csv.reader(line.split("\r", 1)[:1], delimiter=delimiter), [])
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise UserError(f"{path}: column '{doubled[0]}' appears twice.", hint="Give every column its own name.")
    return names, delimiter


def csv_delimiter(header: str) -> str:
    """The delimiter of a CSV file: a comma, or a semicolon or tab if the header has these instead."""
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def _not_utf8(path: Path, place: str = "") -> UserError:
    return UserError(f"{path} is not UTF-8{place}.", hint="Save it as CSV UTF-8.")


def _jsonl(path: Path, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:  # noqa: ARG001
    from pyarrow import json as arrow_json

    with pa.input_stream(str(path)) as stream:
        table = arrow_json.read_json(stream, read_options=arrow_json.ReadOptions(block_size=BLOCK_BYTES))
    return table if wanted is None else table.select([name for name in table.column_names if name in wanted])


def _parquet(path: Path, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
    columns = [name for name in names if wanted is None or name in wanted]
    return parquet.read_table(path, columns=columns, read_dictionary=[name for name in columns if name in text])


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0].replace("Row #", "line ")
