"""No vote without pictures: answers open when all pictures are drawn and the lead's time has passed; fast keys are one vote."""

import re

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, next_task, open_link, ready, task_of, until, visitor
from tests.web.browser.rating.test_voting_page import BOXES
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
PHONE: ViewportSize = {"width": 390, "height": 844}


def begin(page: Page, link: str) -> None:
    """From the link to the first task, whether it can be answered or not."""
    open_link(page, link)
    page.get_by_role("link", name="Start").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".task")).to_be_visible()


def test_twenty_fast_key_presses_are_one_vote(page: Page, stage: Stage) -> None:
    """The page's clock is the test's: a busy machine does not make the pauses between the keys longer."""
    page.clock.install()
    campaign = stage.campaign("Fast keys", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.keyboard.press("ArrowLeft")
    shown = page.locator(f".task[aria-busy=false]:not([data-task='{before}'])")

    def pressed_again() -> int:
        page.clock.run_for(60)
        page.keyboard.press("ArrowLeft")
        return shown.count()

    until(page, pressed_again)
    for _ in range(20):
        pressed_again()
    page.clock.resume()
    ready(page)
    assert stage.votes(campaign) == 1
    second = task_of(page)
    page.keyboard.press("ArrowLeft")
    next_task(page, second)
    assert stage.votes(campaign) == 2


def test_no_answer_while_a_picture_is_missing(browser: Browser, stage: Stage) -> None:
    page = visitor(browser)  # a picture that does not come is an error in the console, and no fault of the page
    campaign = stage.campaign("Missing pictures", datasets=["studio"])
    page.route("**/pictures/right/tiles/**", lambda route: route.abort())
    begin(page, stage.invite(campaign))
    expect(page.locator(".pane.right .pane-broken")).to_be_visible()
    expect(page.locator(".gate")).to_have_text("Loading the pictures…")
    for key in ("ArrowLeft", "t", "b"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Left is better").click(force=True)
    page.locator(".pane.left .pane-view").click()
    page.wait_for_timeout(500)
    assert stage.votes(campaign) == 0
    page.unroute("**/pictures/right/tiles/**")
    before = task_of(page)
    ready(page)
    page.keyboard.press("ArrowLeft")
    next_task(page, before)
    assert stage.votes(campaign) == 1
    page.context.close()


def test_the_minimum_time_of_the_lead_is_counted_down(page: Page, stage: Stage, shot: Shot) -> None:
    page.clock.install()
    campaign = stage.campaign("Ten minutes", datasets=["studio"], min_seconds=600)
    begin(page, stage.invite(campaign))
    expect(page.locator(".gate")).to_contain_text("You can answer in")
    expect(page.get_by_role("button", name="Tie")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("t")
    shot(page, "minimum-time")
    assert stage.votes(campaign) == 0
    before = task_of(page)
    stage.change(campaign, {"min_seconds": 0})  # the server measures the time too, by its own clock
    page.clock.fast_forward(500_000)
    expect(page.get_by_role("button", name="Tie")).to_have_attribute("aria-disabled", "true")
    page.clock.fast_forward(101_000)
    ready(page)
    expect(page.locator(".gate")).to_have_text("")
    page.keyboard.press("t")
    next_task(page, before)
    assert stage.votes(campaign) == 1


def test_on_a_phone_both_pictures_are_looked_at(page: Page, stage: Stage, shot: Shot) -> None:
    """The judged pictures are larger than the source, lie behind each other, and change places by a swipe."""
    page.set_viewport_size(PHONE)
    campaign = stage.campaign("Phone", datasets=["studio"])
    begin(page, stage.invite(campaign))
    expect(page.locator(".pane[data-loaded=false]")).to_have_count(0)
    source, left = page.locator(".pane.context").bounding_box(), page.locator(".pane.left").bounding_box()
    assert source is not None
    assert left is not None
    assert left["height"] > 1.5 * source["height"]
    expect(page.locator(".pane.right")).to_be_hidden()
    expect(page.locator(".gate")).to_have_text("See both: tap “Left” and “Right”")
    buttons = page.locator(".answers button, .answers-rest button")
    places = buttons.evaluate_all(BOXES)
    tools = page.get_by_role("group", name="Compare")
    expect(tools.get_by_role("button").first).to_have_text(re.compile("^One at a time"))
    shot(page, "phone")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog").locator("dl > div")
    expect(keys.filter(has_text=re.compile("^V"))).to_have_text("Vone at a time")  # as the tools call it
    page.keyboard.press("Escape")
    middle = (left["x"] + left["width"] / 2, left["y"] + left["height"] / 2)
    page.mouse.move(middle[0] + 80, middle[1])
    page.mouse.down()
    page.mouse.move(middle[0] - 80, middle[1] + 5, steps=6)
    page.mouse.up()
    expect(page.locator(".pane.right")).to_be_visible()
    expect(page.locator(".pane.left")).to_be_hidden()
    ready(page)
    assert stage.votes(campaign) == 0, "a swipe is not a choice"
    assert buttons.evaluate_all(BOXES) == places, "buttons stay, whatever is said beside them"
    before = task_of(page)
    page.get_by_role("button", name="Right is better").click()
    expect(page.locator(".task")).not_to_have_attribute("data-task", before)
    until(page, lambda: stage.votes(campaign) == 1)
    expect(page.locator(".gate")).to_have_text("See both: tap “Left” and “Right”")
    assert buttons.evaluate_all(BOXES) == places, "also with an answer that was saved"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_on_a_phone_an_instruction_is_read_to_its_end(page: Page, stage: Stage) -> None:
    """Six lines are shown; where there are more, the last one is cut in the middle, so that nobody takes it for the end."""
    page.set_viewport_size(PHONE)
    words = "Change the background to a city street. Remove the blue bench, and paint the red tree orange as in autumn. Keep all else."

    def longer(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        body["task"]["instruction"] = words
        route.fulfill(response=answer, json=body)

    page.route(re.compile("/next"), longer)
    begin(page, stage.invite(stage.campaign("Long instruction", datasets=["studio"])))
    instruction = page.locator(".instruction")
    expect(instruction).to_have_text(words)
    assert instruction.evaluate("one => one.scrollHeight <= one.clientHeight"), "all of it is in sight"
    lines = instruction.evaluate(
        "one => parseFloat(getComputedStyle(one).maxHeight) / parseFloat(getComputedStyle(one).lineHeight)"
    )
    assert lines % 1 == pytest.approx(0.5, abs=0.2)


def test_a_picture_from_the_cache_is_asked_for_again(page: Page, stage: Stage) -> None:
    """The server refuses an answer to pictures that it did not serve; the page requests them and sends the answer again."""
    campaign = stage.campaign("Not seen", datasets=["studio"])
    join(page, stage, campaign)
    refusals: list[str] = []
    asked: list[str] = []

    def refuse(route: Route) -> None:
        refusals.append(route.request.url)
        body = {
            "code": "pictures_not_seen",
            "message": "Not seen.",
            "hint": "",
            "field": "",
            "fields": ["left", "source-0"],
            "wait_s": None,
        }
        route.fulfill(status=409, json=body)

    page.route("**/vote", refuse, times=1)
    page.on("request", lambda request: asked.append(request.url))
    before = task_of(page)
    page.keyboard.press("t")
    next_task(page, before)
    assert len(refusals) == 1
    assert any(url.endswith("/pictures/left") for url in asked)
    assert any(url.endswith("/pictures/source-0") for url in asked)
    assert stage.votes(campaign) == 1
