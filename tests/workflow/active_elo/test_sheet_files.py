"""Sheets as XLSX and as a page: written, filled in as a person would, and read again; and hostile ones."""

import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Vote
from imarena.reports import sheet_files
from imarena.routing import AssignmentRequest
from imarena.storage import Workspace
from imarena.workflows.active_elo.assigning import assign_battles
from imarena.workflows.active_elo.ingesting import ingest_votes
from imarena.workflows.active_elo.sheets import write_sheet
from tests.workflow.active_elo.test_sheets import arena

__all__ = ["arena"]


def asked(workspace: Workspace, path: Path) -> None:
    assign_battles(
        workspace, "robot", AssignmentRequest(budget=6, policy="random", raters=("ann", "bob"), repeats=0), path
    )


def rows_of(path: Path) -> tuple[Any, list[Any]]:
    book = openpyxl.load_workbook(path)
    return book, list(book.worksheets[0].iter_rows())


def test_an_xlsx_sheet_is_filled_in_and_read(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    asked(arena, path)
    book, rows = rows_of(path)
    names = [cell.value for cell in rows[0]]
    assert names == list(sheet_files.COLUMNS)
    assert all(cell.data_type != "f" for row in rows for cell in row), "no instruction is a formula"
    assert book.worksheets[0].data_validations.dataValidation[0].formula1.count(",") == 3
    words = ("Left is better", "right", "TIE", "Both bad", "both_bad", "neither")
    for row, answer in zip(rows[1:], words, strict=True):
        row[names.index("winner")].value = answer
    book.save(path)
    with pytest.raises(UserError, match="holds 5 votes that were not read yet"):
        write_sheet(arena, "active elo", path)
    report = ingest_votes(arena, path)
    assert (report.new, report.same, report.waiting) == (5, 0, 0)
    (refused,) = report.refused
    assert refused.row == 7, "the number that the spreadsheet shows"
    assert "'neither' is no outcome" in refused.reason
    stored = [str(vote.preference) for vote in arena.store.records(Vote)]
    assert sorted(stored) == ["both_bad", "both_bad", "left", "right", "tie"]
    assert ingest_votes(arena, path).same == 5


class Page(HTMLParser):
    """What a page shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pictures: list[str] = []
        self.choices: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect pictures and choices."""
        known = dict(attrs)
        if tag == "img":
            self.pictures.append(known["src"] or "")
        if tag == "input":
            self.choices.append(known["value"] or "")


def test_a_page_shows_numbered_pictures_without_a_server(arena: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    asked(arena, path)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert len(page.pictures) == 12
    assert all((tmp_path / picture).is_file() for picture in page.pictures)
    assert page.choices == [*sheet_files.ANSWER_WORDS] * 6
    assert all(f"<h2>{number}</h2>" in text for number in range(2, 8)), "the rows of the spreadsheet"
    assert "http" not in text
    assert not any(name in text for name in (">a<", ">b<", ">c<")), "no model is named"
    with pytest.raises(UserError, match="is no sheet"):
        write_sheet(arena, "active elo", tmp_path / "sheet.docx")


def test_hostile_xlsx_files_are_refused(arena: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sheet.xlsx"
    for content in (b"", b"PK\x03\x04 broken", b"<html>"):
        path.write_bytes(content)
        with pytest.raises(UserError, match="cannot be read as XLSX"):
            ingest_votes(arena, path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 2_000_000)
    monkeypatch.setattr(sheet_files, "MOST_UNPACKED", 1_000_000)
    with pytest.raises(UserError, match="too much for a sheet"):
        ingest_votes(arena, path)
    with pytest.raises(UserError, match="Cannot read"):
        ingest_votes(arena, tmp_path / "missing.xlsx")
