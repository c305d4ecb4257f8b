"""Every page of the looking side in a real browser: readable for everybody, and saved as a table with its filters."""

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.desk import loaded
from tests.web.browser.stage import Stage
from tests.web.browser.test_access import violations

pytestmark = pytest.mark.browser
PAGES = {
    "board": "/board?source=human", "matrix": "/board?view=matrix", "duel": "/board?view=duel",
    "history": "/board?view=history&judge=builtin", "issues": "/board?view=heat", "battles": "/battles", "items": "/items",
    "judges": "/judges", "runs": "/runs", "access": "/access",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in PAGES if name != "access"])
def test_what_a_page_shows_is_saved_with_its_filters(keeper: Page, hall: Stage, name: str) -> None:
    keeper.goto(hall.address + PAGES[name])
    loaded(keeper)
    for form in ("CSV", "JSON"):
        with keeper.expect_download() as found:
            keeper.get_by_role("link", name=f"Save as {form}").click()
        path = Path(found.value.path())
        text = path.read_text(encoding="utf-8")
        assert found.value.suggested_filename.endswith(f".{form.lower()}")
        if form == "CSV":
            rows = list(csv.reader(io.StringIO(text)))
            assert len(rows) > 1
        else:
            assert text.startswith("[")
            assert "<" not in text
    if name == "history":
        assert sorted({int(row[1]) for row in rows[1:]}) == list(range(3, 37, 3))  # twelve moments, built-in judge only


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_can_be_read_by_everybody(keeper: Page, hall: Stage, name: str, theme: str) -> None:
    """Nothing that axe finds; nothing of a name or a comment runs; nothing is wider than a tablet."""
    keeper.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    keeper.goto(hall.address + PAGES[name])
    expect(keeper.get_by_role("heading", level=1)).to_be_visible()
    expect(keeper.get_by_text("Loading")).to_have_count(0)
    assert violations(keeper) == []
    assert keeper.title() != "taken"
    keeper.set_viewport_size({"width": 820, "height": 1180})
    assert keeper.evaluate("document.documentElement.scrollWidth") <= 820
