"""Boards in a real browser: sorted, searched, one model's page, counts and scales, folded notes; on a phone the table first."""

import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.browser.conftest import Shot
from tests.web.browser.desk import become_lead, loaded, until, visitor
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser
TURNED = "evil\u202egnp.exe"
"""A name that shows as "evilexe.png" where nothing isolates it, and turns what follows."""


def column(page: Page, number: int) -> list[str]:
    """The texts of one column of the board."""
    return page.locator(f".standings tbody tr > :nth-child({number})").all_inner_texts()


def test_a_board_is_sorted_by_any_column_and_the_link_keeps_it(keeper: Page, hall: Stage) -> None:
    keeper.goto(f"{hall.address}/board?source=human")
    ranked = keeper.locator(".standings tbody th")
    expect(ranked).to_have_count(4)
    best_first = ranked.all_inner_texts()
    head = keeper.get_by_role("columnheader", name=re.compile("^Rating"))
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(ranked).to_have_text(best_first)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(ranked).to_have_text(best_first[::-1])
    expect(keeper).to_have_url(re.compile("sort=rating"))
    keeper.reload()
    expect(ranked.first).to_have_text(best_first[-1])
    keeper.get_by_role("columnheader", name=re.compile("^Model")).get_by_role("button").click()
    expect(ranked).to_have_text(sorted(best_first))


def test_a_board_is_searched_by_name(keeper: Page, hall: Stage) -> None:
    keeper.goto(f"{hall.address}/board?source=human")
    rows = keeper.locator(".standings tbody tr")
    expect(rows).to_have_count(4)
    keeper.get_by_label("Find a model").fill("TIMID")
    expect(rows).to_have_count(1)
    expect(keeper.get_by_text("1 of 4 models")).to_be_visible()
    expect(keeper).to_have_url(re.compile("find=TIMID"))
    keeper.get_by_label("Find a model").fill("nobody")
    expect(keeper.get_by_text("No model is called “nobody”.")).to_be_visible()


def test_each_column_has_its_unit_and_each_filter_an_explanation(keeper: Page, hall: Stage) -> None:
    keeper.goto(f"{hall.address}/board?source=human")
    expect(keeper.get_by_role("columnheader", name="Rating points")).to_be_visible()
    for hint in ("Whose verdicts count", "How ratings are computed", "First day (UTC)"):
        expect(keeper.get_by_text(hint, exact=True)).to_be_visible()
    expect(keeper.get_by_label("Method").locator("option").first).to_have_text("Bradley-Terry")


def test_notes_are_folded_into_one(keeper: Page, hall: Stage) -> None:
    """However many there are, the table is under one line."""

    def warned(route: Route) -> None:
        answer = route.fetch()
        notices = [{"code": f"code_{number}", "values": {}, "text": f"Warning {number}."} for number in range(5)]
        board = answer.json() | {"notices": notices, "beside": ""}
        route.fulfill(response=answer, json=board)

    keeper.route(re.compile(r"/api/board(\?|$)"), warned)
    keeper.goto(f"{hall.address}/board?source=human")
    folded = keeper.locator("details.notices")
    expect(folded).to_have_count(1)
    expect(folded.locator("summary")).to_have_text("5 notes about this board")
    expect(keeper.get_by_text("Warning 3.")).not_to_be_visible()
    folded.locator("summary").click()
    expect(keeper.get_by_text("Warning 3.")).to_be_visible()


def test_a_model_has_a_page(keeper: Page, hall: Stage, shot: Shot) -> None:
    keeper.goto(f"{hall.address}/board?source=human")
    name = keeper.locator(".standings tbody th").first.inner_text()
    keeper.get_by_role("link", name=name).click()
    expect(keeper.get_by_role("heading", level=1)).to_have_text(name)
    expect(keeper).to_have_title("Model · imarena")
    expect(keeper.locator(".tile", has_text="Rank")).to_contain_text("1 of 4")
    opponents = keeper.get_by_role("region", name="Against each opponent")
    expect(opponents.locator("tbody tr")).to_have_count(3)
    best = keeper.get_by_role("region", name="Best examples").locator("li")
    expect(best).to_have_count(6)
    expect(best.first.locator("img")).to_have_count(2)
    until(keeper, lambda: keeper.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth > 0)"))
    shot(keeper, "model")
    opponents.get_by_role("link").first.click()
    expect(keeper.get_by_role("heading", level=1)).not_to_have_text(name)
    keeper.get_by_role("link", name="Leaderboard").last.click()
    expect(keeper.locator(".standings tbody tr")).to_have_count(4)


