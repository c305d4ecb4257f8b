"""The windows and forms of the rating pages, checked by axe in both colour schemes, and at the size of a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.desk import become_lead, join, next_task, task_of
from tests.web.browser.lead.test_known_tasks import pairs
from tests.web.browser.stage import Stage
from tests.web.browser.test_accessibility import checked, violations

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_leads_windows_are_accessible(page: Page, stage: Stage, theme: str) -> None:
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    campaign = stage.campaign(f"Windows {theme}", datasets=["studio"], raters_per_unit=2)
    join(page, stage, campaign, "Ida")
    before = task_of(page)
    page.keyboard.press("s")
    page.get_by_label("In your own words").fill("grey all over")
    assert violations(page) == []
    page.get_by_role("button", name="A picture is broken").click()
    next_task(page, before)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    become_lead(page, stage)
    if theme == "dark":
        page.set_viewport_size({"width": 390, "height": 844})
    stage.change(campaign, {"weekly_quota": 100})
    page.goto(f"{stage.address}/lead/{campaign}")
    expect(page.get_by_role("row", name="A picture is broken")).to_contain_text("grey all over")
    expect(page.locator(".changes")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(f"{stage.address}/lead")
    page.get_by_role("button", name="New campaign").click()
    lines = "\n".join(f"{item},{left},{right},tie" for item, left, right in pairs(stage, 3))
    table = {"name": "known.csv", "mimeType": "text/csv", "buffer": f"item,left,right,winner\n{lines}\n".encode()}
    page.get_by_label("From a table").set_input_files(table)  # type: ignore[arg-type]
    expect(page.get_by_text("3 tasks with a known answer.")).to_be_visible()
    assert violations(page) == []
    outside = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    assert outside <= 0, "the form fits the width of the page"


def test_the_practice_window_is_accessible(page: Page, stage: Stage) -> None:
    (item, left, right), *_ = pairs(stage, 1)
    found = stage.post("/api/lead/known-tasks", {"table": f"item,left,right,winner\n{item},{left},{right},tie\n"})
    campaign = stage.campaign("Practice window", datasets=["studio"], practice=[found["tasks"][0]["task"]])
    join(page, stage, campaign)
    page.keyboard.press("t")
    expect(page.get_by_role("dialog", name="Practice")).to_contain_text("Correct.")
    checked(page, "practice")
    before = task_of(page)
    page.keyboard.press("Escape")  # closing the window goes on, too
    next_task(page, before)
    expect(page.locator(".badge")).to_have_count(0)
