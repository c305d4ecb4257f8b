"""A Ray cluster of two nodes: one is killed in the middle of a run; every judgment is there once, and the same."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imarena.core.records import Judgment, Status
from imarena.engine.ray_images import LARGE, ImageReceiver, ImageSender
from imarena.storage import open_workspace
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.services import fitted
from tests.small_data.small_arena import make_arena

JUDGE = """
import os, time
from pathlib import Path
from imarena.core.protocols import Verdict
from imarena.core.records import Outcome, Status

class Slow:
    name, version, prompt_id, prompt_version, params = "slow", "1", "", "", {}
    cpu_bound = True

    async def judge(self, exhibit):
        seen = Path(os.environ["SEEN"]) / str(time.monotonic_ns())
        seen.write_text(f"{os.environ.get('RAY_NODE', '')} {os.getpid()}")
        time.sleep(0.3)
        for _ in range(1200):
            if not Path(os.environ["SEEN"]).with_name("hold").exists():
                break
            time.sleep(0.1)
        return Verdict(Status.OK, preference=Outcome.LEFT if exhibit.left > exhibit.right else Outcome.RIGHT)

def make(options, chat):
    return Slow()
"""
GPU_JUDGE = """from imarena.core.traits import JudgeTraits
    traits = JudgeTraits(gpus=1.0)
    import ray
    os.environ["RAY_NODE"] = "gpu-" + ",".join(map(str, ray.get_gpu_ids())) if ray.is_initialized() else ""
"""
"""Its workers note which of the node's GPUs they were given."""
N = 15_000
"""Battles: 1,000 rounds of them are two parts (`BATCH_BATTLES` in `ranking/boards/online.py`)."""
WORDS = ("battle", "--judge", "function:slow:make", "--yes")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_arena(tmp_path / "a", items=4)
    (tmp_path / "slow.py").write_text(JUDGE)
    (tmp_path / "seen").mkdir()
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), before])))
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.setenv("RAY_worker_niceness", "0")  # with Ray's own, workers starve wherever other tests compute
    return tmp_path / "a"


