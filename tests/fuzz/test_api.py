"""No request of any kind makes the server fail. A folder of its own: collecting these tests takes seconds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings

from imarena.web.limits import Buckets, Rate
from tests.servers.postgres import new_database
from tests.web.people import Person, administrator, campaign, rater, served

COMMITTED = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"


class Unlimited(Buckets):
    """No limits: the fuzzer asks faster than people."""

    def wait_s(self, key: str, rate: Rate) -> float:
        """As good as never wait."""
        return super().wait_s(key, Rate(1e9 * rate.per_s, 1e9 * rate.burst))


class Arena:
    """A server with a rater who holds a task, for requests of any kind."""

    def __init__(self, root: Path, url: str = "") -> None:
        self.app = served(root, items=2, url=url)
        self.app.state.arena.buckets = Unlimited()

        self.admin = administrator(self.app)
        self.campaign = campaign(self.admin, kind="rating")
        self.rater = rater(self.app, self.admin, self.campaign)
        self.address = self.rater.next(self.campaign)["task"]["address"]
        item = self.admin.get("/api/items").json()["items"][0]
        shown = self.admin.get(f"/api/items/{item['item_id']}").json()
        self.known = {
            "campaign_id": self.campaign,
            "address": self.address,
            "item_id": item["item_id"],
            "output_id": shown["outputs"][0]["output_id"],
            "slot": "source-0",
        }


@contextmanager
def one_loop(arena: Arena) -> Iterator[Arena]:
    """One event loop for all requests; by default every request starts one in a thread of its own."""
    with start_blocking_portal() as portal:
        arena.admin.client.portal = arena.rater.client.portal = portal
        yield arena


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """One server for all requests."""
    with one_loop(Arena(tmp_path_factory.mktemp("fuzz") / "arena")) as made:
        yield made


@pytest.fixture(scope="module")
def arena_on_postgresql(tmp_path_factory: pytest.TempPathFactory, postgres: str) -> Iterator[Arena]:
    """The same on the other database."""
    with one_loop(Arena(tmp_path_factory.mktemp("fuzz-postgresql") / "arena", new_database(postgres))) as made:
        yield made


schema = schemathesis.openapi.from_path(COMMITTED)
UNENDING = {
    ("DELETE", "/api/session"): "signing out would end the session that the others use",
    ("DELETE", "/api/sessions/{session_id}"): "so would this, if it named one",
    ("GET", "/api/runs/stream"): "its answer goes on until the browser leaves",
}


@pytest.mark.fuzz
@schema.parametrize()
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_request_makes_the_server_fail(case: Any, arena: Arena) -> None:
    _try(case, arena)


@pytest.mark.fuzz
@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_request_makes_the_server_fail_on_postgresql(case: Any, arena_on_postgresql: Arena) -> None:
    """Fewer of them: what differs is what a database takes, such as no NUL and no number that is too large."""
    _try(case, arena_on_postgresql)


def _try(case: Any, arena: Arena) -> None:
    reason = UNENDING.get((case.method.upper(), case.path))
    if reason is not None:
        pytest.skip(reason)
    known = {name: value for name, value in arena.known.items() if name in (case.path_parameters or {})}
    for who in (arena.admin, arena.rater):
        for path in ({}, known) if known else ({},):
            case.path_parameters = {**(case.path_parameters or {}), **path}
            case.headers = {**(case.headers or {}), "x-csrf-token": who.csrf, "content-type": "application/json"}
            answer = _call(who, case)
            assert answer.status_code < 500, (case.method, case.formatted_path, answer.text)
            assert b"Traceback" not in answer.content
            assert str(Path(__file__).parents[2]).encode() not in answer.content


def _call(who: Person, case: Any) -> Any:
    body = case.body if isinstance(case.body, dict | list) else None
    return who.client.request(
        case.method, case.formatted_path, params=case.query or None, json=body, headers=dict(case.headers)
    )


@pytest.mark.fuzz
def test_the_fuzzer_would_notice(arena: Arena) -> None:
    """The administrator and the rater are still signed in: the requests above reached the routes."""
    assert arena.admin.get("/api/me").json()["role"] == "admin"
    assert arena.rater.get("/api/me").json()["role"] == "rater"
