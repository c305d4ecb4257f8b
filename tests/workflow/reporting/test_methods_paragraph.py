"""The paragraph of methods, the needs of judges, and titles of paper tables: nothing that the workspace contradicts."""

from pathlib import Path

from imarena.reports.tables import Column, Table
from imarena.workflows.reporting.papers.catalogue import paper_entries
from tests.command import Imarena


def test_only_items_with_outputs_are_evaluated(imarena: Imarena, tmp_path: Path) -> None:
    folder = str(tmp_path / "small")
    imarena("init", folder)
    imarena("-w", folder, "edit", "--studio", "--limit", "1", "-e", "studio-exact")
    imarena("-w", folder, "judge", "--judge", "builtin")
    page = tmp_path / "report.html"
    imarena("-w", folder, "report", str(page))
    text = page.read_text(encoding="utf-8")
    assert "We evaluated 1 editor on 1 of 100 items" in text
    assert "1 output was available" in text
    assert "1 judge answered 1 question; 0 questions have no verdict" in text


def test_a_title_is_not_printed_twice() -> None:
    entries = {(entry.paper, entry.place): entry for entry in paper_entries()}
    edits = entries["002", "table 2"]
    head = (Column("type"),)
    assert edits.titled(Table(head, (), "Edits by type and turn")).title == "Table 2. Edits by type and turn"
    assert edits.titled(Table(head, (), "")).title == "Table 2. Edits by type and turn"
    quality = entries["002", "tables 4, 26 and 27"]
    own = "Visual quality and luminance (multi-turn)"
    assert quality.titled(Table(head, (), own)).title == f"Tables 4, 26 and 27. {own}"
    assert quality.titled(Table(head, (), "Other")).title.endswith("Visual quality and luminance: Other")
