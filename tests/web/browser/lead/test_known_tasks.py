"""Known answers in a real browser: chosen in the form, told after practice, asked in a test that some pass."""

import io
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from imarena.core.records import Item, Output, Turn
from imarena.storage import open_workspace
from imarena.workflows.exchange.importing import WorkspaceIntake
from tests.web.browser.conftest import Shot
from tests.web.browser.desk import join, next_task, open_link, ready, task_of, visitor
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
KEYS = {"left": "ArrowLeft", "right": "ArrowRight", "tie": "t", "both_bad": "b"}


def pairs(stage: Stage, wanted: int) -> list[tuple[str, str, str]]:
    """Items of the workspace with two of their editors."""
    items = stage.get("/api/items?dataset=studio&limit=50")["items"]
    editors = sorted(name for name in stage.get("/api/facets")["editors"] if "painter" not in name)
    return [(one["key"], editors[0], editors[1]) for one in items[:wanted]]


def add_pairs(root: Path, dataset: str) -> None:
    """Two items with two outputs each that no other test votes on."""
    with open_workspace(root) as workspace:
        intake = WorkspaceIntake(workspace)
        for key in ("red", "blue"):
            item = Item(dataset=dataset, key=key, turns=(Turn(instruction=f"Paint it {key}."),))
            outputs = []
            for editor in ("red-painter", "blue-painter"):
                file = io.BytesIO()
                Image.new("RGB", (64, 48), editor.partition("-")[0]).save(file, "PNG")
                image = intake.keep(file.getvalue(), name=f"{key}.png")
                outputs.append(Output(item_id=item.item_id, editor=editor, image=image))
            intake.flush()
            workspace.store.add([item])
            workspace.store.add(outputs)


def table(stage: Stage, folder: Path) -> Path:
    """Four tasks: one for practice, two for a test, one gold."""
    uses = ("practice", "qualification", "qualification", "gold")
    lines = [
        f'{item},{left},{right},left,"Look at the edges.",{use}'
        for (item, left, right), use in zip(pairs(stage, 4), uses, strict=True)
    ]
    made = folder / "known.csv"
    made.write_text("item,left,right,winner,explanation,use\n" + "\n".join(lines) + "\nnowhere,a,b,left,,gold\n")
    return made


def expected_key(stage: Stage, campaign: str, purpose: str, number: int, *, right: bool) -> str:
    """The key that answers a known task as expected, or not."""
    known = stage.get(f"/api/lead/campaigns/{campaign}")["settings"][purpose][number]["preference"]
    return KEYS[known] if right else KEYS["both_bad"]


