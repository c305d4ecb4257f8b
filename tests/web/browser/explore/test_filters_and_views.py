"""The looking side in a real browser: each filter, each view, tables, tokens, runs as they go, an agent's trace."""

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from imarena.core.records import Judgment, Output, Run
from imarena.storage import open_workspace
from tests.web.browser import gallery
from tests.web.browser.conftest import Shot
from tests.web.browser.desk import loaded, until, visitor
from tests.web.browser.stage import Stage
from tests.web.browser.test_accessibility import violations

pytestmark = pytest.mark.browser


def battles(page: Page) -> int:
    """How many battles the board says that it counts."""
    text = page.get_by_text(re.compile(r"[\d,]+ battles?, method")).first.inner_text()
    return int(text.split(" ")[0].replace(",", ""))


@pytest.mark.parametrize("label", ["Task", "Family", "Dimension", "Judge"])
def test_each_list_of_the_board_changes_what_is_shown(keeper: Page, hall: Stage, label: str) -> None:
    keeper.goto(f"{hall.address}/board?source=all")
    expect(keeper.locator(".standings tbody tr")).to_have_count(4)
    whole = battles(keeper)
    choice = keeper.locator(".filters").get_by_label(label)
    value = choice.locator("option").nth(1).inner_text()
    choice.select_option(value)
    expect(keeper.locator(".stale")).to_have_count(0)
    expect(keeper.get_by_text(re.compile(rf"^{whole:,} battles"))).to_have_count(0)
    assert f"{label.lower()}=" in keeper.url
    shown = battles(keeper)
    assert 0 < shown < whole
    keeper.reload()
    expect(choice).to_have_value(value)
    expect(keeper.get_by_text(re.compile(rf"^{shown:,} battles"))).to_be_visible()


def test_people_by_criterion_and_by_date(keeper: Page, hall: Stage, shot: Shot) -> None:
    keeper.goto(f"{hall.address}/board")
    keeper.get_by_role("button", name="People", exact=True).click()
    keeper.get_by_label("Dimension").select_option("artifacts")
    expect(keeper.get_by_text("36 battles, method")).to_be_visible()
    expect(keeper.locator(".standings tbody tr").first).to_contain_text("exact")
    shot(keeper, "board-criterion")
    first = hall.get("/api/board/history?source=human&points=50")["points"][0]["moment"][:10]
    keeper.get_by_label("Until").fill(first)
    expect(keeper.get_by_text("6 battles, method")).to_be_visible()
    keeper.get_by_label("Until").fill("2020-01-01")
    expect(keeper.get_by_text("No battle fits these filters.")).to_be_visible()


def test_filters_go_along_to_every_view_and_to_the_battles(keeper: Page, hall: Stage) -> None:
    task = hall.get("/api/facets")["tasks"][0]
    keeper.goto(f"{hall.address}/board?source=human&task={task}")
    keeper.get_by_role("button", name="Win matrix").click()
    expect(keeper.locator(".matrix tbody tr")).to_have_count(4)
    whole = hall.get("/api/board?source=human")["matrix"][0]
    part = hall.get(f"/api/board?source=human&task={task}")["matrix"][0]
    assert sum(part[name] for name in ("wins", "losses", "ties")) < sum(
        whole[name] for name in ("wins", "losses", "ties")
    )
    keeper.get_by_role("button", name="Head to head").click()
    expect(keeper.locator(".duel tbody tr")).to_have_count(2)  # over all, and the one task that is left
    keeper.get_by_role("button", name="History").click()
    expect(keeper.locator(".history polyline")).to_have_count(4)
    keeper.get_by_role("button", name="Win matrix").click()
    keeper.locator(".matrix td a").first.click()
    expect(keeper).to_have_url(re.compile(rf"/battles\?.*left=.*right=.*source=human.*task={task}"))
    expect(keeper.get_by_label("Task")).to_have_value(task)
    rows = keeper.locator("tbody tr")
    expect(rows.first).to_be_visible()
    assert {rows.nth(n).locator("td").first.inner_text() for n in range(rows.count())} == {task}


