"""People from a crowd platform: the lead sees who they are there, and nobody else does."""

import csv
import io
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import now
from imarena.core.records.base import moment_text
from imarena.routing import Answer
from imarena.workflows.rating.voting import Voting
from tests.command import Imarena
from tests.web.people import Person, administrator, campaign, rater, served

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
    assert [line["params"] for line in raters] == [{"PROLIFIC_PID": f"=worker-{n}"} for n in range(2)]
    table = list(csv.DictReader(io.StringIO(admin.get(f"/api/exports/raters?campaign_id={one}").text)))
    assert [json.loads(row["params"]) for row in table] == [line["params"] for line in raters]
    done = imarena("--workspace", str(root), "campaign", "status", "c")
    for line in raters:
        assert (
            f"Crowd · PROLIFIC_PID {line['params']['PROLIFIC_PID']} ({line['rater_id']}): 1 vote, median per vote "
            in done.out
        )


def test_what_was_checked_counts_as_a_raters_work(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin, kind="check")
    for _ in range(2):
        task = admin.next(one)["task"]
        admin.vote(task, checks={check["name"]: True for check in task["checks"]}, decision="accept")
    (line,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert line["votes"] == 2


def _a_minute_ago() -> datetime:
    return now() - timedelta(seconds=60)


def test_faster_than_the_others_is_said_only_of_a_pace_that_a_person_can_have(tmp_path: Path) -> None:
    """A median of no time at all is reported once, as no time to look; nobody is compared with themselves."""
    app = served(tmp_path / "arena", items=4)
    admin = administrator(app)
    one = campaign(admin, raters_per_unit=4)
    paces = {"Calm": 20.0, "Slow": 24.0, "Quick": 3.0, "Script": 0.0}
    for name in paces:
        rater(app, admin, one, name=name)
    people = f"/api/lead/campaigns/{one}/raters"
    voting = app.state.arena.voting
    for line in admin.get(people).json()["raters"]:
        for number in range(10):
            held = voting.next(one, line["rater_id"])
            answer = Answer(preference="tie", time_spent_s=paces[line["name"]])
            voting.vote(held.address, line["rater_id"], f"key-{number}", answer)
    raters = {line["name"]: line for line in admin.get(people).json()["raters"]}
    assert {name: line["flags"] for name, line in raters.items()} == {
        "Calm": [], "Slow": [], "Quick": ["very_fast"], "Script": ["no_time_to_look"],
    }  # fmt: skip
    (notice,) = raters["Quick"]["notices"]
    assert notice["text"] == "Much faster than the others: median 3.0 s, others 20.0 s."


def test_a_rater_who_had_no_time_to_look_is_marked_and_counted_all_the_same(
    tmp_path: Path, imarena: Imarena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One quick rater alone: there is nobody to be quicker than. Four answers say nothing yet, a fifth does.

    By the server's clock everybody has had the task for a minute: the claimed times are the shorter ones.
    """
    monkeypatch.setattr("imarena.workflows.rating.picture_log.now", _a_minute_ago)
    monkeypatch.setattr(
        Voting, "moments", lambda *_: (moment_text(_a_minute_ago()), moment_text(now() + timedelta(60)))
    )
    root = tmp_path / "arena"
    app = served(root)
    admin = administrator(app)
    one = campaign(admin, raters_per_unit=2)
    hasty, calm = rater(app, admin, one, name="Hasty"), rater(app, admin, one, name="Calm")

    def told() -> dict[str, Any]:
        page = admin.get(f"/api/lead/campaigns/{one}/raters").json()
        assert (page["least_look_s"], page["least_answers"]) == (2.0, 5)
        return {line["name"]: line for line in page["raters"]}

    for number in range(5):
        assert told()["Hasty"]["flags"] == [] if number else True
        hasty.vote(hasty.next(one)["task"], preference="left", time_spent_s=0.8 if number else 30)
        calm.vote(calm.next(one)["task"], preference="left", time_spent_s=3)
    assert told()["Hasty"]["flags"] == ["no_time_to_look"]
    assert (told()["Hasty"]["hasty"], told()["Hasty"]["votes"]) == (4, 5)
    assert told()["Calm"]["flags"] == []
    assert admin.get("/api/board?source=human").json()["n_battles"] == 10, "nothing is left out silently"
    done = imarena("--workspace", str(root), "campaign", "status", "c")
    assert "Hasty" in done.out
    assert re.search(
        r"5 votes, median per vote 0\.8 s by the rater's browser and \d\d+\.\d s by the server's clock\n", done.out
    )
    assert (
        "    warning: No time to look: 4 answers in less than 2 s. They count unless you exclude the rater.\n"
        in done.out
    )
    assert re.search(
        r"5 votes, median per vote 3\.0 s by the rater's browser and \d\d+\.\d s by the server's clock\n", done.out
    )
    assert done.out.count("warning: ") == 1
    told_json = json.loads(imarena("--json", "--workspace", str(root), "campaign", "status", "c").out)
    assert [one["hasty"] for one in told_json["campaigns"][0]["people"]] == [4, 0]
