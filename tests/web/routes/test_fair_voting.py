"""Attacks on the fairness of votes over HTTP, on SQLite and on PostgreSQL: votes without pictures, too soon, claimed
times, keys that are used again, undoing what decides access, and completion codes for those who did not complete.
"""

from typing import Any

import pytest
from fastapi import FastAPI

from imarena.core.records import Outcome, Vote
from imarena.routing import Answer
from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import Workspace, open_workspace
from imarena.web.app import create_app
from imarena.workflows.rating.campaigns import plan_units
from tests.web.people import Person, administrator, campaign, fill, rater, settings_of

RATING: dict[str, Any] = {
    "ratings": dict.fromkeys(("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts"), 5),
    "no_object_issues": True,
    "no_segment_issues": True,
}


@pytest.fixture
def app(any_workspace: Workspace) -> FastAPI:
    """A server over a filled workspace on each kind of database."""
    fill(any_workspace)
    return create_app(settings_of(any_workspace.root, secret_key="k" * 40))


def restarted(app: FastAPI) -> FastAPI:
    """The same server after a stop and a start."""
    settings = app.state.arena.settings
    app.state.arena.close()
    return create_app(settings)


def moved(person: Person, app: FastAPI) -> Person:
    """The same browser before another server."""
    other = Person(app)
    other.client.cookies.update(person.client.cookies)
    other.csrf = person.csrf
    return other


def votes(app: FastAPI) -> list[Vote]:
    with open_workspace(app.state.arena.workspace.root) as workspace:
        return list(workspace.store.records(Vote))


