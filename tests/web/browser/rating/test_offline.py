"""The connection is lost while a rater works: nothing is done twice, nothing is lost, and all goes on by itself."""

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.browser.desk import join, next_task, task_of, visitor
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser


def lost(page: Page, path: str, key: str) -> None:
    """The server gets what this key sends, and its answer is lost on the way."""

    def cut(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route(path, cut, times=1)
    page.keyboard.press(key)


def test_what_is_sent_while_the_answer_is_lost_is_done_once(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Lost answers", datasets=["studio"])
    join(page, stage, campaign)
    first = task_of(page)
    lost(page, "**/vote", "ArrowLeft")
    next_task(page, first)
    assert stage.votes(campaign) == 1
    second = task_of(page)
    page.keyboard.press("t")
    next_task(page, second)
    third = task_of(page)
    lost(page, "**/undo", "u")
    next_task(page, third)
    assert task_of(page) == second, "the last answer is taken back, not the one before it"
    assert stage.votes(campaign) == 1
    page.keyboard.press("s")
    skip = page.get_by_role("button", name="I cannot decide")
    skip.focus()
    lost(page, "**/skip", "Enter")
    next_task(page, second)
    state = stage.get(f"/api/lead/campaigns/{campaign}")
    assert (state["skipped"], state["votes"]) == (1, 1)


def test_pictures_and_answers_come_back_with_the_connection(browser: Browser, stage: Stage) -> None:
    page = visitor(browser)  # that pictures do not come is said in the console, and is no fault of the page
    campaign = stage.campaign("Offline", datasets=["studio"])
    page.route("**/ahead", lambda route: route.abort())
    join(page, stage, campaign)
    first = task_of(page)
    page.route("**/tiles/**", lambda route: route.abort())
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pane-broken").first).to_be_visible()
    page.unroute("**/tiles/**")
    expect(page.locator(".pane-broken")).to_have_count(0)
    next_task(page, first)
    second = task_of(page)
    page.context.set_offline(True)
    page.keyboard.press("b")
    expect(page.get_by_role("alert")).to_contain_text("Your answer is kept")
    page.context.set_offline(False)
    next_task(page, second)
    assert stage.votes(campaign) == 2
    page.context.close()
