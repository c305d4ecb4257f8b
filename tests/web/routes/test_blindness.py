"""Nothing that is sent to a rater tells which model made a picture."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from PIL import Image

from imarena.core.records import Assignment, Item, Output
from imarena.storage import Workspace, open_workspace
from imarena.web import wire
from tests.web.people import EDITORS, Person, administrator, campaign, rater, served


def secrets_of(workspace: Workspace) -> set[bytes]:
    """Everything that would name a model or lead to one: names, ids, hashes, and the words of the record."""
    told: set[str] = set(EDITORS)
    for output in workspace.store.records(Output):
        told |= {output.output_id, output.work_id}
        if output.image is not None:
            told |= {output.image.sha256, output.image.sha256[:16]}
    for assignment in workspace.store.records(Assignment):
        told |= {assignment.assignment_id, assignment.unit}
    for item in workspace.store.records(Item):
        told |= {item.item_id, item.content_id, item.key, *(source.sha256 for source in item.sources)}
    told |= {"editor", "left_id", "right_id", "output_", "sha256", "gold", "repeat", "swap"}
    return {text.encode() for text in told}


class Listener:
    """Keeps every byte that a person is sent, headers included."""

    def __init__(self, person: Person) -> None:
        self.heard: list[tuple[str, bytes]] = []
        person.client.event_hooks["response"] = [self._hear]

    def _hear(self, response: Any) -> None:
        response.read()
        headers = b"\n".join(name + b": " + value for name, value in response.headers.raw)
        self.heard.append((str(response.request.url), headers + b"\n\n" + response.content))


def look_at_everything(person: Person, task: Any) -> None:
    """All that a page asks for while a task is shown, and what a curious person tries."""
    for picture in [*task["sources"], *task["references"], task["left"], task["right"]]:
        if picture is None:
            continue
        shown = person.get(picture["url"])
        assert shown.headers["content-type"] == "image/jpeg"
        tile = person.get(f"{picture['tiles_url']}/{picture['max_level']}/0/0")
        assert tile.headers["content-type"] == "image/png"
        for data in (shown.content, tile.content):
            assert Image.open(io.BytesIO(data)).info.keys() <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
        # A hash of the bytes that are sent, and of nothing else: who has the picture has it already.
        assert shown.headers["etag"] == f'"{hashlib.sha256(shown.content).hexdigest()[:32]}"'
        assert "last-modified" not in shown.headers
    person.get(f"/api/tasks/{task['address']}")
    for curious in ("/api/items", "/api/battles", "/api/board", "/api/facets", "/api/runs", "/api/lead/campaigns"):
        assert person.get(curious).status_code == 403


@pytest.mark.parametrize("kind", ["preference", "rating", "yes_no"])
def test_no_byte_sent_to_a_rater_names_a_model(tmp_path: Path, kind: str) -> None:
    app = served(tmp_path / "arena", items=2)
    admin = administrator(app)
    answers = {"preference": "right,winner", "yes_no": "answer", "rating": "artifacts"}
    row = {"preference": f"{EDITORS[1]},left", "yes_no": "yes", "rating": "5"}[kind]
    table = f"item,left,{answers[kind]}\nentry-0,{EDITORS[0]},{row}\n"
    gold = admin.post("/api/lead/known-tasks", {"kind": kind, "table": table})["tasks"][0]["task"]
    one = campaign(admin, kind=kind, gold=[gold], gold_rate=0.5, repeat_rate=0.3)
    person = rater(app, admin, one)
    listener = Listener(person)
    ballots: dict[str, dict[str, Any]] = {
        "preference": {"preference": "left"},
        "yes_no": {"answer": True},
        "rating": {
            "ratings": dict.fromkeys(("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts"), 5),
            "no_object_issues": True,
            "no_segment_issues": True,
        },
    }
    person.get("/api/me")
    person.get("/api/rating/campaigns")
    done = 0
    while (task := person.next(one)["task"]) is not None:
        look_at_everything(person, task)
        if task["segments_url"]:
            assert person.get(task["segments_url"]).status_code == 200
        ahead = person.post(f"/api/rating/campaigns/{one}/ahead")["task"]
        if ahead is not None:
            for picture in (ahead["left"], *ahead["sources"]):
                assert person.get(f"{picture['tiles_url']}/0/0/0").status_code == 200
            if done == 2:
                person.post(f"/api/tasks/{ahead['address']}/give-back")
        person.vote(task, **ballots[kind])
        done += 1
    assert done >= 5
    person.post(f"/api/rating/campaigns/{one}/undo")
    with open_workspace(tmp_path / "arena") as workspace:
        telling = secrets_of(workspace)
    assert len(listener.heard) > 6 * done
    for url, heard in listener.heard:
        if "/openapi" in url:
            continue
        found = {word for word in telling if word in heard}
        assert not found, f"{url} tells {found}"


def test_addresses_are_random_and_open_for_their_holder_only(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin, raters_per_unit=2)
    first, second = rater(app, admin, one), rater(app, admin, one)
    mine, theirs = first.next(one)["task"], second.next(one)["task"]
    assert mine["address"] != theirs["address"]
    for path in (mine["left"]["url"], f"{mine['left']['tiles_url']}/0/0/0", f"/api/tasks/{mine['address']}"):
        assert first.get(path).status_code == 200
        assert second.get(path).status_code == 404
    assert second.send("POST", f"/api/tasks/{mine['address']}/vote", {
        "idempotency_key": "abcdefgh", "preference": "left",
    }).status_code == 404  # fmt: skip


def test_items_of_an_open_campaign_are_closed_to_the_public_too(tmp_path: Path) -> None:
    app: FastAPI = served(tmp_path / "arena", public=True)
    admin = administrator(app)
    one = campaign(admin)
    items = admin.get("/api/items").json()["items"]
    visitor = Person(app)
    assert visitor.get("/api/items").json()["items"] == []
    for path in (f"/api/items/{items[0]['item_id']}", items[0]["picture"]):
        assert visitor.get(path).status_code == 403
        assert admin.get(path).status_code == 200
    admin.send("PATCH", f"/api/lead/campaigns/{one}", {"open": False})
    assert len(visitor.get("/api/items").json()["items"]) == 3
    assert visitor.get(f"/api/items/{items[0]['item_id']}").status_code == 200


def test_a_blinded_type_has_no_field_that_could_name_a_model() -> None:
    forbidden = ("editor", "model", "output", "sha", "left_id", "right_id", "item_id", "judge")
    for blinded in (wire.TaskOut, wire.Picture, wire.Next, wire.Ahead, wire.Receipt, wire.Segments, wire.RaterCampaign):
        names = json.dumps(list(blinded.model_json_schema()["properties"]))
        assert not [word for word in forbidden if word in names], blinded
