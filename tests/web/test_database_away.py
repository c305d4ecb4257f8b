"""A database that goes away while people vote: told as such, and no vote is lost or counted twice."""

import sqlite3
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from imarena.core.records import Vote
from imarena.storage import database, init_workspace, open_workspace
from imarena.storage.database import POOL
from imarena.web import gate
from imarena.web.app import create_app
from tests.servers.postgres import machine, new_database
from tests.web.people import Person, administrator, campaign, fill, rater, served, settings_of

BALLOT = {"idempotency_key": "one-and-the-same-key", "preference": "left"}


def away(answer: Any) -> None:
    """The answer says that the database is away, and nothing about where it is."""
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["code"] == "database"
    assert "postgres" not in answer.text
    assert "arena.db" not in answer.text
    assert answer.headers["content-security-policy"]


def many_idle(engine: Engine) -> None:
    """Connections at rest, as after a busy hour: none of them may cost a request when the database is back."""
    with ExitStack() as stack:
        for _ in range(POOL):
            stack.enter_context(engine.connect())


@pytest.mark.slow
def test_a_vote_outlives_a_database_that_restarts(tmp_path: Path) -> None:
    with machine() as postgres, warnings.catch_warnings():
        url = new_database(postgres.get_uri())
        with init_workspace(tmp_path / "arena", url=url) as workspace:
            fill(workspace)
        app = create_app(settings_of(tmp_path / "arena"))
        admin = administrator(app)
        one = campaign(admin)
        person = rater(app, admin, one)
        task = person.next(one)["task"]
        person.look(task)
        stranger = Person(app)
        many_idle(app.state.arena.workspace.store.engine)
        postgres.stop()
        app.state.arena.sessions.forget()  # the session is not at hand: the gate asks the database first
        away(person.send("POST", f"/api/tasks/{task['address']}/vote", BALLOT))
        away(person.send("POST", f"/api/rating/campaigns/{one}/next"))
        away(admin.get("/api/lead/campaigns"))
        away(admin.get("/api/board"))
        assert admin.get(f"/rate/{one}").status_code in (200, 404), "the page itself comes; 404 where it is not built"
        away(stranger.send("POST", "/api/session/invitation", {"token": "x" * 43}))
        assert stranger.get("/api/me").status_code == 200, "who asks for nothing stored is answered"
        postgres.start()
        receipts = [person.post(f"/api/tasks/{task['address']}/vote", BALLOT) for _ in range(2)]
        assert [receipt["done"] for receipt in receipts] == [1, 1]
        assert person.next(one)["task"]["address"] != task["address"]
        with open_workspace(tmp_path / "arena") as workspace:
            assert workspace.store.count(Vote) == {(): 1}
        app.state.arena.close()


def test_a_database_that_another_process_keeps_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 200)
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    person.look(task)
    app.state.arena.voting.pictures.flush()
    other = sqlite3.connect(tmp_path / "arena" / "arena.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        away(person.send("POST", f"/api/tasks/{task['address']}/vote", BALLOT))
        away(person.send("POST", f"/api/rating/campaigns/{one}/next"))
        assert admin.get("/api/lead/campaigns").status_code == 200, "readers go on"
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert person.post(f"/api/tasks/{task['address']}/vote", BALLOT)["done"] == 1
    with open_workspace(tmp_path / "arena") as workspace:
        assert workspace.store.count(Vote) == {(): 1}


def test_a_database_that_hangs_is_told_in_time_and_the_vote_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    task = person.next(one)["task"]
    person.look(task)
    app.state.arena.voting.pictures.flush()
    vote = f"/api/tasks/{task['address']}/vote"
    other = sqlite3.connect(tmp_path / "arena" / "arena.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # a write waits half a minute for this
    monkeypatch.setattr(gate, "LONGEST_S", 0.2)
    with ThreadPoolExecutor(1) as aside:
        sent = aside.submit(person.send, "POST", vote, BALLOT)
        try:
            while "was not answered" not in caplog.text and not sent.done():
                time.sleep(0.05)
        finally:
            other.execute("ROLLBACK")
            other.close()
        away(sent.result())
    monkeypatch.setattr(gate, "LONGEST_S", 60)
    assert person.post(vote, BALLOT)["done"] == 1
    with open_workspace(tmp_path / "arena") as workspace:
        assert workspace.store.count(Vote) == {(): 1}
