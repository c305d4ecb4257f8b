"""The lead's dashboard in a real browser: a campaign is made, raters are invited, watched and paused."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, next_task, open_link, ready, task_of, visitor
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser


def test_a_lead_makes_a_campaign_invites_watches_and_pauses(
    page: Page, stage: Stage, browser: Browser, shot: Shot
) -> None:
    page.goto(stage.launch)
    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.get_by_role("button", name="New campaign").click()
    page.get_by_label("Name", exact=True).fill("Friday's comparison")
    page.get_by_label("Data sets").select_option("studio")
    page.get_by_label("Maximum number of units").fill("12")
    shot(page, "new-campaign")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Friday's comparison")).to_be_visible()
    page.get_by_label("Name of the rater").fill("Bo")
    page.get_by_role("button", name="Create a link").click()
    link = page.get_by_label("Send this link. It is shown only once.")
    expect(link).to_be_visible()
    campaign = page.url.rpartition("/")[2]
    rater = visitor(browser)
    open_link(rater, link.input_value())
    rater.get_by_role("link", name="Start").click()
    rater.get_by_role("button", name="Next").click()
    rater.get_by_role("button", name="Begin").click()
    ready(rater)
    for _ in range(3):
        before = task_of(rater)
        rater.keyboard.press("ArrowLeft")
        next_task(rater, before)
    for name in ("Chi", "Dee"):
        another = visitor(browser)
        join(another, stage, campaign, name)
        before = task_of(another)
        another.keyboard.press("t")
        next_task(another, before)
        another.context.close()
    page.reload()
    row = page.get_by_role("row", name="Bo").first
    expect(row).to_contain_text("3")
    shot(page, "campaign")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("Paused")
    rater.reload()
    expect(rater.get_by_text("Your work is paused")).to_be_visible()
    rater.context.close()
    page.get_by_role("link", name="Campaigns", exact=True).click()
    expect(page.get_by_role("row", name="Friday's comparison")).to_contain_text("5 / 12")
    shot(page, "campaigns")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_revoked_link_lets_nobody_in(lead: Page, stage: Stage) -> None:
    campaign = stage.campaign("Revoked", datasets=["studio"])
    address = stage.invite(campaign, "Eve")
    lead.goto(f"{stage.address}/lead/{campaign}")
    lead.get_by_role("button", name="Revoke").click()
    lead.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(lead.get_by_text("revoked", exact=True)).to_be_visible()
    lead.context.clear_cookies()
    lead.goto(address)
    expect(lead.get_by_role("heading", name="This link does not work")).to_be_visible()