@pytest.fixture
def nodes(root: Path) -> Iterator[Any]:  # its environment is what the nodes get
    """A cluster of a head without CPUs and two nodes with one each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        yield cluster, [cluster.add_node(num_cpus=1), cluster.add_node(num_cpus=1)]
    finally:
        cluster.shutdown()


def start(root: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "imarena", "-w", str(root), "--json", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}
    )


def ended(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, err
    return json.loads(out)


def is_dead(pid: int) -> bool:
    """Did the process end? It may still be waiting for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until(true: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """As long as the command runs."""
    until = time.monotonic() + 100
    while not true():
        assert running.poll() is None, running.communicate()[1]
        assert time.monotonic() < until
        time.sleep(0.05)


def verdicts(root: Path) -> set[tuple[Any, ...]]:
    with open_workspace(root) as workspace:
        stored = list(workspace.store.records(Judgment))
    assert len({judgment.work_id for judgment in stored}) == len(stored)  # every one once
    assert {judgment.status for judgment in stored} == {Status.OK}
    return {(each.work_id, each.left_id, each.right_id, each.order, each.preference) for each in stored}


def ranks_online_alike(root: Path, address: str, votes: Path) -> None:
    """Online Elo with its rounds on the cluster, which gets them in two parts, and here: the same to the last digit."""
    rng = np.random.default_rng(1)
    left, more, won, item = rng.integers(0, 5, N), rng.integers(1, 5, N), rng.integers(0, 3, N), rng.integers(0, 300, N)
    rows = zip(left, (left + more) % 5, won, item, strict=True)
    lines = (f"m{one},m{other},{('left', 'tie', 'right')[who]},i{place}" for one, other, who, place in rows)
    votes.write_text("\n".join(["left,right,winner,item", *lines]))
    words = ("rank", "--from", str(votes), "--method", "elo")
    there = ended(start(root, *words, "--executor", "ray", RAY_ADDRESS=address))
    here = ended(start(root, *words))
    assert len(here["models"]) == 5
    assert {**there, "created_at": ""} == {**here, "created_at": ""}


@pytest.mark.ray
@pytest.mark.slow
def test_a_node_that_dies_loses_nothing(root: Path, nodes: Any, tmp_path: Path) -> None:
    cluster, (_, dying) = nodes
    shutil.copytree(root, tmp_path / "local")
    address = cluster.address
    mine = {"head-node:6379": address, "-w arena": f"-w {root}", "--judge builtin": "--judge function:slow:make --yes"}
    (block,) = fitted(blocks_of("scale.md", __file__), mine)
    (_, *check), (setting, _, *battle) = block.calls()
    checked = ended(start(root, *check))
    assert (checked["usable"], len(checked["nodes"])) == (3, 3)
    assert sum(node["cpus"] for node in checked["nodes"]) == 2
    ranks_online_alike(root, address, tmp_path / "votes.csv")
    hold, seen = tmp_path / "hold", tmp_path / "seen"
    hold.touch()  # no question is answered: both nodes get one, and one of the two loses it
    running = start(root, *battle, **dict([setting.split("=")]))
    wait_until(lambda: sum(file.stat().st_size > 0 for file in seen.iterdir()) == 2, running)
    workers = {int(file.read_text()) for file in seen.iterdir()}
    assert len(workers) == 2
    assert not any(map(is_dead, workers))
    cluster.remove_node(dying, allow_graceful=False)
    wait_until(lambda: sum(map(is_dead, workers)) == 1, running)
    hold.unlink()
    report = ended(running)["reports"][0]
    assert report["missing"] == 0
    asked = len(list(seen.iterdir()))
    ended(start(tmp_path / "local", *WORDS, "--executor", "threads"))
    assert verdicts(root) == verdicts(tmp_path / "local")
    assert asked == report["judgments"]["ok"] + 1 > 3  # only what was under way on the dead node is asked again
    boards = [ended(start(place, "rank", "--judge", "slow", "--rounds", "50")) for place in (root, tmp_path / "local")]
    assert boards[0]["models"] == boards[1]["models"]


@pytest.mark.ray
@pytest.mark.slow
def test_a_tool_that_needs_a_gpu_runs_only_where_there_is_one(root: Path, tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    (tmp_path / "slow.py").write_text(JUDGE.replace("cpu_bound = True", GPU_JUDGE).replace("time.sleep(0.3)", ""))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        alone = ended(start(root, "cluster", "check", cluster.address))
        assert alone["notes"] == ["No machine has a GPU: models of the extra vision run on processors there."]
        cluster.add_node(num_cpus=2, num_gpus=1)
        checked = ended(start(root, "cluster", "check", cluster.address))
        assert sorted(node["gpus"] for node in checked["nodes"]) == [0, 1]
        assert checked["notes"] == []
        report = ended(start(root, *WORDS, "--executor", "ray", RAY_ADDRESS=cluster.address))["reports"][0]
        assert report["missing"] == 0
        seen = [file.read_text() for file in (tmp_path / "seen").iterdir()]
        assert len(seen) == report["judgments"]["ok"]
        assert {text.split()[0] for text in seen} == {"gpu-0"}
        assert len(set(seen)) == 1, "one GPU, one worker"
    finally:
        cluster.shutdown()


@pytest.mark.ray
def test_an_address_without_a_cluster_is_explained(tmp_path: Path) -> None:
    process = start(tmp_path, "cluster", "check", "127.0.0.1:1")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert "There is no Ray cluster at 127.0.0.1:1" in err


@pytest.mark.ray
@pytest.mark.slow
def test_machines_of_another_version_are_reported(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One node of two: code 3."""
    from ray.cluster_utils import Cluster

    old = tmp_path / "old"
    old.mkdir()
    (old / "sitecustomize.py").write_text("import imarena.core.version as version\nversion.VERSION = '0.0.1'\n")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        before = os.environ["PYTHONPATH"]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(old), before]))
        cluster.add_node(num_cpus=1)
        monkeypatch.setenv("PYTHONPATH", before)
        process = start(root, "cluster", "check", cluster.address)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 3, err
        problems = [node["problems"] for node in json.loads(out)["nodes"]]
        assert sorted(map(bool, problems)) == [False, True]
        assert "it has imarena 0.0.1" in str(problems)
    finally:
        cluster.shutdown()


WITHOUT_IMAGES = """
import os
if "without_images" in os.environ.get("PYTHONPATH", ""):
    import pathlib
    there = pathlib.Path.is_dir
    pathlib.Path.is_dir = lambda self, **how: self.name != "pictures" and there(self, **how)
    import imarena.storage.blobs as blobs
    def refuse(*_):
        raise OSError("this machine has no access to the images")
    blobs.Blobs._read = refuse
"""


@pytest.mark.ray
@pytest.mark.slow
def test_a_machine_without_the_images_is_warned_about_and_judges(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets them through Ray from the process that asks."""
    from ray.cluster_utils import Cluster

    (root / "blobs").rename(tmp_path / "pictures")
    settings = root / "imarena.toml"
    settings.write_text(f'blobs = "{tmp_path / "pictures"}"\n' + settings.read_text().replace("blobs =", "# blobs ="))
    without = tmp_path / "without_images"
    without.mkdir()
    (without / "sitecustomize.py").write_text(WITHOUT_IMAGES)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        before = os.environ["PYTHONPATH"]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(without), before]))
        cluster.add_node(num_cpus=1)
        monkeypatch.setenv("PYTHONPATH", before)
        checked = ended(start(root, "cluster", "check", cluster.address))
        assert checked["usable"] == 2
        assert [node["problems"] for node in checked["nodes"]] == [[], []]
        assert sorted("there is no folder" in str(node["warnings"]) for node in checked["nodes"]) == [False, True]
        report = ended(start(root, *WORDS, "--executor", "ray", RAY_ADDRESS=cluster.address))["reports"][0]
        assert report["missing"] == 0
        assert report["judgments"] == {"ok": len(list((tmp_path / "seen").iterdir()))}
    finally:
        cluster.shutdown()


