"""Read folders from other projects: never open a file outside the root, and name file and row in every error.

Text is UTF-8 (with or without a byte order mark) or UTF-16 with one. In tables and JSON Lines, a line in another
encoding is reported and skipped; the other lines are read.
"""

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote, unquote

from imarena.core import InvalidImage, Skip, UserError, first_line, missing_text
from imarena.images import read_image_file

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif"})

MAX_CELL = 131_072
"""Maximum number of characters in a table cell, the limit of Python's CSV reader."""
_LONGEST_LINE = 4 << 20
"""Maximum number of characters in a line of a CSV file; a longer one would fill the memory before it is parsed."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_DEVICE_NAMES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))})


class Folder:
    """The folder (or single file) to import. Paths that lead out of it are rejected."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise UserError(f"{path} does not exist.", hint="Check the path.")
        self.root = path.resolve()
        self.base = self.root if self.root.is_dir() else self.root.parent

    def file(self, relative: str | Path) -> Path:
        """A file below the root; raises `UserError` if it is outside the folder (`..`, an absolute path, a link)."""
        text = str(relative)
        if "\x00" in text:
            raise UserError(f"the path {text!r} is not a path")
        candidate = self.base / relative
        try:
            resolved = candidate.resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UserError(f"the path {text[:200]!a} cannot be followed ({type(error).__name__})") from error
        if not resolved.is_relative_to(self.base):
            how = "is a link that leads" if ".." not in Path(text).parts and not Path(text).is_absolute() else "leads"
            raise UserError(f"the path '{text}' {how} out of the folder")
        return resolved

    def name(self, path: Path) -> str:
        """The name of a file in messages: its path below the root."""
        try:
            return str(path.relative_to(self.base))
        except ValueError:
            return path.name

    def walk(self, pattern: str = "*") -> Iterator[Path]:
        """Files below the root that match, sorted by name, without links out of the folder."""
        if self.root.is_file():
            yield self.root
            return
        for path in sorted(self.root.rglob(pattern)):
            if path.is_file() and path.resolve().is_relative_to(self.base):
                yield path

    def unexpected_files(self, pattern: str = "*") -> Iterator[Skip]:
        """Report what `walk` left out: links that lead out of the folder, or nowhere."""
        for path in sorted(self.root.rglob(pattern)) if self.root.is_dir() else ():
            if path.is_symlink():
                try:
                    self.file(path.relative_to(self.root))
                except UserError as error:
                    yield Skip(self.name(path), "", first_line(error))

    def images(self, below: Path | None = None) -> Iterator[Path]:
        """Image files directly in a folder, sorted by name. Open them with `read_bytes`, which rejects links out."""
        for path in sorted((below or self.root).iterdir()):
            if path.suffix.lower() in IMAGE_SUFFIXES and (path.is_file() or path.is_symlink()):
                yield path

    def read_bytes(self, relative: str | Path) -> bytes:
        """The bytes of a file below the root. Raises `UserError` if it is missing."""
        if not self.has(relative):
            raise UserError(f"the file '{str(relative)[:200]}' is not there")
        path = self.file(relative)
        try:
            return read_image_file(path)
        except InvalidImage as error:
            raise UserError(f"the file '{str(relative)[:200]}': {error}") from error

    def has(self, relative: str | Path) -> bool:
        """Is there a file of that name? Raises `UserError` if the name leads out of the folder."""
        try:
            return self.file(relative).is_file()
        except OSError as error:  # a name that is too long for the file system
            raise UserError(f"the path '{str(relative)[:40]}...' cannot be followed ({error.strerror})") from error


def decode_text(data: bytes) -> str:
    """Decode UTF-8 or UTF-16 (with a byte order mark); anything else raises `UserError` with the line."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"line {line} is not {'UTF-16' if marked else 'UTF-8'} (byte 0x{data[error.start]:02x})",
            hint="Save the file as UTF-8; mixed encodings cannot be read safely.",
        ) from error


def read_json(path: Path) -> Any:
    """Read a JSON document; raises `UserError` with the line of an error."""
    text = decode_text(path.read_bytes())
    if not text.strip():
        raise UserError("the file is empty")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"line {error.lineno} is not JSON ({error.msg})") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number with thousands of digits
        raise UserError(f"not JSON that can be read ({type(error).__name__})") from error


def read_jsonl(path: Path, name: str) -> Iterator[tuple[int, dict[str, Any]] | Skip]:
    """Stream (line number, object) for each line of a JSON Lines file; a bad line becomes a `Skip`."""
    empty = True
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            empty = False
            try:
                value = json.loads(decode_text(raw))
            except UserError:
                yield Skip(name, f"line {number}", "not UTF-8")
                continue
            except (RecursionError, ValueError) as error:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
                yield Skip(name, f"line {number}", f"not JSON ({reason})")
                continue
            if not isinstance(value, dict):
                yield Skip(name, f"line {number}", f"expected an object, got {type(value).__name__}")
                continue
            yield number, value
    if empty:
        yield Skip(name, "", "the file is empty")


def stream_table(
    path: Path, name: str, *, delimiter: str = ",", required: tuple[str, ...] = ()
) -> Iterator[tuple[int, dict[str, str]] | Skip]:
    """Stream (line number, row) of a CSV or TSV file with a header; a bad row becomes a `Skip`.

    Raises `UserError` if the whole file cannot be used: it is empty, or a column is missing or appears twice.
    """
    with open_text(path) as text:
        try:
            yield from _table_rows(csv.DictReader(_bounded_lines(text), delimiter=delimiter), name, required)
        except UnicodeDecodeError as error:
            raise UserError(f"the file starts like UTF-16 but cannot be read as UTF-16 ({error.reason})") from error
        except csv.Error as error:
            raise UserError(f"not a table that can be read ({error})") from error


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file in UTF-8, or in UTF-16 with a byte order mark; line ends are unchanged.

    A byte that is not UTF-8 becomes a lone surrogate, so that its line can be reported and skipped.
    """
    with path.open("rb") as file:
        marked = file.read(2) in {b"\xff\xfe", b"\xfe\xff"}
    encoding, errors = ("utf-16", "strict") if marked else ("utf-8-sig", "surrogateescape")
    with path.open(encoding=encoding, errors=errors, newline="") as text:
        yield text


