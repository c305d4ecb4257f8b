"""Links and sessions: revoking and restoring, a lead who opens a rater's link, links for one use, used names."""

import pytest
from fastapi import FastAPI

from imarena.storage import Workspace
from imarena.web.app import create_app
from tests.web.people import Person, administrator, campaign, fill, rater, settings_of


@pytest.fixture
def app(any_workspace: Workspace) -> FastAPI:
    """A server over a filled workspace on each kind of database."""
    fill(any_workspace)
    return create_app(settings_of(any_workspace.root))


def joined(app: FastAPI, token: str, into: Person | None = None) -> Person:
    person = into or Person(app)
    person.csrf = person.post("/api/session/invitation", {"token": token})["csrf"]
    return person


def test_revoking_takes_effect_at_once_and_can_be_undone(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    made = admin.post("/api/lead/invitations", {"campaign_id": one, "name": "Ann"})
    person = joined(app, made["token"])
    person.vote(person.next(one)["task"], preference="left")
    path = f"/api/lead/invitations/{made['invitation']['invitation_id']}"
    assert admin.send("POST", f"{path}/restore").json()["code"] == "not_revoked"
    assert admin.send("DELETE", path).status_code == 200
    assert person.send("POST", f"/api/rating/campaigns/{one}/next").status_code == 401, "at once, not in two seconds"
    assert Person(app).send("POST", "/api/session/invitation", {"token": made["token"]}).status_code == 403
    assert person.send("POST", f"{path}/restore").status_code in (401, 403)
    assert admin.send("DELETE", path).status_code == 200, "twice is the same as once"
    assert admin.send("POST", f"{path}/restore").json()["revoked"] is False
    assert person.next(one)["task"] is not None, "the session goes on"
    assert joined(app, made["token"]).next(one)["task"] is not None
    assert admin.send("POST", "/api/lead/invitations/inv_nothing/restore").status_code == 404


def test_a_lookup_that_began_before_a_revocation_is_not_believed(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    sessions = app.state.arena.sessions
    sealed = next(iter(person.client.cookies.values()))
    secret = app.state.arena.keys.unseal(sealed)
    sessions.forget()
    from imarena.storage import access

    looked_up = access.visitors

    def slow(*arguments: object) -> object:
        found = looked_up(*arguments)  # type: ignore[arg-type]
        sessions.forget()  # somebody is shut out while the answer of the database is on its way
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "visitors", slow)
        assert sessions.visitor(secret, machine=False) is not None
    assert sessions.cached_visitor(secret) is None


def test_a_lead_who_opens_a_rater_link_stays_lead(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin)
    made = admin.post("/api/lead/invitations", {"campaign_id": one, "name": "Ann"})
    before = admin.csrf
    joined(app, made["token"], into=admin)
    me = admin.get("/api/me").json()
    assert (me["role"], me["rating_as"]) == ("admin", "Ann")
    assert admin.get("/api/lead/campaigns").status_code == 200
    task = admin.next(one)["task"]
    admin.vote(task, preference="left")
    (work,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert (work["name"], work["votes"]) == ("Ann", 1), "rating is the rater's"
    admin.csrf = before
    admin.vote(admin.next(one)["task"], preference="left")
    assert admin.send("DELETE", "/api/session?role=rater").status_code == 200
    me = admin.get("/api/me").json()
    assert (me["role"], me["rating_as"]) == ("admin", None)
    forged = Person(app)
    forged.client.cookies.update(admin.client.cookies)
    assert forged.send("POST", "/api/lead/campaigns", {"name": "x"}).json()["code"] == "csrf"


def test_cookies_of_two_ports_do_not_meet(app: FastAPI) -> None:
    admin = administrator(app)
    names = set(admin.client.cookies.keys())
    other = admin.client.get("/api/me", headers={"host": "testserver:8001"})
    assert other.json()["role"] is None, "the session of another port of the host is not taken"
    signed = admin.client.post(
        "/api/session/password",
        json={"password": app.state.arena.settings.password},
        headers={"host": "testserver:8001"},
    )
    assert signed.status_code == 200
    assert len(set(admin.client.cookies.keys()) - names) == 1
    assert admin.get("/api/me").json()["role"] == "admin"


def test_a_leads_link_opens_once(app: FastAPI) -> None:
    admin = administrator(app)
    made = admin.post("/api/lead/invitations", {"role": "lead", "name": "Lea"})
    assert (made["invitation"]["one_use"], made["invitation"]["used"]) == (True, False)
    lead = joined(app, made["token"])
    assert lead.get("/api/me").json()["role"] == "lead"
    again = Person(app).send("POST", "/api/session/invitation", {"token": made["token"]})
    assert again.status_code == 403
    assert "used already" in again.json()["message"]
    (listed,) = admin.get("/api/lead/invitations").json()["invitations"]
    assert listed["used"] is True
    assert lead.get("/api/me").json()["role"] == "lead", "who came first stays"
    assert lead.post("/api/session/invitation", {"token": made["token"]})["role"] == "lead", "and may reload the page"


def test_a_rater_is_invited_again_and_names_are_used_once(app: FastAPI) -> None:
    admin = administrator(app)
    one = campaign(admin, name="Pilot")
    assert admin.post("/api/lead/campaigns", {"name": "Pilot"}, code=409)["code"] == "name_used"
    other = campaign(admin)
    refused = admin.send("PATCH", f"/api/lead/campaigns/{other}", {"name": "Pilot"})
    assert (refused.status_code, refused.json()["field"]) == (409, "name")
    made = admin.post("/api/lead/invitations", {"campaign_id": one, "name": "Ann"})
    again = admin.post("/api/lead/invitations", {"campaign_id": one, "name": "Ann"}, code=409)
    assert "a link for 'Ann'" in again["message"]
    ann = joined(app, made["token"])
    ann.vote(ann.next(one)["task"], preference="left")
    assert (
        "has the name 'Ann'"
        in admin.post("/api/lead/invitations", {"campaign_id": one, "name": "Ann"}, code=409)["message"]
    )
    (work,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    path = f"/api/lead/raters/{work['rater_id']}/invitations"
    assert ann.send("POST", path, {}).status_code == 403
    link = admin.post(path, {"days": 3})
    assert (link["invitation"]["rater_id"], link["invitation"]["campaign_id"]) == (work["rater_id"], one)
    new = joined(app, link["token"])
    new.vote(new.next(one)["task"], preference="left")
    (work,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert work["votes"] == 2, "the same rater, elsewhere"
    assert admin.send("POST", "/api/lead/raters/nobody/invitations", {}).status_code == 400
