"""People from a crowd platform: the lead sees who they are there, and nobody else does."""

import csv
import io
import json
from pathlib import Path

from tests.command import Imarena
from tests.web.people import Person, administrator, campaign, served

LINK = {"max_people": 5, "person_param": "PROLIFIC_PID", "name": "Crowd"}


def test_a_lead_sees_who_a_crowd_worker_is_on_the_platform(tmp_path: Path, imarena: Imarena) -> None:
    root = tmp_path / "arena"
    app = served(root)
    admin = administrator(app)
    one = campaign(admin)
    made = admin.post("/api/lead/invitations", {"campaign_id": one, **LINK})
    for number in range(2):
        person = Person(app)
        params = {"PROLIFIC_PID": f"=worker-{number}"}
        person.csrf = person.post("/api/session/invitation", {"token": made["token"], "params": params})["csrf"]
        person.vote(person.next(one)["task"], preference="left")
        assert "worker" not in person.get("/api/rating/campaigns").text
    raters = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert [rater["params"] for rater in raters] == [{"PROLIFIC_PID": f"=worker-{n}"} for n in range(2)]
    table = list(csv.DictReader(io.StringIO(admin.get(f"/api/exports/raters?campaign_id={one}").text)))
    assert [json.loads(row["params"]) for row in table] == [rater["params"] for rater in raters]
    done = imarena("--workspace", str(root), "campaign", "status", "c")
    for rater in raters:
        assert f"Crowd · PROLIFIC_PID {rater['params']['PROLIFIC_PID']} ({rater['rater_id']}): 1 votes" in done.out


def test_what_was_checked_counts_as_a_raters_work(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin, kind="check")
    for _ in range(2):
        task = admin.next(one)["task"]
        admin.vote(task, checks={check["name"]: True for check in task["checks"]}, decision="accept")
    (rater,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert rater["votes"] == 2
