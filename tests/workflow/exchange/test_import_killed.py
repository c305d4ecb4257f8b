"""``kill -9`` at any moment: the same command again finishes it, nothing lost, nothing twice."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from imarena.core.records import Judgment, Output
from imarena.storage import open_workspace
from tests import samples
from tests.command import Imarena, run_to_step
from tests.killed import moments

ITEMS = 500
SEED = 12


def make_folder(root: Path, count: int) -> None:
    """A plain folder: items.csv, sources, and the outputs of two editors."""
    for name in ("sources", "outputs/a", "outputs/b"):
        (root / name).mkdir(parents=True)
    lines = ["key,instruction,source"]
    for n in range(count):
        lines.append(f"k{n:04},make it {n},sources/k{n:04}.png")
        (root / "sources" / f"k{n:04}.png").write_bytes(samples.png(3 * n))
        for index, editor in enumerate("ab"):
            (root / "outputs" / editor / f"k{n:04}.png").write_bytes(samples.png(3 * n + index + 1))
    (root / "items.csv").write_text("\n".join(lines) + "\n")


@dataclass(frozen=True)
class Import:
    """A folder, its empty workspace, and how many steps of database work an import of it takes."""

    folder: Path
    steps: int


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Import:
    """An import that nothing stops."""
    folder = tmp_path_factory.mktemp("import")
    make_folder(folder / "data", ITEMS)
    Imarena(folder)("init", "a")
    shutil.copytree(folder / "a", folder / "whole")
    ended = run_to_step(0, *words(folder, folder / "whole"), folder=folder)
    assert ended.code == 0
    return Import(folder, json.loads(ended.err.splitlines()[-1])["steps"])


def words(folder: Path, workspace: Path) -> list[str]:
    """The command that is killed."""
    return ["-w", str(workspace), "import", "table", str(folder / "data")]


def check_finished(imarena: Imarena, folder: Path, workspace: Path) -> None:
    """After a kill the workspace is sound, and the same command ends well."""
    assert imarena("-w", workspace, "--json", "verify").json["clean"] is True
    imarena(*words(folder, workspace))
    with open_workspace(workspace) as opened:
        outputs = [row["id"] for row in opened.store.rows(Output)]
        assert len(outputs) == len(set(outputs)) == 2 * ITEMS
    assert imarena("-w", workspace, "--json", "verify", "--deep").json["clean"] is True
    found = imarena("-w", workspace, "--json", "status").json
    assert found["items"] == {"data": ITEMS}
    assert found["interrupted"] == []


@pytest.mark.slow
def test_an_import_killed_at_a_step_is_finished_by_the_same_command(
    whole: Import, imarena: Imarena, tmp_path: Path
) -> None:
    for n, step in enumerate(moments(1, whole.steps, 3, random.Random(SEED))):
        shutil.copytree(whole.folder / "a", tmp_path / str(n))
        assert run_to_step(step, *words(whole.folder, tmp_path / str(n)), folder=tmp_path).code == -signal.SIGKILL
        check_finished(imarena, whole.folder, tmp_path / str(n))


@pytest.mark.slow
def test_an_import_killed_from_outside_is_finished_by_the_same_command(
    whole: Import, imarena: Imarena, tmp_path: Path
) -> None:
    """Wherever it is: also while a picture is written."""
    root = tmp_path / "a"
    shutil.copytree(whole.folder / "a", root)
    pictures = root / "blobs"
    running = subprocess.Popen(
        [sys.executable, "-m", "imarena", *words(whole.folder, root)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while running.poll() is None and sum(1 for path in pictures.rglob("*") if path.is_file()) < ITEMS:
        time.sleep(0.001)
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    check_finished(imarena, whole.folder, root)


def test_a_long_judging_job_and_votes_share_one_sqlite_file(imarena: Imarena, tmp_path: Path) -> None:
    """Two processes append judgments in batches while another votes: every write is there, none waits forever."""
    imarena("init", "a")
    script = """
import sys
from pathlib import Path
from imarena.core.records import Rater
from imarena.storage import open_workspace
from tests import samples
kind, count = sys.argv[1], int(sys.argv[2])
with open_workspace(Path("a")) as workspace:
    item = samples.item()
    left, right = samples.output(item, "a"), samples.output(item, "b")
    rater = Rater(rater_id=kind)
    workspace.store.add([item, left, right, rater])
    for start in range(0, count, 100):
        if kind == "votes":
            for n in range(start, start + 100):
                workspace.store.add([samples.vote(rater, left, right, key=str(n))], durable=True)
        else:
            workspace.store.add([samples.judgment(left, right, f"{kind}{n}") for n in range(start, start + 100)])
"""
    (tmp_path / "job.py").write_text(script)
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    jobs = [
        subprocess.Popen([sys.executable, "job.py", *words], cwd=tmp_path, env=environment)
        for words in (("one", "4000"), ("two", "4000"), ("votes", "300"))
    ]
    assert [job.wait(timeout=120) for job in jobs] == [0, 0, 0]
    with open_workspace(tmp_path / "a") as workspace:
        assert workspace.store.count(Judgment) == {(): 8_000}
    assert imarena("-w", "a", "--json", "status").json["votes"] == {"votes": 300}
    assert imarena("-w", "a", "--json", "verify").json["clean"] is True
