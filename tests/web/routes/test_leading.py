"""What a lead changes and reads through the API: settings with their history, reasons for skips, links that are refused."""

from pathlib import Path

from tests.web.people import Person, administrator, campaign, rater, served


def test_a_campaign_is_changed_through_the_api(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin)
    path = f"/api/lead/campaigns/{one}"
    changed = admin.send(
        "PATCH", path, {"weekly_quota": 2, "raters_per_unit": 2, "completion_url": "https://x.example"}
    )
    assert changed.status_code == 200
    found = changed.json()
    assert (found["slots"], found["settings"]["weekly_quota"], found["paused"]) == (18, 2, False)
    (entry,) = found["history"]
    assert entry["by"] == "administrator"
    assert entry["changes"]["completion_url"] == {"old": None, "new": "https://x.example"}
    assert "history" not in found["settings"]
    cleared = admin.send("PATCH", path, {"completion_url": ""}).json()
    assert cleared["settings"]["completion_url"] is None
    for body in ({"kind": "rating"}, {"weekly_quota": 0}, {"lease_s": 5}, {"completion_url": "http://x"}, {"name": ""}):
        assert admin.send("PATCH", path, body).status_code == 422, body
    assert admin.send("PATCH", path, {"gold_rate": 0.1}).status_code == 400
    assert admin.send("PATCH", "/api/lead/campaigns/none", {"name": "x"}).status_code == 404
    person = rater(app, admin, one)
    assert person.send("PATCH", path, {"weekly_quota": 100}).status_code == 403
    for _ in range(2):
        person.vote(person.next(one)["task"], preference="tie")
    assert person.next(one)["stage"] == "quota"
    admin.send("PATCH", path, {"weekly_quota": 5})
    assert person.next(one)["stage"] == "open", "a change takes effect at once"
    admin.send("PATCH", path, {"paused": True})
    assert person.next(one) == {
        "stage": "on_hold", "task": None, "outcome": None, "completion_code": None, "completion_url": None,
    }  # fmt: skip


def test_a_lead_reads_why_tasks_were_skipped(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one, other = campaign(admin), campaign(admin)
    person = rater(app, admin, one)
    for reason, note in (("broken_image", "grey: all of it"), ("broken_image", ""), ("cannot_tell", "")):
        task = person.next(one)["task"]
        person.post(f"/api/tasks/{task['address']}/skip", {"reason": reason, "note": note})
    found = admin.get(f"/api/lead/campaigns/{one}/skips").json()["reasons"]
    assert [(entry["reason"], entry["count"]) for entry in found] == [("broken_image", 2), ("cannot_tell", 1)]
    assert found[0]["words"] == ["grey: all of it"]
    assert 1 <= found[0]["n_items"] <= 2
    assert admin.get(f"/api/items/{found[0]['items'][0]}").status_code == 200
    assert admin.get(f"/api/lead/campaigns/{other}/skips").json() == {"reasons": []}
    assert person.get(f"/api/lead/campaigns/{one}/skips").status_code == 403


def test_a_link_that_is_refused_says_why(tmp_path: Path) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin)

    def link(**more: object) -> str:
        made = admin.post("/api/lead/invitations", {"campaign_id": one, **more})
        if more.get("name") == "revoked":
            admin.send("DELETE", f"/api/lead/invitations/{made['invitation']['invitation_id']}")
        return str(made["token"])

    def told(token: str, params: dict[str, str] | None = None) -> str:
        answer = Person(app).send("POST", "/api/session/invitation", {"token": token, "params": params or {}})
        return "in" if answer.status_code == 200 else str(answer.json()["message"])

    crowd = link(max_people=1000, person_param="PID")
    few = link(max_people=2)
    heard = [
        told(link(name="revoked")), told(link(days=1e-9)), told("nonsense"), told(crowd), told(crowd, {"PID": "a"}),
        told(few), told(few), told(few),
    ]  # fmt: skip
    assert heard == [
        "This invitation was withdrawn.", "This invitation has expired.", "This invitation link is not valid.",
        "The link does not say who you are.", "in", "in", "in", "As many people as this link is for have come already.",
    ]  # fmt: skip
