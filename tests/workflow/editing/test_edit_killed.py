"""``kill -9`` in the middle of an edit run: the same command again asks only for what was not stored."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imarena.core.records import Output, Status
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.servers.fake_pictures_server import TABLES, add_editors, filled, pictures_server


@pytest.mark.slow
def test_a_killed_edit_run_goes_on_where_it_stopped(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 60)
    names = ["openai", "gemini", "chat"]
    total = 60 * len(names)
    with pictures_server("--reply-s", "0.05") as server:
        add_editors(root, server.root, {name: TABLES[name] for name in names})
        words = ["-w", str(root), "--json", "edit", "--concurrency", "6", *(w for n in names for w in ("-e", n))]
        running = subprocess.Popen(
            [sys.executable, "-m", "imarena", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while running.poll() is None and server.counts()["made"] < 60:
            time.sleep(0.05)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        time.sleep(0.3)  # replies that were under way
        made_before = server.counts()["made"]
        with open_workspace(root) as workspace:
            stored = sum(workspace.store.count(Output, status=Status.OK.value).values())
        assert 0 < stored < total
        assert made_before - stored <= 2 * 6  # what was under way, and what waited to be written
        report = imarena(*words).json["report"]
        counts = server.counts()
    assert report["done_before"] == stored
    assert report["outputs"] == {"ok": total - stored}
    assert counts["made"] == made_before + total - stored
    assert counts["repeated"] == made_before - stored
    assert imarena("-w", root, "--json", "verify", "--deep").json["clean"] is True
    assert imarena("-w", root, "--json", "status").json["interrupted"] == []


@pytest.mark.slow
def test_two_runs_at_once_do_not_pay_twice(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 8)
    with pictures_server("--reply-s", "0.2") as server:
        add_editors(root, server.root, {"openai": TABLES["openai"]})
        command = [sys.executable, "-m", "imarena", "-w", str(root), "--json", "edit", "-e", "openai"]
        both = [subprocess.Popen([*command, "--concurrency", "1"], stdout=subprocess.PIPE) for _ in range(2)]
        reports = [json.loads(process.communicate(timeout=300)[0])["report"] for process in both]
        assert [process.returncode for process in both] == [0, 0]
        assert server.counts()["made"] == 8
    assert [report["outputs"].get("ok", 0) + report["done_before"] for report in reports] == [8, 8]
    assert imarena("-w", root, "--json", "verify", "--deep").json["clean"] is True
