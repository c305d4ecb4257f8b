"""Boards that take long, or that a stranger asks for again and again, do not keep raters waiting."""

import asyncio
import socket
import subprocess
import threading
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from imarena.core.errors import UserError
from imarena.storage import init_workspace
from imarena.web.app import create_app
from imarena.web.gate import COSTLY_AT_ONCE
from imarena.workflows.serving.server import need_port, run_background_server
from tests.web.people import Person, administrator, campaign, fill, rater, served, settings_of


def test_a_stranger_who_asks_for_many_boards_is_told_to_slow_down_and_others_are_not(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", public=True)
    visitor, admin = Person(app), administrator(app)
    assert visitor.get("/api/board").status_code == 200
    told = (visitor.get(f"/api/board?task=t{n}") for n in range(2000))  # on a slow machine the limit is further away
    refused = next(answer for answer in told if answer.status_code != 200)
    assert refused.status_code == 429
    assert refused.headers["retry-after"]
    assert visitor.get("/api/me").status_code == 200
    assert admin.get("/api/board").status_code == 200


def test_raters_get_tasks_while_more_boards_are_made_than_there_are_threads(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace)
    app = create_app(settings_of(tmp_path / "arena", public=True, threads=COSTLY_AT_ONCE + 2))
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    leaderboards, go_on = app.state.arena.leaderboards, threading.Event()
    leaderboards.board = lambda *_: go_on.wait(200)  # boards that are never done
    asyncio.run(_while_boards_are_made(app, one, person, go_on))


async def _while_boards_are_made(app: FastAPI, one: str, person: Person, go_on: threading.Event) -> None:
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://testserver") as client,
    ):
        boards = [asyncio.create_task(client.get("/api/board", params={"task": str(n)})) for n in range(20)]
        cookies = "; ".join(f"{name}={value}" for name, value in person.client.cookies.items())
        headers = {"x-csrf-token": person.csrf, "cookie": cookies}
        try:
            given = await asyncio.wait_for(client.post(f"/api/rating/campaigns/{one}/next", headers=headers), 60)
            picture = await asyncio.wait_for(client.get(given.json()["task"]["left"]["url"], headers=headers), 60)
            assert picture.headers["content-type"] == "image/jpeg"
            assert not any(board.done() for board in boards)
        finally:
            go_on.set()
            for board in boards:
                board.cancel()
            await asyncio.gather(*boards, return_exceptions=True)


def test_a_port_that_is_taken_is_told_before_any_work(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UserError, match="Cannot listen on port") as told:
            need_port("127.0.0.1", taken.getsockname()[1])
    assert "--port" in told.value.hint


def test_a_server_beside_other_work_says_its_address_and_ends_with_it(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    said: list[str] = []
    spoke = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        spoke.set()

    with run_background_server(tmp_path / "arena", port=port, say=say) as server:
        assert isinstance(server, subprocess.Popen)
        assert spoke.wait(120)
    assert f"http://127.0.0.1:{port}/launch#" in said[0]
    assert server.returncode is not None