def test_an_image_is_sent_once_and_comes_back() -> None:
    """Through the object store by its hash, whoever asks about it; small things travel with the question."""
    store: list[bytes] = []

    def put(data: bytes) -> int:
        store.append(data)
        return len(store) - 1

    fetched: list[int] = []

    def fetch(reference: int) -> bytes:
        fetched.append(reference)
        return store[reference]

    sender, receiver = ImageSender(put), ImageReceiver(fetch)
    one, other = b"a" * LARGE, b"b" * LARGE
    questions = [{"source": one, "left": other, "note": b"small"}, {"source": bytes(bytearray(one)), "left": b"x"}]
    for question in questions:
        data, refs = sender.pack(question)
        assert len(data) < 500
        assert receiver.unpack(data, refs) == question
    assert (sender.sent, fetched) == (2, [0, 1])


def test_an_image_that_several_questions_show_at_once_is_sent_once() -> None:
    store: list[bytes] = []

    def put(data: bytes) -> int:
        time.sleep(0.05)
        store.append(data)
        return len(store) - 1

    sender = ImageSender(put)
    with ThreadPoolExecutor(4) as pool:
        packed = list(pool.map(sender.pack, [[b"a" * LARGE, str(number)] for number in range(4)]))
    assert sender.sent == 1
    assert {reference for _, refs in packed for reference in refs.values()} == {0}


def test_what_was_dropped_is_sent_again() -> None:
    store: list[bytes] = []
    sender = ImageSender(lambda data: store.append(data) or len(store) - 1, cap=LARGE)  # type: ignore[func-returns-value]
    receiver = ImageReceiver(store.__getitem__, cap=LARGE)
    for letter in (b"a", b"b", b"a"):
        data, refs = sender.pack([letter * LARGE])
        assert receiver.unpack(data, refs) == [letter * LARGE]
    assert sender.sent == 3
