"""A rater leaves a routed campaign: what waits for him or her is asked of others; votes that were given stay."""

import csv
from pathlib import Path

import pytest

from imarena.core.records import Assignment
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.workflows.boards.weighted.vote_data import read_vote_data
from tests.command import Imarena
from tests.workflow.active_elo.routed_arena import fill, vote_all


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, 6)
    return tmp_path / "arena"


def _asked(workspace: Workspace) -> int:
    return int(read_vote_data(workspace, "robot").pool.asked.sum())


def test_what_a_rater_leaves_behind_is_asked_of_others(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    """All 60 battles are given out, half to cy, who answers none: only with them can the rest be asked."""
    whole, done = tmp_path / "whole.csv", tmp_path / "ann.csv"
    plain = ("--repeats", "0", "--gold", "0")
    imarena("-w", arena, "route", "assign", "--budget", 60, "--raters", "ann,cy", *plain, "--out", whole)
    imarena("-w", arena, "route", "sheet", done, "--raters", "ann")
    imarena("-w", arena, "route", "ingest", vote_all(arena, done))
    with open_workspace(arena) as workspace:
        assert _asked(workspace) == 60
    left = imarena("-w", arena, "route", "assign", "--budget", 30, "--raters", "ann,bob", *plain, code=2)
    assert "no battle left" in left.err
    imarena("-w", arena, "withdraw", "rater", "cy", "--reason", "left")
    with open_workspace(arena) as workspace:
        assert _asked(workspace) == 30
    assert "waits for no vote" in imarena("-w", arena, "route", "sheet", tmp_path / "none.csv", code=2).err
    assert "withdrawn" in imarena("-w", arena, "route", "assign", "--budget", 5, "--raters", "cy", code=2).err
    again = tmp_path / "again.csv"
    imarena("-w", arena, "route", "assign", "--budget", 30, "--raters", "ann,bob", *plain, "--out", again)
    with whole.open() as first, again.open() as second:
        given = {row["assignment"] for row in csv.DictReader(first) if row["rater"] == "cy"}
        asked = {row["assignment"] for row in csv.DictReader(second)}
    with open_workspace(arena) as workspace:
        unit = {one.assignment_id: one.unit for one in workspace.store.records(Assignment)}
    assert {unit[one] for one in given} == {unit[one] for one in asked}
    told = imarena("-w", arena, "route", "ingest", vote_all(arena, again, 1), "--json").json
    assert (told["new"], told["refused"]) == (30, [])
