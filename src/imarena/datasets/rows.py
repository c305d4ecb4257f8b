"""Read the rows of tables in any supported format: Parquet, JSON Lines, a JSON list, CSV or TSV."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from imarena.core import Importable, Intake, Skip, UserError, first_line, missing_text
from imarena.core.records import ImageRef
from imarena.datasets.folder import Folder, read_json, read_jsonl, stream_table
from imarena.datasets.hf_parquet import parquet_rows, picture_bytes
from imarena.datasets.imported import BAD_ROW, check_storable, keep_file, naming, one_line

R = TypeVar("R")
"""The values of a row."""
ENDINGS = (".parquet", ".jsonl", ".json", ".csv", ".tsv")


def files_of(folder: Folder) -> list[Path]:
    """The table files below a folder, by their ending, sorted by name. Raises if there are none."""
    files = [file for file in folder.walk() if file.suffix.lower() in ENDINGS]
    if not files:
        raise UserError(f"{folder.root} holds no rows.", hint=f"Known endings: {', '.join(ENDINGS)}.")
    return files


def links_outside(folder: Folder) -> Iterator[Skip]:
    """Report table files that are links out of the folder."""
    return (skip for skip in folder.unexpected_files() if Path(skip.file).suffix.lower() in ENDINGS)


def rows_of(
    folder: Folder, file: Path, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Iterator[tuple[str, dict[str, Any]] | Skip]:
    """(location, row) for every row that has the required fields; the others become a `Skip`."""
    name = folder.name(file)
    try:
        for row in labelled_rows(file, name, required, optional):
            if isinstance(row, Skip):
                yield row
                continue
            where, values = row
            try:
                if file.suffix.lower() in {".json", ".jsonl"}:
                    check_storable(values)
            except UserError as error:
                yield Skip(name, where, str(error))
                continue
            missing = [field for field in required if field not in values]
            if missing:
                yield Skip(name, where, missing_text("field", missing))
                continue
            yield where, values
    except UserError as error:
        reason = " ".join(str(error).splitlines()).removeprefix(name).removeprefix(":").strip()
        yield Skip(name, "", reason)


def labelled_rows(
    file: Path, name: str, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> Iterator[tuple[str, dict[str, Any]] | Skip]:
    """(location, row) for every row, as in the file; a line that is not a row becomes a `Skip`."""
    ending = file.suffix.lower()
    if ending == ".parquet":
        for number, row in parquet_rows(file, name, required, optional):
            yield f"row {number}", row
    elif ending == ".json":
        yield from _entries(file, name)
    else:
        tab = "\t" if ending == ".tsv" else ","
        lines = (
            read_jsonl(file, name) if ending == ".jsonl" else stream_table(file, name, delimiter=tab, required=required)
        )
        for line in lines:
            yield line if isinstance(line, Skip) else (f"line {line[0]}", dict(line[1]))


def read_each(
    rows: Iterable[tuple[str, R] | Skip],
    name: str,
    parse: Callable[[str, R], Iterable[Importable]],
    reason: Callable[[Exception], str] = one_line,
) -> Iterator[Importable]:
    """Yield what `parse` makes of each (location, row); a row for which it raises becomes a `Skip`."""
    for row in rows:
        if isinstance(row, Skip):
            yield row
            continue
        try:
            yield from parse(*row)
        except BAD_ROW as error:
            yield Skip(name, row[0], reason(error))


def _entries(file: Path, name: str) -> Iterator[tuple[str, dict[str, Any]] | Skip]:
    content = read_json(file)
    if not isinstance(content, list):
        raise UserError(f"expected a list of rows, got {type(content).__name__}")
    if not content:
        raise UserError("the list is empty")
    for number, row in enumerate(content):
        if isinstance(row, dict):
            yield f"entry {number}", row
        else:
            yield Skip(name, f"entry {number}", f"expected an object, got {type(row).__name__}")


def required_text(row: Mapping[str, Any], field: str) -> str:
    """The required text in a field. Raises `UserError` if it is missing or not text."""
    value = row.get(field)
    if not isinstance(value, str) or not value.strip():
        raise UserError(f"the field {field} is {value!r}, not a text" if value else f"the field {field} is empty")
    return value


def required_picture(row: Mapping[str, Any], field: str, folder: Folder, intake: Intake) -> ImageRef:
    """The required image in a cell, or in the file that the cell names. Raises `UserError` if it is missing."""
    try:
        return intake.keep(picture_bytes(row.get(field), folder), name=field)
    except UserError as error:
        reason = first_line(error)
        raise UserError(reason if reason.startswith(field) else f"{field}: {reason}") from error


def find_picture(path: str, folder: Folder, intake: Intake) -> ImageRef | None:
    """The image of that name, or None if the folder has no such file. Raises if it cannot be used."""
    if not folder.has(path):
        return None
    with naming(path):
        return keep_file(intake, folder, path)
