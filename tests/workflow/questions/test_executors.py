"""`--executor` in the five commands that ask much: the same results everywhere, after a kill and after Ctrl-C too."""

import importlib.util
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

from imarena.core.records import Evidence, Judgment, Output
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.services import fitted
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena

RAY = pytest.param("ray", marks=pytest.mark.ray)
COMMANDS: dict[str, tuple[str, ...]] = {
    "judge": ("judge",),
    "battle": ("battle",),
    "edit": ("edit", "--editor", "studio-timid", "--editor", "classical-exposure", "--no-sheet"),
    "scan": ("scan",),
    "health": ("health", "--probe", "1"),
}
SLOW_JUDGE = """
import os, time
from pathlib import Path
from imarena.core.protocols import Verdict
from imarena.core.records import Status

class Slow:
    name, version, prompt_id, prompt_version, params = "slow", "1", "", "", {}
    cpu_bound = True

    async def judge(self, exhibit):
        Path("pids").mkdir(exist_ok=True)
        Path(f"pids/{os.getpid()}").touch()
        time.sleep(float(os.environ.get("SLOW_S", "0")))
        if len(exhibit.left) == int(os.environ.get("DEADLY", "-1")):
            os._exit(9)
        return Verdict(Status.OK, score=float(len(exhibit.left)))

def make(options, chat):
    return Slow()
"""
SLOW = ("judge", "--judge", "function:slow:make")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=2, habits=("exact", "artefacts"))
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(arena, tmp_path / "a")
    (tmp_path / "slow.py").write_text(SLOW_JUDGE)
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), before])))
    return tmp_path / "a"


def facts(root: Path) -> set[tuple[Any, ...]]:
    """What a run stored, without ids of runs, times and versions."""
    with open_workspace(root) as workspace:
        judged = {
            (one.work_id, one.left_id, one.right_id, one.order, one.status, one.score, one.preference, str(one.scores))
            for one in workspace.store.records(Judgment)
        }
        made = {
            (one.output_id, one.editor, one.status, one.error, one.image and one.image.sha256)
            for one in workspace.store.records(Output)
        }
        seen = set()
        for one in workspace.store.records(Evidence):
            value = dict(one.value) if isinstance(one.value, dict) else {}
            value.pop("usage", None)
            seen.add((one.evidence_id, one.kind, one.tool, one.status, str(value)))
    return judged | made | seen


@pytest.fixture(scope="module")
def expected(arena: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, set[tuple[Any, ...]]]]:
    """How each command ends and what it stores when threads answer."""
    found = {}
    for name, words in COMMANDS.items():
        folder = tmp_path_factory.mktemp(name)
        shutil.copytree(arena, folder / "a")
        ended = Imarena(folder)("-w", "a", *words, "--executor", "threads", code=None)
        found[name] = ended.code, facts(folder / "a")
    return found


@pytest.mark.parametrize("kind", ["processes", RAY])
@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_stores_the_same_with_every_executor(
    imarena: Imarena, root: Path, expected: dict[str, tuple[int, set[tuple[Any, ...]]]], name: str, kind: str
) -> None:
    before = facts(root)
    code, wanted = expected[name]
    words = ["-w", "a", *COMMANDS[name], "--executor", kind]
    if (name, kind) == ("battle", "ray"):
        (block,) = fitted(blocks_of("judging.md", __file__), {"-w arena": "-w a"})
        (words,) = block.commands()
    assert imarena("--json", *words, code=code).json
    assert facts(root) == wanted
    assert wanted > before
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True


def pids(root: Path) -> set[int]:
    """The processes that the slow judge ran in."""
    return {int(path.name) for path in (root.parent / "pids").glob("*")}


def alive(pid: int) -> bool:
    """Is there such a process, and not only what is left of a dead one?"""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def gone(root: Path) -> bool:
    """Do all workers end within a while?"""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not any(alive(pid) for pid in pids(root)):
            return True
        time.sleep(0.1)
    return False


def stored(root: Path) -> int:
    with open_workspace(root) as workspace:
        return sum(workspace.store.count(Judgment, status="ok").values())


