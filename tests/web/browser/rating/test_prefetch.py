"""The next task in a real browser: its pictures are there before it is shown, and a closed tab gives it back."""

import pytest
from playwright.sync_api import Page, Request, expect

from tests.web.browser.desk import join, next_task, ready, seen, task_of, until
from tests.web.browser.stage import BIG, Stage

pytestmark = pytest.mark.browser


def is_ahead(request: Request) -> bool:
    return request.url.endswith("/ahead")


def watched(page: Page) -> tuple[list[str], list[str]]:
    """The addresses that the page asks for from now on, and those that have come."""
    asked: list[str] = []
    come: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfinished", lambda request: come.append(request.url))
    return asked, come


def tiles_of(task: str, addresses: list[str]) -> set[str]:
    """Tiles of a task among some addresses."""
    return {one for one in addresses if task in one and "/tiles/" in one}


def waiting(stage: Stage, campaign: str) -> tuple[int, int]:
    """How many tasks are being answered, and how many are free for others, as the store has them."""
    from sqlalchemy import func, select

    from imarena.storage import open_workspace
    from imarena.storage.database import reading
    from imarena.storage.schema import leases

    with open_workspace(stage.root) as workspace, reading(workspace.store.engine) as connection:
        count = select(leases.c.state, func.count()).where(leases.c.campaign_id == campaign).group_by(leases.c.state)
        states = {row[0]: row[1] for row in connection.execute(count)}
    return states.get("waiting", 0), states.get("free", 0)


FETCHED = """(address) => performance.getEntriesByType('resource')
  .filter((one) => one.name.includes('/tiles/') && one.name.includes(address))
  .map((one) => [one.startTime, one.transferSize])"""
"""When each tile of a task was asked for, and how many bytes came over the wire; what is in memory is not asked for."""


@pytest.mark.parametrize(("kind", "dataset", "key"), [("preference", "studio", "t"), ("yes_no", BIG, "y")])
def test_the_next_task_is_shown_from_what_was_fetched_before(
    page: Page, stage: Stage, kind: str, dataset: str, key: str
) -> None:
    campaign = stage.campaign(f"Ready {kind}", kind, datasets=[dataset])
    asked, come = watched(page)
    with page.expect_event("requestfinished", is_ahead) as found:
        join(page, stage, campaign)
    answer = found.value.response()
    assert answer is not None
    coming = answer.json()["task"]["address"]
    until(page, lambda: tiles_of(coming, asked) and tiles_of(coming, asked) == tiles_of(coming, come))
    before = task_of(page)
    moment = page.evaluate("() => performance.now()")
    page.keyboard.press(key)
    next_task(page, before)
    tiles = page.evaluate(FETCHED, task_of(page))
    assert [at for at, size in tiles if size and at < moment], "tiles were fetched ahead"
    assert [at for at, size in tiles if size and at >= moment] == [], "nothing of the first look was missing"
    assert all(len(colour) == 3 for colour in seen(page).values())
    assert stage.votes(campaign) == 1


def test_a_closed_tab_gives_the_ready_task_back(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Given back", datasets=["studio"])
    with page.expect_event("requestfinished", is_ahead):
        join(page, stage, campaign)
    assert waiting(stage, campaign)[0] == 1
    free = waiting(stage, campaign)[1]
    other = page.context.new_page()
    page.close(run_before_unload=True)
    other.goto(stage.address)
    until(other, lambda: waiting(stage, campaign) == (0, free + 1))


def test_leaving_the_desk_gives_it_back_and_undo_still_works(page: Page, stage: Stage) -> None:
    campaign = stage.campaign("Undo and ready", datasets=["studio"])
    with page.expect_event("requestfinished", is_ahead):
        join(page, stage, campaign)
    first = task_of(page)
    page.keyboard.press("ArrowLeft")
    next_task(page, first)
    second = task_of(page)
    with page.expect_event("requestfinished", is_ahead):
        page.keyboard.press("u")
        expect(page.get_by_text("Your earlier answer: left.")).to_be_visible()
        ready(page)
    assert task_of(page) == first
    with page.expect_event("requestfinished", is_ahead):
        page.keyboard.press("t")
        next_task(page, first)
    assert task_of(page) == second
    with page.expect_response(lambda answer: answer.url.endswith("/give-back")):
        page.get_by_role("link", name="imarena").click()
    expect(page.get_by_role("heading", name="Your campaigns")).to_be_visible()
    assert waiting(stage, campaign)[0] == 0
