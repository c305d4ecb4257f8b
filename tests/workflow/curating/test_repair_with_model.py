"""curate repair with a model: estimated, confirmed, stopped by the cost limit, and never paid for twice."""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Evidence, Item, Rater, Run, Verification
from imarena.routing.forms import forms
from imarena.storage import open_workspace
from tests.command import Imarena, run_at_terminal
from tests.servers.fake_endpoint import Server, fake_server, point_at
from tests.small_data.curation_library import make_instructions, make_library

ANSWER = ("--answer", "tests.workflow.curating.fake_planner:answer")
SMALL = ("--min-long-side", "300")
RUN = (
    "curate", "run", "t.csv", "-s", "library", "-d", "raw", "--no-describe", "--pool", "1", "--rounds", "1",
    "--endpoint", "fake", *SMALL,
)  # fmt: skip


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two photographs that the model scored; one became an item, and a person sent it to repair."""
    root = tmp_path_factory.mktemp("repair")
    run = Imarena(root)
    run("init", "a")
    make_library(root / "library", {"dandelion": "cat: a blossom in a meadow", "flower": "cat: an orange blossom"})
    make_instructions(root / "t.csv", ("bloom", "Make the blossom blue.", "", ""))
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        run("-w", "a", *RUN)
    with open_workspace(root / "a") as workspace:
        (item,) = workspace.store.records(Item, dataset="raw")
        workspace.store.add([Rater(rater_id="ann", name="ann")])
        checks = {question.name: question.name != "feasible" for question in forms().checks}
        workspace.store.add([Verification(item_id=item.item_id, rater_id="ann", checks=checks, decision="repair")])
    return root


@pytest.fixture
def root(collected: Path, tmp_path: Path) -> Path:
    shutil.copytree(collected / "a", tmp_path / "a")
    return tmp_path


def repair(root: Path, *change: str) -> list[str]:
    with open_workspace(root / "a") as workspace:
        (item,) = workspace.store.records(Item, dataset="raw")
    return ["-w", "a", "curate", "repair", "raw", item.key, "--verifiers", "1", "--endpoint", "fake", *SMALL, *change]


def estimate(root: Path, command: list[str]) -> dict[str, Any]:
    document = Imarena(root)("--json", *command, "--dry-run").json
    assert document["dry_run"]
    (found,) = document["estimates"]
    assert isinstance(found, dict)
    return found


def repaired(root: Path) -> list[Item]:
    with open_workspace(root / "a") as workspace:
        return list(workspace.store.records(Item, dataset="raw-repaired"))


def steps(root: Path) -> int:
    with open_workspace(root / "a") as workspace:
        return len(list(workspace.store.records(Evidence)))


def test_a_repair_is_estimated_first_and_stored(root: Path) -> None:
    crop = repair(root, "--crop", "10,0,390,210")
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        before = steps(root)
        first = estimate(root, crop)
        assert (first["new"], first["done_before"]) == (2, 0)
        assert first["cost_usd"] > 0
        ended = Imarena(root)(*crop, "--dry-run")
        assert "2 questions to ask" in ended.err
        assert "Nothing was repaired." in ended.out
        assert (server.counts()["requests"], steps(root), repaired(root)) == (0, before, [])
        done = Imarena(root)("--json", *crop).json
        assert server.counts()["requests"] == 2
        assert 0 < done["cost_usd"] <= first["cost_usd"]
    (item,) = repaired(root)
    assert (done["item"], done["score"], item.provenance["caption"]) == (item.key, 0.9, "A cat.")
    with open_workspace(root / "a") as workspace:
        (run,) = workspace.store.records(Run, command="curate repair")
        assert (run.state, run.cost_usd) == ("done", done["cost_usd"])
    assert Imarena(root)("-w", "a", "verify", "--deep").code == 0


def test_a_candidate_that_the_model_scored_costs_nothing(root: Path) -> None:
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        command = repair(root, "--candidate")
        assert (estimate(root, command)["new"], estimate(root, command)["done_before"]) == (0, 2)
        code, err = run_at_terminal(root, "n", *command)
        assert "Go on?" not in err
        assert code == 0, err
        assert server.counts()["requests"] == 0
    assert len(repaired(root)) == 1


def test_a_person_confirms_a_repair(root: Path) -> None:
    command = repair(root, "--instruction", "Remove the blossom.")
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        for reply, asked in (("n", 0), ("y", 2)):
            code, err = run_at_terminal(root, reply, *command)
            assert code == 0, err
            assert "Go on?" in err
            assert (server.counts()["requests"], len(repaired(root))) == (asked, asked // 2)
        code, err = run_at_terminal(root, "n", *repair(root, "--discard"))
        assert "Go on?" not in err


def test_the_cost_limit_and_a_kill_lose_no_answer(root: Path) -> None:
    command = repair(root, "--crop", "10,0,390,210")
    with fake_server(*ANSWER, "--reply-s", "1") as server:
        point_at(root / "a", server.url)
        stopped = Imarena(root)(*command, "--max-cost-usd", "0.000001", code=3)
        assert "not repaired; stopped: " in stopped.out
        assert server.counts()["requests"] == 0
        killed_after_a_caption(root, command, server)
        left = estimate(root, command)
        assert (left["new"], left["done_before"]) == (1, 1)
        asked = server.counts()["requests"]
        assert Imarena(root)("--json", *command).json["score"] == 0.9
        assert server.counts()["requests"] - asked == 1, "the caption is not asked again"
    assert len(repaired(root)) == 1


def killed_after_a_caption(root: Path, command: list[str], server: Server) -> None:
    with open_workspace(root / "a") as workspace:
        captions = len([step for step in workspace.store.records(Evidence) if is_caption(step)])
        process = subprocess.Popen([sys.executable, "-m", "imarena", *command], cwd=root, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len([step for step in workspace.store.records(Evidence) if is_caption(step)]) == captions:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.kill()
        process.wait()
    assert repaired(root) == []
    assert server.counts()["answered"] == 1


def is_caption(step: Evidence) -> bool:
    return isinstance(step.value, dict) and step.value.get("step") == "caption"


def test_a_failed_answer_is_asked_again(root: Path) -> None:
    command = repair(root, "--crop", "10,0,390,210")
    with fake_server("--answer", "tests.workflow.edival_building.fake_vlm:answer") as server:
        point_at(root / "a", server.url)
        assert "no score (unparsable)" in Imarena(root)(*command, code=2).err
        assert repaired(root) == []
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        assert Imarena(root)("--json", *command).json["score"] == 0.9
