"""Who gets in, who does not, and what hostile text becomes."""

import csv
import io
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from imarena.core.errors import UserError
from imarena.reports.tables import safe_cell
from imarena.storage import init_workspace, open_workspace
from imarena.storage.database import reading
from imarena.storage.schema import invitations, sessions, tokens
from imarena.web.app import create_app
from imarena.workflows.serving.server import ServeSettings, is_loopback, with_secrets
from tests.web.people import PASSWORD, Person, administrator, campaign, fill, rater, served, settings_of

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "</script><svg onload=alert(1)>",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "'; DROP TABLE votes; --",
    "\u202egnp.exe\u0000\u2028",
    '<!--<img src="--><img src=x onerror=alert(1)//">',
)


def test_every_answer_carries_the_security_headers(tmp_path: Path) -> None:
    person = Person(served(tmp_path / "arena"))
    for path in ("/", "/api/me", "/api/nothing", "/api/board", "/assets/none.js"):
        headers = person.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers


def test_a_request_without_the_token_changes_nothing(tmp_path: Path) -> None:
    admin = administrator(served(tmp_path / "arena"))
    body = {"name": "c"}
    for headers in ({}, {"x-csrf-token": "x"}, {"x-csrf-token": admin.csrf, "origin": "https://elsewhere.example"},
                    {"x-csrf-token": admin.csrf, "sec-fetch-site": "cross-site"}):  # fmt: skip
        assert admin.client.post("/api/lead/campaigns", json=body, headers=headers).status_code == 403
    assert admin.client.post("/api/lead/campaigns", json=body, headers={"x-csrf-token": admin.csrf}).status_code == 200


