"""The pages for everybody: checked by axe for what a screen reader and a keyboard need; hostile text stays text."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.desk import become_lead, join, loaded, still
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = {1280: 720, 390: 844}
HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


def violations(page: Page) -> list[str]:
    """What axe finds wrong on the page, one line each."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: run 'npm ci' in web/")
    expect(page.locator("main [aria-busy=true], main[aria-busy=true]")).to_have_count(0)
    still(page)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:120]})" for one in found]


def checked(page: Page, where: str) -> None:
    """Nothing that axe finds, nothing wider than the window; in both themes, at both widths."""
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            expect(page.locator("h1")).to_be_attached()
            loaded(page)
            assert violations(page) == [], f"{where}, {theme}, {width}"
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{where}, {width}"
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(color_scheme="light")


def test_the_first_page_of_a_lead_is_accessible(lead: Page, stage: Stage) -> None:
    stage.campaign("To be rated", datasets=["studio"])
    lead.goto(stage.address)  # the other pages: test_every_page.py, test_rater_pages.py and test_lead_pages.py
    expect(lead.get_by_role("heading", name="To be rated")).to_be_visible()
    checked(lead, "home")


def test_hostile_names_are_shown_as_text(page: Page, stage: Stage) -> None:
    campaign = stage.campaign(HOSTILE, datasets=["studio"], consent=HOSTILE, guidelines=HOSTILE)
    join(page, stage, campaign, HOSTILE)
    expect(page.locator(".task-name")).to_have_text(HOSTILE)
    become_lead(page, stage)
    page.goto(f"{stage.address}/lead/{campaign}")
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    loaded(page)
    assert page.title() != "taken"
