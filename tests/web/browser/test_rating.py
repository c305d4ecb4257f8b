"""Rating in a real browser: criteria, things, numbered parts, boxes, and the rule that a low value is explained."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, next_task, ready, task_of
from tests.web.browser.stage import BIG, Stage

pytestmark = pytest.mark.browser
CRITERIA = ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts")


def rate(page: Page, value: int) -> None:
    """The same value on every criterion."""
    for criterion in CRITERIA:
        page.locator(f"[data-criterion={criterion}] label").nth(value - 1).click()


def test_a_low_rating_without_an_explanation_is_refused(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Refusal", "rating", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    send = page.get_by_role("button", name="Send")
    send.click()
    expect(page.get_by_test_id("refused").get_by_role("listitem")).to_have_count(6)
    rate(page, 4)
    page.get_by_label("None: every thing is as it should be").check()
    page.get_by_label("None: every part is as it should be").check()
    send.click()
    expect(page.get_by_test_id("refused")).to_contain_text("mark what is wrong, or explain")
    page.get_by_test_id("refused").scroll_into_view_if_needed()
    shot(page, "refused")
    assert stage.votes(campaign) == 0
    page.get_by_label("Explain in a few words").fill("The light comes from the wrong side.")
    expect(page.get_by_test_id("refused")).to_be_hidden()
    send.click()
    next_task(page, before)
    assert stage.votes(campaign) == 1


def test_a_part_is_tagged_and_a_box_drawn(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Marks", "rating", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    rate(page, 3)
    part = page.locator(".overlay .segment").first
    number = part.get_attribute("data-segment")
    label = part.locator("circle").bounding_box()
    assert label is not None
    page.mouse.click(label["x"] + label["width"] / 2, label["y"] + label["height"] / 2)
    chip = page.get_by_role("button", name=f"Part {number}", exact=True)
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("d")
    canvas = page.locator("[data-pane=Result] .pane-canvas").bounding_box()
    assert canvas is not None
    middle = (canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2)
    page.mouse.move(middle[0] - 60, middle[1] - 50)
    page.mouse.down()
    page.mouse.move(middle[0] + 40, middle[1] + 60, steps=6)
    page.mouse.up()
    expect(page.locator(".overlay .box")).to_have_count(1)
    page.get_by_label("Another thing").fill("the shadow")
    page.get_by_label("Another thing").press("Enter")
    expect(page.get_by_label("the shadow")).to_be_checked()
    shot(page, "rating")
    page.reload()
    ready(page)
    expect(page.locator(".overlay .box")).to_have_count(1)  # a reload keeps what was marked
    page.get_by_role("button", name="Send").click()
    next_task(page, before)
    page.keyboard.press("u")
    expect(page.locator(".overlay .box")).to_have_count(1)
    expect(page.get_by_role("button", name=f"Part {number}", exact=True)).to_have_attribute("aria-pressed", "true")


def test_expected_things_and_the_anchors(page: Page, stage: Stage, shot: Shot) -> None:
    join(page, stage, stage.campaign("Things", "rating", datasets=[BIG]))
    page.get_by_label("painted patch").check()
    page.get_by_label("None: every thing is as it should be").check()
    expect(page.get_by_label("painted patch")).not_to_be_checked()
    scale = page.locator("[data-criterion=artifacts]")
    scale.locator("label").nth(0).hover()
    expect(scale.locator(".anchor")).to_have_text("Damage everywhere.")
    shot(page, "anchors")


def test_yes_or_no(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Was it done?", "yes_no", datasets=["studio"])
    join(page, stage, campaign)
    shot(page, "yes-no")
    before = task_of(page)
    page.keyboard.press("y")
    next_task(page, before)
    assert stage.votes(campaign) == 1


def test_an_item_is_checked(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Are the items sound?", "check", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    for check in ("task_matches", "target_visible", "feasible", "consistently_judgeable"):
        page.locator(f"[data-check={check}]").get_by_role("button", name="Yes").click()
    page.get_by_role("button", name="Repair").click()
    send = page.get_by_role("button", name="Send")
    send.click()
    expect(page.get_by_test_id("refused")).to_contain_text("Say what has to be repaired.")
    page.get_by_label("Comment").fill("Name the colour.")
    shot(page, "check")
    send.click()
    next_task(page, before)