def started(root: Path, kind: str, judgments: int) -> Iterator[subprocess.Popen[str]]:
    """A slow run in a process group of its own, as in a terminal, when so many judgments are stored."""
    words = ["-w", "a", *SLOW, "--executor", kind, "--repeats", "10", "--concurrency", "2"]
    command = [sys.executable, "-m", "imarena", *words]
    running = subprocess.Popen(
        command, cwd=root.parent, env={**os.environ, "SLOW_S": "0.5"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        while stored(root) < judgments:
            assert running.poll() is None, running.communicate()
            time.sleep(0.1)
        yield running
    finally:
        if running.poll() is None:
            running.kill()
        running.communicate()


@pytest.mark.parametrize("kind", ["threads", "processes", RAY])
def test_kill_9_loses_nothing_and_leaves_no_process(imarena: Imarena, root: Path, kind: str) -> None:
    for running in started(root, kind, 1):
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
    assert gone(root)
    before = stored(root)
    assert 0 < before < 40
    (report,) = imarena("-w", "a", "--json", *SLOW, "--executor", kind, "--repeats", "10").json["reports"]
    assert (report["done_before"], report["judgments"]) == (before, {"ok": 40 - before})
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True


@pytest.mark.parametrize("kind", ["threads", "processes", RAY])
def test_ctrl_c_finishes_what_is_under_way_and_leaves_no_process(imarena: Imarena, root: Path, kind: str) -> None:
    for running in started(root, kind, 1):
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert running.returncode == 3, err
        assert "stopped by Ctrl-C" in out
        assert "Traceback" not in err
    assert gone(root)
    before = stored(root)
    assert f"{before} ok; 0 done before" in out
    assert 0 < before < 40
    assert f"{40 - before} missing" in imarena("-w", "a", "status").out


@pytest.mark.parametrize("kind", ["processes", RAY])
def test_a_worker_that_dies_is_the_status_of_its_question(imarena: Imarena, root: Path, kind: str) -> None:
    with open_workspace(root) as workspace:
        sizes = [one.image.size_bytes for one in workspace.store.records(Output) if one.image]
    deadly = {"DEADLY": str(sizes[0])}
    ended = imarena("-w", "a", "--json", *SLOW, "--executor", kind, code=3, env={**os.environ, **deadly})
    (report,) = ended.json["reports"]
    assert report["judgments"] == {"ok": 4 - sizes.count(sizes[0]), "api_error": sizes.count(sizes[0])}
    (error,) = report["errors"]
    assert "WorkerDied" in error
    (again,) = imarena("-w", "a", "--json", *SLOW, "--executor", kind).json["reports"]
    assert again["judgments"] == {"ok": sizes.count(sizes[0])}


def test_the_setting_is_used_where_the_command_names_none(imarena: Imarena, root: Path) -> None:
    settings = root / "imarena.toml"
    settings.write_text('executor = "processes"\n' + settings.read_text())
    imarena("-w", "a", *SLOW)
    assert pids(root)
    shutil.rmtree(root.parent / "pids")
    with fake_server() as server:
        point_at(root, server.url)
        report = imarena("-w", "a", "--json", "judge", "--judge", "cv-judge").json["reports"][0]
        assert report["judgments"] == {"ok": 4}, "a judge that asks an endpoint stays here"
        told = imarena("-w", "a", "judge", "--judge", "cv-judge", "--repeats", "2", "--executor", "processes", code=2)
        assert "only be asked from this process" in told.err
        assert "--executor threads or auto" in " ".join(told.err.split())
    settings.write_text(settings.read_text().replace('"processes"', '"porcesses"'))
    assert "executor" in imarena("-w", "a", "status", code=2).err


@pytest.mark.parametrize("name", list(COMMANDS))
def test_an_unknown_executor_is_told_before_anything_is_asked(imarena: Imarena, root: Path, name: str) -> None:
    before = facts(root)
    ended = imarena("-w", "a", *COMMANDS[name], "--executor", "magic", code=2)
    assert "Known: auto, threads, processes, ray" in " ".join(ended.err.split())
    assert facts(root) == before


@pytest.mark.parametrize("name", list(COMMANDS))
def test_an_unknown_executor_is_reported_before_missing_outputs(imarena: Imarena, name: str) -> None:
    imarena("init", "empty")
    ended = imarena("-w", "empty", *COMMANDS[name], "--executor", "magic", code=2)
    assert "There is no executor called 'magic'" in " ".join(ended.err.split())


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")
def test_ray_without_its_extra_prints_the_install_command(imarena: Imarena, root: Path) -> None:
    assert root.is_dir()
    assert "pip install 'imarena[ray]'" in imarena("-w", "a", "judge", "--executor", "ray", code=2).err
