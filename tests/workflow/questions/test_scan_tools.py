"""`imarena scan --tool`: answers are stored once for each picture and version of a tool, also after ``kill -9``."""

import io
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imarena.core.records import Evidence, Item, Status, Turn
from imarena.engine.run import BATCH
from imarena.storage import init_workspace, open_workspace
from imarena.vision.picture_tools import PICTURE_TOOLS
from imarena.workflows.exchange.importing import WorkspaceIntake
from tests import samples
from tests.command import ROOT, Imarena
from tests.small_data.small_arena import make_arena

COUNT = 10_000
WORKERS = 2


def test_answers_are_stored_once_for_each_version(
    imarena: Imarena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_arena(tmp_path / "a", items=1, habits=("exact",))
    first = imarena("-w", "a", "--json", "scan", "--tool", "quality").json
    assert first["report"]["read"] == {"ok": 2}
    assert first["report"]["tool"] == "quality"
    assert "findings" not in first
    again = imarena("-w", "a", "--json", "scan", "--tool", "quality").json["report"]
    assert (again["planned"], again["done_before"]) == (0, 2)
    assert imarena("-w", "a", "--json", "scan", "-t", "objects", "--executor", "processes").json["report"]["read"] == {
        "ok": 2
    }
    with open_workspace(tmp_path / "a") as workspace:
        stored = workspace.store.records(Evidence, kind="quality")
        values = {one.image_sha256: one for one in stored}
        assert len(values) == 2
        for sha256, evidence in values.items():
            assert evidence.tool_version == PICTURE_TOOLS["quality"].version()
            pixels = np.asarray(Image.open(samples.blob_folder(workspace).path(sha256)).convert("RGB"))
            assert evidence.value == PICTURE_TOOLS["quality"].look(pixels)
        boxes = list(workspace.store.records(Evidence, kind="boxes", tool="efficientdet"))
        assert len(boxes) == 2
    assert "Did you mean 'quality'" in imarena("-w", "a", "scan", "--tool", "qualty", code=2).err
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True


def test_a_new_version_is_asked_again(imarena: Imarena, tmp_path: Path) -> None:
    make_arena(tmp_path / "a", items=1, habits=("exact",))
    with open_workspace(tmp_path / "a") as workspace:
        (item,) = workspace.store.records(Item)
        old = Evidence(
            image_sha256=item.sources[0].sha256, tool="colour-names", tool_version="0", kind="colours", value={}
        )
        workspace.store.add([old])
    assert imarena("-w", "a", "--json", "scan", "-t", "colours").json["report"]["read"] == {"ok": 2}


@pytest.mark.slow
def test_a_killed_scan_of_10_000_pictures_goes_on_where_it_stopped(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        intake = WorkspaceIntake(workspace)
        images = [intake.keep(_dot(number), name="") for number in range(COUNT)]
        intake.flush()
        workspace.store.add(
            [
                Item(dataset="dots", key=str(number), turns=(Turn(instruction="x"),), sources=(image,))
                for number, image in enumerate(images)
            ]
        )
    log = tmp_path / "log"
    words = ["-w", str(tmp_path / "a"), "--json", "scan", "--tool", "colours", "--executor", "processes"]
    environment = {**os.environ, "LOGGED_SCAN": str(log), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    command = [sys.executable, "-m", "tests.workflow.questions.logged_scan", *words]
    kept: list[tuple[set[str], int]] = []  # after each kill: what is stored, and how much had been computed
    for asked in (1500, 4000):
        running = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while running.poll() is None and (not log.exists() or log.stat().st_size < 65 * asked):
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        with open_workspace(tmp_path / "a") as workspace:
            kept.append(
                ({row["image_sha256"] for row in workspace.store.rows(Evidence, kind="colours")}, log.stat().st_size)
            )
    subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    computed = Counter(log.read_text().split())
    assert all(done for done, _ in kept)
    for done, place in kept:
        assert not done & set(log.read_text()[place:].split()), "what is stored is never computed again"
    with open_workspace(tmp_path / "a") as workspace:
        stored = Counter(
            row["image_sha256"] for row in workspace.store.rows(Evidence, kind="colours", status=Status.OK.value)
        )
    assert stored == Counter(image.sha256 for image in images), "each picture has one answer: none is lost, none twice"
    assert computed.keys() == stored.keys()
    repeated = sum(computed.values()) - COUNT
    assert repeated <= 2 * BATCH * WORKERS, "two kills: at most one batch of each worker was not stored yet"
    after = imarena("-w", "a", "--json", "scan", "--tool", "colours").json["report"]
    assert (after["planned"], after["done_before"]) == (0, COUNT)


def _dot(number: int) -> bytes:
    """A picture of 4 x 4 pixels, different for each number."""
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), (number % 256, number // 256, 40)).save(buffer, "PNG")
    return buffer.getvalue()
