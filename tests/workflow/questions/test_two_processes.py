"""Two processes on one database ask the same at once: each question is paid for once, also where one is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from imarena.core.records import Judgment, Status
from imarena.storage import Claims, Workspace, newest_version, open_workspace
from imarena.storage.database import writing
from tests.command import Imarena
from tests.fixtures.old_workspaces import move_to_postgres
from tests.servers.fake_endpoint import Server, fake_server, point_at
from tests.servers.postgres import new_database
from tests.small_data.small_arena import make_arena

QUESTIONS = 12
STORED_S = 1.5
"""Longer than an answer takes from the server into the database, also on a busy machine."""
HOURLY = "import imarena.engine.run as run; run.FLUSH_S = 3600.0; from imarena.cli.app import main; main()"
WORDS = ("judge", "--judge", "cv-judge", "--endpoint", "fake", "--yes")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four items and three editors."""
    root = tmp_path_factory.mktemp("two") / "a"
    make_arena(root)
    return root


@pytest.fixture(params=["sqlite", "postgresql"])
def arena(request: pytest.FixtureRequest, filled: Path, tmp_path: Path) -> Path:
    """A copy of it on each kind of database."""
    root = tmp_path / "a"
    shutil.copytree(filled, root)
    if request.param == "postgresql":
        move_to_postgres(root, newest_version(), new_database(request.getfixturevalue("postgres")))
    return root


@pytest.fixture(params=["sqlite", "postgresql"])
def any_url(request: pytest.FixtureRequest) -> str:
    """An empty PostgreSQL database; or nothing, for SQLite."""
    return new_database(request.getfixturevalue("postgres")) if request.param == "postgresql" else ""


@pytest.fixture
def server() -> Iterator[Server]:
    """Replies that take a while, so that both processes are at work."""
    with fake_server("--reply-s", "0.3") as running:
        yield running


