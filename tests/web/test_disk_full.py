"""A full disk is told as what it is, and costs no vote: SQLite itself says that there is no room."""

import errno
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from imarena.core.records import Vote
from imarena.storage import open_workspace
from imarena.storage.cache import Cache
from tests.web.people import administrator, campaign, rater, served


def test_a_full_disk_is_told_and_the_vote_is_stored_once_when_there_is_room(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=8)
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    engine = app.state.arena.workspace.store.engine
    room = "1"  # of pages: SQLite takes as many as there are

    def no_more(raw: Any, *_: Any) -> None:
        raw.execute(f"PRAGMA max_page_count = {room}")

    event.listen(engine, "checkout", no_more)
    words = "long words " * 300  # so that a vote needs a page
    stored, task, told = 0, person.next(one)["task"], None
    for number in range(20):
        ballot = {"idempotency_key": f"key-number-{number}", "preference": "left", "comment": words}
        person.look(task)
        told = person.send("POST", f"/api/tasks/{task['address']}/vote", ballot)
        if told.status_code != 200:
            break
        stored += 1
        task = person.next(one)["task"]
    assert told is not None
    assert told.status_code == 507, told.text
    problem = told.json()
    assert problem["code"] == "disk_full"
    assert "disk is full" in problem["message"]
    assert "inform the lead" in problem["hint"]
    assert "arena.db" not in told.text
    assert int(told.headers["retry-after"]) >= 1
    assert person.get("/api/rating/campaigns").status_code == 200, "what was stored can be read"
    room = "1000000"
    again = [person.post(f"/api/tasks/{task['address']}/vote", ballot) for _ in range(2)]
    assert [receipt["done"] for receipt in again] == [stored + 1] * 2
    with open_workspace(tmp_path / "arena") as workspace:
        assert workspace.store.count(Vote) == {(): stored + 1}


def test_a_picture_comes_although_there_is_no_room_to_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    cache = Cache(tmp_path)
    assert cache.get("key", lambda: b"picture") == b"picture"
    assert cache.size() == 0
