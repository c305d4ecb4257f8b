"""The edit region on the voting page: outlined on all pictures, in step with the zoom, and taken away by a key."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from imarena.core import Detection
from imarena.core.records import Evidence, Item
from imarena.images import EDIT_BOXES, boxes_value
from imarena.storage import open_workspace
from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, ready, until, zoom
from tests.web.browser.stage import BIG, BIG_SIZE, SPOT, Stage

pytestmark = pytest.mark.browser


def mark(stage: Stage, dataset: str, instruction: str | None = None) -> None:
    """Store where the pictures of a data set are edited; `instruction`: by another instruction than theirs."""
    box = (float(SPOT[0]), float(SPOT[1]), float(SPOT[2]), float(SPOT[3]))
    value = boxes_value([Detection(box, "edit", 1.0)], *BIG_SIZE)
    params: dict[str, Any] = {} if instruction is None else {"instruction": instruction}
    with open_workspace(stage.root) as workspace:
        images = {item.sources[0].sha256 for item in workspace.store.records(Item, dataset=dataset)}
        workspace.store.add([
            Evidence(image_sha256=image, tool="t", kind=EDIT_BOXES, params=params, value=value) for image in images
        ])  # fmt: skip


def fits_the_picture(page: Page) -> bool:
    """Is every outline as wide and high on the screen as the edited place is at this zoom, and in the middle?"""
    share = zoom(page) / 100
    for pane in page.locator(".pane").all():
        box, frame = pane.locator(".region .over").bounding_box(), pane.locator(".pane-canvas").bounding_box()
        if box is None or frame is None:
            return False
        size = ((SPOT[2] - SPOT[0]) * share, (SPOT[3] - SPOT[1]) * share)
        if abs(box["width"] - size[0]) > 0.06 * size[0] + 3 or abs(box["height"] - size[1]) > 0.06 * size[1] + 3:
            return False
        middle = (box["x"] + box["width"] / 2 - frame["x"], box["y"] + box["height"] / 2 - frame["y"])
        if abs(middle[0] - frame["width"] / 2) > 4 or abs(middle[1] - frame["height"] / 2) > 4:
            return False
    return True


def test_the_edit_region_is_outlined_on_all_pictures_and_hidden_by_a_key(page: Page, stage: Stage, shot: Shot) -> None:
    mark(stage, BIG)
    join(page, stage, stage.campaign("Consistency", datasets=[BIG], dimension="visual_consistency", show_region=True))
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Which result keeps more of what the instruction does not ask to change?"
    )
    outlines = page.locator(".region .over")
    expect(outlines).to_have_count(3)
    until(page, lambda: fits_the_picture(page))
    shot(page, "region")
    whole = zoom(page)
    page.keyboard.press("+")
    page.keyboard.press("+")
    until(page, lambda: zoom(page) > 2 * whole)
    until(page, lambda: fits_the_picture(page))
    toggle = page.get_by_role("button", name="Edit region")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("r")
    expect(outlines).to_have_count(0)
    expect(toggle).to_have_attribute("aria-pressed", "false")
    toggle.click()
    expect(outlines).to_have_count(3)
    page.keyboard.press("f")  # on top of each other: one outline for both
    ready(page)
    expect(outlines).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_text("show or hide the edit region")).to_be_visible()


def test_without_a_known_region_the_page_says_so_and_other_campaigns_say_nothing(page: Page, stage: Stage) -> None:
    mark(stage, "studio", "do something else")
    join(page, stage, stage.campaign("Unknown regions", datasets=["studio"], show_region=True))
    known, unknown = page.locator(".region .over"), page.get_by_text("The edit region is not known for this task.")
    expect(unknown).to_be_visible()
    expect(known).to_have_count(0)
    plain = stage.campaign("No regions", datasets=[BIG])
    page.context.clear_cookies()
    join(page, stage, plain, "Bo")
    expect(page.get_by_role("button", name="Edit region")).to_have_count(0)
    expect(known).to_have_count(0)
    expect(unknown).to_have_count(0)
