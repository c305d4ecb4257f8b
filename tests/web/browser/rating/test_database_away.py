"""The database goes away while a rater answers: the page says so, keeps the answer and sends it when it is back."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from imarena.storage import init_workspace
from imarena.web.static_files import STATIC
from tests.servers.postgres import machine, new_database
from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, next_task, ready, task_of
from tests.web.browser.stage import Stage, start
from tests.web.people import fill

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def restless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, Any]]:
    """A server over PostgreSQL, and the PostgreSQL to stop and start."""
    if not (STATIC / "index.html").is_file():
        pytest.skip("the pages are not built: run 'make web'")
    root = tmp_path_factory.mktemp("away")
    with machine() as postgres:
        with init_workspace(root / "arena", url=new_database(postgres.get_uri())) as workspace:
            fill(workspace, items=4, size=(640, 480))
        process, stage = start(root / "arena")
        try:
            yield stage, postgres
        finally:
            process.terminate()
            process.wait(timeout=30)


def test_an_answer_waits_for_the_database_and_is_stored_once(
    page: Page, restless: tuple[Stage, Any], shot: Shot
) -> None:
    stage, postgres = restless
    campaign = stage.campaign("Away")
    join(page, stage, campaign)
    before = task_of(page)
    postgres.stop()
    try:
        page.keyboard.press("ArrowLeft")
        told = page.get_by_role("alert")
        expect(told).to_contain_text("database cannot be reached")
        expect(told).to_contain_text("Your answer is kept")
        shot(page, "away")
    finally:
        postgres.start()
    next_task(page, before)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert stage.votes(campaign) == 1


def test_an_answer_on_its_way_outlives_a_reload(page: Page, restless: tuple[Stage, Any]) -> None:
    stage, postgres = restless
    campaign = stage.campaign("Away and reloaded")
    join(page, stage, campaign)
    before = task_of(page)
    postgres.stop()
    try:
        page.keyboard.press("b")
        expect(page.get_by_role("alert")).to_be_visible()
    finally:
        page.evaluate("() => window.stop()")
        with page.expect_navigation():
            page.evaluate("() => { window.location.href = '/board'; }")
        postgres.start()
    page.goto(f"{stage.address}/rate/{campaign}")
    ready(page)
    assert task_of(page) != before
    assert stage.votes(campaign) == 1
