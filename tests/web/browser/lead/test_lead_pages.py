"""The lead's pages in a real browser: raters first, votes excluded and included, links ended and restored, guidelines."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import fits, join, loaded, next_task, ready, task_of, until, visitor
from tests.web.browser.stage import Stage
from tests.web.browser.test_accessibility import violations

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def rated(stage: Stage, browser: Browser) -> str:
    """A campaign in which two people have answered; its id."""
    campaign = stage.campaign("Rated", datasets=["studio"], raters_per_unit=2, max_units=6)
    for name, key in (("Bo", "ArrowLeft"), ("Chi", "t")):
        page = visitor(browser)
        join(page, stage, campaign, name)
        for _ in range(3):
            before = task_of(page)
            page.keyboard.press(key)
            next_task(page, before)
        page.context.close()
    return campaign


def open_campaign(page: Page, stage: Stage, campaign: str) -> None:
    """Its page, loaded."""
    page.goto(f"{stage.address}/lead/{campaign}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("Loading")).to_have_count(0)


def row_of(page: Page, name: str) -> Locator:
    """The row of a rater in the table of raters."""
    return page.locator("table.people").get_by_role("row", name=re.compile(f"^{name}"))


def test_raters_come_first_with_a_page_each(lead: Page, stage: Stage, rated: str, shot: Shot) -> None:
    open_campaign(lead, stage, rated)
    assert lead.locator("main h2").first.inner_text() == "Raters"
    row = row_of(lead, "Bo")
    expect(row).to_contain_text(re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"))
    row.get_by_role("link", name="Bo").click()
    expect(lead.get_by_role("heading", level=1)).to_have_text("Bo")
    for tile in ("Last active", "Median time, measured", "Known answers", "With others"):
        expect(lead.locator(".tile", has_text=tile)).to_be_visible()
    answers = lead.get_by_role("region", name="Answers").locator("tbody tr")
    expect(answers).to_have_count(3)
    expect(lead.locator(".tile", has_text="Answers").first).to_contain_text("3")
    shot(lead, "rater")
    lead.get_by_role("link", name="Campaign", exact=False).last.click()
    expect(lead.get_by_role("heading", level=1)).to_be_visible()


def test_votes_are_excluded_with_a_reason_and_included_again(lead: Page, stage: Stage, rated: str, shot: Shot) -> None:
    open_campaign(lead, stage, rated)
    tile = lead.locator(".tile", has_text="Answers").first
    expect(tile).to_contain_text("6 / 12")
    row = row_of(lead, "Bo")
    row.get_by_role("button", name="Exclude votes: Bo").click()
    dialog = lead.get_by_role("dialog", name="Exclude the votes of Bo")
    dialog.get_by_role("button", name="Exclude votes").click()
    expect(dialog).to_be_visible()  # a reason is needed
    dialog.get_by_label("Votes from a date on").check()
    expect(dialog.get_by_label("From (UTC)")).to_be_visible()
    dialog.get_by_label("All votes").check()
    dialog.get_by_label("Reason").fill("answers without looking")
    shot(lead, "exclude")
    dialog.get_by_role("button", name="Exclude votes").click()
    expect(lead.get_by_text("3 votes of Bo no longer count.")).to_be_visible()
    expect(row).to_contain_text("votes excluded")
    expect(row).to_contain_text("answers without looking")
    expect(tile).to_contain_text("3 / 12")
    expect(lead.locator(".changes")).to_contain_text("Votes of Bo excluded")
    row.get_by_role("button", name="Include votes: Bo").click()
    expect(lead.get_by_text("3 votes of Bo count again.")).to_be_visible()
    expect(row).not_to_contain_text("votes excluded")
    expect(tile).to_contain_text("6 / 12")


def test_votes_are_excluded_from_a_date_on(lead: Page, stage: Stage, rated: str) -> None:
    open_campaign(lead, stage, rated)
    row = row_of(lead, "Chi")
    row.get_by_role("button", name="Exclude votes: Chi").click()
    dialog = lead.get_by_role("dialog", name="Exclude the votes of Chi")
    dialog.get_by_label("Votes from a date on").check()
    dialog.get_by_label("From (UTC)").fill("2026-01-31")
    dialog.get_by_label("Reason").fill("tired")
    dialog.get_by_role("button", name="Exclude votes").click()
    expect(row).to_contain_text("votes excluded from 2026-01-31 00:00")
    row.get_by_role("button", name="Include votes: Chi").click()
    expect(row).not_to_contain_text("votes excluded")


def test_a_rater_is_invited_again_from_their_row(lead: Page, stage: Stage, rated: str, browser: Browser) -> None:
    open_campaign(lead, stage, rated)
    lead.get_by_role("button", name="New link: Bo").click()
    link = lead.get_by_label(re.compile("^Send this link to Bo"))
    expect(link).to_be_visible()
    again = visitor(browser)
    again.goto(link.input_value())
    expect(again.get_by_text("3 answers given")).to_be_visible()  # the same rater, with their work
    again.context.close()
    expect(row_of(lead, "Bo")).to_have_count(1)


def test_the_payment_list_is_saved(lead: Page, stage: Stage, rated: str) -> None:
    open_campaign(lead, stage, rated)
    with lead.expect_download() as saved:
        lead.get_by_role("link", name="Payment list (CSV)").click()
    text = Path(saved.value.path()).read_text(encoding="utf-8-sig")
    assert "Bo" in text
    assert "Chi" in text
    assert "minutes" in text.splitlines()[0]


def test_closing_asks_first(lead: Page, stage: Stage) -> None:
    campaign = stage.campaign("Asked first", datasets=["studio"])
    open_campaign(lead, stage, campaign)
    lead.get_by_role("button", name="Close campaign").click()
    dialog = lead.get_by_role("dialog")
    expect(dialog).to_contain_text("No more tasks are given out")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    lead.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert stage.get(f"/api/lead/campaigns/{campaign}")["open"] is True
    lead.get_by_role("button", name="Close campaign").click()
    dialog.get_by_role("button", name="Close campaign").click()
    expect(lead.locator(".badge", has_text=re.compile("closed", re.IGNORECASE))).to_be_visible()
    lead.get_by_role("button", name="Reopen campaign").click()
    expect(lead.get_by_role("button", name="Close campaign")).to_be_visible()


def test_revoking_asks_first_and_can_be_undone(lead: Page, stage: Stage, browser: Browser) -> None:
    campaign = stage.campaign("Undone", datasets=["studio"])
    address = stage.invite(campaign, "Eve")
    open_campaign(lead, stage, campaign)
    lead.get_by_role("button", name="Revoke: Eve").click()
    dialog = lead.get_by_role("dialog", name="Revoke this link?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(lead.get_by_role("button", name="Revoke: Eve")).to_be_visible()
    lead.get_by_role("button", name="Revoke: Eve").click()
    dialog.get_by_role("button", name="Revoke").click()
    expect(lead.get_by_text("revoked", exact=True)).to_be_visible()
    rater = visitor(browser)
    rater.goto(address)
    expect(rater.get_by_role("heading", name="This link does not work")).to_be_visible()
    lead.get_by_role("button", name="Undo: Eve").click()
    expect(lead.get_by_role("button", name="Revoke: Eve")).to_be_visible()
    rater.get_by_role("button", name="Try again").click()
    expect(rater.get_by_role("link", name="Start")).to_be_visible()
    rater.context.close()


def test_how_many_tasks_is_shown_before_a_campaign_is_made(lead: Page, stage: Stage, shot: Shot) -> None:
    lead.goto(f"{stage.address}/lead")
    lead.get_by_role("button", name="New campaign").click()
    dialog = lead.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Counted")
    dialog.get_by_label("Data sets").select_option("studio")
    forecast = dialog.locator(".forecast")
    expect(forecast).to_contain_text("29 tasks: 29 units, each for 1 rater")
    expect(forecast).to_contain_text("1 pair of the same image")
    dialog.get_by_label("Raters per unit").fill("3")
    dialog.get_by_label("Maximum number of units").fill("10")
    expect(forecast).to_contain_text("30 tasks: 10 units, each for 3 raters")
    dialog.get_by_label("Share of tasks shown twice").fill("0.1")
    expect(forecast).to_contain_text("plus about 2 repeats (fewer with more raters)")
    expect(forecast).to_be_in_viewport(ratio=1)  # as the button that creates it, wherever the form is scrolled
    expect(dialog.get_by_role("button", name="Create")).to_be_in_viewport(ratio=1)
    forecast.get_by_text("Why not more?").click()
    expect(forecast.get_by_text("1 pair of the same image")).to_be_visible()
    shot(lead, "forecast")
    assert violations(lead) == []
    dialog.get_by_role("button", name="Create").click()
    expect(lead.get_by_role("heading", name="Counted")).to_be_visible()
    expect(lead.locator(".tile", has_text="Answers").first).to_contain_text("0 / 30")


def test_guidelines_are_markdown_with_a_preview_and_pictures(
    lead: Page, stage: Stage, browser: Browser, shot: Shot
) -> None:
    item = stage.get("/api/items?dataset=studio")["items"][0]["item_id"]
    output = stage.get(f"/api/items/{item}")["outputs"][0]["output_id"]
    lead.goto(f"{stage.address}/lead")
    lead.get_by_role("button", name="New campaign").click()
    dialog = lead.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Guided")
    dialog.get_by_label("Data sets").select_option("studio")
    text = f"# Look closely\n\n- **first** the change\n- then the rest\n\n![A clean edit]({output})\n\n<b onclick=alert(1)>raw</b> ![x](https://evil.example/x.png)"
    dialog.get_by_role("textbox", name="Guidelines").fill(text)
    dialog.get_by_role("button", name="Preview").click()
    preview = dialog.get_by_role("region", name="Preview of the guidelines")
    expect(preview.get_by_role("heading", name="Look closely")).to_be_visible()
    expect(preview.locator("strong")).to_have_text("first")
    expect(preview).to_contain_text("<b onclick=alert(1)>raw</b>")
    expect(preview.locator("img")).to_have_count(1)
    until(lead, lambda: lead.evaluate("document.querySelector('.preview img').naturalWidth > 0"))
    preview.scroll_into_view_if_needed()
    shot(lead, "guidelines-preview")
    dialog.get_by_role("button", name="Create").click()  # the text is sent although the preview is shown
    expect(lead.get_by_role("heading", name="Guided")).to_be_visible()
    campaign = lead.url.rpartition("/")[2]
    rater = visitor(browser)
    rater.goto(stage.invite(campaign, "Gil"))
    rater.get_by_role("link", name="Start").click()
    expect(rater.get_by_role("heading", name="Look closely")).to_be_visible()
    until(rater, lambda: rater.evaluate("document.querySelector('.example img').naturalWidth > 0"))
    expect(rater.get_by_role("img", name="A clean edit")).to_be_visible()
    rater.context.close()


def test_where_raters_disagree_a_lead_can_decide(lead: Page, stage: Stage, browser: Browser) -> None:
    campaign = stage.campaign(
        "Disputed", datasets=["alone"], raters_per_unit=2, max_units=1, adjudication="lead", adjudication_answers="shown",
    )  # fmt: skip
    for name, key in (("Fay", "ArrowLeft"), ("Gus", "ArrowRight")):
        page = visitor(browser)
        join(page, stage, campaign, name)
        page.keyboard.press(key)
        expect(page.locator(".task")).to_have_count(0)
        page.context.close()
    open_campaign(lead, stage, campaign)
    expect(lead.locator(".tile", has_text="Units with disagreement")).to_contain_text("1")
    lead.get_by_role("link", name="Decide 1 unit").click()
    lead.get_by_role("button", name="Next").click()
    lead.get_by_role("button", name="Begin").click()
    ready(lead)
    expect(lead.locator(".badge")).to_have_text("Decide")
    expect(lead.locator(".other-answers")).to_have_text(re.compile("^Earlier answers: (left; right|right; left)$"))
    lead.keyboard.press("t")
    expect(lead.locator(".task")).to_have_count(0)
    open_campaign(lead, stage, campaign)
    expect(lead.get_by_role("link", name="Decide 1 unit")).to_have_count(0)
    exported = lead.request.get(f"{stage.address}/api/lead/campaigns/{campaign}/export.csv").text()
    assert exported.count("adjudication") == 1
    assert len(exported.splitlines()) == 4, "both kinds of answers are kept"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_campaign_page_is_accessible(lead: Page, stage: Stage, rated: str, theme: str) -> None:
    lead.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for width in (1280, 390):
        lead.set_viewport_size({"width": width, "height": 900})
        open_campaign(lead, stage, rated)
        loaded(lead)
        assert violations(lead) == [], width
        fits(lead)
        lead.get_by_role("button", name="Settings").click()
        expect(lead.get_by_role("dialog")).to_be_visible()
        assert violations(lead) == [], width
        lead.keyboard.press("Escape")
        for window in ("Exclude votes: Bo", "Close campaign"):
            lead.get_by_role("button", name=window).click()
            expect(lead.get_by_role("dialog")).to_be_visible()
            assert violations(lead) == [], f"{window}, {width}"
            lead.keyboard.press("Escape")
        row_of(lead, "Bo").get_by_role("link", name="Bo").click()
        expect(lead.get_by_role("region", name="Answers").locator("tbody tr").first).to_be_visible()
        assert violations(lead) == [], f"a rater, {width}"
        fits(lead)
