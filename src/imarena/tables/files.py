"""Table files to raw Arrow tables: CSV, TSV, JSON Lines, Parquet, by their file name extension."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from imarena.core import UserError

HEADER_BYTES = 1 << 20
BLOCK_BYTES = 16 << 20
BATCH_BYTES, BUFFER_BYTES, BATCH_ROWS = 4 << 20, 1 << 20, 1 << 16
"""Of a file that is read some rows at a time."""


def read_file(path: Path, *, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:
    """Read one file. Columns in `text` are never guessed to be numbers; `wanted` narrows what is read."""
    reader = _reader(path)
    _check_content(path)
    try:
        return reader(path, text, wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: {_first_line(error)}.", hint="The file must be UTF-8 and every row complete."
        ) from error


def read_batches(path: Path, *, text: frozenset[str]) -> Iterator[pa.Table]:
    """The same rows, some at a time; JSON Lines all at once. Errors are those of Arrow, and name no row."""
    reader = _reader(path)
    _check_content(path)
    if reader is _parquet:
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            named = [name for name in file.schema_arrow.names if name in text]
        with parquet.ParquetFile(path, read_dictionary=named, buffer_size=BUFFER_BYTES) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield pa.Table.from_batches([batch])
    elif reader is _jsonl:
        yield _jsonl(path, text, None)
    else:
        from pyarrow import csv as arrow_csv

        options = _csv_options(path, text, None, "," if reader is _csv else "\t")
        options["read_options"] = arrow_csv.ReadOptions(block_size=BATCH_BYTES)
        with arrow_csv.open_csv(path, **options) as batches:
            for batch in batches:
                yield pa.Table.from_batches([batch])


def _check_content(path: Path) -> None:
    if not path.is_file():
        raise UserError(f"No file {path}.", hint="Check the path.")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty.", hint="A table needs a header and rows.")


def column_names(path: Path) -> list[str]:
    """The columns of a file, without reading its rows (JSON Lines are read)."""
    if not path.is_file():
        raise UserError(f"No file {path}.", hint="Check the path.")
    reader = _reader(path)
    if reader is _csv or reader is _tsv:
        return _header(path, "," if reader is _csv else "\t")
    return list(read_file(path, text=frozenset(), wanted=None).column_names)


def _reader(path: Path) -> Callable[[Path, frozenset[str], frozenset[str] | None], pa.Table]:
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    if endings and endings[-1] == ".gz":
        endings = endings[:-1]
    ending = endings[-1] if endings else ""
    readers = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}
    if ending not in readers:
        raise UserError(f"{path}: unknown format.", hint=f"Known endings: {', '.join(readers)}.")
    return readers[ending]


def _csv_options(path: Path, text: frozenset[str], wanted: frozenset[str] | None, delimiter: str) -> dict[str, Any]:
    from pyarrow import csv as arrow_csv

    names = _header(path, delimiter)
    kept = [name for name in names if wanted is None or name in wanted]
    convert = arrow_csv.ConvertOptions(
        column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in kept if name in text},
        include_columns=kept,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    return {"parse_options": parse, "convert_options": convert}


def _csv(path: Path, text: frozenset[str], wanted: frozenset[str] | None, delimiter: str = ",") -> pa.Table:
    from pyarrow import csv as arrow_csv

    chosen = _csv_options(path, text, wanted, delimiter)

    def read(threads: bool) -> pa.Table:
        options = arrow_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=threads)
        return arrow_csv.read_csv(path, read_options=options, **chosen)

    try:
        return read(threads=True)
    except pa.ArrowInvalid:
        return read(threads=False)  # one thread counts rows, so its error names the line of the file


def _tsv(path: Path, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:
    return _csv(path, text, wanted, delimiter="\t")


def _header(path: Path, delimiter: str) -> list[str]:
    with pa.input_stream(str(path)) as stream:
        start = stream.read(HEADER_BYTES)
    line = start.split(b"\n", 1)[0].decode("utf-8-sig")
    # a file with bare carriage returns has one line only: its header ends at the first of them
    names = next(csv.reader(line.split("\r", 1)[:1], delimiter=delimiter), [])
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise UserError(f"{path}: column '{doubled[0]}' appears twice.", hint="Give every column its own name.")
    return names


def _jsonl(path: Path, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:  # noqa: ARG001
    from pyarrow import json as arrow_json

    with pa.input_stream(str(path)) as stream:
        table = arrow_json.read_json(stream, read_options=arrow_json.ReadOptions(block_size=BLOCK_BYTES))
    return table if wanted is None else table.select([name for name in table.column_names if name in wanted])


def _parquet(path: Path, text: frozenset[str], wanted: frozenset[str] | None) -> pa.Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
    kept = [name for name in names if wanted is None or name in wanted]
    return parquet.read_table(path, columns=kept, read_dictionary=[name for name in kept if name in text])


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0].replace("Row #", "line ")
