"""Battles that are stopped: by kill -9, by Ctrl-C, by the cost limit. And what they were said to cost before."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from imarena.core.records import Judgment, Reply, Run, Status
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena

BATTLE = ("battle", "--judge", "genarena", "--yes")
QUESTIONS = 48


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=8)
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path) -> Path:
    shutil.copytree(arena, tmp_path / "a")
    return tmp_path / "a"


def start(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "imarena", "-w", "a", *BATTLE]
    return subprocess.Popen(command, cwd=root.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_judgments(root: Path, running: subprocess.Popen[str]) -> None:
    """Until the first batch is in the database."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with sqlite3.connect(f"file:{root / 'arena.db'}?mode=ro", uri=True) as connection:
            found = connection.execute("SELECT COUNT(*) FROM judgments").fetchone()[0]
        connection.close()
        if found:
            return
        assert running.poll() is None, "it ended before it could be stopped"
        time.sleep(0.05)
    raise AssertionError("no judgment came in a minute")


def check_whole(root: Path) -> None:
    """Every question has one ok judgment with its reply, and no more."""
    with open_workspace(root) as workspace:
        works = Counter(judgment.work_id for judgment in workspace.store.records(Judgment))
        replies = Counter(reply.work_id for reply in workspace.store.records(Reply))
        bad = [judgment for judgment in workspace.store.records(Judgment) if judgment.status is not Status.OK]
    assert bad == []
    assert len(works) == QUESTIONS
    assert set(works.values()) == {1}
    assert replies == works


def test_kill_9_in_the_middle_loses_nothing_and_repeats_nothing(imarena: Imarena, root: Path) -> None:
    with fake_server("--reply-s", "0.25") as server:
        point_at(root, server.url, concurrency=2)
        running = start(root)
        wait_for_judgments(root, running)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
        with open_workspace(root) as workspace:
            stored = sum(workspace.store.count(Judgment).values())
        assert 0 < stored < QUESTIONS
        assert len(imarena("-w", "a", "--json", "status").json["interrupted"]) == 1
        (report,) = imarena("-w", "a", "--json", *BATTLE, "--concurrency", "8").json["reports"]
    assert report["planned"] == QUESTIONS - stored
    assert report["done_before"] == stored
    check_whole(root)
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
    assert imarena("-w", "a", "--json", "status").json["interrupted"] == []


def test_ctrl_c_ends_cleanly_with_code_3_and_status_tells(imarena: Imarena, root: Path) -> None:
    with fake_server("--reply-s", "0.25") as server:
        point_at(root, server.url, concurrency=2)
        running = start(root)
        wait_for_judgments(root, running)
        os.kill(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
        answered = server.counts()["answered"]
        assert running.returncode == 3, err
        assert "stopped by Ctrl-C" in out
        assert err.count("finishing the requests under way; press Ctrl-C again to stop at once") == 1
        assert "Traceback" not in err
        with open_workspace(root) as workspace:
            stored = sum(workspace.store.count(Judgment, status="ok").values())
            (run,) = workspace.store.records(Run, command="battle")
        assert 0 < stored == answered < QUESTIONS, "what was under way was finished and kept"
        assert run.state == "partial"
        assert run.counts["missing"] == QUESTIONS - stored
        assert f"{QUESTIONS - stored} missing" in imarena("-w", "a", "status").out
        assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
        imarena("-w", "a", *BATTLE, "--concurrency", "8")
    check_whole(root)
    assert imarena("-w", "a", "--json", "status").json["unfinished"] == []


def test_the_estimate_is_what_is_spent_and_the_limit_is_not_passed(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url)
        # The first few replies measure what a picture costs at this endpoint.
        first = imarena("-w", "a", "--json", *BATTLE, "--sampler", "per-pair:1").json["reports"][0]
        assert first["planned"] == 6
        planned = imarena("-w", "a", "--json", *BATTLE, "--dry-run").json
        assert planned["reports"] == []
        (estimate,) = planned["estimates"]
        assert (estimate["new"], estimate["done_before"]) == (QUESTIONS - 6, 6)
        assert "earlier replies" in " ".join(estimate["basis"])
        asked = server.counts()["requests"]

        limit = estimate["cost_usd"] / 2
        stopped = imarena("-w", "a", "--json", *BATTLE, "--max-cost-usd", limit, code=3).json["reports"][0]
        assert "cost limit" in stopped["stopped"]
        assert set(stopped["judgments"]) == {"ok"}
        assert 0 < stopped["cost_usd"] <= limit
        assert server.counts()["requests"] - asked == stopped["judgments"]["ok"]

        rest = imarena("-w", "a", "--json", *BATTLE).json["reports"][0]
        assert rest["planned"] == QUESTIONS - 6 - stopped["judgments"]["ok"]
    spent = stopped["cost_usd"] + rest["cost_usd"]
    assert spent == pytest.approx(estimate["cost_usd"], rel=0.05)
    assert "300 per image" in " ".join(estimate["basis"]), "what this server charges"
    tokens = stopped["input_tokens"] + rest["input_tokens"]
    assert tokens == pytest.approx(estimate["input_tokens"], rel=0.05)
    check_whole(root)


def test_a_dry_run_asks_nothing_and_a_limit_needs_prices(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        words = ("--judge", "genarena", "--base-url", server.url, "--model", "fake-vlm")
        ended = imarena("-w", "a", "battle", *words, "--dry-run")
        assert server.counts()["requests"] == 0
        assert "cost not known" in ended.err
        assert "assumed" in ended.err
        refused = imarena("-w", "a", "battle", *words, "--max-cost-usd", "1", code=2)
        assert "prices" in refused.err
        assert server.counts()["requests"] == 0
