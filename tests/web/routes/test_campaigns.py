"""Rating, checking and leading through the API."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from imarena.core.records import Evidence, Item, Mode, Verification, Vote
from imarena.storage import init_workspace, open_workspace
from imarena.web.app import create_app
from imarena.workflows.questions.expected_objects import KIND, objects_question
from imarena.workflows.reporting.report import write_report
from tests.web.people import administrator, campaign, fill, rater, served, settings_of

CRITERIA = ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts")
FIVES = dict.fromkeys(CRITERIA, 5)
NONE = {"no_object_issues": True, "no_segment_issues": True}


def test_rating_needs_every_list_answered_and_every_loss_explained(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=2)
    admin = administrator(app)
    one = campaign(admin, kind="rating")
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    assert [criterion["name"] for criterion in task["criteria"]] == list(CRITERIA)
    assert len(task["criteria"][0]["anchors"]) == 5
    assert task["expected_objects"] == ["a cup", "a table"]
    segments = person.get(task["segments_url"]).json()["segments"]
    assert segments
    low = {**FIVES, "artifacts": 3}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"ratings": {"artifacts": 5}, **NONE}, "Not answered"),
        ({"ratings": {**FIVES, "artifacts": 6}, **NONE}, "goes from 1 to 5"),
        ({"ratings": FIVES, "no_object_issues": True}, "list of segments"),
        ({"ratings": low, **NONE}, "without a reason"),
        ({"ratings": low, **NONE, "issues": [{"kind": "object", "label": "cup"}]}, "'None' is chosen"),
        ({"ratings": low, "no_object_issues": True, "issues": [{"kind": "box", "box": [9, 9, 1, 1]}]}, "two corners"),
        ({"ratings": low, "no_object_issues": True, "issues": [{"kind": "box", "box": [1, 1, 9, 9e5]}]}, "outside"),
        ({"ratings": low, "no_object_issues": True, "issues": [{"kind": "segment", "segment": 9999}]}, "number 9999"),
        ({"ratings": low, **NONE, "comment": " \u200b."}, "without a reason"),
    ]
    for ballot, why in refused:
        answer = person.vote(task, code=422, **ballot)
        assert answer["code"] == "ballot"
        assert why in answer["message"]
    issues = [
        {"kind": "segment", "segment": segments[0]["number"], "criterion": "artifacts"},
        {"kind": "box", "box": [1, 2, 30, 40], "note": "smeared"},
        {"kind": "object", "label": "a cup"},
    ]
    person.vote(task, ratings=low, issues=issues, new_image=True, returned_input=False)
    with open_workspace(tmp_path / "arena") as workspace:
        (vote,) = workspace.store.records(Vote)
    assert vote.ratings == {**dict.fromkeys(CRITERIA, 5.0), "artifacts": 3.0}
    assert [issue.kind for issue in vote.issues] == ["segment", "box", "object", "new_image"]
    heat = admin.get("/api/heat-map").json()
    assert heat["boxes"] == 1
    assert heat["labels"] == {"a cup": 1}
    (counted,) = heat["editors"]
    told = {"ratings": 1, "objects": 1, "segments": 1, "boxes": 1, "new_image": 1, "returned_input": 0, "other": 0}
    assert {name: counted[name] for name in told} == told
    with open_workspace(tmp_path / "arena") as workspace:
        write_report(workspace, tmp_path / "report", gallery=0)
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| editor | ratings | things | segments | boxes | new image | returned input | other |" in page
    assert f"| {counted['editor']} | 1 | 1 | 1 | 1 | 1 | 0 | 0 |" in page
    back = person.post(f"/api/rating/campaigns/{one}/undo")["previous"]
    assert back["ratings"]["artifacts"] == 3
    assert admin.get("/api/heat-map").json()["editors"] == [], "what was taken back does not count"
    assert back["new_image"] is True
    assert [issue["kind"] for issue in back["issues"]] == ["segment", "box", "object"]


def test_an_item_stays_hidden_while_somebody_may_still_answer(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=1, public=True)
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    item = admin.get("/api/items").json()["items"][0]["item_id"]
    admin.send("PATCH", f"/api/lead/campaigns/{one}", {"open": False})
    assert person.get(f"/api/items/{item}").json()["code"] == "in_campaign"
    person.vote(task, preference="left")
    assert person.get(f"/api/items/{item}").status_code == 200


def test_a_vote_that_was_taken_back_is_one_line_of_a_battle(tmp_path: Path) -> None:
    """Not two: taking back is a record of its own, with nothing in it to show."""
    app = served(tmp_path / "arena", items=1)
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    person.vote(person.next(one)["task"], preference="tie", comment="a slip")
    person.vote(person.post(f"/api/rating/campaigns/{one}/undo"), preference="both_bad")
    (battle,) = admin.get("/api/battles").json()["battles"]
    votes = admin.get(f"/api/battles/{battle['battle_id']}").json()["votes"]
    told = [(vote["preference"], vote["comment"], vote["live"]) for vote in votes]
    assert told == [("tie", "a slip", False), ("both_bad", "", True)]


def test_two_campaigns_do_not_share_a_name(tmp_path: Path) -> None:
    admin = administrator(served(tmp_path / "w"))
    campaign(admin, name="mine")
    body = {"name": "mine"}
    refused = admin.client.post("/api/lead/campaigns", json=body, headers={"x-csrf-token": admin.csrf})
    assert refused.status_code == 409
    assert "There is a campaign 'mine' already" in refused.text


def test_checking_items(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=2)
    admin = administrator(app)
    one = campaign(admin, kind="check")
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    assert task["left"] is None
    assert len(task["checks"]) == 4
    assert task["stands_under"] == "recolour", "whether the task matches can only be said by who is told it"
    checks = {check["name"]: True for check in task["checks"]}
    assert (
        "fails a check"
        in person.vote(task, code=422, checks={**checks, "feasible": False}, decision="accept")["message"]
    )
    person.vote(task, checks={**checks, "feasible": False}, decision="repair", comment="no sky")
    with open_workspace(tmp_path / "arena") as workspace:
        (made,) = workspace.store.records(Verification)
    assert made.decision == "repair"
    table = admin.get(f"/api/lead/campaigns/{one}/export.csv").text
    assert [row["decision"] for row in csv.DictReader(io.StringIO(table))] == ["repair"]


def test_yes_and_no(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=1)
    admin = administrator(app)
    one = campaign(admin, kind="yes_no")
    people = [rater(app, admin, one) for _ in range(2)]
    for person, answer in zip(people, (True, False), strict=True):
        while (task := person.next(one)["task"]) is not None:
            person.vote(task, answer=answer)
    report = admin.get(f"/api/lead/campaigns/{one}/agreement").json()["criteria"]
    assert [one["criterion"] for one in report] == ["instruction_following"]
    assert report[0]["pairwise_agreement"] == pytest.approx(0.0)
    assert report[0]["n_units"] == 3


def test_a_lead_sees_progress_agreement_and_pauses_a_rater(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=4)
    admin = administrator(app)
    one = campaign(admin, raters_per_unit=3)
    people = [rater(app, admin, one, name=f"p{n}") for n in range(3)]
    for number, person in enumerate(people):
        while (task := person.next(one)["task"]) is not None:
            person.vote(task, preference="tie" if number < 2 else "both_bad", time_spent_s=5)
    found = admin.get(f"/api/lead/campaigns/{one}").json()
    assert (found["votes"], found["units"], found["complete_units"], found["raters"]) == (36, 12, 12, 3)
    (report,) = admin.get(f"/api/lead/campaigns/{one}/agreement").json()["criteria"]
    assert report["pairwise_agreement"] == pytest.approx(1 / 3)
    raters = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert [one["agreement"] for one in raters] == pytest.approx([0.5, 0.5, 0.0])
    page = admin.get(f"/api/lead/campaigns/{one}/raters?limit=2").json()
    assert len(page["raters"]) == 2
    assert page["next_cursor"] is not None
    last = admin.get(f"/api/lead/campaigns/{one}/raters?limit=2&cursor={page['next_cursor']}").json()
    assert [person["rater_id"] for person in page["raters"] + last["raters"]] == [one["rater_id"] for one in raters]
    assert (page["total"], last["total"], last["next_cursor"]) == (3, 3, None)
    assert admin.get(f"/api/lead/invitations?campaign_id={one}&limit=1").json()["total"] == 3
    assert admin.get("/api/lead/campaigns?limit=1").json()["total"] == 1
    assert people[0].get("/api/rating/campaigns?limit=1").json()["total"] == 1
    path = f"/api/lead/campaigns/{one}/raters/{raters[0]['rater_id']}"
    assert admin.send("PATCH", path, {"active": False}).json()["active"] is False
    assert people[0].next(one)["stage"] == "paused"
    board = admin.get("/api/board?source=human").json()
    assert board["n_battles"] == 36
    assert sum(cell["ties"] + cell["both_bad"] for cell in board["matrix"]) == 36
    assert admin.get("/api/board?source=human&task=none").json()["reason"]
    assert admin.get("/api/board?since=2000-01-01&until=2000-02-01").json()["n_battles"] == 0
    assert admin.get("/api/board?since=2000-01-01").json()["n_battles"] == 36


def test_the_command_line_leads_a_campaign(tmp_path: Path, imarena: object) -> None:
    from tests.command import Imarena

    run = imarena
    assert isinstance(run, Imarena)
    served(tmp_path / "arena", items=2).state.arena.close()
    made = run("-w", "arena", "--json", "campaign", "create", "first", "--raters-per-unit", 2).json
    assert (made["units"], made["slots"]) == (6, 12)
    link = run("-w", "arena", "--json", "campaign", "invite", "first").json["link"]
    assert "/join#" in link
    crowd = run("-w", "arena", "campaign", "invite", "first", "--people", 9, "--person-param", "PROLIFIC_PID").out
    assert (
        "No server is running. If it will use another address, replace http://127.0.0.1:8000 in the link with that address."
        in run("-w", "arena", "campaign", "invite", "first").err
    )
    assert "/join?PROLIFIC_PID={{%PROLIFIC_PID%}}#" in crowd, "a crowd platform puts the person's id in this place"
    status = run("-w", "arena", "--json", "campaign", "status").json["campaigns"]
    assert status[0]["votes"] == 0
    assert run("-w", "arena", "campaign", "export", "first").out.startswith("left,right,winner")
    assert run("-w", "arena", "campaign", "close", "first").out.strip() == "Closed the campaign 'first'."
    assert "no campaign" in run("-w", "arena", "campaign", "invite", "nothing", code=2).err
    refused = run("-w", "arena", "serve", "--host", "0.0.0.0", code=2, env={"IMARENA_ADMIN_PASSWORD": ""})  # noqa: S104
    assert "no password" in refused.err


def test_raters_tick_the_objects_that_a_model_listed_and_else_those_that_the_words_name(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=1, instruction="Put a hat on the dog", listed=False)
    app = create_app(settings_of(tmp_path / "arena"))
    admin = administrator(app)
    one = campaign(admin, kind="rating")
    assert rater(app, admin, one).next(one)["task"]["expected_objects"] == ["hat", "dog"]
    with open_workspace(tmp_path / "arena") as workspace:
        (item,) = workspace.store.records(Item)
        subject = objects_question(item, 0, Mode.SINGLE).subject
        value: JsonValue = {"objects": [{"name": "straw hat", "present": True}, {"name": "cat", "present": False}]}
        workspace.store.add([Evidence(image_sha256=subject, tool="objects/vlm", kind=KIND, value=value)])
    listed = rater(app, admin, one).next(one)["task"]["expected_objects"]
    assert listed == ["straw hat", "cat (should not be present)"]
