"""Verification of collected images in a real browser: two verifiers, zoom, a failed check, adjudication, the repair list."""

import io
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from imarena.core.records import Item, Turn, Verification
from imarena.storage import open_workspace
from imarena.workflows.curating import RepairSession, release_items
from imarena.workflows.exchange.importing import WorkspaceIntake
from tests.web.browser.desk import join, visitor, zoom
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
DATASET = "collected"
CHECKS = ("task_match", "target_visible", "feasible", "judgeable")


def collect(root: Path) -> None:
    """Two items as `curate` leaves them, with large images."""
    with open_workspace(root) as workspace:
        intake = WorkspaceIntake(workspace)
        for name, colour in (("good", "#40a040"), ("bad", "#a04040")):
            file = io.BytesIO()
            Image.new("RGB", (3000, 2000), colour).save(file, "PNG")
            item = Item(
                dataset=DATASET, key=f"{name}-1", turns=(Turn(instruction=f"Brighten the {name} image."),),
                sources=(intake.keep(file.getvalue(), name=f"{name}.png"),), task="exposure_correction",
                provenance={"request": name, "curation": name * 16},
            )  # fmt: skip
            intake.flush()
            workspace.store.add([item])


def answer(page: Page, decision: str, *, failing: str = "", comment: str = "") -> None:
    """Answer the four questions of the task on the screen and send them."""
    for field in page.locator("fieldset[data-check]").all():
        no = field.get_attribute("data-check") == failing
        field.get_by_role("button", name="No" if no else "Yes", exact=True).click()
    page.locator("fieldset[data-field=decision]").get_by_role("button", name=decision).click()
    if comment:
        page.locator("[data-field=explanation] textarea").fill(comment)
    before = str(page.locator(".task").get_attribute("data-task"))
    page.get_by_role("button", name="Send").click()
    done = page.get_by_role("heading", name="All done")
    expect(page.locator(f'.task:not([data-task="{before}"])').or_(done).first).to_be_visible()


def test_two_people_check_and_a_third_decides(browser: Browser, stage: Stage) -> None:
    collect(stage.root)
    campaign = stage.campaign("Image check", "check", datasets=[DATASET], raters_per_unit=2, adjudication="rater")
    failed = ""
    for name in ("Ann", "Bob", "Eve"):
        page = visitor(browser)
        join(page, stage, campaign, name)
        tasks = 1 if name == "Eve" else 2
        for _ in range(tasks):
            expect(page.locator(".task")).to_have_attribute("data-open", "true")
            assert page.locator("fieldset[data-check]").count() == len(CHECKS)
            bad = "Brighten the bad image" in page.locator(".task").inner_text()
            if name == "Ann" and bad:
                page.keyboard.press("?")
                expect(page.locator(".key-table")).to_contain_text("magnifier")
                expect(page.locator(".key-table")).not_to_contain_text("flicker")  # there is nothing to compare
                page.keyboard.press("Escape")
                whole = zoom(page)
                page.keyboard.press("p")
                expect(page.locator(".percent")).to_have_text("100%")
                assert zoom(page) > 2 * whole, "a detail can be looked at pixel by pixel"
            if not bad or name == "Ann":
                answer(page, "Accept")
                continue
            failed = str(page.locator("fieldset[data-check]").nth(2).get_attribute("data-check"))
            decision = page.locator("fieldset[data-field=decision]")
            decision.get_by_role("button", name="Accept").click()
            page.locator(f"fieldset[data-check={failed}]").get_by_role("button", name="No", exact=True).click()
            expect(decision.get_by_role("button", name="Accept")).to_have_count(0)
            expect(decision.get_by_role("button", name="Repair")).to_have_attribute("aria-pressed", "false")
            answer(page, "Repair", failing=failed, comment="Too dark to see the edge.")
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        page.context.close()
    progress = stage.get(f"/api/lead/campaigns/{campaign}")
    assert (progress["disputed"], progress["adjudicated"]) == (1, 1)
    with open_workspace(stage.root) as workspace:
        items = {item.key: item for item in workspace.store.records(Item, dataset=DATASET)}
        checks = [each.decision for each in workspace.store.records(Verification, item_id=items["bad-1"].item_id)]
        assert checks == ["accept", "repair", "repair"]
        released = release_items(workspace, DATASET, "verified")
        assert (released.counts, released.agreement, released.complete) == ({"accept": 1, "repair": 1}, 0.5, False)
        (listed,) = RepairSession(workspace, DATASET, {}).entries()
        assert (listed.key, listed.failed) == ("bad-1", (failed,))
        assert listed.comments == ("Too dark to see the edge.",) * 2
