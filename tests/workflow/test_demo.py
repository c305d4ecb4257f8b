"""The demo, killed in the middle and run again: the whole path, nothing lost, nothing twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imarena.core.records import Judgment, Output, Record, Status
from imarena.storage import open_workspace
from tests.command import Imarena


def kill_when(folder: Path, ready: str, limit_s: float = 120) -> None:
    """Start the demo and kill it as soon as the database holds a record of the kind `ready`."""
    command = [sys.executable, "-m", "imarena", "demo", "d"]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = time.monotonic()
    kinds: dict[str, type[Record]] = {"outputs": Output, "judgments": Judgment}
    kind = kinds[ready]
    while time.monotonic() - started < limit_s and running.poll() is None:
        time.sleep(0.3)
        if (folder / "d" / "arena.db").exists() and (folder / "d" / "blobs").exists():
            with open_workspace(folder / "d", check_schema=False) as workspace:
                if workspace.store.count(kind).get((), 0) > 20:
                    break
    assert running.poll() is None, "the demo ended before it could be killed"
    os.kill(running.pid, signal.SIGKILL)
    running.wait()


@pytest.mark.slow
def test_the_demo_survives_kills_and_finds_the_known_order(imarena: Imarena, tmp_path: Path) -> None:
    for ready in ("outputs", "judgments"):
        kill_when(tmp_path, ready)
        assert imarena("-w", "d", "--json", "verify").json["clean"] is True
    first = imarena("--json", "demo", "d").json
    assert first["items"] == 20
    assert first["of_items"] == 100
    assert Path(first["report"]).is_file() or (tmp_path / first["report"]).is_file()
    assert all(tau >= 0.8 for tau in first["tau"].values()), first["tau"]
    assert len(first["tau"]) == 2
    with open_workspace(tmp_path / "d") as workspace:
        works = [row["id"] for row in workspace.store.rows(Judgment)]
        outputs = [row["id"] for row in workspace.store.rows(Output, status=Status.OK.value)]
    assert len(works) == len(set(works))
    assert len(outputs) == len(set(outputs))
    second = imarena("demo", "d").out
    assert f"{first['judgments']} scores and {first['battles']} battles" in second
    assert "studio-flaky is left out of it" in second
    assert imarena("-w", "d", "--json", "verify", "--deep").json["clean"] is True
    page = (tmp_path / "d" / "report.html").read_text()
    assert "Leaderboard" in page
    assert "Known truth" in page
    assert "turn 2 of 3" in page, "a chain of three turns is shown"
    assert "http://" not in page.replace("http://www.w3.org", "")
    board = imarena("-w", "d", "--json", "rank", "--judge", "builtin").json
    assert board["models"][-1]["model"] == "studio-new-image"
    exported = imarena("-w", "d", "export", "native", "out")
    assert "Wrote" in exported.out
