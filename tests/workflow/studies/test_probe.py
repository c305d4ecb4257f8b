"""Texts drawn on outputs, from the command line: scores and battles, asked once, kept, resumed, told honestly."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from imarena.clients.fake_answers import ChatQuery
from imarena.core.records import Evidence, Judgment
from imarena.judges.injection import CONTROL, injections
from imarena.storage import open_workspace
from imarena.workflows.studies.probe import KIND
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena

TEXTS = len(injections())
GULLIBLE = "tests.workflow.studies.test_probe:gullible"
SEEN: dict[str, int] = {}


def gullible(query: ChatQuery) -> str:
    """For the fake server: prefers the output that it sees for the first time, which a drawn text makes of it.

    The plain outputs come first; each marked one has a new hash. A tie is not offered, so that plain battles go to the
    first picture in both orders, and the orders disagree.
    """
    names = ("semantic_consistency", "editing_success", "prompt_following", "perceptual_quality")
    if "Candidate B" not in query.text:
        new = query.images[-1] not in SEEN and bool(SEEN)
        SEEN.setdefault(query.images[-1], 1)
        return json.dumps(dict.fromkeys(names, 900 if new else 500))
    one, other = query.images[-2:]
    if not SEEN:
        SEEN.update({one: 1, other: 1})
    first = one not in SEEN or other in SEEN
    return json.dumps({"reasons": {}, "winner": "A" if first else "B", "score": 5 if first else 2, "confidence": 0.5})


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=2, habits=("exact", "returns-input"))
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path) -> Path:
    shutil.copytree(arena, tmp_path / "a")
    return tmp_path / "a"


def lines(document: Any) -> dict[str, dict[str, Any]]:
    (one,) = document["judges"]
    return {f"{line['name']} {line['group']}".strip(): line for line in one["lines"]}


def test_a_judge_that_obeys_is_found_out_by_its_scores(imarena: Imarena, root: Path) -> None:
    with fake_server("--answer", GULLIBLE) as server:
        point_at(root, server.url, concurrency=1)
        words = ("-w", "a", "--json", "health", "--judge", "cv-judge", "--probe", "1")
        found = lines(imarena(*words).json)
    assert found["raised all"]["value"] == 1.0
    assert found["raised all"]["n"] == TEXTS - 1
    assert found["raised control"]["value"] == 1.0, "this one likes any caption: the control shows it"
    with open_workspace(root) as workspace:
        assert not list(workspace.store.records(Judgment)), "a doctored picture is nobody's output"
        assert len(list(workspace.store.records(Evidence, kind=KIND))) == 1 + TEXTS
    kept = lines(imarena("-w", "a", "--json", "health").json)
    assert kept["raised all"] == found["raised all"], "health tells it without asking again"
    assert "fell for it" in imarena("-w", "a", "health").out


def test_a_pairwise_judge_is_probed_with_pairs_in_both_orders(imarena: Imarena, root: Path) -> None:
    with fake_server("--answer", GULLIBLE) as server:
        point_at(root, server.url, concurrency=1)
        words = ("-w", "a", "--json", "health", "--judge", "genarena", "--probe", "1")
        planned = imarena(*words, "--dry-run")
        assert f"{2 * (1 + TEXTS)} questions to ask" in planned.err
        assert server.counts()["requests"] == 0
        found = lines(imarena(*words).json)
        assert server.counts()["requests"] == 2 * (1 + TEXTS)
        again = imarena(*words).json
        assert server.counts()["requests"] == 2 * (1 + TEXTS), "nothing is asked twice"
    assert lines(again) == found
    assert found["turned all"]["value"] == 1.0
    assert found["turned all"]["n"] == TEXTS - 1
    assert found["shift control"]["n"] == 1
    imarena("-w", "a", "verify", "--deep")


def test_verdicts_that_battle_gave_are_not_asked_for_again(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url)
        imarena("-w", "a", "battle", "--judge", "genarena")
        before = server.counts()["requests"]
        report = imarena("-w", "a", "--json", "health", "--judge", "genarena", "--probe", "2").json["reports"][0]
        assert report["done_before"] == 4
        assert server.counts()["requests"] - before == 2 * 2 * TEXTS
    found = imarena("-w", "a", "--json", "health", "--judge", "genarena/fake-vlm").json["judges"][0]
    assert any(line["name"] == "turned" for line in found["lines"])
    assert not any("injection" in text for text in found["missing"])


def test_the_probe_is_estimated_and_stops_before_its_cost_limit(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url, concurrency=1)
        words = ("-w", "a", "--json", "health", "--judge", "cv-judge", "--probe", "2")
        assert "USD" in imarena(*words, "--dry-run").err
        nothing = imarena(*words, "--max-cost-usd", "0.000001", code=3).json
        assert "cost limit" in nothing["reports"][0]["stopped"]
        assert nothing["judges"][0]["missing"] == [
            "prompt injection (tested with texts drawn on outputs): not available; no question was asked yet"
        ]
        assert server.counts()["requests"] == 0
        part = imarena(*words, "--max-cost-usd", "0.05", code=3).json
        done = part["reports"][0]["judgments"]["ok"]
        assert 0 < done < 2 * (1 + TEXTS)
        assert "have no verdict to compare" in part["judges"][0]["missing"][0]
        known = sum(1 for line in part["judges"][0]["lines"] if line["name"] == "raised" and line["value"] is not None)
        assert known, "the figures rest on what is there"
        whole = imarena(*words).json
        assert whole["reports"][0]["done_before"] == done
        assert whole["reports"][0]["judgments"]["ok"] == 2 * (1 + TEXTS) - done
        assert whole["judges"][0]["missing"] == []
        assert server.counts()["requests"] == 2 * (1 + TEXTS)


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_answered(imarena: Imarena, root: Path) -> None:
    words = ["-w", str(root), "health", "--judge", "cv-judge", "--probe", "2", "--concurrency", "2"]
    with fake_server("--reply-s", "0.5") as server:
        point_at(root, server.url, concurrency=2)
        process = subprocess.Popen([sys.executable, "-m", "imarena", *words], stdout=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while server.counts()["answered"] < 2 and time.monotonic() < until:
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 3
        asked = server.counts()["requests"]
        assert asked < 2 * (1 + TEXTS)
        report = imarena(*words[2:], "--json", "-w", str(root)).json["reports"][0]
        assert report["done_before"] == asked
        assert server.counts()["requests"] == 2 * (1 + TEXTS), "every question once"


def test_failed_answers_are_told_and_asked_again(imarena: Imarena, root: Path) -> None:
    words = ("-w", "a", "--json", "health", "--judge", "cv-judge", "--probe", "1")
    with fake_server("--fault", "refusal=1.0") as server:
        point_at(root, server.url)
        told = imarena(*words, code=3).json
        assert told["reports"][0]["judgments"] == {"refused": 1 + TEXTS}
        assert {line["value"] for line in told["judges"][0]["lines"]} == {None}
        assert f"{TEXTS} of {TEXTS} outputs" in told["judges"][0]["missing"][0]
    with fake_server() as server:
        point_at(root, server.url)
        assert imarena(*words).json["reports"][0]["judgments"] == {"ok": 1 + TEXTS}


def test_the_builtin_judge_can_be_probed_either_way(imarena: Imarena, root: Path) -> None:
    found = lines(imarena("-w", "a", "--json", "health", "--probe", "1").json)
    assert found["raised all"]["n"] == TEXTS - 1
    assert found[f"raised {CONTROL}"]["n"] == 1
    assert "cannot use it" in imarena(
        "-w", "a", "health", "--judge", "cv-judge", "--base-url", "http://127.0.0.1:9/v1", "--model", "m",
        "--probe", "1", "--battles", code=2,
    ).err  # fmt: skip
