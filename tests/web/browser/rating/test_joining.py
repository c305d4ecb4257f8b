"""How raters come and go: links that do not work say why, crowd platforms' parameters, the way back, the weekly quota."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import become_lead, join, next_task, open_link, ready, task_of, visitor
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
FOCUSED = """() => {
  const found = document.activeElement;
  if (!found || found === document.body) return '';
  return found.getAttribute('aria-label') ?? found.closest('label')?.innerText ?? found.innerText ?? '';
}"""
"""What a screen reader says about the thing that has the focus, about."""
BACK = "https://crowd.example/done?code=C0FFEE"


def refused(page: Page, address: str, why: str) -> None:
    page.context.clear_cookies()
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_role("heading", name="This link does not work")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text(why)


def test_a_link_that_does_not_work_says_why(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Links", datasets=["studio"])
    short = stage.post("/api/lead/invitations", {"campaign_id": campaign, "days": 1e-7})
    refused(page, stage.address + short["path"], "has expired")
    shot(page, "expired")
    refused(page, stage.address + "/join#nonsense", "is not valid")
    shared = {"campaign_id": campaign, "max_people": 2, "person_param": "PROLIFIC_PID"}
    crowd = stage.post("/api/lead/invitations", shared)
    refused(page, stage.address + crowd["path"], "does not say who you are")


def test_a_crowd_worker_comes_by_a_parameter_and_is_sent_back(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Crowd", datasets=["studio"], max_units=2, completion_url=BACK)
    become_lead(page, stage)
    page.goto(f"{stage.address}/lead/{campaign}")
    page.get_by_label("Number of people who can use it").fill("50")
    page.get_by_label("Link parameter that identifies a person").fill("PROLIFIC_PID")
    page.get_by_role("button", name="Create a link").click()
    link = page.get_by_label("Send this link").input_value()
    path, _, secret = link.partition("#")
    assert path.endswith("/join?PROLIFIC_PID={{%PROLIFIC_PID%}}")
    assert len(secret) > 30
    page.locator(".made-link").scroll_into_view_if_needed()
    shot(page, "crowd-link")
    page.context.clear_cookies()
    open_link(page, link.replace("{{%PROLIFIC_PID%}}", "5f3a9c"))
    assert "5f3a9c" not in page.url
    page.get_by_role("link", name="Start").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Begin").click()
    for _ in range(2):
        ready(page)
        before = task_of(page)
        page.keyboard.press("t")
        expect(page.locator(f"[data-task='{before}']")).to_have_count(0)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect(page.get_by_role("link", name="Finish")).to_have_attribute("href", BACK)
    shot(page, "done")
    page.get_by_role("button", name="Undo").click()
    ready(page)
    page.keyboard.press("b")
    expect(page.get_by_role("link", name="Finish")).to_be_visible()
    assert stage.votes(campaign) == 2


def test_the_code_for_how_the_work_ended_is_shown_and_copied(
    page: Page, stage: Stage, browser: Browser, shot: Shot
) -> None:
    """Who completed gets one code, who came when all was taken gets another; both are on the payment list."""
    codes = {"completed": "DONE-7Q", "quota_full": "FULL-3X"}
    campaign = stage.campaign("Codes", datasets=["studio"], max_units=1, completion_codes=codes)
    join(page, stage, campaign, "Ida")
    expect(page.get_by_test_id("completion-code")).to_have_count(0)
    page.keyboard.press("t")
    expect(page.get_by_test_id("completion-code")).to_have_text("DONE-7Q")
    expect(page.get_by_text("Enter this code on the platform that sent you here.")).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "DONE-7Q"
    shot(page, "completion-code")
    page.reload()
    expect(page.get_by_test_id("completion-code")).to_have_text("DONE-7Q")
    late = visitor(browser)
    late.goto(stage.invite(campaign, "Late"))
    expect(late.get_by_text("no tasks left at the moment")).to_be_visible()
    late.get_by_role("link", name="Open").click()
    late.get_by_role("button", name="Next").click()
    late.get_by_role("button", name="Begin").click()
    expect(late.get_by_test_id("completion-code")).to_have_text("FULL-3X")
    expect(late.get_by_text("DONE-7Q")).to_have_count(0)
    late.context.close()
    rows = stage.get(f"/api/lead/campaigns/{campaign}/payments")["rows"]
    assert {row["name"]: row["completion_code"] for row in rows} == {"Ida": "DONE-7Q", "Late": "FULL-3X"}


def test_the_weekly_quota_ends_the_work_for_now(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Quota", datasets=["studio"], weekly_quota=1)
    join(page, stage, campaign)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="You have reached this week's limit")).to_be_visible()
    shot(page, "quota")
    page.reload()
    expect(page.get_by_role("heading", name="You have reached this week's limit")).to_be_visible()
    assert stage.votes(campaign) == 1


def test_everything_is_done_with_keys_alone(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Keys alone", "rating", datasets=["studio"], consent="May we?", max_units=2)
    open_link(page, stage.invite(campaign))

    def tab_to(name: str) -> None:
        for _ in range(90):
            page.keyboard.press("Tab")
            if name in str(page.evaluate(FOCUSED)):
                return
        raise AssertionError(f"no way to {name!r} by Tab")

    tab_to("Start")
    page.keyboard.press("Enter")
    expect(page.locator("[data-step=consent]")).to_be_visible()
    tab_to("I have read this")
    page.keyboard.press("Space")
    for name in ("Next", "Next", "Begin"):
        tab_to(name)
        page.keyboard.press("Enter")
    ready(page)
    before = task_of(page)
    for _ in range(4):
        tab_to("1. ")
        page.keyboard.press("ArrowLeft")  # from the first value round to the last
    tab_to("None: all objects")
    page.keyboard.press("Space")
    tab_to("None: all parts")
    page.keyboard.press("Space")
    tab_to("Send")
    page.keyboard.press("Enter")
    next_task(page, before)
    assert stage.votes(campaign) == 1
