"""Pairs of a later turn through the API: raters and pages see what both outputs have in common."""

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from imarena.core.records import Output, Vote
from imarena.storage import open_workspace
from imarena.web.app import create_app
from tests.small_data.chained_arena import APART, SHOWN, make_chained, pair_of
from tests.web.people import administrator, campaign, rater, settings_of


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Output]:
    """A workspace `arena`."""
    return make_chained(tmp_path / "arena")


@pytest.fixture
def app(made: dict[str, Output], tmp_path: Path) -> FastAPI:
    """Its server."""
    return create_app(settings_of(tmp_path / "arena"))


def shown(document: Any) -> tuple[str, tuple[int, int]]:
    """The words, and the size of the one source."""
    (source,) = document["sources"]
    return document["instruction"], (source["width"], source["height"])


def test_a_rater_sees_what_both_have_in_common(app: FastAPI, made: dict[str, Output], tmp_path: Path) -> None:
    admin = administrator(app)
    one = campaign(admin)
    person = rater(app, admin, one)
    seen = []
    while (task := person.next(one)["task"]) is not None:
        seen.append(shown(task))
        person.vote(task, preference="left")
    assert sorted(seen) == sorted(SHOWN.values())
    with open_workspace(tmp_path / "arena") as workspace:
        votes = {pair_of(made, vote.left_id, vote.right_id): vote for vote in workspace.store.records(Vote)}
    assert {pair for pair, vote in votes.items() if vote.first_turn is not None} == set(APART)
    assert votes["a2", "c2"].first_turn == 1
    board = admin.get("/api/board?source=human").json()
    assert board["standings"], "these votes count"
    assert not [warning for warning in board["warnings"] if "later turn" in warning]
    found = {}
    for line in admin.get("/api/battles?limit=50").json()["battles"]:
        detail = admin.get(f"/api/battles/{line['battle_id']}").json()
        assert detail["battle"]["instruction"] == line["instruction"]
        assert all(admin.get(source["url"]).status_code == 200 for source in detail["sources"])
        words = {"instruction": line["instruction"], "sources": detail["sources"]}
        found[pair_of(made, line["left_id"], line["right_id"])] = shown(words)
    assert found == SHOWN
