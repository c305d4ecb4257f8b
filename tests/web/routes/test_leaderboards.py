"""Looking through the API: every filter changes what is shown, lists come in pages, runs are told as they go."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from imarena.core.records import ImageRef, Item, Judgment, Output, Ranking, Run, Status, Turn
from imarena.ranking import Options
from imarena.reports.rank_tables import method_line
from imarena.storage import open_workspace
from imarena.web.responses import item_line
from imarena.workflows.boards import BoardQuery, Boards
from imarena.workflows.views import View
from tests.web.looked_at import CRITERION, EDITORS, looked_at
from tests.web.people import Person, administrator


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """One server; these tests only look."""
    return looked_at(tmp_path_factory.mktemp("look") / "arena")


@pytest.fixture(scope="module")
def admin(app: FastAPI) -> Person:
    """Somebody who may see everything."""
    return administrator(app)


def board(admin: Person, **filters: str) -> Any:
    """A board as a page asks for it."""
    return admin.get(f"/api/board?{urlencode(filters)}").json()


def order(found: Any) -> list[str]:
    """Models, best first."""
    return [one["model"] for one in found["standings"]]


HALVES = [
    {"dataset": "even-set"},
    {"family": "even-family"},
    {"task": "even-task"},
    {"topic": "even-topic"},
    {"track": "even-track"},
]


@pytest.mark.parametrize("chosen", HALVES, ids=lambda chosen: next(iter(chosen)))
def test_a_filter_on_the_item_leaves_its_half_on_every_view(admin: Person, chosen: dict[str, str]) -> None:
    """Even items have the first editor ahead, odd ones the last: without the filter people are even."""
    filters = {"source": "human", "dimension": "overall", **chosen}
    found = board(admin, **filters)
    assert found["n_battles"] == 6
    assert order(found) == list(EDITORS)
    assert {cell["wins"] + cell["losses"] for cell in found["matrix"]} == {2}
    other = {name: value.replace("even", "odd") for name, value in chosen.items()}
    assert order(board(admin, source="human", dimension="overall", **other)) == list(reversed(EDITORS))
    duel = admin.get(f"/api/head-to-head?{urlencode({'left': 'ash', 'right': 'cedar', **filters})}").json()
    assert (duel["total"]["wins"], duel["total"]["losses"]) == (2, 0)
    history = admin.get(f"/api/board/history?{urlencode(filters)}").json()
    assert [point["n_battles"] for point in history["points"]] == [3, 6]
    heat = admin.get(f"/api/heat-map?{urlencode({'source': 'human', **chosen})}").json()
    assert (heat["boxes"], heat["cells"][0][0], heat["cells"][15][15]) == (6, 6, 0)
    battles = admin.get(f"/api/battles?{urlencode(filters)}").json()
    assert battles["total"] == 6
    if "dataset" in chosen:
        assert len(admin.get(f"/api/items?{urlencode(chosen)}").json()["items"]) == 2


def test_dimension_judge_person_and_date(admin: Person) -> None:
    everything = board(admin, source="all")
    assert everything["n_battles"] == 4 * 3 * (1 + 2)
    assert board(admin, judge="all")["n_battles"] == 24, "judges are pooled when asked"
    assert board(admin, source="judge")["n_battles"] == 12, "else it is the board of one"
    assert board(admin, judge="oak")["n_battles"] == 12
    assert {one["ties"] for one in board(admin, source="human", dimension="beauty")["standings"]} == {8}
    assert board(admin, since="2026-01-02", until="2026-01-03", judge="elm")["n_battles"] == 6
    assert board(admin, since="2026-01-01", until="2026-01-01", judge="oak")["standings"][0]["model"] == "ash"
    nobody = board(admin, since="2027-01-01")
    assert (nobody["standings"], nobody["n_battles"]) == ([], 0)
    assert nobody["reason"]


def test_ratings_of_a_criterion_make_a_board_of_people(admin: Person) -> None:
    """The one with the higher mean rating wins; a criterion is a dimension like any other."""
    assert CRITERION in admin.get("/api/facets").json()["dimensions"]
    assert "beauty" in admin.get("/api/facets").json()["dimensions"]
    found = board(admin, source="human", dimension=CRITERION, task="even-task")
    assert found["n_battles"] == 6
    assert order(found) == list(EDITORS)
    assert found["standings"][0]["wins"] == 4
    assert board(admin, source="human", dimension="overall")["n_battles"] == 12
    assert admin.get("/api/heat-map?dimension=other").json()["boxes"] == 0


def test_the_last_point_of_the_history_is_the_board(admin: Person) -> None:
    """Until the last battle the history has seen what the board has seen."""
    now = board(admin, judge="oak", task="odd-task")
    points = admin.get("/api/board/history?judge=oak&task=odd-task&points=5").json()["points"]
    moments = [point["moment"] for point in points]
    assert moments == sorted(set(moments))
    assert points[-1]["n_battles"] == now["n_battles"]
    ratings = {one["model"]: one["rating"] for one in points[-1]["ratings"]}
    assert ratings == pytest.approx({one["model"]: one["rating"] for one in now["standings"]})


def paged(admin: Person, path: str, name: str, limit: int) -> list[Any]:
    """All entries of a list, page by page."""
    found, cursor = [], ""
    while True:
        page = admin.get(f"{path}?limit={limit}{cursor}").json()
        assert len(page[name]) <= limit
        found += page[name]
        if page["next_cursor"] is None:
            return found
        cursor = f"&{urlencode({'cursor': page['next_cursor']})}"


def test_lists_come_in_pages_without_gaps(app: FastAPI, admin: Person) -> None:
    for n in range(5):
        admin.post("/api/tokens", {"name": f"t{n}"})
    administrator(app)
    for path, name, key in (
        ("/api/judges", "judges", "judge"),
        ("/api/battles", "battles", "battle_id"),
        ("/api/items", "items", "item_id"),
        ("/api/tokens", "tokens", "token_id"),
        ("/api/sessions", "sessions", "session_id"),
        ("/api/runs", "runs", "run_id"),
    ):
        whole = admin.get(f"{path}?limit=200").json()[name]
        assert [one[key] for one in paged(admin, path, name, 1)] == [one[key] for one in whole], path
        assert len({one[key] for one in whole}) == len(whole) > 0


def test_a_run_tells_how_far_it_is(tmp_path: Path) -> None:
    """While it works: planned, done, failed and cost so far; read from what it has written."""
    app = looked_at(tmp_path / "arena")
    admin = administrator(app)
    with open_workspace(tmp_path / "arena") as workspace:
        run = Run(run_id="run_" + "2" * 32, command="judge", counts={"planned": 3})
        workspace.store.put(run)
        output = next(iter(workspace.store.records(Output)))

        def judged(n: int, **more: Any) -> Judgment:
            return Judgment(
                work_id=f"w{n}",
                judge="new",
                item_id=output.item_id,
                left_id=output.output_id,
                run_id=run.run_id,
                **more,
            )

        workspace.store.add([judged(0, score=1.0, usage={"cost_usd": 0.25}), judged(1, status="timeout")])
        first = admin.get("/api/runs").json()["runs"][0]
        assert first["counts"] == {"planned": 3, "ok": 1, "timeout": 1}
        assert first["cost_usd"] == pytest.approx(0.25)
        workspace.store.add([judged(2, score=2.0, usage={"cost_usd": 0.5})])
        page = admin.get("/api/runs").json()
        assert page["runs"][0]["counts"] == {"planned": 3, "ok": 2, "timeout": 1}
        assert page["runs"][0]["cost_usd"] == pytest.approx(0.75)
        assert page["failures"] == {"judgments timeout": 1}
        workspace.store.put(run.model_copy(update={"state": "done", "counts": {"ok": 2}, "cost_usd": 1.0}))
        assert admin.get("/api/runs").json()["runs"][0]["counts"] == {"ok": 2}


def test_an_item_shows_an_agents_trace(admin: Person) -> None:
    shown = admin.get("/api/items").json()["items"][0]
    outputs = admin.get(f"/api/items/{shown['item_id']}").json()["outputs"]
    assert [len(one["steps"]) for one in outputs] == [3, 0, 0]
    plan, tried, failed = outputs[0]["steps"]
    assert plan["details"]["steps"] == "first · second"
    assert (tried["text"], tried["status"], failed["details"]["error"]) == ("<b>try</b>", "ok", "too slow")
    assert failed["picture"] is None
    answer = admin.get(tried["picture"]["url"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
    assert admin.get(f"{tried['picture']['tiles_url']}/0/0/0").headers["content-type"] == "image/png"
    assert admin.get(tried["picture"]["url"].replace("/1/", "/2/")).status_code == 404
    assert "sha256" not in admin.get(f"/api/items/{shown['item_id']}").text


@pytest.mark.parametrize(
    ("chosen", "asked"),
    [
        ({}, BoardQuery()),
        ({"source": "human"}, BoardQuery(source="human")),
        ({"source": "judge"}, BoardQuery(source="judge")),
        ({"source": "all"}, BoardQuery(source="all")),
        ({"source": "human", "method": "davidson"}, BoardQuery(
            source="human", dimensions_together=True, options=Options(method="davidson"))),
        ({"judge": "oak", "method": "elo"}, BoardQuery(judge="oak", options=Options(method="elo"))),
        ({"source": "human", "dimension": "beauty"}, BoardQuery(source="human", dimension="beauty")),
    ],
    ids=lambda one: "-".join(one.values()) or "default" if isinstance(one, dict) else "rank",
)  # fmt: skip
def test_a_board_is_the_board_of_rank(tmp_path: Path, chosen: dict[str, str], asked: BoardQuery) -> None:
    """The same numbers, notices and signature; only the words say how a page chooses, and no folder is named."""
    root = tmp_path / "arena"
    app = looked_at(root)
    with open_workspace(root) as workspace:
        first = next(iter(workspace.store.records(Output, editor="ash")))
        driven = Output(item_id=first.item_id, editor="ash", sample=1, image=first.image, params={"driven_by": "oak"})
        failed = [Output(item_id=first.item_id, editor="birch", turn=1, status=Status.REFUSED)]
        failed += [Output(item_id=first.item_id, editor="cedar", turn=1, image=first.image)]
        absent = Output(item_id=first.item_id, editor="absent", image=first.image)
        workspace.store.add([driven, *failed, absent])
        made = Boards(View(workspace)).board(asked)
    ranked = made.ranking
    answer = administrator(app).get(f"/api/board?{urlencode(chosen)}")
    shown = answer.json()
    assert str(root) not in answer.text, "a page names no folder of the server"
    assert [one["code"] for one in shown["notices"]] == [one.code for one in ranked.notices]
    assert shown["warnings"] == list(dict.fromkeys(one["text"] for one in shown["notices"]))
    assert "--" not in re.sub("`[^`]*`", "", " ".join(shown["warnings"]) + shown["beside"])
    names = ("model", "rating", "low", "high", "rank_low", "rank_high", "wins", "losses", "ties", "coverage")
    rows = [[getattr(one, name) for name in names] for one in ranked.models]
    assert [[one[name] for name in names] for one in shown["standings"]] == rows, "one board, one interval"
    assert (shown["verdicts"], shown["n_battles"]) == (ranked.settings["verdicts"], ranked.n_battles)
    assert shown["excluded"] == ranked.excluded
    assert bool(shown["beside"]) == bool(ranked.settings.get("beside"))
    assert shown["resampled"] in method_line(ranked)
    assert shown["signature"] == ranked.settings["signature"]
    codes = {one.code for one in ranked.notices}
    assert ("judges_pooled" in codes) == (chosen.get("source") == "all")
    assert ("people_and_judges" in codes) == (chosen.get("source") == "all")
    assert ("self_judged" in codes) == ("oak" in made.battles.judges)
    assert "absent_editors" in codes
    with open_workspace(root) as workspace:
        assert list(workspace.store.records(Ranking)) == [], "a page that is read stores nothing"


def test_where_no_source_is_chosen_every_view_shows_the_same_board(app: FastAPI, admin: Person) -> None:
    """Too few votes for a board of people: one judge's. What else there is is named with the filters of the page."""
    found = board(admin)
    assert (found["source"], found["judge"], found["verdicts"], found["n_battles"]) == ("judge", "elm", "judge elm", 12)
    assert (
        found["beside"]
        == "24 votes of people (“Votes and judgments of”: People) and 12 verdicts of judge oak (“Judge”: oak)"
    )
    assert admin.get("/api/board/history").json()["points"][-1]["n_battles"] == 12
    duel = admin.get("/api/head-to-head?left=ash&right=cedar").json()["total"]
    assert duel["wins"] + duel["losses"] + duel["ties"] == 4
    assert admin.get("/api/battles?source=auto").json()["total"] == 12
    assert board(admin, judge="oak")["verdicts"] == "judge oak"
    assert board(admin, judge="nobody")["reason"] == "There is no judgment by 'nobody'."


def test_a_board_that_cannot_be_made_gives_the_reason_in_the_words_of_the_page(tmp_path: Path) -> None:
    root = tmp_path / "arena"
    app = looked_at(root)
    with open_workspace(root) as workspace:
        outputs = list(workspace.store.records(Output))
        scored = {"judge": "likeness", "dimension": "sameness", "score": 1.0}
        workspace.store.add(
            [Judgment(work_id=one.output_id, item_id=one.item_id, left_id=one.output_id, **scored) for one in outputs]
        )
    admin = administrator(app)
    assert board(admin, source="human", task="none")["reason"] == "No battle fits these filters."
    assert board(admin, judge="likeness", dimension="overall")["reason"]
    assert board(admin, judge="likeness")["standings"], "the only dimension of a judge that was asked for"


def test_an_item_made_from_references_alone_shows_one() -> None:
    image = ImageRef(sha256="a" * 64, size_bytes=1, media_type="image/png", width=1, height=1)
    item = Item(dataset="d", key="k", turns=(Turn(instruction="join them"),), references=(image,))
    assert str(item_line(item, 0).picture).endswith("/pictures/reference-0")
    assert item_line(item.model_copy(update={"references": ()}), 0).picture is None
