"""A task that was skipped is gone in the same way whatever it was: nothing tells gold from work afterwards."""

import secrets
from pathlib import Path
from typing import Any

from imarena.storage.database import reading
from imarena.storage.schema import leases
from tests.web.people import EDITORS, Person, administrator, campaign, rater, served


def what_is_left(person: Person, task: Any) -> list[tuple[int, str]]:
    """What a curious person gets under the address of a task."""
    address = f"/api/tasks/{task['address']}"
    ballot = {"idempotency_key": secrets.token_hex(8), "preference": "left"}
    asked = [
        person.get(address),
        person.get(task["left"]["url"]),
        person.get(f"{task['left']['tiles_url']}/0/0/0"),
        person.get(f"{address}/segments"),
        person.send("POST", f"{address}/vote", ballot),
        person.send("POST", f"{address}/skip", {"reason": "cannot_tell"}),
        person.send("POST", f"{address}/give-back"),
    ]
    return [(answer.status_code, answer.text) for answer in asked]


def test_nothing_tells_gold_from_work_after_a_skip(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=12)
    admin = administrator(app)
    table = f"item,left,right,winner\nentry-0,{EDITORS[0]},{EDITORS[1]},left\n"
    gold = admin.post("/api/lead/known-tasks", {"kind": "preference", "table": table})["tasks"][0]["task"]
    one = campaign(admin, gold=[gold], gold_rate=0.5)
    person = rater(app, admin, one)
    skipped = []
    for _ in range(16):
        task = person.next(one)["task"]
        person.post(f"/api/tasks/{task['address']}/skip", {"reason": "cannot_tell"})
        skipped.append((task, what_is_left(person, task)))
        person.vote(person.next(one)["task"], preference="left")
        if _skipped_gold(app) and len(skipped) > 3:
            break
    assert _skipped_gold(app) == 1
    assert len({tuple(left) for _, left in skipped}) == 1, "one of them answers differently"


def _skipped_gold(app: Any) -> int:
    with reading(app.state.arena.workspace.store.engine) as connection:
        rows = connection.execute(leases.select().where(leases.c.state == "skipped", leases.c.purpose == "gold"))
        return len(rows.all())
