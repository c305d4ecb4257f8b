"""A public board, as a hostile visitor goes through it."""

import json
import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from imarena.web.openapi import document
from imarena.workflows.serving.redaction import without_keys
from tests.web.looked_at import looked_at
from tests.web.people import Person, administrator, campaign, rater

PRIVATE = ("a private word", "a private note", "Name 0", "rater_0", "rater_1", "sk-abcdef")


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    """A released leaderboard."""
    return looked_at(tmp_path / "arena", public=True)


def addresses(person: Person) -> list[str]:
    """Every address of the API that gives something, with true ids in it."""
    item = some_item(person)
    battle = person.get("/api/battles").json()["battles"][0]["battle_id"]
    known = {"item_id": item, "battle_id": battle, "slot": "source-0", "number": "1"}
    known |= dict.fromkeys(("level", "column", "row"), "0")
    found = []
    for path, methods in json.loads(document())["paths"].items():
        if "get" in methods and "/stream" not in path:
            filled = re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], "x"), path)
            found.append(f"{filled}?left=ash&right=birch" if "head-to-head" in filled else filled)
    return found


def some_item(person: Person) -> str:
    """Some item."""
    return str(person.get("/api/items").json()["items"][0]["item_id"])


def test_no_answer_to_a_visitor_holds_a_vote_a_name_or_a_key(app: FastAPI) -> None:
    """Every address is asked; what is refused is refused, what is answered tells nothing private."""
    visitor = Person(app)
    told = 0
    for path in addresses(visitor):
        answer = visitor.get(path)
        assert answer.status_code < 500, path
        if answer.status_code == 200:
            told += 1
            assert not [word for word in PRIVATE if word in answer.text], path
    assert told > 15
    battle = visitor.get("/api/battles").json()["battles"][0]["battle_id"]
    detail = visitor.get(f"/api/battles/{battle}").json()
    assert detail["votes"] == []
    assert detail["judgments"][0]["reply"] == "I say so. [key removed]"
    assert {one["cost_usd"] for one in visitor.get("/api/judges").json()["judges"]} == {None}


def test_what_a_visitor_may_not_do(app: FastAPI) -> None:
    visitor = Person(app)
    for path in ("/api/runs", "/api/runs/stream", "/api/tokens", "/api/sessions", "/api/lead/campaigns",
                 "/api/rating/campaigns", "/api/board/stored", "/api/exports/votes"):  # fmt: skip
        assert visitor.get(path).status_code == 401, path
    for method, path in (("POST", "/api/tokens"), ("POST", "/api/lead/campaigns"), ("DELETE", "/api/sessions/x"),
                         ("POST", "/api/lead/invitations"), ("POST", "/api/tasks/x/vote")):  # fmt: skip
        assert visitor.send(method, path, {}).status_code in (401, 403, 422), path
    assert visitor.get("/api/me").json()["role"] is None


def test_who_votes_cannot_watch_the_board_move(app: FastAPI) -> None:
    """A vote of an open campaign counts for leads at once, for everybody else when the campaign is closed."""
    admin, visitor = administrator(app), Person(app)
    one = campaign(admin, name="open", datasets=["even-set"])
    person = rater(app, admin, one)
    viewer = rater(app, admin, one, role="viewer")
    lookers = (visitor, person, viewer)
    views = ("/api/board?source=human", "/api/board/history?source=human", "/api/head-to-head?left=ash&right=cedar",
             "/api/judges", "/api/heat-map", "/api/exports/board", "/api/exports/verdicts")  # fmt: skip
    before = {path: [who.get(path).text for who in lookers] for path in views}
    count = admin.get("/api/board?source=human").json()["n_battles"]
    while (task := person.next(one)["task"]) is not None:
        person.vote(task, preference="left")
    assert admin.get("/api/board?source=human").json()["n_battles"] == count + 6
    for path in views:
        assert [who.get(path).text for who in lookers] == before[path], path
    admin.send("PATCH", f"/api/lead/campaigns/{one}", {"open": False})
    assert visitor.get("/api/board?source=human").json()["n_battles"] == count + 6


def test_a_blinded_item_is_found_by_no_door(app: FastAPI) -> None:
    """Its page, pictures, outputs, steps and battles are shut while a campaign shows it."""
    admin, visitor = administrator(app), Person(app)
    shown = next(one for one in admin.get("/api/items").json()["items"] if one["dataset"] == "even-set")
    outputs = admin.get(f"/api/items/{shown['item_id']}").json()["outputs"]
    step = next(step for one in outputs for step in one["steps"] if step["picture"])
    battles = [one for one in admin.get("/api/battles").json()["battles"] if one["item_id"] == shown["item_id"]]
    doors = [
        f"/api/items/{shown['item_id']}", shown["picture"], outputs[0]["picture"]["url"], step["picture"]["url"],
        f"{step['picture']['tiles_url']}/0/0/0", f"/api/battles/{battles[0]['battle_id']}",
    ]  # fmt: skip
    assert [visitor.get(path).status_code for path in doors] == [200] * len(doors)
    campaign(admin, name="open", datasets=["even-set"])
    assert [visitor.get(path).status_code for path in doors] == [403] * len(doors)
    for path in ("/api/items", "/api/battles", "/api/exports/items", "/api/exports/battles", "/api/exports/verdicts"):
        assert shown["item_id"] not in visitor.get(path).text, path


def test_what_looks_like_a_key_is_taken_out() -> None:
    for key in ("sk-proj-abcdefghijklmnop1234", "hf_abcdefghijklmnopqrst", "AIzaSyA1234567890abcdefghijk",
                "imarena_abcdefghijklmnopqrstuvwxyz"):  # fmt: skip
        assert without_keys(f"it said {key}, and left") == "it said [key removed], and left"
    assert without_keys("Authorization: Bearer abcdefghijklmnop.qrst") == "Authorization: Bearer [key removed]"
    assert without_keys("sk-8 risk-averse task-based") == "sk-8 risk-averse task-based"
