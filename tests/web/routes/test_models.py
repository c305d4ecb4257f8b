"""One model through the API, why lists are empty, and the pictures that guidelines show."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from tests.web.looked_at import looked_at
from tests.web.people import Person, administrator, campaign, rater, served

PEOPLE = {"source": "human", "dimension": "overall"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Even items have `ash` ahead, odd ones `cedar`."""
    return looked_at(tmp_path_factory.mktemp("models") / "arena")


@pytest.fixture(scope="module")
def admin(app: FastAPI) -> Person:
    """Somebody who may see everything."""
    return administrator(app)


def test_a_model_has_its_results_by_opponent_and_group(admin: Person) -> None:
    found = admin.get(f"/api/model?{urlencode({'model': 'ash', **PEOPLE})}").json()
    assert (found["total"]["wins"], found["total"]["losses"]) == (4, 4)
    assert [(duel["right"], duel["wins"], duel["losses"]) for duel in found["opponents"]] == [
        ("birch", 2, 2),
        ("cedar", 2, 2),
    ]
    tasks = {one["value"]: one["counts"] for one in found["groups"] if one["by"] == "task"}
    assert {name: (counts["wins"], counts["losses"]) for name, counts in tasks.items()} == {
        "even-task": (4, 0),
        "odd-task": (0, 4),
    }
    assert found["standing"]["model"] == "ash"
    assert found["models"] == 3


def test_the_middle_model_is_seen_from_both_sides(admin: Person) -> None:
    """`birch` loses to one and beats the other on each item, whichever side it stood on."""
    found = admin.get(f"/api/model?{urlencode({'model': 'birch', **PEOPLE})}").json()
    assert (found["total"]["wins"], found["total"]["losses"]) == (4, 4)
    assert found["best"] == found["worst"] == [], "each output won as often as it lost"


def test_examples_are_the_outputs_with_most_wins_and_losses(admin: Person) -> None:
    found = admin.get(f"/api/model?{urlencode({'model': 'ash', **PEOPLE})}").json()
    assert {one["task"] for one in found["best"]} == {"even-task"}
    assert {one["task"] for one in found["worst"]} == {"odd-task"}
    assert [one["counts"]["wins"] for one in found["best"]] == [2, 2]
    for example in (*found["best"], *found["worst"]):
        assert admin.get(example["picture"]).status_code == 200
        assert admin.get(example["source"]).status_code == 200


def test_filters_reach_a_model(admin: Person) -> None:
    found = admin.get(f"/api/model?{urlencode({'model': 'ash', 'task': 'odd-task', **PEOPLE})}").json()
    assert (found["total"]["wins"], found["total"]["losses"]) == (0, 4)
    assert found["best"] == []


def test_a_model_that_is_not_there(admin: Person) -> None:
    assert admin.get("/api/model?model=oak").status_code == 404
    assert admin.get("/api/model").status_code == 422
    unknown = admin.get(f"/api/model?{urlencode({'model': 'ash', 'judge': 'nobody'})}").json()
    assert unknown["total"]["wins"] == 0
    assert unknown["standing"] is None
    assert unknown["reason"]


def test_what_raters_look_at_is_no_example_and_the_reason_is_given(tmp_path: Path) -> None:
    app = looked_at(tmp_path / "arena", public=True)
    admin, visitor = administrator(app), Person(app)
    assert visitor.get("/api/items").json()["some_hidden"] is False
    campaign(admin, datasets=["even-set"])
    seen = visitor.get(f"/api/model?{urlencode({'model': 'ash', **PEOPLE})}").json()
    assert seen["some_hidden"] is True
    assert seen["best"] == [], "ash is ahead on even items only, and those are hidden"
    assert len(seen["worst"]) == 2
    for path in ("items?dataset=even-set", "battles?dataset=even-set"):
        page = visitor.get(f"/api/{path}").json()
        assert page["some_hidden"] is True
        assert (page.get("items") or page.get("battles") or []) == []
        assert admin.get(f"/api/{path}").json()["some_hidden"] is False, "nothing is hidden from leads"


def test_votes_of_an_open_campaign_are_withheld_and_the_board_says_so(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", public=True)
    admin, visitor = administrator(app), Person(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    person.vote(person.next(one)["task"], preference="left")
    board = visitor.get("/api/board").json()
    assert (board["n_battles"], board["votes_withheld"]) == (0, True)
    assert admin.get("/api/board").json()["votes_withheld"] is False
    admin.send("PATCH", f"/api/lead/campaigns/{one}", {"open": False})
    board = visitor.get("/api/board").json()
    assert (board["n_battles"], board["votes_withheld"]) == (1, False)


def test_guidelines_show_the_pictures_that_they_name_and_no_others(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    item = admin.get("/api/items").json()["items"][0]["item_id"]
    outputs = [made["output_id"] for made in admin.get(f"/api/items/{item}").json()["outputs"]]
    one = campaign(admin, guidelines=f"Good: ![clean]({outputs[0]})\n\n![before]({item})")
    other = campaign(admin, guidelines="Nothing to see.")
    person, stranger = rater(app, admin, one), rater(app, admin, other)
    for shown in (outputs[0], item):
        answer = person.get(f"/api/rating/examples/{shown}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
        assert stranger.get(f"/api/rating/examples/{shown}").status_code == 404
        assert Person(app).get(f"/api/rating/examples/{shown}").status_code == 401
    assert person.get(f"/api/rating/examples/{outputs[1]}").status_code == 404, "not named"
    assert person.get(f"/api/rating/examples/{outputs[0][:-1]}").status_code == 404
