"""API tokens and open sessions: who may make, see and end them."""

import asyncio
from pathlib import Path

from fastapi.testclient import TestClient

from imarena.web.routes.monitor import _events
from tests.web.people import administrator, campaign, rater, served


def test_a_token_tells_when_it_was_used(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    made = admin.post("/api/tokens", {"name": "nightly", "role": "viewer", "days": 30})
    assert made["token"]["last_used_at"] is None
    machine = TestClient(app, headers={"authorization": f"Bearer {made['secret']}"})
    assert machine.get("/api/board").status_code == 200
    (token,) = admin.get("/api/tokens").json()["tokens"]
    assert token["last_used_at"] > token["created_at"]
    assert made["secret"] not in admin.get("/api/tokens").text
    admin.send("DELETE", f"/api/tokens/{token['token_id']}")
    assert admin.get("/api/tokens").json()["tokens"][0]["revoked"]
    assert machine.get("/api/board").status_code == 401


def test_a_lead_handles_tokens_that_only_look(tmp_path: Path) -> None:
    """More rights would outlast the lead's own."""
    app = served(tmp_path / "arena")
    admin = administrator(app)
    lead = rater(app, admin, campaign(admin), role="lead")
    strong = admin.post("/api/tokens", {"name": "strong", "role": "admin"})["token"]
    for role in ("lead", "admin"):
        lead.post("/api/tokens", {"name": "mine", "role": role}, code=403)
    mine = lead.post("/api/tokens", {"name": "mine", "role": "viewer"})["token"]
    assert [one["name"] for one in lead.get("/api/tokens").json()["tokens"]] == ["mine"]
    assert lead.send("DELETE", f"/api/tokens/{strong['token_id']}").status_code == 404
    assert lead.send("DELETE", f"/api/tokens/{mine['token_id']}").status_code == 200
    assert {one["name"]: one["revoked"] for one in admin.get("/api/tokens").json()["tokens"]} == {
        "strong": False, "mine": True,
    }  # fmt: skip


def test_the_administrator_signs_somebody_out(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    person = rater(app, admin, campaign(admin), name="Ana")
    found = admin.get("/api/sessions").json()["sessions"]
    assert {(one["name"], one["mine"]) for one in found} == {("administrator", True), ("Ana", False)}
    key = next(one["session_id"] for one in found if not one["mine"])
    assert person.send("DELETE", f"/api/sessions/{key}").status_code == 403
    assert admin.send("DELETE", f"/api/sessions/{key}").status_code == 200
    assert admin.send("DELETE", f"/api/sessions/{key}").status_code == 404
    assert person.get("/api/rating/campaigns").status_code == 401
    assert len(admin.get("/api/sessions").json()["sessions"]) == 1


def test_a_stream_ends_when_the_token_is_revoked(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=1)
    admin = administrator(app)
    made = admin.post("/api/tokens", {"name": "watcher", "role": "viewer"})

    async def watch() -> list[bytes]:
        heard = []
        async for told in _events(app.state.arena, [(made["secret"], True)]):
            heard.append(told)
            assert admin.send("DELETE", f"/api/tokens/{made['token']['token_id']}").status_code == 200
        return heard

    assert len(asyncio.run(asyncio.wait_for(watch(), 120))) == 1
