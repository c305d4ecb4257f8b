"""A sheet as a page in a real browser, opened from the disk: numbered pictures, answers by a click, nothing from outside."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from imarena.storage import Workspace
from tests.web.browser.desk import fits, until, visitor
from tests.web.browser.test_accessibility import violations
from tests.workflow.active_elo.test_sheet_files import asked
from tests.workflow.active_elo.test_sheets import arena

__all__ = ["arena"]
pytestmark = pytest.mark.browser


def test_the_page_of_a_sheet_opens_without_a_server(arena: Workspace, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    asked(arena, path)
    page = visitor(browser)
    outside: list[str] = []
    page.on("request", lambda request: None if request.url.startswith("file:") else outside.append(request.url))
    page.goto(path.as_uri())
    expect(page.locator("img")).to_have_count(12)
    until(page, lambda: page.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth > 0)"))
    expect(page.locator("h2")).to_have_text([str(row) for row in range(2, 8)])
    page.get_by_label("Both bad").first.check()
    expect(page.get_by_label("Both bad").first).to_be_checked()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save answers as CSV").click()
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    assert lines[1].endswith('"both_bad"')
    expect(page.get_by_role("status")).to_have_text("5 without an answer")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            assert violations(page) == [], f"{theme}, {width}"
            fits(page)
    assert outside == []
    page.context.close()
