"""The voting page in use: what the rater set stays, the focus stays, buttons stay, a click chooses, and all can be undone."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, next_task, ready, still, task_of, until, zoom
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
BOXES = "all => all.map((one) => { const b = one.getBoundingClientRect(); return [b.x, b.y, b.width, b.height].map(Math.round) })"


def test_the_view_stays_from_task_to_task(page: Page, stage: Stage) -> None:
    join(page, stage, stage.campaign("View stays", datasets=["studio"]))
    whole = zoom(page)
    for _ in range(3):
        page.keyboard.press("+")
    still(page)
    assert zoom(page) > 2 * whole
    times = zoom(page) / whole
    before = task_of(page)
    page.keyboard.press("t")
    next_task(page, before)
    near = zoom(page)
    page.keyboard.press("0")
    still(page)
    assert near / zoom(page) == pytest.approx(times, rel=0.05), "as near as before, whatever the size of the pictures"
    page.keyboard.press("w")
    expect(page.locator(".stack")).to_have_attribute("data-mode", "swipe")
    ready(page)
    before = task_of(page)
    page.keyboard.press("t")
    next_task(page, before)
    expect(page.locator(".stack")).to_have_attribute("data-mode", "swipe")


def test_the_question_is_the_strongest_text(page: Page, stage: Stage) -> None:
    join(page, stage, stage.campaign("Question", datasets=["studio"]))
    sizes = page.evaluate(
        "() => [...document.querySelectorAll('.task *')].filter((one) => one.children.length === 0 && one.textContent.trim())"
        ".map((one) => [parseFloat(getComputedStyle(one).fontSize) * parseInt(getComputedStyle(one).fontWeight), one.textContent])"
    )
    assert max(sizes)[1] == "Which result carries out the instruction better?"


def test_focus_and_buttons_stay_where_they_are(page: Page, stage: Stage, shot: Shot) -> None:
    join(page, stage, stage.campaign("Stay", datasets=["studio"]))
    buttons = page.locator(".answers button, .answers-rest button")
    places = buttons.evaluate_all(BOXES)
    tie = page.get_by_role("button", name="Tie")
    tie.focus()
    for _ in range(3):
        before = task_of(page)
        page.keyboard.press("Enter")
        next_task(page, before)
        expect(tie).to_be_focused()
        assert buttons.evaluate_all(BOXES) == places
    expect(page.get_by_role("status")).to_have_text("✓ Saved. 3 answers so far.")
    expect(page.get_by_role("status")).to_be_in_viewport()
    shot(page, "saved")
    page.keyboard.press("u")
    ready(page)
    expect(page.locator(".gate")).to_have_text("Your earlier answer: tie.")
    assert buttons.evaluate_all(BOXES) == places


def test_a_click_on_a_picture_chooses_it(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Click", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    page.locator(".pane.right .pane-view").click()
    next_task(page, before)
    page.keyboard.press("u")
    expect(page.locator(".gate")).to_have_text("Your earlier answer: right.")


def test_every_tool_shows_its_key(page: Page, stage: Stage) -> None:
    join(page, stage, stage.campaign("Keys shown", datasets=["studio"]))
    expected = {
        "Side by side": "V",
        "Swipe": "W",
        "Flicker": "F",
        "Difference": "X",
        "Fit": "0",
        "1:1": "P",
        "Magnifier": "M",
        "Skip": "S",
        "Tie": "T",
    }
    for name, key in expected.items():
        expect(page.get_by_role("button", name=re.compile(f"^{re.escape(name)}")).locator("kbd")).to_have_text(key)


def test_a_skip_is_undone(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Skip and back", datasets=["studio"])
    join(page, stage, campaign)
    instruction = page.locator(".instruction").inner_text()
    before = task_of(page)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_hidden()
    page.keyboard.press("s")
    page.get_by_role("button", name="I cannot decide").click()
    next_task(page, before)
    expect(undo).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("status")).to_have_text("This is the task that you skipped.")
    ready(page)
    expect(page.locator(".instruction")).to_have_text(instruction)
    page.keyboard.press("t")
    until(page, lambda: stage.votes(campaign) == 1)
