"""The files of a sheet: CSV, XLSX, or one HTML page that opens without a server. The suffix decides the format."""

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from imarena.core import MissingExtra, UserError
from imarena.reports.tables import csv_rows, render_template

COLUMNS = (
    "assignment", "rater", "item", "turn", "instruction", "source_images", "reference_images", "left_image",
    "right_image", "winner",
)  # fmt: skip
ANSWER_WORDS = {"left": "Left is better", "right": "Right is better", "tie": "Tie", "both_bad": "Both bad"}
"""The button texts of the voting page. Sheets accept these words too."""
FIRST_SHEET_ROW = 2
"""The number that a spreadsheet gives the first row below the header."""
FORMATS = (".csv", ".xlsx", ".html")
MOST_UNPACKED = 200_000_000
"""Size limit in bytes: a returned XLSX is an untrusted ZIP file."""
_WIDTHS = {"instruction": 60, "winner": 18, "rater": 16}
_IMAGES = ("source_images", "reference_images", "left_image", "right_image")
_ANSWER = COLUMNS.index("winner")

_SheetRow = Sequence[object]


def require_sheet_format(path: Path) -> str:
    """Return the format of a sheet from its file's suffix."""
    suffix = path.suffix.lower() or ".csv"
    if suffix not in FORMATS:
        raise UserError(f"{path.name} is no sheet.", hint=f"Name it with one of {', '.join(FORMATS)}.")
    return suffix


def write_sheet_file(path: Path, suffix: str, rows: Iterable[_SheetRow]) -> None:
    """Write rows of `COLUMNS` in a format."""
    if suffix == ".xlsx":
        _write_xlsx(path, rows)
    elif suffix == ".html":
        path.write_text(_page(rows), encoding="utf-8")
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            file.writelines(csv_rows(COLUMNS, rows))


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("An XLSX sheet", "sheets") from error
    return openpyxl


def _write_xlsx(path: Path, rows: Iterable[_SheetRow]) -> None:
    """Write all cells as text, whatever their first character; `winner` has a drop-down list."""
    excel = _openpyxl()
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.datavalidation import DataValidation

    book = excel.Workbook()
    sheet = book.active
    sheet.title = "votes"
    for number, row in enumerate(chain([COLUMNS], rows), start=1):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(number, column)
            cell.value = ILLEGAL_CHARACTERS_RE.sub("", str(value)) if isinstance(value, str) else value
            if isinstance(value, str) and value:
                cell.data_type = "s"  # else text that starts with = would become a formula
            if COLUMNS[column - 1] == "instruction":
                cell.alignment = Alignment(wrap_text=True, vertical="top")
            elif number > 1 and COLUMNS[column - 1] in _IMAGES and "/" in str(value) and " " not in str(value):
                cell.hyperlink = str(value)
    for column, name in enumerate(COLUMNS, start=1):
        sheet.cell(1, column).font = Font(bold=True)
        letter = sheet.cell(1, column).column_letter
        sheet.column_dimensions[letter].width = _WIDTHS.get(name, 14)
    choice_list = DataValidation(type="list", formula1=f'"{",".join(ANSWER_WORDS.values())}"', allow_blank=True)
    sheet.add_data_validation(choice_list)
    letter = sheet.cell(1, _ANSWER + 1).column_letter
    choice_list.add(f"{letter}{FIRST_SHEET_ROW}:{letter}{max(FIRST_SHEET_ROW, sheet.max_row)}")
    sheet.freeze_panes = "A2"
    book.save(path)


def read_xlsx(path: Path) -> Iterator[list[str]]:
    """Yield the rows of the first sheet as strings, the header first."""
    excel = _openpyxl()
    try:
        _check_size(path)
        book = excel.load_workbook(path, read_only=True, data_only=True)
        for row in book.worksheets[0].iter_rows(values_only=True):
            yield [_text(value) for value in row]
        book.close()
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{path} cannot be read as XLSX.", hint="Save it once more, or as CSV UTF-8.") from error


def _check_size(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > MOST_UNPACKED:
        raise UserError(f"{path} holds {unpacked:,} bytes: too much for a sheet.", hint="Nothing was read.")


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _page(rows: Iterable[_SheetRow]) -> str:
    """Write one page with numbered images and the four choices; its button saves the answers as CSV."""
    entries = []
    for row in rows:
        cells = dict(zip(COLUMNS, map(str, row), strict=True))
        labels = {name: name.removesuffix("_images").removesuffix("_image").capitalize() for name in _IMAGES}
        pictures = [(label, file) for name, label in labels.items() for file in cells[name].split()]
        entries.append({**cells, "pictures": pictures})
    return render_template("vote_sheet.html.j2", rows=entries, choices=ANSWER_WORDS, first=FIRST_SHEET_ROW)