def start(root: Path, *words: str, script: str = "") -> subprocess.Popen[str]:
    """A command of its own."""
    command = [sys.executable, *(("-c", script) if script else ("-m", "imarena")), "-w", str(root), "--json", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it printed."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    report: dict[str, Any] = json.loads(out)["reports"][0]
    return report


def answers(root: Path) -> list[Judgment]:
    """All judgments, of which there may be no more than one for a question."""
    with open_workspace(root) as workspace:
        stored = list(workspace.store.records(Judgment))
    assert len({judgment.work_id for judgment in stored}) == len(stored)
    return stored


@pytest.mark.slow
def test_two_processes_share_the_questions(arena: Path, server: Server) -> None:
    point_at(arena, server.url, concurrency=1)
    running = [start(arena, *WORDS), start(arena, *WORDS)]
    reports = [ended(process) for process in running]
    assert server.counts()["requests"] == QUESTIONS
    assert len(answers(arena)) == QUESTIONS
    for report in reports:
        assert report["judgments"].get("ok", 0) + report["done_before"] == QUESTIONS
        assert report["missing"] == 0
    assert sum(report["judgments"].get("ok", 0) for report in reports) == QUESTIONS


@pytest.mark.slow
def test_the_work_of_a_killed_process_is_taken_over(arena: Path) -> None:
    """Only the question under way is asked once more; nothing is lost, nothing is stored twice.

    A reply takes much longer than storing an answer, so that each is stored before the next arrives.
    """
    with fake_server("--reply-s", str(0.7)) as server:
        point_at(arena, server.url, concurrency=1)
        killed = start(arena, *WORDS)
        while killed.poll() is None and server.counts()["requests"] < 3:
            time.sleep(0.02)
        survivor = start(arena, *WORDS)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        report = ended(survivor)
        paid = server.counts()["requests"]
    assert QUESTIONS <= paid <= QUESTIONS + 1
    assert report["missing"] == 0
    assert {judgment.status for judgment in answers(arena)} == {Status.OK}
    assert len(answers(arena)) == QUESTIONS
    assert report["judgments"]["ok"] + report["done_before"] == QUESTIONS
    by_the_killed = QUESTIONS - report["judgments"]["ok"]
    assert report["done_before"] == by_the_killed  # what it stored is not asked again
    assert by_the_killed >= 2


@pytest.mark.slow
def test_only_questions_without_an_answer_are_asked_again(tmp_path: Path, any_url: str) -> None:
    """Eight at once: answers that came in well before the kill are stored, although many came at nearly the same time.

    Computed answers would wait an hour for others, so that only storing them as they arrive can pass.
    """
    root, log = tmp_path / "many", tmp_path / "answers.txt"
    make_arena(root, items=5, habits=("exact", "timid", "over-editing", "artefacts", "wrong-target", "returns-input"))
    if any_url:
        move_to_postgres(root, newest_version(), any_url)
    options = ("--reply-s", "3", "--answer", "tests.servers.fake_endpoint:logged_answer")
    with fake_server(*options, env={"IMARENA_TEST_LOG": str(log)}) as server:
        point_at(root, server.url, concurrency=8)
        killed = start(root, *WORDS, script=HOURLY)
        while killed.poll() is None and len(answered(log)) < 3:
            time.sleep(0.05)
        survivor = start(root, *WORDS)
        while killed.poll() is None and len(answered(log)) < 16:
            time.sleep(0.05)
        time.sleep(STORED_S)
        assert killed.poll() is None
        moment = time.time()
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        report = ended(survivor)
        paid = server.counts()["requests"]
    before = {question for at, question in answered(log) if at < moment - STORED_S}
    after = [question for at, question in answered(log) if at > moment]
    assert len(before) >= 14
    assert before.isdisjoint(after), "an answer that was there was paid for again"
    with open_workspace(root) as workspace:
        stored = list(workspace.store.records(Judgment))
    assert len({judgment.judgment_id for judgment in stored}) == len(stored) == 30
    assert {judgment.status for judgment in stored} == {Status.OK}
    questions = len({judgment.work_id for judgment in stored})  # some outputs have the same pixels
    assert questions <= paid <= questions + 8
    assert report["missing"] == 0


def answered(log: Path) -> list[tuple[float, str]]:
    """When the server answered which question."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(float(at), question) for at, _, question in (line.partition(" ") for line in lines if " " in line)]


@pytest.mark.slow
def test_a_machine_that_is_gone_gives_its_work_back_when_its_claims_expire(arena: Path, tmp_path: Path) -> None:
    """Nobody sees another machine die: its questions wait until the claims have run out."""
    with fake_server() as server, open_workspace(arena) as workspace:
        point_at(arena, server.url)
        gone = Claims(workspace.store.engine, tmp_path / "elsewhere")
        gone.owner = "another-machine:1234"
        identities = _questions(workspace, server)
        gone.take(identities[:2])
        running = start(arena, *WORDS)
        while running.poll() is None and server.counts()["requests"] < QUESTIONS - 2:
            time.sleep(0.02)
        assert running.poll() is None  # it waits
        _set_expiry(workspace, gone.owner, "0")
        assert ended(running)["judgments"] == {"ok": QUESTIONS}
        assert server.counts()["requests"] == QUESTIONS


def _questions(workspace: Workspace, server: Server) -> list[str]:
    """The identities of the questions."""
    from imarena.storage import open_workspace as opened
    from imarena.workflows.questions.cases import load_outputs, pointwise_cases
    from imarena.workflows.questions.judging_plan import plan_cases
    from imarena.workflows.wiring import EndpointArguments, wire_judge

    with opened(workspace.root) as now:
        wired = wire_judge(now.settings, "cv-judge", EndpointArguments(endpoint="fake"))
        board = load_outputs(now)
        return [work.work_id for work in plan_cases(now, wired.judge, pointwise_cases(board), board.parents).work]


def _set_expiry(workspace: Workspace, owner: str, moment: str) -> None:
    """Change when an owner's claims expire; 0 is long ago."""
    with writing(workspace.store.engine) as connection:
        connection.execute(text(f"UPDATE claims SET expires = {moment} WHERE owner = :o"), {"o": owner})  # noqa: S608


@pytest.mark.slow
def test_what_another_process_got_no_answer_to_counts_as_missing(
    filled: Path, tmp_path: Path, imarena: Imarena
) -> None:
    """A failed attempt elsewhere is not paid for again in the same run; the next run asks it."""
    root = tmp_path / "a"
    shutil.copytree(filled, root)
    with fake_server("--fault", "refusal=1.0", "--reply-s", "0.2") as server, open_workspace(root) as workspace:
        point_at(root, server.url, concurrency=1)
        holder = Claims(workspace.store.engine, tmp_path / "elsewhere")
        holder.owner = "another-machine:1234"
        holder.take(_questions(workspace, server))
        _set_expiry(workspace, holder.owner, "expires + 100000")
        running = [start(root, *WORDS), start(root, *WORDS)]
        for process in running:  # both have planned before either asks
            assert process.stderr is not None
            assert any("left to another process" in line for line in process.stderr)
        _set_expiry(workspace, holder.owner, "0")
        for process in running:
            out, _ = process.communicate(timeout=300)
            assert process.returncode == 3
            assert json.loads(out)["reports"][0]["missing"] == QUESTIONS
        assert server.counts()["requests"] == QUESTIONS
