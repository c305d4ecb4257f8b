"""The list of battles: pairs by what counts, in the order in which they were first named, found again by their id."""

import gc
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from imarena.core.ids import content_id, content_number, content_numbers
from imarena.core.records import Assignment, Campaign, Judgment, Order, Outcome, Output, Rater, Status, Vote
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.tables import large_columns
from imarena.web.app import create_app
from imarena.workflows.serving.explorer import list_battles, load_battle
from imarena.workflows.serving.leaderboards import BattleFilters, Leaderboards
from imarena.workflows.views.judge_variants import EARLIER
from tests.web.looked_at import EDITORS, fill, looked_at
from tests.web.people import Person, administrator, settings_of

LATER = datetime(2026, 3, 1, tzinfo=UTC)


def compared(left: Output, right: Output, outcome: Outcome, work: str, **more: Any) -> Judgment:
    return Judgment(
        work_id=work, judge="ash-judge", order=Order.LEFT_FIRST, item_id=left.item_id, left_id=left.output_id,
        right_id=right.output_id, preference=outcome, created_at=LATER, **more,
    )  # fmt: skip


def crowded(root: Path) -> None:
    """Verdicts that count and verdicts that do not: read again, by an earlier version, taken back, replaced."""
    with init_workspace(root) as workspace:
        fill(workspace)
        store = workspace.store
        one, other = list(store.records(Output))[:2]
        old = compared(one, other, Outcome.RIGHT, "w1", run_id="run_1", judge_version="1")
        new = compared(one, other, Outcome.LEFT, "w2", run_id="run_1", judge_version="2")
        read_again = new.model_copy(
            update={"preference": Outcome.TIE, "supersedes": new.judgment_id, "parser_version": "2"}
        )
        failed = compared(one, other, Outcome.LEFT, "w3", run_id="run_1", judge_version="2").model_copy(
            update={"preference": None, "status": Status.REFUSED}
        )
        store.add([old, new, failed])
        store.add([read_again])
        store.add([Rater(rater_id="rater_2")])
        sides = {"item_id": one.item_id, "left_id": other.output_id, "right_id": one.output_id}
        first = Vote(rater_id="rater_2", preference=Outcome.LEFT, idempotency_key="a", **sides)
        changed = Vote(
            rater_id="rater_2", preference=Outcome.RIGHT, idempotency_key="b", supersedes=first.vote_id, **sides
        )
        store.add([first])
        store.add([changed])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("list") / "arena"
    crowded(made)
    return made


@pytest.fixture(scope="module")
def app(root: Path) -> FastAPI:
    return create_app(settings_of(root))


@pytest.fixture(scope="module")
def admin(app: FastAPI) -> Person:
    return administrator(app)