def test_the_cookie_is_signed_and_closed_to_scripts(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    person = Person(app)
    answer = person.send("POST", "/api/session/password", {"password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    value = cookie.partition("=")[2].partition(";")[0]
    for changed in (("A" if value[0] != "A" else "B") + value[1:], value.partition(".")[0], "x"):
        other = TestClient(app, cookies={"imarena_session": changed})
        assert other.get("/api/me").json()["role"] is None
    assert person.get("/api/me").json()["role"] == "admin"
    person.csrf = answer.json()["csrf"]
    assert person.send("DELETE", "/api/session").status_code == 200
    assert TestClient(app, cookies={"imarena_session": value}).get("/api/me").json()["role"] is None


def test_guessing_a_password_is_slowed_down(tmp_path: Path) -> None:
    person = Person(served(tmp_path / "arena"))
    codes = [person.send("POST", "/api/session/password", {"password": "guess"}).status_code for _ in range(14)]
    assert codes[:10] == [403] * 10
    assert 429 in codes


def test_a_room_full_of_raters_can_open_their_link_at_once(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    link = admin.post("/api/lead/invitations", {"campaign_id": campaign(admin), "max_people": 40})["token"]
    guesser = Person(app)
    for _ in range(12):
        guesser.send("POST", "/api/session/password", {"password": "guess"})
    codes = {Person(app).send("POST", "/api/session/invitation", {"token": link}).status_code for _ in range(40)}
    assert codes == {200}
    wrong = (Person(app).send("POST", "/api/session/invitation", {"token": "guess"}).status_code for _ in range(1000))
    assert 429 in wrong


def test_roles_open_only_their_doors(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin)
    lead, viewer = rater(app, admin, one, role="lead"), rater(app, admin, one, role="viewer")
    person, nobody = rater(app, admin, one), Person(app)
    doors = {
        "/api/tokens": (200, 200, 403, 403, 401),
        "/api/lead/campaigns": (200, 200, 403, 403, 401),
        "/api/board": (200, 200, 403, 200, 401),
        "/api/rating/campaigns": (200, 200, 200, 200, 401),
    }
    for path, codes in doors.items():
        assert tuple(who.get(path).status_code for who in (admin, lead, person, viewer, nobody)) == codes, path
    assert lead.send("POST", "/api/lead/invitations", {"role": "lead"}).status_code == 403
    other = admin.post("/api/lead/invitations", {"role": "lead"})["invitation"]["invitation_id"]
    assert lead.send("DELETE", f"/api/lead/invitations/{other}").status_code == 403
    assert admin.send("DELETE", f"/api/lead/invitations/{other}").status_code == 200


def test_links_and_tokens_are_hashed_expire_and_can_be_revoked(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin)
    made = admin.post("/api/lead/invitations", {"campaign_id": one})
    token = admin.post("/api/tokens", {"name": "ci", "role": "viewer"})
    machine = {"authorization": f"Bearer {token['secret']}"}
    assert TestClient(app).get("/api/board", headers=machine).status_code == 200
    assert TestClient(app).get("/api/lead/campaigns", headers=machine).status_code == 403
    with open_workspace(tmp_path / "arena") as workspace, reading(workspace.store.engine) as connection:
        stored = str([connection.execute(table.select()).all() for table in (invitations, tokens, sessions)])
    assert made["token"] not in stored
    assert token["secret"] not in stored
    person = Person(app)
    person.post("/api/session/invitation", {"token": made["token"]})
    assert person.get("/api/rating/campaigns").status_code == 200
    admin.send("DELETE", f"/api/lead/invitations/{made['invitation']['invitation_id']}")
    admin.send("DELETE", f"/api/tokens/{token['token']['token_id']}")
    assert person.get("/api/rating/campaigns").status_code == 401
    assert Person(app).send("POST", "/api/session/invitation", {"token": made["token"]}).status_code == 403
    assert TestClient(app).get("/api/board", headers=machine).status_code == 401
    short = admin.post("/api/lead/invitations", {"campaign_id": one, "days": 1e-9})
    assert Person(app).send("POST", "/api/session/invitation", {"token": short["token"]}).status_code == 403


def test_a_shared_link_knows_its_people_by_their_parameter(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin, completion_url="https://crowd.example/done?code=1")
    made = admin.post("/api/lead/invitations", {"campaign_id": one, "max_people": 2, "person_param": "PID"})

    def arrive(params: dict[str, str]) -> int:
        body = {"token": made["token"], "params": params}
        return int(Person(app).send("POST", "/api/session/invitation", body).status_code)

    assert [arrive(params) for params in ({"PID": "a"}, {"PID": "b"}, {"PID": "a"}, {"PID": "c"}, {})] == [
        200, 200, 200, 403, 403,
    ]  # fmt: skip
    assert len(admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]) == 2


def test_an_unknown_host_is_turned_away(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", allowed_hosts=())
    assert TestClient(app, base_url="http://rebound.example").get("/api/me").status_code == 400
    assert TestClient(app, base_url="http://127.0.0.1:8000").get("/api/me").status_code == 200


def test_listening_wider_needs_a_password() -> None:
    wide = ServeSettings("x", host="0.0.0.0")  # noqa: S104
    with pytest.raises(UserError, match="no password"):
        with_secrets(wide, {})
    with pytest.raises(UserError, match="too short"):
        with_secrets(wide, {"IMARENA_ADMIN_PASSWORD": "short"})
    assert with_secrets(wide, {"IMARENA_ADMIN_PASSWORD": PASSWORD}).password == PASSWORD
    assert with_secrets(ServeSettings("x"), {}).password == ""
    assert PASSWORD not in repr(with_secrets(wide, {"IMARENA_ADMIN_PASSWORD": PASSWORD}))
    assert [is_loopback(host) for host in ("localhost", "::1", "127.9.9.9", "0.0.0.0", "example.org")] == [  # noqa: S104
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_as_the_same_text_in_json_only(tmp_path: Path, text: str) -> None:
    clean = text.replace("\u0000", "")
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=1, editors=(clean, "b"), instruction=text)
    app = create_app(settings_of(tmp_path / "arena"))
    admin = administrator(app)
    one = campaign(admin, name=clean[:200], guidelines=clean, consent="")
    person = rater(app, admin, one, name=clean)
    task = person.next(one)["task"]
    assert task["instruction"] == text
    person.vote(task, preference="left", comment=clean)
    assert clean in admin.get("/api/facets").json()["editors"]
    battle = admin.get("/api/battles").json()["battles"][0]
    detail = admin.get(f"/api/battles/{battle['battle_id']}")
    assert detail.headers["content-type"] == "application/json"
    assert detail.json()["votes"][0]["comment"] == clean
    table = admin.get(f"/api/lead/campaigns/{one}/export.csv")
    assert table.headers["content-disposition"].startswith("attachment")
    (row,) = csv.DictReader(io.StringIO(table.text))
    assert row["comment"] == safe_cell(clean)


def test_a_cell_never_starts_a_formula() -> None:
    assert [safe_cell(text) for text in ("=1+1", "+1", "-1", "@x", "\tx", "ok", 5)] == [
        "'=1+1", "'+1", "'-1", "'@x", "'\tx", "ok", 5,
    ]  # fmt: skip


def test_paths_that_climb_reach_nothing(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", public=True)
    person = Person(app)
    for path in ("/../../etc/passwd", "/assets/..%2f..%2fimarena.toml", "/api/items/..%2f..%2f/pictures/source-0",
                 "/api/items/item_" + "0" * 32 + "/pictures/..%2f", "/%2e%2e/arena.db"):  # fmt: skip
        answer = person.get(path)
        assert answer.status_code in (200, 404, 422)
        assert b"SQLite" not in answer.content
        assert b"root:" not in answer.content
