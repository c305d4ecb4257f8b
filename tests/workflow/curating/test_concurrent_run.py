"""curate run with a model: instructions are asked at once, and any concurrency, stop or kill gives the same items."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Run
from imarena.curation import (
    CurationRequest,
    CurationSettings,
    ImageBrief,
    LocalLibrary,
    Perception,
    RuleCurationPlanner,
)
from imarena.curation.planner import PlannedQueries
from imarena.curation.reflection import Reflection
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.curating import CurationSetup, curate
from tests.command import Imarena
from tests.servers.fake_endpoint import Server, fake_server, point_at
from tests.small_data.curation_library import make_library
from tests.workflow.curating.crowded_library import collected, make_crowded, paid_steps

INSTRUCTIONS = 6
ANSWER = ("--answer", "tests.workflow.curating.crowded_library:answer")
RUN = (
    "-w", "a", "--json", "curate", "run", "t.csv", "-s", "library", "-d", "d", "--no-describe", "--min-long-side", "100",
    "--pool", "1", "--rounds", "3", "--queries", "2", "--results", "6", "--threshold", "0.75", "--endpoint", "fake",
)  # fmt: skip


@dataclass(frozen=True)
class Expected:
    """What the instructions give if they are asked one after the other."""

    items: list[str]
    requests: int
    report: dict[str, Any]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that knows what its images show, so that only questions take time."""
    root = tmp_path_factory.mktemp("crowd")
    run = Imarena(root)
    run("init", "a")
    make_crowded(root, INSTRUCTIONS)
    words = [word for number in range(4) for word in ("-q", f"word{number}")]
    run("-w", "a", "curate", "base", "Make it blue.", "--key", "x", *words, "-s", "library", "-d", "other",
        "--no-describe", "--min-long-side", "100", "--threshold", "0", "--results", "20")  # fmt: skip
    return root


def copied(seen: Path, tmp_path: Path, server: Server) -> Path:
    root = tmp_path / "root"
    shutil.copytree(seen, root)
    shutil.rmtree(root / "library")
    (root / "library").symlink_to(seen / "library")  # the same folder, and so the same index
    point_at(root / "a", server.url)
    return root


@pytest.fixture(scope="module")
def expected(seen: Path, tmp_path_factory: pytest.TempPathFactory) -> Expected:
    with fake_server(*ANSWER) as server:
        root = copied(seen, tmp_path_factory.mktemp("serial"), server)
        report = Imarena(root)(*RUN, "--concurrency", "1", code=3).json
        counts = server.counts()
        assert counts["most_in_flight"] == 1
    assert {outcome["rounds"] for outcome in report["requests"]} > {1}, "near-duplicates make some ask for more"
    assert "near-duplicate of an image that was chosen" in str(report["left_out"])
    return Expected(collected(root / "a", "d"), counts["requests"], report)


@pytest.fixture
def server() -> Iterator[Server]:
    with fake_server(*ANSWER, "--reply-s", "0.2") as running:
        yield running


def chosen(report: dict[str, Any]) -> list[tuple[str, list[str], int]]:
    return [(outcome["key"], outcome["items"], outcome["rounds"]) for outcome in report["requests"]]


def start(root: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "imarena", *RUN, *words]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(server: Server, answers: int) -> None:
    deadline = time.monotonic() + 120
    while server.counts()["answered"] < answers and time.monotonic() < deadline:
        time.sleep(0.05)


def test_any_concurrency_gives_the_same_items(seen: Path, tmp_path: Path, server: Server, expected: Expected) -> None:
    root = copied(seen, tmp_path, server)
    run = Imarena(root)
    report = run(*RUN, "--concurrency", "4", code=3).json
    counts = server.counts()
    assert (counts["requests"], counts["most_in_flight"]) == (expected.requests, 4)
    assert report == expected.report
    assert collected(root / "a", "d") == expected.items
    again = run(*RUN, code=3).json
    assert server.counts()["requests"] == expected.requests, "nothing is paid for twice"
    assert (chosen(again), again["new_items"], again["cost_usd"]) == (chosen(report), 0, 0)
    assert run("-w", "a", "verify", "--deep").code == 0


