"""A server that is told to stop: it ends at once, also while a page watches the runs, and says nothing of failures."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from imarena.core import UserError
from imarena.storage import init_workspace
from imarena.workflows.serving.server import ServeSettings, serve
from imarena.workflows.serving.server_address import FILE, find_server_address, write_server_address
from tests.web.browser.stage import start
from tests.web.people import Person, fill, served


def test_a_stream_ends_when_the_server_is_told_to_stop(tmp_path: Path) -> None:
    root = tmp_path / "arena"
    with init_workspace(root) as workspace:
        fill(workspace, items=1)
    process, stage = start(root)
    try:
        with httpx.stream(
            "GET", f"{stage.address}/api/runs/stream", cookies=dict(stage.cookies()), timeout=60
        ) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            first = next(lines)
            assert json.loads(first.removeprefix("data: "))["totals"]["item"] == 1
            assert find_server_address(root) == stage.address, "an invitation link names this server"
            process.terminate()
            assert not [line for line in lines if line.startswith("data:")]  # ended, not cut off
    finally:
        process.terminate()
        process.wait(timeout=60)
    assert not (root / FILE).exists()
    said = (tmp_path / "serve.log").read_text()
    assert "Traceback" not in said
    assert "Cancel" not in said


def test_a_health_check_needs_no_name_and_no_sign_in(tmp_path: Path) -> None:
    assert Person(served(tmp_path / "arena")).get("/api/health").json() == {"done": True}
    wide = ServeSettings("x", host="0.0.0.0", allowed_hosts=("arena.example.org",))  # noqa: S104
    assert wide.hosts == {"arena.example.org", "127.0.0.1", "localhost", "[::1]"}
    assert ServeSettings("x", host="0.0.0.0").hosts == set()  # noqa: S104


def test_an_address_that_a_killed_server_left_is_not_believed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        write_server_address(tmp_path, f"{address}/")
        assert find_server_address(tmp_path) == address
        told = json.loads((tmp_path / FILE).read_text())
        ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
        (tmp_path / FILE).write_text(json.dumps({**told, "pid": int(ended.stdout)}))
        assert find_server_address(tmp_path) is None, "its process is gone"
    write_server_address(tmp_path, address)
    assert find_server_address(tmp_path) is None, "nobody listens"
    for broken in ("", "[]", '{"address": 3, "pid": 1}', '{"address": "http://x:y", "pid": 1}'):
        (tmp_path / FILE).write_text(broken)
        assert find_server_address(tmp_path) is None


def test_a_server_without_pages_is_refused_before_it_prints_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "web" / "static").mkdir(parents=True)
    monkeypatch.setattr("imarena.workflows.serving.server.files", lambda _: tmp_path)
    init_workspace(tmp_path / "arena").close()
    said: list[str] = []
    with pytest.raises(UserError, match="not built"):
        serve(ServeSettings(workspace=str(tmp_path / "arena"), port=0), say=said.append)
    assert not said
