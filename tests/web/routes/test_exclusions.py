"""Excluding a rater through the API."""

import pytest
from fastapi import FastAPI

from imarena.storage import Workspace
from imarena.web.app import create_app
from tests.web.people import administrator, campaign, fill, rater, settings_of


@pytest.fixture
def app(any_workspace: Workspace) -> FastAPI:
    """A server over a filled workspace on each kind of database."""
    fill(any_workspace)
    return create_app(settings_of(any_workspace.root))


def test_a_lead_excludes_and_includes_a_rater(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, raters_per_unit=1)
    person = rater(app, admin, one)
    for _ in range(2):
        person.vote(person.next(one)["task"], preference="left")
    (who,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert (who["excluded"], who["excluded_since"], who["excluded_reason"]) == (False, None, "")
    path = f"/api/lead/raters/{who['rater_id']}/exclusion"
    assert person.send("PUT", path, {"reason": "mine"}).status_code == 403
    for body in ({}, {"reason": ""}, {"reason": "x", "since": "soon"}, {"reason": "x", "since": "2026-01-01T00:00:00"}):
        assert admin.send("PUT", path, body).status_code == 422, body
    assert admin.send("PUT", path, {"reason": "x", "since": "2999-01-01T00:00:00Z"}).status_code == 400
    assert admin.send("PUT", "/api/lead/raters/nobody/exclusion", {"reason": "x"}).status_code == 400
    done = admin.send("PUT", path, {"reason": "answers without looking"}).json()
    assert (done["votes"], done["excluded"], done["by"]) == (2, True, "administrator")
    assert admin.send("PUT", path, {"reason": "again"}).status_code == 400
    (who,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert (who["excluded"], who["excluded_reason"]) == (True, "answers without looking")
    assert admin.get(f"/api/lead/campaigns/{one}").json()["votes"] == 0
    assert admin.get(f"/api/lead/campaigns/{one}/export.csv").text.count("rater excluded") == 2
    assert person.next(one)["stage"] == "paused"
    assert person.send("POST", f"/api/rating/campaigns/{one}/undo").status_code >= 400
    assert person.send("DELETE", path).status_code == 403
    assert admin.send("DELETE", path).json()["votes"] == 2
    assert admin.get(f"/api/lead/campaigns/{one}").json()["votes"] == 2
    assert person.next(one)["task"] is not None
    assert admin.send("DELETE", path).status_code == 400
