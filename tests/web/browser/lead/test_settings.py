"""A campaign is changed from its page: settings, pause, close; who changed what stays to be read."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, visitor
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser


def test_settings_are_changed_and_the_change_is_on_record(
    lead: Page, stage: Stage, browser: Browser, shot: Shot
) -> None:
    campaign = stage.campaign("Changing", datasets=["studio"], max_units=10, consent="May we?")
    rater = visitor(browser)
    join(rater, stage, campaign, "Ida")
    lead.goto(f"{stage.address}/lead/{campaign}")
    lead.get_by_role("button", name="Settings").click()
    expect(lead.get_by_role("dialog")).to_contain_text("Cannot be changed")
    expect(lead.get_by_label("Share of tasks with a known answer")).to_be_disabled()
    shot(lead, "settings")
    lead.get_by_label("Name", exact=True).fill("Changed")
    lead.get_by_label("Raters per unit").fill("3")
    lead.get_by_label("Answers per rater and week").fill("50")
    lead.get_by_label("Consent text").fill("May we keep it for ten years?")
    lead.get_by_role("button", name="Save").click()
    expect(lead.get_by_role("heading", name="Changed", exact=True)).to_be_visible()
    expect(lead.get_by_text("0 / 30")).to_be_visible()
    changes = lead.locator(".changes")
    expect(changes.get_by_role("row", name="Raters per unit")).to_contain_text("3")
    expect(changes.get_by_role("row")).to_have_count(5)
    rater.reload()
    expect(rater.get_by_text("May we keep it for ten years?")).to_be_visible()
    lead.get_by_role("button", name="Pause").first.click()
    expect(lead.locator(".page-head .badge")).to_have_text("paused")
    rater.get_by_label("I have read this and want to take part").check()
    rater.get_by_role("button", name="Next").click()
    rater.get_by_role("button", name="Next").click()
    rater.get_by_role("button", name="Begin").click()
    expect(rater.get_by_role("heading", name="Paused")).to_be_visible()
    lead.get_by_role("button", name="Resume campaign").click()
    expect(lead.locator(".page-head .badge")).to_have_text("open")
    rater.reload()
    expect(rater.locator(".task")).to_be_visible()
    lead.get_by_role("button", name="Close campaign").click()
    lead.get_by_role("dialog").get_by_role("button", name="Close campaign").click()
    expect(lead.get_by_role("button", name="Reopen campaign")).to_be_visible()
    rater.reload()
    expect(rater.get_by_role("heading", name="This campaign is closed")).to_be_visible()
    expect(changes.get_by_role("row")).to_have_count(8)
    changes.scroll_into_view_if_needed()
    shot(lead, "changes")
    rater.context.close()