def plainly(workspace: Workspace) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Pairs with their counts, one record at a time: votes first, then judgments, both in the order of arrival."""
    store = workspace.store
    gone = {row["supersedes"] for kind in (Vote, Judgment) for row in store.rows(kind) if row["supersedes"]}
    found: dict[str, tuple[Counter[str], Counter[str]]] = defaultdict(lambda: (Counter(), Counter()))
    records: list[Vote | Judgment] = [*store.records(Vote), *store.records(Judgment)]
    for one in records:
        identity = one.vote_id if isinstance(one, Vote) else one.judgment_id
        earlier = isinstance(one, Judgment) and one.judge_version == "1"
        if one.right_id is None or one.preference is None or identity in gone or earlier:
            continue
        left, right = sorted((one.left_id, one.right_id))
        outcome = one.preference if one.left_id == left else one.preference.mirrored()
        found[content_id("battle", one.item_id, left, right)][isinstance(one, Judgment)][outcome.value] += 1
    return found


def test_the_list_is_what_counting_by_hand_gives(root: Path, admin: Person) -> None:
    with open_workspace(root) as workspace:
        expected = plainly(workspace)
    page = admin.get("/api/battles?limit=200").json()
    assert [one["battle_id"] for one in page["battles"]] == list(expected)
    assert page["total"] == len(expected) == 12
    for one in page["battles"]:
        assert (one["votes"], one["judgments"]) == tuple(map(dict, expected[one["battle_id"]]))


def test_a_page_says_of_every_verdict_whether_it_counts(admin: Person) -> None:
    shown = [
        admin.get(f"/api/battles/{one['battle_id']}").json() for one in admin.get("/api/battles").json()["battles"]
    ]
    assert all(len(one["votes"]) >= 2 for one in shown)
    (crowd,) = [one for one in shown if len(one["judgments"]) > 2]
    told = {(one["judge"], one["preference"], one["counts"], one["reason"]) for one in crowd["judgments"]}
    seen_from = {"left": "right", "right": "left", "tie": "tie"}
    mirrored = crowd["battle"]["left"] != EDITORS[0]
    sides = seen_from if mirrored else {name: name for name in seen_from}
    assert {one for one in told if one[0] == "ash-judge"} == {
        ("ash-judge", sides["right"], False, EARLIER),
        ("ash-judge", sides["left"], False, "superseded"),
        ("ash-judge", "tie", True, ""),
        ("ash-judge", None, False, "refused"),
    }
    replaced = [one for one in crowd["votes"] if not one["counts"]]
    assert [(one["reason"], one["live"]) for one in replaced] == [("superseded", False)]
    assert all(one["live"] == (one["reason"] not in ("superseded", "retracted")) for one in crowd["votes"])


def test_how_raters_are_checked_is_told_to_leads_only(tmp_path: Path) -> None:
    """A vote on a gold task never counts; who does not lead does not see that there was one."""
    app = looked_at(tmp_path / "arena")
    with open_workspace(tmp_path / "arena") as workspace:
        one, other = list(workspace.store.records(Output))[:2]
        sides = {"item_id": one.item_id, "left_id": one.output_id, "right_id": other.output_id}
        task = Assignment(campaign_id="campaign_1", purpose="gold", **sides)
        workspace.store.add([Campaign(campaign_id="campaign_1", name="done", kind="preference", open=False)])
        workspace.store.add([task])
        known = Vote(
            rater_id="rater_0",
            assignment_id=task.assignment_id,
            preference=Outcome.BOTH_BAD,
            idempotency_key="g",
            **sides,
        )
        workspace.store.add([known])
    admin = administrator(app)
    secret = admin.post("/api/tokens", {"name": "watcher", "role": "viewer"})["secret"]
    viewer = TestClient(app, headers={"authorization": f"Bearer {secret}"})
    address = f"/api/battles/{content_id('battle', one.item_id, *sorted((one.output_id, other.output_id)))}"
    checked = [vote for vote in admin.get(address).json()["votes"] if vote["preference"] == "both_bad"]
    assert [(vote["counts"], vote["reason"], vote["live"]) for vote in checked] == [(False, "gold", True)]
    assert "both_bad" not in admin.get(address).json()["battle"]["votes"]
    seen = viewer.get(address).json()["votes"]
    assert len(seen) == len(admin.get(address).json()["votes"]) - 1 == 2
    assert all(vote["counts"] and not vote["reason"] for vote in seen)


def test_models_and_filters_leave_their_part(admin: Person) -> None:
    def total(query: str) -> int:
        return int(admin.get(f"/api/battles?{query}").json()["total"])

    assert total("left=ash") == total("right=ash") == 8
    assert total("left=ash&right=cedar") == total("left=cedar&right=ash") == 4
    assert total("left=nobody") == 0
    assert total("source=human&dimension=beauty") == 12
    assert total("judge=ash-judge") == total("judge=ash-judge&since=2026-02-01") == total("since=2026-02-01") == 1
    assert total("judge=ash-judge&until=2026-02-01") == 0
    assert total("judge=nobody") == 0
    assert total("task=even-task&mode=single&judge=oak") == 6
    assert total("mode=single") == total("")  # every output
    assert total("mode=complex") == 0
    few = admin.get("/api/battles?judge=ash-judge").json()["battles"][0]
    assert (few["votes"], few["judgments"]) == ({}, {"tie": 1}), "only what the filters leave is counted"


def test_what_comes_later_is_seen_and_found(tmp_path: Path) -> None:
    """A view grows: new judgments, votes and outputs are added to what was read."""
    looked_at(tmp_path / "arena")
    with open_workspace(tmp_path / "arena") as workspace:
        leaderboards = Leaderboards(workspace)
        before = list_battles(leaderboards)
        first = leaderboards.snapshot()
        assert leaderboards.snapshot() is first, "nothing was added"
        board = leaderboards.board(BattleFilters(source="judge", judge="oak"), "bt")
        assert board is leaderboards.board(BattleFilters(source="judge", judge="oak"), "bt")
        for known in before:
            assert load_battle(leaderboards, known.battle_id, leads=True)[0].battle_id == known.battle_id
        one, other = list(workspace.store.records(Output))[:2]
        extra = one.model_copy(update={"editor": "dogwood", "sample": 3, "params": {"n": 1}})
        workspace.store.add([Output.model_validate(extra.model_dump())])
        made = next(iter(workspace.store.records(Output, editor="dogwood")))
        workspace.store.add([compared(made, other, Outcome.LEFT, "new").model_copy(update={"judge": "oak"})])
        after = list_battles(leaderboards)
        assert (len(before), len(after)) == (12, 13)
        newest = after[12]
        assert {newest.left_id, newest.right_id} == {made.output_id, other.output_id}
        assert load_battle(leaderboards, newest.battle_id, leads=True)[0] == newest
        assert first.view.entries.seq.size + 1 == leaderboards.snapshot().view.entries.seq.size
        now = leaderboards.board(BattleFilters(source="judge", judge="oak"), "bt")
        assert board.ranking is not None
        assert now.ranking is not None
        assert (board.n_battles, now.n_battles) == (12, 13), "an old board stays what it was"


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what is mapped is not known")
def test_a_server_keeps_no_files_of_columns_that_it_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looked_at(tmp_path / "arena")
    monkeypatch.setattr(large_columns, "LEAST_BYTES", 32)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    held = []
    with open_workspace(tmp_path / "arena") as workspace:
        leaderboards = Leaderboards(workspace)
        one, other = list(workspace.store.records(Output))[:2]
        for number in range(5):
            verdict = compared(one, other, Outcome.LEFT, f"new-{number}", repeat=number)
            workspace.store.add([verdict.model_copy(update={"judge": "oak"})])
            assert len(list_battles(leaderboards)) == 12
            leaderboards.board(BattleFilters(source="judge", judge="oak"), "bt")
            gc.collect()
            lines = Path("/proc/self/maps").read_text().splitlines()
            held.append(sum(str(tmp_path) in line and "(deleted)" in line for line in lines))
    assert held[0] > 10
    assert max(held[2:]) <= held[1] + 2, held


def test_numbers_of_ids_are_their_beginnings() -> None:
    rows = [(f"item_{n:032x}", f"output_{n + 1:032x}", f"output_{n + 2:032x}") for n in range(50)]
    assert list(content_numbers("battle", rows)) == [content_number(content_id("battle", *row)) for row in rows]


def test_dates_are_days_both_included(root: Path) -> None:
    with open_workspace(root) as workspace:
        leaderboards = Leaderboards(workspace)
        day = LATER.date()
        for since, until, number in ((0, 0, 1), (1, None, 0), (None, -1, 0), (-1, 1, 1)):
            chosen = BattleFilters(
                judge="ash-judge",
                since=None if since is None else str(day + timedelta(days=since)),
                until=None if until is None else str(day + timedelta(days=until)),
            )
            assert len(list_battles(leaderboards, chosen)) == number
