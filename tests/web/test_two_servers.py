"""Two servers on one PostgreSQL database: raters work at both at once, and some at either in turn."""

import secrets
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest

from imarena.core.records import Vote
from imarena.storage import init_workspace, open_workspace
from tests.servers.postgres import new_database, newest_database
from tests.web.browser.stage import Stage, start
from tests.web.people import fill

ITEMS = 8
BATTLES = 3 * ITEMS
PAGES = ("/api/battles", "/api/items", "/api/board?source=human", "/api/facets")


class Rater:
    """Somebody whose requests go to one server, or to several in turn, as behind a proxy."""

    def __init__(self, addresses: list[str], token: str) -> None:
        self._addresses = cycle(addresses)
        self._client = httpx.Client(timeout=120)
        self._csrf = ""
        self._csrf = self.post("/api/session/invitation", {"token": token})["csrf"]

    def ask(self, method: str, path: str, body: object = None) -> httpx.Response:
        """A request at the next server."""
        url = next(self._addresses) + path
        headers = {"x-csrf-token": self._csrf, "host": "127.0.0.1"}  # a proxy passes the host's own name
        return self._client.request(method, url, json=body, headers=headers)

    def post(self, path: str, body: object = None) -> Any:
        """A change."""
        return self.ask("POST", path, body).raise_for_status().json()

    def take(self, campaign: str) -> Any:
        """The next task; None where nothing is left."""
        return self.post(f"/api/rating/campaigns/{campaign}/next")["task"]

    def work(self, campaign: str) -> list[str]:
        """Vote until nothing is left; the addresses of the tasks."""
        done = []
        while (task := self.take(campaign)) is not None:
            for shown in (*task["sources"], task["left"], task["right"]):
                self.ask("GET", shown["url"]).raise_for_status()
            answer = self.vote(task)
            assert answer.status_code == 200, answer.text
            assert answer.json()["accepted"]
            done.append(str(task["address"]))
        return done

    def vote(self, task: Any) -> httpx.Response:
        """Vote at once, as a fast rater does: the other server may not have written what it sent."""
        ballot = {"idempotency_key": f"key-{secrets.token_hex(8)}", "preference": "left"}
        return self.ask("POST", f"/api/tasks/{task['address']}/vote", ballot)


@pytest.fixture
def roots(tmp_path: Path, postgres: str) -> list[Path]:
    """One workspace, as two machines have it: a folder each, one database, one folder of images."""
    first, second = tmp_path / "one" / "arena", tmp_path / "two" / "arena"
    url = new_database(postgres, like=newest_database(postgres))
    with init_workspace(first, url=url, blobs=str(tmp_path / "images")) as workspace:
        fill(workspace, items=ITEMS)
    shutil.copytree(first, second)
    return [first, second]


def _settled(stages: list[Stage], page: str) -> list[Any]:
    """A page of both servers when they show the same; what each shows where they never do."""
    until = time.monotonic() + 60
    while True:
        shown = [stage.get(page) for stage in stages]
        if shown[0] == shown[1] or time.monotonic() > until:
            return shown
        time.sleep(0.5)


@pytest.mark.slow
def test_two_servers_hand_out_each_task_once_and_lose_no_vote(
    roots: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # without it, each server would accept its own cookies only
    monkeypatch.setenv("IMARENA_SECRET_KEY", "one-key-for-all-servers-of-an-arena")
    running = [start(root) for root in roots]
    try:
        stages = [stage for _, stage in running]
        campaign = stages[0].campaign("c")
        one, two = (stage.address for stage in stages)
        raters = [
            Rater(places, str(stages[number % 2].post("/api/lead/invitations", {"campaign_id": campaign})["token"]))
            for number, places in enumerate(([one], [two], [one, two], [two, one], [one, two]))
        ]
        with ThreadPoolExecutor(len(raters)) as pool:
            held = list(pool.map(lambda rater: [rater.take(campaign)["address"] for _ in range(2)], raters))
            # who asks again, at whichever server, gets the task in hand; nobody else has it
            assert all(first == again for first, again in held)
            assert len({first for first, _ in held}) == len(raters)
            unseen = raters[-1].vote({"address": held[-1][0]})
            assert (unseen.status_code, unseen.json()["code"]) == (409, "pictures_not_seen")
            done = list(pool.map(lambda rater: rater.work(campaign), raters))
        with open_workspace(roots[0]) as workspace:
            votes = list(workspace.store.records(Vote))
        assert len(votes) == BATTLES
        assert len({vote.assignment_id for vote in votes}) == BATTLES
        assert len({address for mine in done for address in mine}) == sum(map(len, done)) == BATTLES
        assert len({vote.rater_id for vote in votes}) > 1
        for stage in stages:
            assert stage.votes(campaign) == BATTLES
        for page in PAGES:
            first, second = _settled(stages, page)
            assert first == second, page
        assert stages[0].get("/api/battles")["total"] == BATTLES
    finally:
        for process, _ in running:
            process.terminate()
        for process, _ in running:
            process.wait(60)
