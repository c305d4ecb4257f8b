"""Looking in a real browser: the leaderboard and its filters, the explorer, items, runs, judges."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser


def test_the_leaderboard_is_filtered_and_its_link_keeps_the_filter(lead: Page, stage: Stage, shot: Shot) -> None:
    lead.goto(stage.launch)
    lead.get_by_role("link", name="Leaderboard").click()
    lead.get_by_role("button", name="Judge", exact=True).click()  # other tests vote: people's board may move meanwhile
    rows = lead.locator(".standings tbody tr")
    expect(rows).to_have_count(4)
    battles = lead.get_by_text(re.compile(r"\d+ battles, method"))
    everything = battles.inner_text()
    shot(lead, "board")
    task = lead.get_by_label("Task").locator("option").nth(2).inner_text()
    lead.get_by_label("Task").select_option(task)
    expect(battles).not_to_have_text(everything)
    assert f"task={task}" in lead.url
    filtered = battles.inner_text()
    lead.reload()
    expect(battles).to_have_text(filtered)
    expect(lead.get_by_label("Task")).to_have_value(task)
    lead.get_by_role("button", name="Clear filters").click()
    expect(lead).not_to_have_url(re.compile("task=|source="))
    expect(lead.get_by_role("button", name="Default source")).to_have_attribute("aria-pressed", "true")


def test_each_page_has_its_own_title(lead: Page, stage: Stage) -> None:
    lead.goto(f"{stage.address}/board")
    expect(lead).to_have_title("Leaderboard · imarena")
    for name in ("Battles", "Items", "Judges", "Campaigns", "Access", "Runs"):
        lead.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(lead).to_have_title(f"{name} · imarena")
    expect(lead.locator(".tile", has_text="items")).to_be_visible()
    expect(lead.locator(".tile", has_text="replies")).to_be_visible()


def test_win_matrix_and_head_to_head(lead: Page, stage: Stage, shot: Shot) -> None:
    lead.goto(f"{stage.address}/board?view=matrix&source=judge")
    expect(lead.locator(".matrix tbody tr")).to_have_count(4)
    shot(lead, "matrix")
    lead.get_by_role("button", name="Head to head").click()
    expect(lead.locator(".duel tbody tr").first).to_contain_text("All tasks")
    shot(lead, "head-to-head")


def test_a_battle_shows_its_pictures_and_raw_replies(lead: Page, stage: Stage, shot: Shot) -> None:
    lead.goto(f"{stage.address}/board")
    lead.get_by_role("link", name="Battles").click()
    shot(lead, "battles")
    lead.goto(f"{stage.address}/battles?judge=builtin")  # other tests vote on items without a source
    lead.locator("tbody a").first.click()
    expect(lead.locator(".pane")).to_have_count(3)
    expect(lead.locator(".verdict").first).to_be_visible()
    shot(lead, "battle")


def test_all_editors_on_one_item(lead: Page, stage: Stage, shot: Shot) -> None:
    lead.goto(f"{stage.address}/board")
    lead.get_by_role("link", name="Items").click()
    shot(lead, "items")
    lead.goto(f"{stage.address}/items?dataset=studio")
    lead.locator(".thumb").first.click()
    expect(lead.locator(".gallery .pane")).to_have_count(5)
    shot(lead, "item")


def test_runs_and_judges(lead: Page, stage: Stage) -> None:
    lead.goto(f"{stage.address}/board")
    lead.get_by_role("link", name="Runs").click()
    expect(lead.get_by_role("heading", name="Failures")).to_be_visible()
    lead.get_by_role("link", name="Judges").click()
    expect(lead.get_by_role("row", name="builtin").first).to_be_visible()


def test_dark(lead: Page, stage: Stage, shot: Shot) -> None:
    lead.goto(f"{stage.address}/board")
    lead.get_by_role("button", name="Light or dark").click()
    expect(lead.locator("html")).to_have_attribute("data-theme", "dark")
    lead.reload()
    expect(lead.locator("html")).to_have_attribute("data-theme", "dark")
    expect(lead.locator(".standings")).to_be_visible()
    shot(lead, "dark")


def test_a_stranger_sees_only_the_door(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.address}/lead")
    expect(page.get_by_role("alert")).to_contain_text("not signed in")
    page.goto(stage.address)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