def test_the_history_of_ratings(keeper: Page, hall: Stage, shot: Shot) -> None:
    keeper.goto(f"{hall.address}/board?view=history&source=human")
    expect(keeper.locator(".history polyline")).to_have_count(4)
    labels = keeper.locator(".history .series text")
    tops = sorted(float(labels.nth(n).get_attribute("y") or 0) for n in range(4))
    assert all(later - earlier >= 13 for earlier, later in pairwise(tops)), "labels do not overlap"
    assert keeper.locator("tbody tr").count() == 6
    newest = hall.get("/api/board/history?source=human")["points"][-1]
    for name in ("Battles decided", "Rating (points)"):
        expect(keeper.locator(".history svg").get_by_text(name, exact=True)).to_be_visible()
    axis = [float(text.replace(",", "")) for text in keeper.locator(".history .grid text").all_text_contents()]
    ratings, battles = axis[: axis.index(0)], axis[axis.index(0) :]
    assert len(ratings) >= 3
    assert ratings == sorted(ratings)
    assert newest["n_battles"] / 2 < battles[-1] <= newest["n_battles"], "battles are counted from none to all"
    keeper.locator(".history circle").last.hover()
    tip = keeper.locator(".tip")
    expect(tip).to_contain_text(f"{newest['n_battles']} battles")
    best = newest["ratings"][0]
    expect(tip.locator("tr").first).to_contain_text(f"{best['model']}{best['rating']:.0f}")
    shot(keeper, "history")
    keeper.locator("h1").hover()
    expect(tip).to_have_count(0)


def test_the_issues_of_one_editor(keeper: Page, hall: Stage, shot: Shot) -> None:
    keeper.goto(f"{hall.address}/board?view=heat")
    caption = keeper.locator("figcaption")
    expect(caption).to_contain_text("36 boxes")
    shot(keeper, "issues")
    keeper.get_by_label("Model").select_option(
        next(name for name in hall.get("/api/facets")["editors"] if "artefacts" in name)
    )
    expect(caption).to_contain_text("12 boxes")
    expect(keeper.get_by_role("row", name="the shadow")).to_be_visible()
    assert "editor=" in keeper.url
    keeper.get_by_role("button", name="Judge", exact=True).click()
    expect(keeper.get_by_text("No rater has marked anything.")).to_be_visible()


def test_issues_are_counted_by_model_and_a_board_has_its_signature(keeper: Page, hall: Stage) -> None:
    keeper.goto(f"{hall.address}/board?view=heat")
    table = keeper.get_by_role("table", name="Issues by model")
    for name in ("Segments", "New image", "Source, unchanged"):
        expect(table.get_by_role("columnheader", name=name)).to_be_visible()
    for one in hall.get("/api/heat-map")["editors"]:
        row = table.get_by_role("row", name=one["editor"])
        expect(row.get_by_role("cell").nth(0)).to_have_text(str(one["ratings"]))
        expect(row.get_by_role("cell").nth(3)).to_have_text(str(one["boxes"]))
    keeper.goto(f"{hall.address}/board?judge=builtin")
    expect(keeper.locator(".signature code")).to_have_text(hall.get("/api/board?judge=builtin")["signature"])


def test_a_token_is_made_shown_once_used_and_revoked(keeper: Page, hall: Stage, browser: Browser, shot: Shot) -> None:
    keeper.goto(f"{hall.address}/access")
    tokens = keeper.get_by_role("region", name="API tokens")
    tokens.get_by_label("Name").fill("nightly export")
    tokens.get_by_label("Role").select_option("viewer")
    tokens.get_by_role("button", name="Create a token").click()
    once = tokens.get_by_label("Copy this token now. It is shown only once.")
    expect(once).to_have_value(re.compile(r"^imarena_.{40}"))
    secret = once.input_value()
    row = tokens.get_by_role("row", name="nightly export")
    expect(row).to_contain_text("nightly export")
    expect(row).to_contain_text("never")
    machine = browser.new_context(extra_http_headers={"Authorization": f"Bearer {secret}"})
    assert machine.request.get(f"{hall.address}/api/board").ok
    shot(keeper, "access")
    hall.post("/api/tokens", {"name": gallery.HOSTILE})
    keeper.reload()
    expect(tokens).to_contain_text(gallery.HOSTILE)
    expect(row).to_contain_text("viewer")
    expect(row).not_to_contain_text("never")
    assert secret not in keeper.content()
    row.get_by_role("button", name="Revoke").click()
    keeper.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    assert machine.request.get(f"{hall.address}/api/board").status == 401
    machine.close()
    assert keeper.title() != "taken"


def test_a_viewer_is_invited_looks_and_is_signed_out(keeper: Page, hall: Stage, browser: Browser) -> None:
    keeper.goto(f"{hall.address}/access")
    people = keeper.get_by_role("region", name="People")
    people.get_by_label("Name", exact=True).fill("Vera")
    people.get_by_role("button", name="Create a link").click()
    link = people.get_by_label("Send this link. It is shown only once.").input_value()
    other = visitor(browser)
    other.goto(link)
    other.get_by_role("link", name="Runs").click()
    expect(other.get_by_role("heading", name="Failures")).to_be_visible()
    expect(other.get_by_role("link", name="Access")).to_have_count(0)
    keeper.reload()
    row = keeper.get_by_role("region", name="Sessions").get_by_role("row", name="Vera")
    row.get_by_role("button", name="Sign out").click()
    keeper.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    expect(row).to_have_count(0)
    other.goto(f"{hall.address}/board")
    expect(other.get_by_role("alert").first).to_contain_text("not signed in")
    other.context.close()


