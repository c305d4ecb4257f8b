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
    expect(page.locator("[data-criterion=prompt_relevance] input").first).to_be_focused()  # the first gap
    rate(page, 4)
    page.get_by_label("None: all objects are correct").check()
    page.get_by_label("None: all parts are correct").check()
    send.click()
    expect(page.get_by_test_id("refused")).to_contain_text("mark what is wrong, or write a comment")
    page.get_by_test_id("refused").scroll_into_view_if_needed()
    shot(page, "refused")
    assert stage.votes(campaign) == 0
    page.get_by_label("Comment").fill("The light comes from the wrong side.")
    expect(page.get_by_test_id("refused")).to_be_hidden()
    send.click()
    next_task(page, before)
    assert stage.votes(campaign) == 1


def test_a_part_is_tagged_and_a_box_drawn(page: Page, stage: Stage, shot: Shot) -> None:
    campaign = stage.campaign("Marks", "rating", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    rate(page, 3)
    expect(page.locator(".overlay .segment")).to_have_count(0)  # numbers hide the picture: they come when asked for
    page.keyboard.press("n")
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
    page.get_by_label("Another object").fill("the shadow")
    page.get_by_label("Another object").press("Enter")
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
    page.get_by_label("None: all objects are correct").check()
    expect(page.get_by_label("painted patch")).not_to_be_checked()
    scale = page.locator("[data-criterion=artifacts]")
    scale.locator("label").nth(0).click()
    expect(page.locator(".anchor")).to_have_text("Free of defects, 1: Damage everywhere.")
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
    expect(page.get_by_test_id("refused")).to_contain_text("Describe what has to be repaired.")
    page.get_by_label("Comment").fill("Name the colour.")
    shot(page, "check")
    send.click()
    next_task(page, before)


def test_keys_alone_rate_a_picture(page: Page, stage: Stage) -> None:
    """A digit rates the marked criterion and goes on to the next; Enter goes to the gap, and sends when there is none."""
    campaign = stage.campaign("Digits", "rating", datasets=["studio"])
    join(page, stage, campaign)
    before = task_of(page)
    for digit in "5455":
        page.keyboard.press(digit)
    values = [page.locator(f"[data-criterion={name}] input:checked").get_attribute("value") for name in CRITERIA]
    assert values == ["5", "4", "5", "5"]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("5")
    expect(page.locator("[data-criterion=aesthetic_quality] input:checked")).to_have_attribute("value", "5")
    expect(page.locator(".open-questions")).to_contain_text("2 still to answer")
    page.keyboard.press("Enter")
    objects = page.get_by_label("None: all objects are correct")
    expect(objects).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_label("None: all parts are correct")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    next_task(page, before)
    assert stage.votes(campaign) == 1


def test_what_is_required_is_in_sight(page: Page, stage: Stage) -> None:
    join(page, stage, stage.campaign("In sight", "rating", datasets=["studio"]))
    for name in (*CRITERIA, "objects", "segments"):
        field = page.locator(f"[data-field={name}]").locator("input").first
        expect(field).to_be_in_viewport()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".open-questions")).to_be_in_viewport()
    page.locator(".open-questions button").click()
    expect(page.locator("[data-criterion=prompt_relevance] input").first).to_be_focused()
    expect(page.locator("[data-criterion=prompt_relevance]")).to_be_in_viewport()


def test_the_result_is_compared_with_the_source(page: Page, stage: Stage, shot: Shot) -> None:
    join(page, stage, stage.campaign("Against the source", "rating", datasets=["studio"]))
    for key, mode in (("w", "swipe"), ("f", "flicker"), ("x", "difference")):
        page.keyboard.press(key)
        expect(page.locator(".stack")).to_have_attribute("data-mode", mode)
        ready(page)
    shot(page, "rating-difference")
    assert page.locator(".stack [role=img]").evaluate_all("all => all.map((one) => one.ariaLabel)") == [
        "Source",
        "Result",
    ]
    page.keyboard.press("v")
    expect(page.locator(".panes .pane")).to_have_count(2)


def test_a_picture_is_not_both_new_and_the_source(page: Page, stage: Stage) -> None:
    join(page, stage, stage.campaign("One of both", "rating", datasets=["studio"]))
    new, same = page.get_by_label("It is a new picture"), page.get_by_label("It is the source, unchanged")
    new.check()
    same.check()
    expect(new).not_to_be_checked()
    page.get_by_label("Neither").check()
    expect(same).not_to_be_checked()
