"""``kill -9`` at any moment: the same command again finishes it, nothing lost, nothing twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from imarena.core.records import Judgment, Output
from imarena.storage import open_workspace
from tests import samples
from tests.command import Imarena


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


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0.9, 1.4, 2.2, 3.5])
def test_a_killed_import_is_finished_by_the_same_command(imarena: Imarena, tmp_path: Path, delay_s: float) -> None:
    make_folder(tmp_path / "data", 1_500)
    imarena("init", "a")
    command = [sys.executable, "-m", "imarena", "-w", "a", "import", "table", "data"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay_s)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert json.loads(imarena("-w", "a", "--json", "verify").out)["clean"] is True
    imarena("-w", "a", "import", "table", "data")
    with open_workspace(tmp_path / "a") as workspace:
        outputs = [row["id"] for row in workspace.store.rows(Output)]
        assert len(outputs) == len(set(outputs)) == 3_000
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
    found = imarena("-w", "a", "--json", "status").json
    assert found["items"] == {"data": 1_500}
    assert found["interrupted"] == []


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