def table_header(path: Path, name: str, delimiter: str) -> list[str]:
    """The column names of a CSV or TSV file. Raises `UserError` if there are none or one appears twice."""
    with open_text(path) as text:
        try:
            return _header(csv.DictReader(_bounded_lines(text), delimiter=delimiter))
        except UserError as error:
            raise UserError(f"{name}: {first_line(error)}.", hint="Give every column its own name.") from error
        except (csv.Error, UnicodeDecodeError) as error:
            raise UserError(f"{name}: its column names cannot be read ({error}).") from error


def _bounded_lines(text: TextIO) -> Iterator[str]:
    while line := text.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise csv.Error(f"a line is longer than {_LONGEST_LINE:,} characters")
        yield line


def _header(reader: "csv.DictReader[str]") -> list[str]:
    if not reader.fieldnames:
        raise UserError("the file is empty")
    reader.fieldnames = header = [column.strip() for column in reader.fieldnames]
    doubled = {column for column in header if header.count(column) > 1}
    if doubled:
        raise UserError(f"the column {', '.join(sorted(doubled))} appears twice")
    return header


def _table_rows(
    reader: "csv.DictReader[str]", name: str, required: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, str]] | Skip]:
    header = _header(reader)
    missing = [column for column in required if column not in header]
    if missing:
        raise UserError(missing_text("column", missing), hint=f"The file has: {', '.join(header)}.")
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            why = "a cell is too long, or a quote is not closed" if "field limit" in str(error) else str(error)
            yield Skip(name, f"line {reader.line_num}", f"{why}; the rest of the file is not read")
            return
        if row is None:
            return
        where = f"line {reader.line_num}"
        cells = [cell for cell in row.values() if isinstance(cell, str)]
        if None in row:
            yield Skip(name, where, f"the row has more cells than the header's {len(header)}")
        elif len(cells) < len(header):
            yield Skip(name, where, f"the row has {len(cells)} cells, the header {len(header)}")
        elif any(_SURROGATE.search(cell) for cell in cells):
            yield Skip(name, where, "not UTF-8; save the file in one encoding")
        else:
            yield reader.line_num, dict(row)


# ---------------------------------------------------------------- names as file names


def escape_name(name: str) -> str:
    """Encode any name as one portable path segment; `unescape_name` decodes it. Letters, digits, - and _ are kept."""
    escaped = quote(name.encode("utf-8", "surrogatepass"), safe="").replace("~", "%7E")
    if not escaped:
        return "%"
    if escaped.startswith(".") or escaped.endswith("."):
        escaped = escaped.replace(".", "%2E")
    if escaped.split(".")[0].upper() in _DEVICE_NAMES:
        return f"%{ord(escaped[0]):02X}{escaped[1:]}"
    return escaped


def unescape_name(segment: str) -> str:
    """Decode a path segment from `escape_name`."""
    return "" if segment == "%" else unquote(segment, errors="surrogatepass")


_UNSAFE = re.compile(r'[/\\:*?"<>|%\x00-\x1f\x7f]')
_MOST_BYTES = 120


def is_plain(name: str) -> bool:
    """Can the name be a path segment without changes, on any system?"""
    stem = name.split(".", maxsplit=1)[0]
    reserved = stem.isascii() and stem.isalnum() and escape_name(stem) != stem  # CON, NUL, COM1, ...
    return (
        bool(name)
        and not reserved
        and name == name.strip(" .")
        and name.isprintable()
        and not _UNSAFE.search(name)
        and len(name.encode("utf-8", "surrogatepass")) <= _MOST_BYTES
    )


def safe_name(name: str) -> str:
    """Turn a name into one safe path segment. Different names give different segments; plain names are unchanged.

    Other names are percent-encoded, which `unescape_name` undoes; names that are too long become a hash.
    """
    if is_plain(name):
        return name
    encoded = escape_name(name)
    if len(encoded) <= _MOST_BYTES:
        return encoded
    return "%" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
