"""Voting in a real browser: keys, zoom in step, the ways to compare, skip, undo, resume."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, next_task, open_link, ready, seen, task_of, until, zoom
from tests.web.browser.stage import BIG, Stage

pytestmark = pytest.mark.browser
CONSENT = "Your answers and the time they take are stored. You can stop at any time."


def test_a_new_rater_is_led_from_the_link_to_the_first_task(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign(
        "Which edit is better?", consent=CONSENT, guidelines="# Look twice\n\n- Zoom in.\n- Be fair."
    )
    open_link(page, stage.invite(campaign))
    shot(page, "home")
    assert "#" not in page.url, "the link's secret must not stay in the address"
    page.get_by_role("link", name="Start").click()
    expect(page.get_by_text(CONSENT)).to_be_visible()
    go_on = page.get_by_role("button", name="Next")
    expect(go_on).to_be_disabled()
    page.get_by_label("I have read this and want to take part").check()
    shot(page, "consent")
    go_on.click()
    expect(page.get_by_text("Look twice")).to_be_visible()
    shot(page, "guidelines")
    go_on.click()
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    shot(page, "keys")
    page.get_by_role("button", name="Begin").click()
    ready(page)
    expect(page.locator(".task")).to_be_visible()


def test_votes_are_cast_with_keys_and_taken_back(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Keys", datasets=["studio"])
    join(page, stage, campaign)
    shot(page, "vote")
    first = task_of(page)
    page.keyboard.press("ArrowLeft")
    next_task(page, first)
    second = task_of(page)
    page.keyboard.press("t")
    next_task(page, second)
    third = task_of(page)
    page.keyboard.press("b")
    next_task(page, third)
    assert stage.votes(campaign) == 3
    page.keyboard.press("u")
    expect(page.get_by_text("Your earlier answer: both bad.")).to_be_visible()
    ready(page)
    assert stage.votes(campaign) == 2
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"3 answers"))
    ready(page)
    assert stage.votes(campaign) == 3


def test_a_reload_comes_back_to_the_same_task(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Resume", datasets=["studio"])
    join(page, stage, campaign)
    first = task_of(page)
    page.keyboard.press("ArrowRight")
    next_task(page, first)
    held = task_of(page)
    instruction = page.locator(".instruction").inner_text()
    page.reload()
    ready(page)
    assert task_of(page) == held
    expect(page.locator(".instruction")).to_have_text(instruction)
    assert stage.votes(campaign) == 1


def test_all_panes_zoom_and_move_in_step_on_a_6000_px_picture(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Large pictures", datasets=[BIG])
    join(page, stage, campaign)
    expect(page.locator(".percent")).to_have_text(re.compile(r"^[67]"))
    whole = zoom(page)
    colours = seen(page)
    painted = {tuple(colours["Left"]), tuple(colours["Right"])}
    assert painted == {(208, 32, 32), (32, 64, 208)}, "the middle of both results shows what was painted"
    assert tuple(colours["Source"]) not in painted
    page.locator("[data-pane=Left] .pane-view").hover()
    for _ in range(6):
        page.mouse.wheel(0, -300)
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 120)))"
        )  # as a hand does
    until(page, lambda: zoom(page) > 2 * whole)
    ready(page)
    shot(page, "zoom")
    page.keyboard.press("p")
    expect(page.locator(".percent")).to_have_text("100%")
    until(page, lambda: {tuple(value) for name, value in seen(page).items() if name != "Source"} == painted)
    for _ in range(8):
        page.keyboard.press("Shift+ArrowRight")
    until(page, lambda: len({tuple(colour) for colour in seen(page).values()}) == 1)  # away from the patch
    page.keyboard.press("0")
    until(page, lambda: zoom(page) == pytest.approx(whole))


def test_the_magnifier_shows_the_same_place_in_every_pane(page: Page, stage: Stage, shot: Shot) -> None:
    join(page, stage, stage.campaign("Magnifier", datasets=["studio"]))
    page.keyboard.press("m")
    page.locator("[data-pane=Right] .pane-view").hover(position={"x": 220, "y": 250})
    expect(page.locator(".lens")).to_have_count(3)
    shot(page, "magnifier")
    boxes = [page.locator(".pane").nth(n).bounding_box() for n in range(3)]
    lenses = [page.locator(".lens").nth(n).bounding_box() for n in range(3)]
    offsets = {
        (round(lens["x"] - box["x"]), round(lens["y"] - box["y"]))
        for box, lens in zip(boxes, lenses, strict=True)
        if box is not None and lens is not None
    }
    assert len(offsets) == 1


def test_swipe_flicker_and_difference(page: Page, stage: Stage, shot: Shot) -> None:
    join(page, stage, stage.campaign("Ways to compare", datasets=[BIG]))
    for key, mode in (("w", "swipe"), ("f", "flicker"), ("x", "difference")):
        page.keyboard.press(key)
        expect(page.locator(".stack")).to_have_attribute("data-mode", mode)
        ready(page)
        shot(page, mode)
    page.get_by_role("button", name="Source / Left").click()
    ready(page)
    page.keyboard.press("v")
    expect(page.locator(".panes .pane")).to_have_count(3)


def test_a_task_is_skipped_with_a_reason(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Skipping", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("t")  # a key of the page does nothing while the window is open
    shot(page, "skip")
    page.get_by_role("button", name="I cannot decide").click()
    next_task(page, before)
    state = stage.get(f"/api/lead/campaigns/{campaign}")
    assert (state["skipped"], state["votes"]) == (1, 0)


def test_a_tablet_in_its_case(page: Page, stage: Stage, shot: Shot) -> None:
    page.set_viewport_size({"width": 820, "height": 1180})
    campaign = stage.campaign("Tablet", datasets=["studio"])
    join(page, stage, campaign)
    shot(page, "tablet")
    before = task_of(page)
    answer = page.get_by_role("button", name="Right is better")
    expect(answer).to_be_in_viewport()
    answer.click()
    next_task(page, before)
    assert stage.votes(campaign) == 1
