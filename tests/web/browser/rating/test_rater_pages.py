"""Every page of a rater: readable for everybody in both themes and at both widths, with the true reason where it is empty."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, loaded, open_link, visitor
from tests.web.browser.stage import Stage
from tests.web.browser.test_accessibility import checked, violations

pytestmark = pytest.mark.browser
TURNED = "Board \u202eevil\u2066 name"
"""A name that turns the direction of the text after it."""


@pytest.mark.parametrize("kind", ["preference", "rating", "yes_no", "check"])
def test_a_task_can_be_used_by_everybody(page: Page, stage: Stage, kind: str) -> None:
    join(page, stage, stage.campaign(f"Everybody {kind}", kind, datasets=["studio"]))
    checked(page, kind)
    page.emulate_media(reduced_motion="no-preference")
    slow = "all => all.filter((one) => getComputedStyle(one).transitionDuration !== '0s').map((one) => one.outerHTML)"
    assert page.locator("*").evaluate_all(slow) == [], "a colour that changes slowly cannot be read meanwhile"
    if kind == "preference":
        for key in ("w", "f", "x"):
            page.keyboard.press(key)
            expect(page.locator(".stack")).to_be_visible()
            loaded(page)
            assert violations(page) == [], key


def test_the_way_to_the_first_task_and_the_end(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Whole way", datasets=["studio"], consent="May we?", max_units=1)
    open_link(page, stage.invite(campaign))
    checked(page, "home")
    page.get_by_role("link", name="Start").click()
    checked(page, "consent")
    page.get_by_label("I have read this and want to take part").check()
    page.get_by_role("button", name="Next").click()
    checked(page, "guidelines")
    page.get_by_role("button", name="Next").click()
    checked(page, "keys")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".task")).to_have_attribute("data-open", "true")
    page.keyboard.press("s")
    checked(page, "skip")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    checked(page, "help")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.get_by_role("heading", name="All done")).to_be_focused()
    checked(page, "end")


def test_signed_out_every_page_offers_to_sign_in(browser: Browser, stage: Stage, shot: Shot) -> None:
    page = visitor(browser)
    for path in ("/rate/camp_1", "/lead", "/access", "/runs"):
        page.goto(stage.address + path)
        link = page.get_by_role("main").get_by_role("link", name="Sign in")
        expect(link).to_be_visible()
    shot(page, "signed-out")
    checked(page, "signed out")
    link.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.url.endswith("/sign-in?to=%2Fruns")
    shot(page, "sign-in")
    checked(page, "sign in")
    page.context.close()


def test_a_campaign_of_others_is_not_called_empty(page: Page, stage: Stage) -> None:
    mine, other = stage.campaign("Mine", datasets=["studio"]), stage.campaign("Not mine", datasets=["studio"])
    open_link(page, stage.invite(mine))
    page.goto(f"{stage.address}/rate/{other}")
    expect(page.get_by_role("main")).to_contain_text("This campaign is not one of yours.")
    checked(page, "not mine")


def test_a_name_turns_no_text_but_its_own(page: Page, stage: Stage) -> None:
    """With its control characters a name would show the words after it from right to left."""
    campaign = stage.campaign(TURNED, datasets=["studio"])
    open_link(page, stage.invite(campaign, TURNED))
    isolated = "one => getComputedStyle(one).unicodeBidi"
    assert page.locator("h2 bdi").first.evaluate(isolated) == "isolate"
    page.get_by_role("link", name="Start").click()
    step = page.locator(".welcome .muted").first
    assert step.locator("bdi").evaluate(isolated) == "isolate"
    order = """one => {
      const range = document.createRange();
      const text = one.lastChild;
      return [0, text.length - 1].map((at) => { range.setStart(text, at); range.setEnd(text, at + 1); return range.getBoundingClientRect().x; });
    }"""
    first, last = step.evaluate(order)
    assert first < last, "what follows the name is still read from left to right"