def test_the_win_matrix_has_counts_and_the_heat_map_a_scale(keeper: Page, hall: Stage) -> None:
    keeper.goto(f"{hall.address}/board?view=matrix&source=human")
    cells = keeper.locator(".matrix tbody td:not(.unmet)")
    expect(cells).to_have_count(12)
    matrix = hall.get("/api/board?source=human")["matrix"]
    counts = sorted(2 * [str(one["wins"] + one["losses"] + one["ties"]) for one in matrix])
    assert sorted(cells.locator("small").all_inner_texts()) == counts
    expect(cells.first.get_by_role("link")).to_have_accessible_name(re.compile(r"^\d+%, \d+ battles$"))
    expect(keeper.get_by_role("list", name="Share won by the row")).to_contain_text("100%")
    keeper.goto(f"{hall.address}/board?view=heat")
    most = max(max(row) for row in hall.get("/api/heat-map")["cells"])
    expect(keeper.get_by_role("img", name=f"Boxes that cover a place: 0 – {most}")).to_be_visible()


def test_on_a_phone_the_table_comes_first_and_controls_fold(keeper: Page, hall: Stage, shot: Shot) -> None:
    keeper.set_viewport_size({"width": 390, "height": 844})
    keeper.goto(f"{hall.address}/board?source=human")
    first = keeper.locator(".standings tbody tr").first
    expect(first).to_be_in_viewport()
    controls = keeper.locator("details.folding")
    expect(controls.locator("summary")).to_have_text("View and filters (1 set)")
    expect(keeper.get_by_label("Method")).not_to_be_visible()
    shot(keeper, "board-phone")
    controls.locator("summary").click()
    keeper.get_by_label("Method").select_option("elo")
    expect(keeper).to_have_url(re.compile("method=elo"))
    keeper.goto(f"{hall.address}/battles")
    expect(keeper.locator("tbody tr").first).to_be_in_viewport()
    expect(keeper.locator("details.folding summary")).to_have_text("Filters")


@pytest.mark.parametrize(
    "path", ["/board", "/battles", "/items", "/judges", "/runs", "/model?model=x", "/access", "/lead", "/lead/x"]
)
def test_signed_out_each_page_offers_to_sign_in(page: Page, hall: Stage, path: str) -> None:
    page.goto(hall.address + path)
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_role("alert")).to_contain_text("You are not signed in.")
    page.get_by_role("alert").get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_names_cannot_turn_the_text_around_them(browser: Browser, hall: Stage) -> None:
    page = visitor(browser)
    become_lead(page, hall)

    def turned(route: Route) -> None:
        answer = route.fetch(url=re.sub("model=[^&]*", "model=studio-exact", route.request.url))
        route.fulfill(response=answer, body=answer.text().replace("studio-exact", TURNED))

    page.route(re.compile(r"/api/(board|battles|facets|model|heat-map)(/history)?(\?|$)"), turned)
    views = ("/board?source=human", "/board?source=human&view=matrix", "/board?view=heat", "/battles")
    for path in (*views, f"/model?model={TURNED}&source=human"):
        page.goto(hall.address + path)
        expect(page.get_by_text("evil").last).to_be_attached()
        loaded(page)
        loose = page.evaluate(
            """(name) => {
              const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
              const loose = [];
              while (walker.nextNode()) {
                const node = walker.currentNode;
                const bidi = node.parentElement.closest('bdi, option, title, svg');
                if (node.data.includes(name) && !bidi) loose.push(node.parentElement.outerHTML);
              }
              for (const option of document.querySelectorAll('option')) if (option.text.includes('\\u202e')) loose.push(option.outerHTML);
              return loose;
            }""",
            TURNED,
        )
        assert loose == [], path
    page.unroute_all(behavior="ignoreErrors")  # what is still on its way ends with the page
    page.context.close()


def test_an_empty_board_says_that_votes_are_hidden(keeper: Page, hall: Stage) -> None:
    """As a visitor of a public board sees it while raters are at work."""

    def withheld(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"standings": [], "n_battles": 0, "votes_withheld": True})

    keeper.route(re.compile(r"/api/board(\?|$)"), withheld)
    keeper.goto(f"{hall.address}/board")
    expect(keeper.get_by_text("Votes are hidden while raters are at work.")).to_be_visible()

    def hidden(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"items": [], "some_hidden": True})

    keeper.route(re.compile(r"/api/items(\?|$)"), hidden)
    keeper.goto(f"{hall.address}/items")
    expect(keeper.get_by_text("hidden while raters are at work")).to_be_visible()
