"""What becomes of the record of a run when the same is run again, here or on another machine."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from imarena.core.records import JsonDict, Run
from imarena.storage import Workspace
from imarena.storage.database import writing
from imarena.workflows.wiring import record_run

SETTINGS: JsonDict = {"judge": "cv-judge"}
KILLED = """
import os, signal, sys
from pathlib import Path
from imarena.storage import open_workspace
from imarena.workflows.wiring import record_run
with record_run(open_workspace(Path(sys.argv[1])), "judge", {"judge": "cv-judge"}):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def states(workspace: Workspace) -> list[str]:
    """Of all runs, oldest first."""
    return [run.state for run in workspace.store.records(Run)]


@pytest.fixture
def elsewhere(any_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The same database, seen from another machine: another name, and a folder of its own."""
    (tmp_path / "other").mkdir()
    monkeypatch.setattr("socket.gethostname", iter([f"machine-{n}" for n in range(100)]).__next__)
    return replace(any_workspace, root=tmp_path / "other")


def test_a_run_at_work_on_another_machine_stays_running(any_workspace: Workspace, elsewhere: Workspace) -> None:
    with record_run(any_workspace, "judge", SETTINGS):
        with record_run(elsewhere, "judge", SETTINGS):
            assert states(any_workspace) == ["running", "running"]
        assert states(any_workspace) == ["running", "done"]
    assert states(any_workspace) == ["done", "done"]


def test_a_run_whose_machine_is_gone_is_interrupted_when_its_claim_has_run_out(
    any_workspace: Workspace, elsewhere: Workspace
) -> None:
    any_workspace.store.put(Run(run_id="run_gone", command="judge", settings=SETTINGS))
    claims = any_workspace.claims()
    claims.take(["run_gone"])
    with record_run(elsewhere, "judge", SETTINGS):
        assert states(any_workspace) == ["running", "running"]
    with writing(any_workspace.store.engine) as connection:
        connection.execute(text("UPDATE claims SET expires = expires - 61"))
    with record_run(elsewhere, "judge", {"judge": "another"}):
        assert states(any_workspace) == ["running", "done", "running"]
    with record_run(elsewhere, "judge", SETTINGS):
        assert states(any_workspace) == ["interrupted", "done", "done", "running"]


def test_a_run_that_was_killed_on_this_machine_is_interrupted_at_once(any_workspace: Workspace) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(any_workspace.root)], check=False, env=dict(os.environ))
    assert killed.returncode == -signal.SIGKILL
    assert states(any_workspace) == ["running"]
    with record_run(any_workspace, "judge", SETTINGS):
        assert states(any_workspace) == ["interrupted", "running"]
    assert list((any_workspace.root / "locks").iterdir()) == []


def test_a_run_that_ends_while_the_same_starts_keeps_its_end(
    any_workspace: Workspace, elsewhere: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read as running, ends, and only then is its claim asked for."""
    with record_run(any_workspace, "judge", SETTINGS):
        (stale,) = any_workspace.store.records(Run)
    monkeypatch.setattr(elsewhere.store, "records", lambda *_, **__: iter([stale]))
    with record_run(elsewhere, "judge", SETTINGS):
        pass
    monkeypatch.undo()
    assert states(any_workspace) == ["done", "done"]
