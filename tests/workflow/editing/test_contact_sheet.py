"""The contact sheet: there from the first moment, drawn anew while the run lasts, at rest when it has ended."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image

from imarena.core.records import Item, Turn
from imarena.reports.contact_sheet import ContactSheetCell, ContactSheetPage, ContactSheetRow, contact_sheet_html
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import kept
from tests.servers.fake_pictures_server import filled

GATED = """
import pathlib, time
from imarena.core.protocols import EditResult
from imarena.core.records import Status
folder = pathlib.Path(__file__).parent

def wait(request):
    if request.instruction == "edit 1":
        while not (folder / "go").exists():
            time.sleep(0.05)
    if request.instruction == "edit 2":
        return EditResult(Status.REFUSED, error="no <b>memory</b> left")
    return request.sources[0]
"""


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_sheet_is_drawn_while_the_run_lasts(tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 3)
    (tmp_path / "gated.py").write_text(GATED)
    html = root / "contact-sheet.html"
    command = [sys.executable, "-m", "imarena", "-w", str(root), "--json", "edit", "-e", "function:gated:wait"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )  # fmt: skip
    try:
        until(lambda: html.exists() and "24 x 16" in html.read_text() and "no &lt;b&gt;memory" in html.read_text())
        during = html.read_text()
        assert process.poll() is None
    finally:
        (tmp_path / "go").touch()
        out, err = process.communicate(timeout=120)
    after = html.read_text()
    assert "The run continues" in during
    assert "location.reload()" in during
    assert during.count("<img") == 3 + 1, "three sources and the one output that is there"
    assert "The run ended" in after
    assert "location.reload()" not in after
    assert "2 ok, 1 refused" in after
    assert f"Contact sheet: {html}" in err
    assert json.loads(out)["sheet"] == str(html)
    with Image.open(root / "contact-sheet.jpg") as picture:
        assert picture.size == (2 * 160, 3 * 178 + 18)


def test_a_run_that_cannot_begin_leaves_no_sheet_that_waits(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1)
    with (root / "imarena.toml").open("a") as file:
        file.write('\n[editors.far]\nkind = "openai-images"\nmodel = "m"\napi_key_env = "NO_SUCH_KEY"\n')
    imarena("-w", root, "edit", "-e", "far", code=2)
    assert "location.reload()" not in (root / "contact-sheet.html").read_text()
    imarena("-w", root, "edit", "-e", "classical", "--no-sheet", code=None)
    assert "classical" not in (root / "contact-sheet.html").read_text()


def test_items_without_a_source_and_of_several_turns_are_shown(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        pictures = (kept(workspace, 1), kept(workspace, 2))
        turns = (Turn(instruction="first"), Turn(instruction="then"))
        workspace.store.add(
            [
                Item(dataset="d", key="words", turns=turns[:1]),
                Item(dataset="d", key="refs", references=pictures, turns=turns[:1]),
                Item(dataset="d", key="long", sources=pictures[:1], turns=turns),
            ]
        )
    imarena("-w", root, "edit", "-e", "studio-exact", "--mode", "all", code=None)
    told = (root / "contact-sheet.html").read_text()
    assert "reference and 1 more" in told
    assert "first<br>then" in told
    lone = imarena("-w", root, "edit", "-e", "classical", "--mode", "multi-turn", "-i", "words", code=2)
    assert "one turn" in lone.err
    assert "1 multi-turn item is skipped" in imarena("-w", root, "edit", "-e", "classical", "--dry-run").err


def test_nothing_on_the_page_is_taken_for_markup() -> None:
    bad = "<script>alert(1)</script>&\"'"
    made = contact_sheet_html(
        ContactSheetPage(
            (bad,), (ContactSheetRow(bad, (bad,), (ContactSheetCell(), ContactSheetCell(b"x", bad), ContactSheetCell(None, bad, bad))),), {}, 0, (2, 1),
            datetime(2026, 1, 1, tzinfo=UTC), 3.0, ended=True, stopped=bad,
        )
    )  # fmt: skip
    assert "<script" not in made
    assert "&lt;script&gt;" in made
    assert "2 items and 1 editors" in made