def test_a_lead_chooses_practice_test_and_gold_and_raters_pass_or_fail(
    lead: Page, stage: Stage, browser: Browser, shot: Shot, tmp_path: Path
) -> None:
    lead.goto(f"{stage.address}/lead")
    lead.get_by_role("button", name="New campaign").click()
    lead.get_by_label("Name", exact=True).fill("With a test")
    lead.get_by_label("Data sets").select_option("studio")
    lead.get_by_label("From a table").set_input_files(table(stage, tmp_path))
    expect(lead.get_by_text("4 tasks with a known answer.")).to_be_visible()
    expect(lead.get_by_text("Line 6: no item of this name")).to_be_visible()
    expect(lead.get_by_role("combobox", name="Used as").first).to_have_value("practice")
    lead.get_by_label("Correct answers needed to pass the test").fill("100")
    lead.get_by_role("combobox", name="Used as").first.scroll_into_view_if_needed()
    shot(lead, "known-answers")
    lead.get_by_role("button", name="Create").click()
    expect(lead.get_by_role("heading", name="With a test")).to_be_visible()
    campaign = lead.url.rpartition("/")[2]
    settings = stage.get(f"/api/lead/campaigns/{campaign}")["settings"]
    counts = {use: len(settings[use]) for use in ("practice", "qualification", "gold")}
    assert counts == {"practice": 1, "qualification": 2, "gold": 1}
    assert (settings["pass_share"], settings["gold_rate"]) == (1.0, 0.1)

    passes, fails = visitor(browser), visitor(browser)
    for rater, name, right in ((passes, "Ida", True), (fails, "Ole", False)):
        join(rater, stage, campaign, name)
        practise(rater, expected_key(stage, campaign, "practice", 0, right=right), right=right, shot=shot)
        expect(rater.locator(".badge")).to_have_text("Test")
        for number in range(2):
            before = task_of(rater)
            rater.keyboard.press(expected_key(stage, campaign, "qualification", number, right=right or number == 0))
            if number == 0 or right:
                next_task(rater, before)
                expect(rater.get_by_role("dialog")).to_have_count(0)
    expect(passes.locator(".badge")).to_have_count(0)
    expect(passes.locator(".task")).to_be_visible()
    expect(fails.get_by_role("heading", name="Thank you for trying")).to_be_visible()
    shot(fails, "not-qualified")
    expect(fails.get_by_role("button", name="Undo")).to_have_count(0)
    fails.keyboard.press("u")
    fails.reload()
    expect(fails.get_by_role("heading", name="Thank you for trying")).to_be_visible()
    assert stage.votes(campaign) == 0, "practice and test are not work"
    passes.context.close()
    fails.context.close()


def practise(page: Page, key: str, *, right: bool, shot: Shot) -> None:
    """One practice task: the answer is told, in a window that keys alone can close."""
    expect(page.locator(".badge")).to_have_text("Practice")
    before = task_of(page)
    page.keyboard.press(key)
    window = page.get_by_role("dialog", name="Practice")
    expect(window).to_contain_text("Correct." if right else "This is not the expected answer.")
    expect(window).to_contain_text("Expected: ")
    expect(window).to_contain_text("Look at the edges.")
    expect(page.get_by_role("button", name="Next task")).to_be_focused()
    if right:
        shot(page, "practice")
    page.keyboard.press("Enter")
    expect(window).to_have_count(0)
    next_task(page, before)


def test_votes_that_agree_become_known_answers(lead: Page, stage: Stage, browser: Browser) -> None:
    dataset = "agreed"
    add_pairs(stage.root, dataset)
    campaign = stage.campaign("Votes to learn from", datasets=[dataset], raters_per_unit=2)
    for name in ("Uma", "Per"):
        rater = visitor(browser)
        join(rater, stage, campaign, name)
        first = task_of(rater)
        rater.keyboard.press("t")
        next_task(rater, first)
        rater.keyboard.press("t")
        expect(rater.get_by_role("heading", name="All done")).to_be_visible()
        rater.context.close()
    assert stage.votes(campaign) == 4
    lead.goto(f"{stage.address}/lead")
    lead.get_by_role("button", name="New campaign").click()
    lead.get_by_label("Data sets").select_option(dataset)
    lead.get_by_role("button", name="Find in votes").click()
    expect(lead.get_by_role("dialog").get_by_role("status").first).to_have_text("2 tasks with a known answer.")
    assert lead.get_by_role("cell", name="tie (2 votes)").count() == 2


def test_a_test_that_is_skipped_is_not_passed(page: Page, stage: Stage) -> None:
    lines = "\n".join(f"{item},{left},{right},left" for item, left, right in pairs(stage, 1))
    found = stage.post("/api/lead/known-tasks", {"table": f"item,left,right,winner\n{lines}\n"})
    campaign = stage.campaign("Skipped test", datasets=["studio"], qualification=[found["tasks"][0]["task"]])
    open_link(page, stage.invite(campaign))
    page.get_by_role("link", name="Start").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Begin").click()
    ready(page)
    page.keyboard.press("s")
    page.get_by_role("button", name="I cannot decide").click()
    expect(page.get_by_role("heading", name="Thank you for trying")).to_be_visible()