def test_runs_are_told_as_they_go(keeper: Page, hall: Stage, shot: Shot) -> None:
    """Pushed by the server: the page asks for nothing meanwhile."""
    asked: list[str] = []
    keeper.goto(f"{hall.address}/runs")
    expect(keeper.get_by_text("live", exact=True)).to_be_visible()
    expect(keeper.get_by_text("0 / 8")).to_be_visible()
    keeper.on("request", lambda request: asked.append(request.url))

    def judged() -> None:
        with open_workspace(hall.root) as workspace:
            output = next(iter(workspace.store.records(Output)))
            shared = {
                "judge": "slow",
                "item_id": output.item_id,
                "left_id": output.output_id,
                "run_id": "run_" + "1" * 32,
            }
            made: list[dict[str, object]] = [
                {"score": 1.0, "usage": {"cost_usd": 0.5}},
                {"score": 2.0, "usage": {"cost_usd": 0.25}},
                {"status": "timeout"},
            ]
            workspace.store.add(
                [Judgment.model_validate({"work_id": f"s{n}", **shared, **one}) for n, one in enumerate(made)]
            )

    def ended() -> None:
        with open_workspace(hall.root) as workspace:
            run = Run(
                run_id="run_" + "1" * 32,
                command="battle",
                counts={"ok": 2, "timeout": 1},
                state="partial",
                cost_usd=0.75,
            )
            workspace.store.put(run)

    with ThreadPoolExecutor(1) as aside:
        aside.submit(judged).result()
        expect(keeper.get_by_text("3 / 8")).to_be_visible()
        expect(keeper.get_by_text("1 judgment: timeout")).to_be_visible()
        shot(keeper, "runs")
        aside.submit(ended).result()
    expect(keeper.get_by_text("partial")).to_be_visible()
    assert [url for url in asked if url.endswith("/api/runs")] == []


def test_without_a_stream_the_page_asks(keeper: Page, hall: Stage) -> None:
    keeper.route("**/api/runs/stream", lambda route: route.abort())
    keeper.goto(f"{hall.address}/runs")
    expect(keeper.get_by_text("updated every few seconds")).to_be_visible()
    with keeper.expect_request("**/api/runs"):
        pass


def test_the_health_of_judges(keeper: Page, hall: Stage, shot: Shot) -> None:
    keeper.goto(f"{hall.address}/judges")
    row = keeper.get_by_role("row", name="always-left")
    expect(row).to_contain_text("12 unparsable")
    expect(row).to_contain_text("100%")  # always for the first shown
    expect(keeper.get_by_role("row", name="builtin")).to_contain_text("36 pairs")
    shot(keeper, "judges")


def test_an_item_shows_how_an_agent_came_to_its_picture(keeper: Page, hall: Stage, shot: Shot) -> None:
    def is_hostile(item: str) -> bool:
        return "onerror" in str([one["steps"] for one in hall.get(f"/api/items/{item}")["outputs"]])

    items = {is_hostile(one["item_id"]): one["item_id"] for one in hall.get("/api/items")["items"]}
    trace = keeper.get_by_role("region", name=re.compile("made its image"))
    keeper.goto(f"{hall.address}/items/{items[True]}")
    expect(trace).to_contain_text(gallery.HOSTILE)
    keeper.goto(f"{hall.address}/items/{items[False]}")
    expect(trace.get_by_role("listitem")).to_have_count(5)
    expect(trace.locator("img")).to_have_count(3)
    loaded(keeper)
    trace.scroll_into_view_if_needed()
    until(
        keeper,
        lambda: keeper.evaluate(
            "() => [...document.querySelectorAll('.trace img')].every((one) => one.naturalWidth > 0)"
        ),
    )
    shot(keeper, "trace")
    assert violations(keeper) == []
    assert keeper.title() != "taken"


def test_a_battle_with_hostile_words(keeper: Page, hall: Stage) -> None:
    keeper.goto(f"{hall.address}/battles?judge=always-left")
    keeper.locator("tbody a").first.click()
    expect(keeper.locator(".verdict").first).to_be_visible()
    for one in keeper.get_by_text("Raw reply").all():
        one.click()
    expect(keeper.locator("pre").first).to_be_visible()
    expect(keeper.get_by_text(gallery.HOSTILE).first).to_be_visible()
    assert violations(keeper) == []
    assert keeper.title() != "taken"
