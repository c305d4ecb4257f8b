"""The static site in a real browser, opened from disk: filters, links, hostile text, axe, light and dark, wide and narrow."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from imarena.storage import open_workspace
from imarena.workflows.publishing import SiteSettings, write_site
from tests.small_data.site_arena import fill_site_arena
from tests.web.browser.desk import LONGEST_MS
from tests.web.browser.test_accessibility import AXE

pytestmark = pytest.mark.browser
PAGES = ("index.html", "boards/verdicts-of-people-task-colour.html", "models/ash.html", "battles.html", "about.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    fill_site_arena(folder / "a")
    with open_workspace(folder / "a") as workspace:
        write_site(workspace, folder / "out", SiteSettings(title="Trees"))
    return folder / "out"


@pytest.fixture
def reader(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A reader; whatever the page reports as an error fails the test."""
    width, theme = getattr(request, "param", (1280, "light"))
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme="dark" if theme == "dark" else "light"
    )
    page.set_default_timeout(LONGEST_MS)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    yield page
    page.close()
    assert wrong == []


def ready(page: Page) -> None:
    """The explorer has searched."""
    expect(page.locator("#state")).to_contain_text("matching battle")


@pytest.mark.parametrize("reader", [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")], indirect=True)
def test_every_page_is_accessible_and_fits(reader: Page, site: Path) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: run 'npm ci' in web/")
    for name in PAGES:
        reader.goto((site / name).as_uri())
        if name == "battles.html":
            ready(reader)
        reader.evaluate(AXE.read_text(encoding="utf-8"))
        found = reader.evaluate(
            "async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations"
        )
        assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found] == [], name
        wide = reader.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, f"{name} is wider than the window"
        assert reader.title() != "taken"


def test_the_board_filters_work_from_disk(reader: Page, site: Path) -> None:
    reader.goto((site / "index.html").as_uri())
    rows = reader.locator("#standings tbody tr")
    expect(rows).to_have_count(3)
    reader.get_by_label("Models").fill("bir")
    expect(reader.locator("#standings tbody tr:visible")).to_have_count(1)
    reader.get_by_label("Models").fill("nobody")
    expect(reader.get_by_text("No model has this text")).to_be_visible()
    reader.get_by_label("Verdicts by").select_option("verdicts of people")
    expect(reader.get_by_role("heading", level=1)).to_have_text("Leaderboard: verdicts of people")
    reader.get_by_label("Items").select_option("task: colour")
    expect(reader.get_by_role("heading", level=1)).to_have_text("Leaderboard of task: colour: verdicts of people")
    reader.get_by_role("link", name="ash", exact=True).click()
    expect(reader.get_by_role("heading", level=1)).to_have_text("ash")
    reader.get_by_role("link", name="battles against birch").click()
    ready(reader)
    assert reader.locator("select[name=model]").input_value() == "ash"
    assert reader.locator("select[name=opponent]").input_value() == "birch"
    expect(reader.locator("article.battle")).to_have_count(12)


def test_the_battle_explorer_filters_and_shows_images(reader: Page, site: Path) -> None:
    reader.goto((site / "battles.html").as_uri())
    ready(reader)
    battles = reader.locator("article.battle")
    expect(battles).to_have_count(20)
    expect(reader.locator("#state")).to_have_text("First 20 of 36 matching battles.")
    image = battles.first.locator("img").first
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("complete", True)
    assert image.evaluate("image => image.naturalWidth") > 0
    reader.get_by_role("button", name="Show more").click()
    expect(battles).to_have_count(36)
    expect(reader.locator("#state")).to_have_text("36 matching battles, all shown.")
    expect(reader.get_by_role("button", name="Show more")).to_be_hidden()
    reader.locator("select[name=board]").select_option("verdicts of people")
    reader.get_by_label("Result").select_option("at least one both bad")
    expect(battles.first.locator("ul.verdicts")).to_contain_text("verdicts of people: both bad")
    reader.get_by_label("Result").select_option("any")
    reader.locator("select[name=board]").select_option("")
    reader.get_by_label("Task").select_option("colour")
    expect(battles).to_have_count(12)
    reader.get_by_label("Text").fill("item-3")
    expect(battles).to_have_count(3)
    expect(battles.first.get_by_text("image not published")).to_have_count(3)
    reader.get_by_label("Text").fill("no such words")
    expect(reader.locator("#state")).to_have_text("No battle fits these filters.")
    reader.reload()
    expect(reader.locator("#state")).to_have_text("No battle fits these filters.")


def test_a_result_is_the_chosen_models(reader: Page, site: Path) -> None:
    reader.goto((site / "battles.html").as_uri() + "#outcome=win")
    ready(reader)
    result, battles = reader.get_by_label("Result"), reader.locator("article.battle")
    expect(result).to_have_value("")
    assert reader.locator("option[value=win], option[value=loss]").evaluate_all("all => all.every(o => o.disabled)")
    reader.locator("select[name=board]").select_option("verdicts of people")
    reader.locator("select[name=opponent]").select_option("ash")
    result.select_option("the model won")
    verdicts = reader.locator("ul.verdicts")
    expect(reader.locator("#state")).to_contain_text("all shown")
    assert battles.count() > 0
    assert all("verdicts of people: ash" not in said for said in verdicts.all_inner_texts()), "ash won none of these"
    won = battles.count()
    result.select_option("the model lost")
    expect(verdicts.first).to_have_text("verdicts of people: ash")
    assert set(verdicts.all_inner_texts()) == {"verdicts of people: ash"}
    lost = battles.count()
    result.select_option("at least one both bad")
    expect(verdicts.first).to_have_text("verdicts of people: both bad")
    assert won + lost + battles.count() == 24, "each of the 24 battles of ash has one vote"
    reader.locator("select[name=board]").select_option("")
    expect(verdicts.first).to_contain_text("both bad")
    assert all("both bad" in said for said in verdicts.all_inner_texts()), "over all boards too"
    result.select_option("the model won")
    reader.locator("select[name=opponent]").select_option("")
    expect(result).to_have_value("")


def test_hostile_texts_are_shown_as_text(reader: Page, site: Path) -> None:
    reader.goto((site / "battles.html").as_uri() + "#text=make+1+red")
    ready(reader)
    expect(reader.locator("article.battle h2").first).to_contain_text("</script><img src=x")
    assert reader.locator("article.battle img[src='x']").count() == 0
    assert reader.title() != "taken"
