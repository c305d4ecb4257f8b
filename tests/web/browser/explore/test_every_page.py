"""Every page of the looking side in a real browser: readable for everybody, and saved as a table with its filters."""

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.conftest import ROOT
from tests.web.browser.desk import become_lead, fits, loaded, visitor
from tests.web.browser.stage import Stage
from tests.web.browser.test_accessibility import violations

pytestmark = pytest.mark.browser
PAGES = {
    "board": "/board?source=human", "matrix": "/board?view=matrix", "duel": "/board?view=duel",
    "history": "/board?view=history&judge=builtin", "issues": "/board?view=heat", "battles": "/battles", "items": "/items",
    "judges": "/judges", "runs": "/runs", "model": "/model?model=studio-exact&source=human", "campaigns": "/lead", "access": "/access",
    "battle": "/battles/{battle}", "item": "/items/{item}", "sign in": "/sign-in", "bad invitation": "/join#nonsense",
    "bad launch": "/launch#nonsense", "no such campaign": "/rate/camp_none",
}  # fmt: skip
TABLES = ("board", "matrix", "duel", "history", "issues", "battles", "items", "judges", "runs")
"""The pages that can be saved."""
ELSEWHERE = {"": "test_accessibility", "/lead/:id": "test_lead_pages", "/lead/:id/raters/:rater": "test_lead_pages"}
"""Pages that other files check with axe. They also check what a page shows on the way: tasks, windows, ends."""


def address_of(name: str, hall: Stage) -> str:
    """The address of a page, with the first battle or item in it."""
    path = PAGES[name]
    if "{battle}" in path:
        path = path.format(battle=hall.get("/api/battles?judge=builtin")["battles"][0]["battle_id"])
    if "{item}" in path:
        path = path.format(item=hall.get("/api/items")["items"][0]["item_id"])
    return hall.address + path


def test_every_page_is_checked() -> None:
    """A new address in app.tsx has to be added to PAGES, or to the file that checks it."""
    source = (ROOT / "web" / "src" / "app.tsx").read_text(encoding="utf-8")
    patterns = set(re.findall(r'^  \["([^"]*)", \(', source, re.MULTILINE))
    paths = [re.split("[?#]", path)[0] for path in PAGES.values()]
    missed = [one for one in patterns if not any(re.fullmatch(re.sub(":[a-z]+", "[^/]+", one), path) for path in paths)]
    assert sorted(missed) == sorted(ELSEWHERE)


@pytest.mark.parametrize("name", TABLES)
def test_what_a_page_shows_is_saved_with_its_filters(keeper: Page, hall: Stage, name: str) -> None:
    keeper.goto(hall.address + PAGES[name])
    loaded(keeper)
    for form in ("CSV", "JSON"):
        with keeper.expect_download() as found:
            keeper.get_by_role("link", name=f"Save as {form}").click()
        path = Path(found.value.path())
        text = path.read_text(encoding="utf-8")
        assert found.value.suggested_filename.endswith(f".{form.lower()}")
        if form == "CSV":
            rows = list(csv.reader(io.StringIO(text)))
            assert len(rows) > 1
        else:
            assert text.startswith("[")
            assert "<" not in text
    if name == "history":
        assert sorted({int(row[1]) for row in rows[1:]}) == list(range(3, 37, 3))  # twelve moments, built-in judge only


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_can_be_read_by_everybody(keeper: Page, hall: Stage, name: str, theme: str) -> None:
    """Nothing that axe finds; nothing of a name or a comment runs; nothing is wider than a tablet, or a phone."""
    keeper.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    keeper.goto(address_of(name, hall))
    expect(keeper.locator("h1, .empty").first).to_be_visible()
    expect(keeper.get_by_text("Loading")).to_have_count(0)
    loaded(keeper)
    assert violations(keeper) == []
    assert keeper.title() != "taken"
    for width in (820, 390):
        keeper.set_viewport_size({"width": width, "height": 1180})
        expect(keeper.locator("main")).to_be_in_viewport()
        fits(keeper)
    for folded in keeper.locator("details.folding > summary").all():
        folded.click()
    assert violations(keeper) == [], "on a phone"


@pytest.mark.parametrize("path", ["/board?view=matrix", "/board?view=history", "/board", "/battles", "/items"])
def test_long_names_fit(browser: Browser, hall: Stage, path: str) -> None:
    """Names of checkpoints and tasks may be long words: nothing lies over something else, the page is no wider."""
    page = visitor(browser)
    become_lead(page, hall)
    page.set_viewport_size({"width": 1000, "height": 720})
    tasks = hall.get("/api/facets")["tasks"]

    def longer(route: Route) -> None:
        answer = route.fetch()
        text = answer.text().replace("studio-", "studio-checkpoint-2026-11-15-step-120000-ema-cfg7.5-lora-merged-")
        for task in tasks:
            text = text.replace(f'"{task}"', f'"{task}_of_the_kind_that_has_a_very_long_name"')
        route.fulfill(response=answer, body=text)

    page.route(re.compile(r"/api/(board|battles|items|facets)(/history)?(\?|$)"), longer)
    page.goto(hall.address + path)
    long = page.get_by_text(re.compile("checkpoint-2026|studio-check|very_long_name")).last
    expect(long).to_be_attached()
    expect(page.get_by_text("Loading")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000
    wide = "() => [...document.querySelectorAll('.matrix th, .thumb, .history text')].map((one) => one.getBoundingClientRect().width)"
    assert all(width <= 300 for width in page.evaluate(wide))
    page.context.close()