def test_no_vote_counts_before_every_picture_was_requested(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    refused = person.vote(task, look=False, code=409, preference="left", idempotency_key="key-of-one-vote")
    assert refused["code"] == "pictures_not_seen"
    assert set(refused["fields"]) == {"left", "right", "source-0"}
    assert person.get(task["left"]["url"]).status_code == 200
    assert person.get(f"{task['right']['tiles_url']}/0/0/0").status_code == 200, "a tile counts"
    assert person.vote(task, look=False, code=409, preference="left")["fields"] == ["source-0"]
    other = rater(app, admin, one)
    assert other.get(task["sources"][0]["url"]).status_code == 404, "nobody else can mark it"
    assert person.vote(task, look=False, code=409, preference="left")["fields"] == ["source-0"]
    assert not votes(app), "nothing was stored"
    person.look(task)
    person.vote(task, look=False, preference="left", idempotency_key="key-of-one-vote")
    (vote,) = votes(app)
    assert not vote.unseen
    assert vote.measured_time_s is not None


def test_marks_survive_a_restart_and_prefetched_pictures_count(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    first = person.next(one)["task"]
    ahead = person.post(f"/api/rating/campaigns/{one}/ahead")["task"]
    person.look(first)
    person.look(ahead)
    app = restarted(app)
    person = moved(person, app)
    person.vote(first, look=False, preference="left")
    taken = person.next(one)["task"]
    assert taken["address"] == ahead["address"]
    person.vote(taken, look=False, preference="right")
    unseen = person.next(one)["task"]
    assert person.vote(unseen, look=False, code=409, preference="left")["code"] == "pictures_not_seen"
    app.state.arena.close()


def kept(person: Person, address: str, tag: str) -> Any:
    """Ask for a picture as a browser that has kept some bytes."""
    return person.client.get(address, headers={"if-none-match": tag})


def test_a_picture_that_the_browser_has_kept_counts_when_it_is_asked_for(app: FastAPI) -> None:
    """A 304 marks the picture as a 200 does, and the mark survives a restart. A guess is answered with the bytes."""
    admin = administrator(app)
    one = campaign(admin, raters_per_unit=2, max_units=1)
    first, second = rater(app, admin, one), rater(app, admin, one)
    before = first.next(one)["task"]
    first.vote(before, preference="left")
    task = second.next(one)["task"]  # the same pictures at other addresses
    tags = {first.get(shown["url"]).headers["etag"] for shown in (before["left"], before["right"], *before["sources"])}
    shown = {"left": task["left"], "right": task["right"], "source-0": task["sources"][0]}
    for slot, picture in shown.items():
        assert kept(first, picture["url"], ", ".join(tags)).status_code == 404, "nobody else can mark it"
        assert slot in second.vote(task, look=False, code=409, preference="left")["fields"]
        answer = kept(second, picture["url"], f'"other", W/{", W/".join(sorted(tags))}')
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] in tags
        assert answer.headers["cache-control"] == "private, max-age=600"
    for guess in ("*", '""', '"other"', "", "W/"):
        assert kept(second, task["left"]["url"], guess).status_code == 200
    tile = f"{task['left']['tiles_url']}/0/0/0"
    assert kept(second, tile, second.get(tile).headers["etag"]).status_code == 304
    app = restarted(app)
    second = moved(second, app)
    second.vote(task, look=False, preference="left")
    assert [vote.unseen for vote in votes(app)] == [False, False]
    app.state.arena.close()


def test_a_vote_without_a_browser_is_marked_as_unseen_and_not_refused(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, min_seconds=30)
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    (who,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    app.state.arena.voting.vote(task["address"], who["rater_id"], "key-of-a-program", Answer(preference=Outcome.LEFT))
    assert [vote.unseen for vote in votes(app)] == [True]
    assert "unseen by the server" in admin.get(f"/api/lead/campaigns/{one}/export.csv").text


def test_tokens_do_not_vote(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    made = admin.post("/api/tokens", {"name": "script", "role": "admin", "days": 1})
    script = Person(app)
    script.client.headers["authorization"] = f"Bearer {made['secret']}"
    assert script.post(f"/api/rating/campaigns/{one}/next", code=403)["code"] == "not_allowed"


def test_the_least_time_is_kept_by_the_server(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, min_seconds=600)
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    assert (task["min_seconds"], 300 < task["wait_s"] <= 600) == (600, True)
    refused = person.vote(task, code=409, preference="left", time_spent_s=3000)
    assert refused["code"] == "too_soon"
    assert 200 < refused["wait_s"] <= task["wait_s"]
    assert person.post(f"/api/rating/campaigns/{one}/ahead")["task"]["wait_s"] == 600
    assert admin.send("PATCH", f"/api/lead/campaigns/{one}", {"min_seconds": 0}).status_code == 200
    person.vote(task, preference="left")
    assert len(votes(app)) == 1


def test_a_rater_who_claims_more_time_than_passed_is_marked(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    honest, cheat = rater(app, admin, one, name="honest"), rater(app, admin, one, name="cheat")
    for person, claimed in ((honest, 0.1), (cheat, 4500)):
        for _ in range(3):
            person.vote(person.next(one)["task"], preference="left", time_spent_s=claimed)
    people = {work["name"]: work for work in admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]}
    assert people["honest"]["overclaimed"] == 0
    assert people["cheat"]["overclaimed"] == 3
    assert people["cheat"]["median_measured_s"] < 2000 < people["cheat"]["median_time_s"]
    (notice,) = [one for one in people["cheat"]["notices"] if one["code"] == "rater_overclaims_time"]
    assert "4500 s claimed" in notice["text"]
    shown = admin.get(f"/api/lead/campaigns/{one}").json()
    assert "rater_overclaims_time" in {one["code"] for one in shown["notices"]}
    assert shown["votes"] == 6, "nothing is excluded automatically"
    assert "rater_overclaims_time" in admin.get(f"/api/exports/raters?campaign_id={one}&format=csv").text
    header, *rows = admin.get(f"/api/lead/campaigns/{one}/export.csv").text.splitlines()
    assert {"measured_time_s", "handed_out_at", "pictures_served_at", "seen"} <= set(header.split(","))
    assert all(",yes," in row for row in rows)


def test_a_key_with_another_ballot_is_refused(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    ballot: dict[str, Any] = {"preference": "left", "idempotency_key": "key-of-one-vote", "comment": "sharper"}
    receipt = person.vote(task, **ballot)
    assert person.vote(task, **{**ballot, "time_spent_s": 3}) == receipt
    for other in ({"preference": "right"}, {"comment": "softer"}):
        assert person.vote(task, code=409, **{**ballot, **other})["code"] == "key_used"
    assert [vote.preference for vote in votes(app)] == ["left"]


def test_a_check_posted_again_with_another_decision_is_refused(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, kind="check")
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    checks = dict.fromkeys((check["name"] for check in task["checks"]), True)
    ballot: dict[str, Any] = {"checks": checks, "decision": "accept", "idempotency_key": "key-of-one-check"}
    assert person.vote(task, **ballot) == person.vote(task, **ballot)
    assert person.vote(task, code=409, **{**ballot, "decision": "discard"})["code"] == "key_used"


def test_a_result_is_not_both_new_and_unchanged_and_errors_name_the_field(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, kind="rating")
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    refused = person.vote(task, code=422, **RATING, new_image=True, returned_input=True)
    assert (refused["code"], refused["field"]) == ("ballot", "new_image")
    gap = person.vote(task, code=422, **{**RATING, "ratings": {"artifacts": 5}})
    assert gap["field"] == "ratings.prompt_relevance"
    assert person.vote(task, code=422, **{**RATING, "no_segment_issues": False})["field"] == "no_segment_issues"
    assert person.vote(task, code=422, **{**RATING, "ratings": {"artifacts": "x"}})["field"] == "ratings.artifacts"
    url = f"/api/tasks/{task['address']}/vote"
    broken = person.client.post(
        url, content=b'{"idempotency_key": ', headers={"x-csrf-token": person.csrf, "content-type": "application/json"}
    )
    assert (broken.status_code, broken.json()["field"]) == (422, "")
    assert "the body is not JSON" in broken.json()["message"]


def known_task(app: FastAPI, **answer: Any) -> dict[str, Any]:
    unit = plan_units(app.state.arena.workspace, CampaignPlan(name="x"))[0]
    return {"item_id": unit.item_id, "left_id": unit.left_id, "right_id": unit.right_id, **answer}


def test_nothing_that_decides_access_can_be_taken_back_and_the_wire_tells(app: FastAPI) -> None:
    admin = administrator(app)
    codes = {"completed": "DONE1", "screened_out": "OUT1"}
    one = campaign(
        admin, qualification=[known_task(app, preference="right")], completion_codes=codes,
        completion_url="https://platform.example/complete?cc={code}",
    )  # fmt: skip
    person = rater(app, admin, one)
    assert person.vote(person.next(one)["task"], preference="left")["can_undo"] is False
    (mine,) = person.get("/api/rating/campaigns").json()["campaigns"]
    assert (mine["stage"], mine["can_undo"]) == ("not_qualified", False)
    assert person.send("POST", f"/api/rating/campaigns/{one}/undo").json()["code"] == "final"
    ended = person.next(one)
    assert (ended["stage"], ended["outcome"], ended["completion_code"]) == ("not_qualified", "screened_out", "OUT1")
    assert ended["completion_url"] == "https://platform.example/complete?cc=OUT1"
    skipper = rater(app, admin, one)
    test = skipper.next(one)["task"]
    skipper.post(f"/api/tasks/{test['address']}/skip", {"reason": "cannot_tell"})
    assert skipper.send("POST", f"/api/tasks/{test['address']}/unskip").json()["code"] == "final"
    assert skipper.next(one)["stage"] == "not_qualified"


def test_completion_codes_are_for_those_who_completed(app: FastAPI) -> None:
    admin = administrator(app)
    codes = {"completed": "DONE1", "quota_full": "FULL1", "partial": "PART1"}
    one = campaign(admin, max_units=2, completion_codes=codes, complete_after=2)
    quick, slow = rater(app, admin, one), rater(app, admin, one)
    first, held = quick.next(one)["task"], slow.next(one)["task"]
    assert quick.vote(first, preference="left")["can_undo"] is True
    waiting = quick.next(one)
    assert (waiting["stage"], waiting["outcome"], waiting["completion_code"]) == ("waiting", None, None)
    slow.post(f"/api/tasks/{held['address']}/skip", {"reason": "cannot_tell"})
    quick.vote(quick.next(one)["task"], preference="left")
    done = quick.next(one)
    assert (done["stage"], done["outcome"], done["completion_code"]) == ("done", "completed", "DONE1")
    full = slow.next(one)
    assert (full["stage"], full["outcome"], full["completion_code"]) == ("done", "quota_full", "FULL1")
    late = rater(app, admin, one)
    assert late.next(one)["completion_code"] == "FULL1"
    part = campaign(admin, max_units=2, completion_codes=codes, complete_after=2)
    person = rater(app, admin, part)
    person.vote(person.next(part)["task"], preference="left")
    assert person.next(part)["outcome"] is None
    admin.send("PATCH", f"/api/lead/campaigns/{part}", {"open": False})
    assert person.next(part)["completion_code"] == "PART1"


def test_a_skip_is_taken_back_unless_somebody_has_the_task(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, max_units=1)
    person, other = rater(app, admin, one), rater(app, admin, one)
    task = person.next(one)["task"]
    unskip = f"/api/tasks/{task['address']}/unskip"
    assert person.send("POST", unskip).json()["code"] == "nothing"
    person.post(f"/api/tasks/{task['address']}/skip", {"reason": "cannot_tell"})
    assert other.send("POST", unskip).status_code == 404
    back = person.post(unskip)
    assert back["address"] != task["address"]
    assert person.next(one)["task"]["address"] == back["address"]
    assert admin.get(f"/api/lead/campaigns/{one}").json()["skipped"] == 0, "a skip that was taken back is none"
    assert admin.get(f"/api/lead/campaigns/{one}/skips").json()["reasons"] == []
    person.post(f"/api/tasks/{back['address']}/skip", {"reason": "cannot_tell"})
    theirs = other.next(one)["task"]
    assert person.send("POST", f"/api/tasks/{back['address']}/unskip").json()["code"] == "taken"
    other.vote(theirs, preference="left")
    assert len(votes(app)) == 1
    assert [reason["count"] for reason in admin.get(f"/api/lead/campaigns/{one}/skips").json()["reasons"]] == [1]
