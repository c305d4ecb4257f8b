"""curate run and rescore with a model: the estimate, --dry-run, the confirmation, and scores of stored candidates."""

from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Evidence, Item
from imarena.storage import open_workspace
from tests.command import Imarena, run_at_terminal
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.curation_library import make_instructions, make_library

ANSWER = ("--answer", "tests.workflow.curating.fake_planner:answer")
ENDPOINT = ("--endpoint", "fake")
RUN = (
    "curate", "run", "t.csv", "-s", "library", "-d", "cats", "--no-describe", "--min-long-side", "300", "--pool", "1",
    "--rounds", "2", "--queries", "3", "--results", "4", *ENDPOINT,
)  # fmt: skip
RESCORE = ("curate", "rescore", "cats", "--to", "again", "--min-long-side", "300", "--pool", "1", *ENDPOINT)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Imarena(tmp_path)("init", "a")
    make_library(tmp_path / "library", {"cat": "a cat"})
    make_instructions(tmp_path / "t.csv", ("k1", "Make the cat black.", "", ""))
    return tmp_path


def items(root: Path) -> dict[str, int]:
    with open_workspace(root / "a") as workspace:
        return {dataset: len(list(workspace.store.records(Item, dataset=dataset))) for dataset in ("cats", "again")}


def test_a_run_and_a_rescore_are_estimated_first(root: Path) -> None:
    run = Imarena(root)
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)

        def estimate(*command: str) -> dict[str, Any]:
            document = run("-w", "a", "--json", *command, "--dry-run").json
            assert document["dry_run"]
            (found,) = document["estimates"]
            assert isinstance(found, dict)
            return found

        first = estimate(*RUN)
        assert (first["new"], first["at_most"]) == (2 + 1 + 2 * (2 * 3 * 4), True)
        assert first["cost_usd"] > 0
        assert "at most 51 questions to ask" in run("-w", "a", *RUN, "--dry-run").err
        assert server.counts()["requests"] == 0
        with open_workspace(root / "a") as workspace:
            assert not list(workspace.store.records(Evidence))
        done = run("-w", "a", "--json", *RUN).json
        assert done["new_items"] == 1
        assert 0 < server.counts()["requests"] <= first["new"]
        assert 0 < done["cost_usd"] <= first["cost_usd"]
        again = estimate(*RUN)
        assert (again["new"], again["done_before"]) == (0, 1), "the pool is full"

        asked = server.counts()["requests"]
        found = estimate(*RESCORE)
        assert found["new"] == 2, "a caption and a score of the one candidate"
        assert server.counts()["requests"] == asked
        scored = run("-w", "a", "--json", *RESCORE).json
        assert server.counts()["requests"] - asked == found["new"]
        assert scored["new_items"] == 1, "a model scores the stored candidates"
        assert items(root) == {"cats": 1, "again": 1}


def test_an_unknown_source_is_named_before_the_estimate(root: Path) -> None:
    point_at(root / "a", "http://127.0.0.1:1/v1")
    ended = Imarena(root)("-w", "a", *RUN, "-s", "opnverse", "--dry-run", code=2)
    assert "There is no source 'opnverse'" in ended.err


def test_a_person_confirms_a_run_and_a_rescore(root: Path) -> None:
    with fake_server(*ANSWER) as server:
        point_at(root / "a", server.url)
        for command in (RUN, RESCORE):
            asked = server.counts()["requests"]
            code, err = run_at_terminal(root, "n", "-w", "a", *command)
            assert code == 0, err
            assert "Go on?" in err
            assert server.counts()["requests"] == asked
            code, err = run_at_terminal(root, "y", "-w", "a", *command)
            assert code == 0, err
            assert server.counts()["requests"] > asked
    assert items(root) == {"cats": 1, "again": 1}


def test_without_a_model_nobody_is_asked(root: Path) -> None:
    command = [word for word in RUN if word not in ENDPOINT]
    ended = Imarena(root)("-w", "a", *command, "--dry-run")
    assert "at no cost" in ended.out
    code, err = run_at_terminal(root, "n", "-w", "a", *command)
    assert "Go on?" not in err
    assert code == 0, err
