"""The pages for everybody: checked by axe for what a screen reader and a keyboard need; hostile text stays text."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.desk import become_lead, join, loaded, still
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
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


@pytest.mark.parametrize("path", ["/", "/lead"])  # the others: test_every_page.py and test_rater_pages.py
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_is_accessible(lead: Page, stage: Stage, path: str, theme: str) -> None:
    lead.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    lead.goto(stage.address + path)
    expect(lead.get_by_role("heading", level=1)).to_be_visible()
    expect(lead.get_by_text("Loading")).to_have_count(0)
    assert violations(lead) == []


def test_hostile_names_are_shown_as_text(page: Page, stage: Stage) -> None:
    campaign = stage.campaign(HOSTILE, datasets=["studio"], consent=HOSTILE, guidelines=HOSTILE)
    join(page, stage, campaign, HOSTILE)
    expect(page.locator(".task-name")).to_have_text(HOSTILE)
    become_lead(page, stage)
    page.goto(f"{stage.address}/lead/{campaign}")
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    loaded(page)
    assert page.title() != "taken"