@pytest.mark.slow
def test_a_killed_run_asks_only_what_is_not_stored(
    seen: Path, tmp_path: Path, server: Server, expected: Expected
) -> None:
    root = copied(seen, tmp_path, server)
    process = start(root, "--concurrency", "4")
    wait_for(server, expected.requests // 3)
    process.kill()
    process.communicate(timeout=60)
    stored, asked = len(paid_steps(root / "a")), server.counts()["requests"]
    assert 0 < stored < expected.requests
    report = Imarena(root)(*RUN, "--concurrency", "4", code=3).json
    assert server.counts()["requests"] - asked == expected.requests - stored
    steps = paid_steps(root / "a")
    assert len(steps) == len(set(steps)) == expected.requests
    assert chosen(report) == chosen(expected.report)
    assert collected(root / "a", "d") == expected.items
    with open_workspace(root / "a") as workspace:
        states = [run.state for run in workspace.store.records(Run, command="curate")]
    assert states[-2:] == ["interrupted", "partial"]


@pytest.mark.slow
def test_ctrl_c_ends_after_the_questions_under_way(
    seen: Path, tmp_path: Path, server: Server, expected: Expected
) -> None:
    root = copied(seen, tmp_path, server)
    process = start(root, "--concurrency", "3")
    wait_for(server, expected.requests // 4)
    os.kill(process.pid, signal.SIGINT)
    asked = server.counts()["requests"]
    out, err = process.communicate(timeout=120)
    counts = server.counts()
    assert process.returncode == 3, err
    assert '"stopped": "stopped by Ctrl-C"' in out
    assert counts["requests"] <= asked + 3, "no instruction went on"
    assert counts["requests"] == counts["answered"] == len(paid_steps(root / "a")) < expected.requests
    ended = Imarena(root)("-w", "a", *RUN[3:], code=3)
    assert server.counts()["requests"] == expected.requests, "what was answered is not asked again"
    assert "left; run the same command" not in ended.err
    assert collected(root / "a", "d") == expected.items


def test_the_cost_limit_stops_a_run(seen: Path, tmp_path: Path, server: Server, expected: Expected) -> None:
    root = copied(seen, tmp_path, server)
    run = Imarena(root)
    limit = expected.report["cost_usd"] / 3
    short = run("-w", "a", *RUN[3:], "--concurrency", "4", "--max-cost-usd", limit, code=3)
    assert "stopped: " in short.out
    assert "cost limit" in short.out
    assert "left; run the same command to continue" in short.err
    answered = server.counts()["answered"]
    assert 0 < answered == len(paid_steps(root / "a")) < expected.requests
    with open_workspace(root / "a") as workspace:
        (_, stopped) = workspace.store.records(Run, command="curate")
    assert (stopped.state, stopped.cost_usd <= limit) == ("partial", True)
    assert chosen(run(*RUN, code=3).json) == chosen(expected.report)
    assert server.counts()["answered"] == expected.requests
    assert collected(root / "a", "d") == expected.items


@pytest.mark.slow
def test_two_processes_pay_once_and_agree(seen: Path, tmp_path: Path, server: Server, expected: Expected) -> None:
    root = copied(seen, tmp_path, server)
    processes = [start(root, "--concurrency", "2") for _ in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 3, err
        assert '"left": 0' in out, err
    assert server.counts()["requests"] == expected.requests
    assert collected(root / "a", "d") == expected.items


class FailingPlanner(RuleCurationPlanner):
    """Cannot plan one instruction, which is a defect."""

    async def plan(self, brief: ImageBrief, memory: Sequence[Reflection], number: int) -> PlannedQueries:
        if brief.request.key == "broken":
            raise RuntimeError("no plan today")
        return await super().plan(brief, memory, number)


def test_an_instruction_that_fails_is_a_status_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imarena.curation.perceive", lambda shown: Perception(shown.shape[1], shown.shape[0]))
    folder = make_library(tmp_path / "library", {"dandelion": "a blossom", "flower": "an orange blossom"})
    library = LocalLibrary(folder, tmp_path / "index.db", name="library")
    library.build()
    requests = [CurationRequest(key, f"Make the blossom {key}.") for key in ("blue", "broken", "red")]
    with init_workspace(tmp_path / "ws") as workspace:
        settings = CurationSettings(pool=1, min_long_side=300)
        report = curate(workspace, requests, CurationSetup("d", [library.source()], FailingPlanner(), settings))
        assert [outcome.complete for outcome in report.requests] == [True, False, True]
        assert report.requests[1].error == "RuntimeError: no plan today"
        assert (report.complete, report.left, report.new_items) == (False, 0, 2)
        rules = CurationSetup("d", [library.source()], RuleCurationPlanner(), settings)
        again = curate(workspace, requests, rules)
    assert again.requests[1].error == ""
    assert again.new_items == 0, "the images are used; a person has to find another"
