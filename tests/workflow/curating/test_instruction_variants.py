"""curate instructions --endpoint: estimated, confirmed, asked concurrently, stored, and never paid for twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imarena.core.records import Evidence, Run
from imarena.storage import open_workspace
from tests.command import Imarena, run_at_terminal
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.curation_library import make_instructions

ANSWER = ("--answer", "tests.workflow.curating.fake_planner:answer")
COMMAND = ("curate", "instructions", "t.csv", "--endpoint", "fake")
ASKED = ("-w", "a", "--json", *COMMAND)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Imarena(tmp_path)("init", "a")
    make_instructions(tmp_path / "t.csv", *((f"k{number}", f"Remove car {number}.", "", "") for number in range(6)))
    return tmp_path


def stored(root: Path) -> list[Evidence]:
    with open_workspace(root / "a") as workspace:
        return list(workspace.store.records(Evidence, kind="instruction_variants"))


def test_answers_are_asked_at_once_stored_and_found_again(root: Path) -> None:
    run = Imarena(root)
    with fake_server(*ANSWER, "--reply-s", "0.5") as server:
        point_at(root / "a", server.url)
        report = run(*ASKED).json
        assert all(entry["paraphrases"][0].startswith("Kindly: ") for entry in report["instructions"])
        assert (report["missing"], report["stopped"]) == (0, "")
        assert report["cost_usd"] > 0
        assert server.counts()["most_in_flight"] == 6
        assert len(stored(root)) == 6
        again = run(*ASKED).json
        assert again["instructions"] == report["instructions"]
        assert again["cost_usd"] == 0
        assert server.counts()["requests"] == 6, "nothing is paid for twice"
        with (root / "t.csv").open("a") as file:
            file.write("k6,Remove car 6.,,\nk7,Remove car 6.,,\n")
        more = run(*ASKED, "--dry-run").json
        (estimate,) = more["estimates"]
        assert (estimate["new"], estimate["done_before"]) == (1, 6), "the same instruction is asked once"
        assert "tokens as in 6 earlier replies" in str(estimate["basis"])
    with open_workspace(root / "a") as workspace:
        assert {record.state for record in workspace.store.records(Run, command="curate instructions")} == {"done"}
    assert run("-w", "a", "verify", "--deep").code == 0


def test_a_dry_run_and_the_cost_limit(root: Path) -> None:
    run = Imarena(root)
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        dry = run(*ASKED, "--dry-run").json
        (estimate,) = dry["estimates"]
        assert (dry["dry_run"], estimate["new"]) == (True, 6)
        assert estimate["cost_usd"] > 0
        assert "Nothing was asked" in run("-w", "a", *COMMAND, "--dry-run").out
        assert (server.counts()["requests"], stored(root)) == (0, [])
        price_of_one = (1024 * 8 + 400 * 2) / 1e6
        short = run(*ASKED, "--concurrency", "1", "--max-cost-usd", 1.05 * price_of_one, code=3).json
        assert "cost limit" in short["stopped"]
        answered = server.counts()["answered"]
        assert 0 < answered == len(stored(root)) < 6
        assert short["missing"] == 6 - answered
        assert "not asked" in short["instructions"][-1]["note"]
        assert run(*ASKED).json["missing"] == 0
        assert server.counts()["answered"] == 6


def test_a_stopped_run_continues(root: Path) -> None:
    with fake_server(*ANSWER, "--reply-s", "0.5") as server:
        point_at(root / "a", server.url)
        command = [sys.executable, "-m", "imarena", "-w", "a", *COMMAND, "--concurrency", "2", "--yes"]
        running = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while server.counts()["answered"] < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
        answered = server.counts()["answered"]
        assert running.returncode == 3, err
        assert "stopped by Ctrl-C" in out
        assert 0 < answered == len(stored(root)) < 6
        assert f"{6 - answered} questions left" in err or answered == 5
        assert Imarena(root)(*ASKED).json["missing"] == 0
        assert server.counts()["requests"] == 6, "what was answered is not asked again"


def test_failures_are_reported_and_asked_again(root: Path) -> None:
    run = Imarena(root)
    with fake_server("--answer", "tests.workflow.edival_building.fake_vlm:answer") as server:
        point_at(root / "a", server.url)
        failed = run(*ASKED, code=3).json
        assert failed["missing"] == 6
        assert "rules were used" in failed["instructions"][0]["note"]
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        assert run(*ASKED).json["missing"] == 0
    assert len(stored(root)) == 12


@pytest.mark.parametrize("reply", ["n", "y"])
def test_a_person_is_asked_before_money_is_spent(root: Path, reply: str) -> None:
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        ended, err = run_at_terminal(root, reply, "-w", "a", *COMMAND)
        assert "6 questions to ask" in err
        assert "Go on?" in err
        assert ended == 0
        assert server.counts()["requests"] == (6 if reply == "y" else 0)
