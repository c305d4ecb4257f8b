"""Recognise workbooks, archives, images and other files by their first bytes, and say what to do with them."""

import codecs
from pathlib import Path

from imarena.core import UserError

_SAMPLE = 1 << 16
_PICTURE = "Name the folder that holds the images, or a table with a column that names them."
_UNPACK = "Unpack it and name the folder or the table that is inside."
_EXPORT = "Export the table of items as CSV (UTF-8), JSON Lines or Parquet."
_SAVE = "Save the sheet as CSV (UTF-8) and name that file."
_PARQUET = b"PAR1"
_UNKNOWN = ("a binary file of a kind that is not known", _EXPORT)
_CONTROL = bytes({*range(32), 127} - {*b"\t\n\r"})

_FURTHER_IN = ((8, b"WEBP", "a WebP image", _PICTURE), (257, b"ustar", "a tar archive", _UNPACK))
_KINDS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook or Office document", _SAVE),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image", _PICTURE),
    (0, b"\xff\xd8\xff", "a JPEG image", _PICTURE),
    (0, b"GIF87a", "a GIF image", _PICTURE),
    (0, b"GIF89a", "a GIF image", _PICTURE),
    (0, b"II*\x00", "a TIFF image", _PICTURE),
    (0, b"MM\x00*", "a TIFF image", _PICTURE),
    (0, b"%PDF-", "a PDF document", _EXPORT),
    (0, b"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (0, b"\x1f\x8b", "a gzip file", "Unpack it (gunzip) and name the file that comes out."),
    (0, b"BZh", "a bzip2 file", _UNPACK),
    (0, b"\xfd7zXZ\x00", "an xz file", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file", _UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (0, b"ARROW1\x00\x00", "an Arrow file", "Write it as Parquet: Dataset.to_parquet('items.parquet')."),
    (0, b"\xff\xff\xff\xff", "an Arrow stream", "Write it as Parquet: Dataset.to_parquet('items.parquet')."),
    (0, b"ORC", "an ORC file", _EXPORT),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (0, b"\x93NUMPY", "a NumPy array", _EXPORT),
    (0, b"\x80\x04\x95", "a Python pickle, which is never opened because it can run code", _EXPORT),
    (0, b"\x80\x05\x95", "a Python pickle, which is never opened because it can run code", _EXPORT),
    (0, b"version https://git-lfs", "a Git LFS pointer, not the file itself", "Fetch the file: git lfs pull."),
    (0, b"\xff\xfe\x00\x00", "text in UTF-32", "Save it as UTF-8."),
    (0, b"\x00\x00\xfe\xff", "text in UTF-32", "Save it as UTF-8."),
)  # fmt: skip
_INSIDE_ZIP = (
    (b"xl/", "an Excel workbook", _SAVE),
    (b"opendocument.spreadsheet", "a LibreOffice spreadsheet", _SAVE),
    (b"word/", "a Word document", _EXPORT),
)


def check_table_file(path: Path, name: str, *, parquet: bool) -> None:
    """Raise `UserError` if the file is empty or not a table; the error says what the file is and what to do."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
    if not sample:
        raise UserError(f"{name}: the file is empty.", hint="A table needs column names and rows.")
    kind = _recognise(sample)
    if sample.startswith(_PARQUET):
        if parquet:
            return
        kind = ("a Parquet file", "Give it the ending .parquet.")
    elif parquet and kind is None:
        kind = ("not a Parquet file", "Check where it came from: a Parquet file starts with the bytes PAR1.")
    if kind is not None:
        raise UserError(f"{name} is {kind[0]}.", hint=kind[1])


def _recognise(sample: bytes) -> tuple[str, str] | None:
    """What the file is and what to do with it; None for text."""
    if sample.startswith(b"PK\x03\x04"):
        inside = next(((what, step) for mark, what, step in _INSIDE_ZIP if mark in sample), None)
        return inside or ("a ZIP archive", _UNPACK)
    marked = next((kind for kind in (*_FURTHER_IN, *_KINDS) if sample.startswith(kind[1], kind[0])), None)
    if marked is not None:
        return marked[2], marked[3]
    if sample.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        return "an HTML page, not a table", "It may be the page of a download that failed: fetch the file again."
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None if _is_text(sample, "utf-16") else _UNKNOWN
    if b"\x00" not in sample:  # Latin-1 and similar are text too, and text has hardly any control characters
        binary = not _is_text(sample, "utf-8") and len(sample.translate(None, _CONTROL)) < 0.99 * len(sample)
        return _UNKNOWN if binary else None
    halves = (sample[::2], sample[1::2])
    if any(half.count(0) > 0.8 * len(half) for half in halves):
        return "text in UTF-16 without a mark", "Save it as UTF-8."
    if _is_text(sample, "utf-8"):
        return None  # text may contain a NUL character
    return _UNKNOWN


def _is_text(sample: bytes, encoding: str) -> bool:
    """Is this text in the given encoding? The last character may be cut off."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
