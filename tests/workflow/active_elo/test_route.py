"""Active Elo on a workspace: calibrate, plan, assign, ingest, rerank, again and again."""

from pathlib import Path

import numpy as np
import pytest

from imarena.core.records import (
    Assignment,
    Calibration,
    Campaign,
    Item,
    Judgment,
    Output,
    Ranking,
    Rater,
    Turn,
)
from imarena.reports.active_page import active_page
from imarena.reports.page import markdown
from imarena.routing import AssignmentRequest
from imarena.storage import Workspace, leases, open_workspace
from imarena.storage.database import writing
from imarena.workflows.active_elo.assigning import assign_battles
from imarena.workflows.active_elo.planning import current_belief
from imarena.workflows.boards.weighted.vote_data import read_vote_data
from tests.command import Imarena
from tests.samples import kept
from tests.workflow.active_elo.routed_arena import EDITORS, STRENGTH, assigned, fill, vote_all


def test_a_campaign_from_start_to_board(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    gold = imarena("-w", arena, "route", "gold", "--share", "0.2", "--json").json
    assert gold == {"gold_items": 8, "new": True}
    assert imarena("-w", arena, "route", "gold", "--share", "0.5", "--json").json == {"gold_items": 8, "new": False}
    for step in range(3):
        made = assigned(imarena, arena, sheet, "--budget", 60, "--raters", "ann,bob", "--repeats", "0.1")
        assert (made["battles"], made["repeats"]) == (60, 6)
        header = sheet.read_text().splitlines()[0]
        assert "editor" not in sheet.read_text()
        assert header.startswith("assignment,rater,item")
        told = imarena("-w", arena, "route", "ingest", vote_all(arena, sheet, step), "--json").json
        assert (told["new"], told["refused"]) == (66, [])
    again = imarena("-w", arena, "route", "ingest", sheet, "--json").json
    assert (again["new"], again["same"]) == (0, 66)
    (campaign,) = imarena("-w", arena, "campaign", "status", "--json").json["campaigns"]
    assert (campaign["votes"], campaign["raters"]) == (180, 2), "who answers on a sheet takes part too"
    found = imarena("-w", arena, "route", "calibrate", "--json", "--rounds", "50", "--plot", tmp_path / "r.png").json
    assert (tmp_path / "r.png").stat().st_size > 1000
    assert found["n_pairs"] == 180  # a repeat is no second opinion
    assert [curve["group"] for curve in found["curves"]] == ["all", "colour", "shape"]
    boards = imarena("-w", arena, "route", "rerank", "--settings", "all", "--rounds", "50", "--json").json["boards"]
    assert [board["setting"] for board in boards] == ["corrected", "active-elo", "mixture", "human", "judge"]
    for board in boards:
        assert board["models"][0]["model"] == "editor-0"
        assert {"rating", "low", "high"} <= board["models"][0].keys()
    with open_workspace(arena) as workspace:
        theta = current_belief(read_vote_data(workspace, "robot"), claims=False).theta
    shown = {row["model"]: row["rating"] for row in boards[0]["models"]}
    assert [shown[name] - 1000 for name in EDITORS] == pytest.approx(
        (theta - theta.mean()) * 400 / np.log(10), abs=0.01
    )
    plan = imarena("-w", arena, "route", "plan", "--target", "40", "--json").json
    assert (plan["votes_so_far"], plan["controls_so_far"]) == (180, 18)
    assert (plan["half_width_left"] <= 40) == (plan["votes_needed"] <= plan["votes_left"])
    assert plan["votes_needed"] > 0
    assert plan["range_known"]
    assert "cannot give a range" not in imarena("-w", arena, "route", "plan", "--target", "40").out
    assert plan["half_width_then"] <= 40 < plan["half_width_now"]
    assert [line["family"] for line in plan["deferral"]] == ["all", "colour", "shape"]
    assert plan["deferral"][0]["rate"] == pytest.approx(0.337, abs=0.03)
    with open_workspace(arena) as workspace:
        gold_items = {i for c in workspace.store.rows(Assignment) for i in [c["item_id"]] if c["purpose"] == "vote"}
        assert len(gold_items) <= 32
        assert sum(workspace.store.count(Ranking).values()) == 5
        stored = next(workspace.store.records(Calibration))
        assert len(stored.data["gap"]) == stored.n_pairs  # type: ignore[arg-type]


NAMES = ("semantic_consistency", "editing_success", "prompt_following", "perceptual_quality")


def add_judges(workspace: Workspace) -> None:
    """A metric that is noise, and a judge with CV-Judge's four dimensions."""
    rng = np.random.default_rng(0)
    outputs = list(workspace.store.records(Output))
    workspace.store.add(
        Judgment(work_id=f"m{n}", judge="metric", item_id=o.item_id, left_id=o.output_id, score=score)
        for n, (o, score) in enumerate(zip(outputs, rng.uniform(0, 1, len(outputs)).tolist(), strict=True))
    )
    workspace.store.add(
        Judgment(
            work_id=f"c{n}", judge="cv", item_id=o.item_id, left_id=o.output_id,
            score=500.0 + 100 * STRENGTH[o.editor or ""] + n % 7,
            scores=dict.fromkeys(NAMES, 500.0 + 100 * STRENGTH[o.editor or ""] + n % 7),
        )
        for n, o in enumerate(outputs)
    )  # fmt: skip


@pytest.mark.slow
def test_the_report_has_every_table_that_there_is_data_for(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    with open_workspace(arena) as workspace:
        add_judges(workspace)
        some = list(workspace.store.records(Output))[:2]
        workspace.store.add(
            Judgment(work_id=f"s{n}", judge="sparse", item_id=o.item_id, left_id=o.output_id, score=n)
            for n, o in enumerate(some)
        )
    sheet = tmp_path / "s.csv"
    assigned(imarena, arena, sheet, "--budget", 150, "--judge", "robot", "--policy", "random")
    imarena("-w", arena, "route", "ingest", vote_all(arena, sheet))
    imarena("-w", arena, "route", "calibrate", "--judge", "cv", "--rounds", 20)
    command = ("-w", arena, "route", "report", "--rounds", "30", "--seeds", "3", "--json")
    found = imarena(*command, "--judge", "cv", "--reward", "metric", "--out", tmp_path / "page").json
    assert [line["family"] for line in found["deferral"]] == ["all", "colour", "shape"]
    assert set(found["boards"]) == {"corrected", "active-elo", "mixture", "human", "judge", "reward: metric"}
    assert found["settings"]["mixture"]["q"].startswith("max(0, 2a - 1)")
    assert found["settings"]["mixture"]["calibration"]["n_pairs"] == found["calibration"]["all"]["n_pairs"]
    assert found["settings"]["active-elo"]["rounds"] == found["settings"]["mixture"]["rounds"] == 30
    assert sum(row["n"] for row in found["calibration"]["all"]["table"]) == found["calibration"]["all"]["n_pairs"]
    assert set(found["by"]["family"]) == {"colour", "shape"}
    assert found["by"]["family"]["shape"]["boards"]["corrected"][0]["model"] == "editor-0"
    assert set(found["dimension_boards"]) == set(NAMES)
    assert [line["what"] for line in found["weights"]["lines"][::2]] == ["default", "uniform", "edit-heavy"]
    for table in ("policies", "thresholds", "weights", "judges"):
        assert len({line["budget"] for line in found[table]["lines"]}) == 1
        assert all(0 <= line["accuracy"]["low"] <= line["accuracy"]["high"] for line in found[table]["lines"])
    # one judge with scores of a single output is no reason to leave the others out
    assert [line["what"] for line in found["judges"]["lines"][::2]] == ["cv", "metric", "robot"]
    assert list(found["judges"]["left_out"]) == ["sparse"]
    assert "judges, sparse" in found["missing"]
    noise = next(line for line in found["metrics"] if line["metric"] == "metric")
    assert len(noise["pairs"]) == 10
    assert found["dimension_means"][0]["editing_success"] == pytest.approx(653, abs=4)
    page = (tmp_path / "page" / "report.md").read_text()
    for title in ("Boards side by side", "Boards by family", "table 2", "table 7", "table 9", "table 10", "appendix I"):
        assert title in page
    assert "the judge's reliability is q = max(0, 2a - 1)" in page
    found["by"]["family"]["lone"] = {"items": 1, "votes": 0, "boards": {}, "missing": {"human": "No votes."}}
    shown = markdown(active_page(found))
    assert "lone: 1 item, 0 votes." in shown
    assert "human only is missing for lone: No votes." in shown
    assert "A pair goes to people if both scores are at least " in shown
    gates = {"tau": 650.196, "delta": 82.2397, "score_range": {"low": 0, "high": 1000, "from": "given"}}
    assert (
        "A pair goes to people if both scores are at least 650.2 and the scores differ by less than 82.2 "
        "(scores from 0 to 1000)." in markdown(active_page({**found, **gates}))
    )
    assert "Every pair that the judge scored" in markdown(active_page({**found, "tau": None, "delta": None}))
    for name in ("index.html", "bootstrap.png", "wins.png", "reliability.png", "policies.png"):
        assert (tmp_path / "page" / name).stat().st_size > 1000
    plain = imarena(*command, "--judge", "robot", "--no-groups", "--seeds", 0).json
    assert "no calibration" in plain["missing"]["mixture"]
    assert "weights" in plain["missing"]
    assert "no folder" in imarena(*command, "--judge", "robot", "--out", tmp_path / "page.md", code=2).err


def test_no_rater_gets_a_battle_twice_but_for_repeats(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    for _ in range(3):
        assigned(imarena, arena, tmp_path / "s.csv", "--budget", 100, "--raters", "ann,bob", "--votes", 2)
    with open_workspace(arena) as workspace:
        made = list(workspace.store.records(Assignment))
    plain = [(one.rater_id, one.unit) for one in made if one.purpose == "vote"]
    assert len(plain) == len(set(plain)) == 300
    repeats = [(one.rater_id, one.unit) for one in made if one.purpose == "repeat"]
    assert len(repeats) == 15
    assert set(repeats) <= set(plain)
    work = [sum(rater == name for rater, _ in plain) for name in ("ann", "bob")]
    assert abs(work[0] - work[1]) <= 1
    assert all(one.probability is not None and 0 < one.probability <= 1 for one in made if one.purpose == "vote")


def test_the_web_application_serves_what_was_assigned(workspace: Workspace, tmp_path: Path) -> None:
    """Assignments for whoever comes are free to take, once each, and closed when a CSV brings the vote."""
    items = [Item(dataset="d", key=f"i{n}", turns=(Turn(instruction="edit"),)) for n in range(6)]
    workspace.store.add(items)
    outputs = [
        Output(item_id=one.item_id, editor=editor, image=kept(workspace, 10 * n + place))
        for n, one in enumerate(items)
        for place, editor in enumerate(EDITORS)
    ]
    workspace.store.add(outputs)
    workspace.store.add(
        Judgment(work_id=f"w{n}", judge="robot", item_id=o.item_id, left_id=o.output_id, score=float(n % 100))
        for n, o in enumerate(outputs)
    )
    made = assign_battles(workspace, None, AssignmentRequest(10), tmp_path / "sheet.csv")
    assert (made.assignments, made.offered) == (10, 10)
    again = assign_battles(workspace, None, AssignmentRequest(5))
    assert (again.campaign, again.offered) == (made.campaign, 5)
    workspace.store.add(Rater(rater_id=f"web-{n}") for n in range(15))
    taken = set()
    for n in range(15):
        with writing(workspace.store.engine) as connection:
            found = leases.free_task(connection, made.campaign, f"web-{n}", "2026-01-01")
            assert found is not None
            lease = found[0]
            leases.take_task(connection, lease, f"web-{n}", until="2099", address=lease.assignment_id, now="2026-01-01")
        taken.add(lease.assignment_id)
    assert len(taken) == 15


def test_an_arena_is_read_alike_from_both_databases(any_workspace: Workspace) -> None:
    fill(any_workspace, 6)
    found = read_vote_data(any_workspace, None)
    assert found.pool.scores.shape == (6, 5)
    assert np.isfinite(found.pool.scores).all()
    assert found.pool.models == EDITORS
    assert assign_battles(any_workspace, None, AssignmentRequest(4)).assignments == 4
    again = read_vote_data(any_workspace, "robot")
    assert int(again.pool.asked.sum()) == 4


def test_a_new_model_is_placed_by_its_own_battles(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    assigned(imarena, arena, tmp_path / "s.csv", "--budget", 30, "--place", "editor-3", "--repeats", 0)
    with open_workspace(arena) as workspace:
        editor = {row["id"]: row["editor"] for row in workspace.store.rows(Output)}
        for one in workspace.store.records(Assignment):
            assert "editor-3" in (editor[one.left_id], editor[one.right_id or ""])


def test_asking_stops_when_the_top_is_known(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    assigned(imarena, arena, sheet, "--budget", 300)
    imarena("-w", arena, "route", "ingest", vote_all(arena, sheet))
    made = assigned(imarena, arena, sheet, "--budget", 20, "--stop-top", 1, "--confidence", "0.6")
    assert made["stopped"]
    assert made["top_confidence"] >= 0.6


def test_a_range_too_wide_to_plan_with_is_not_printed(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    """Six votes: the forecast would be 1,007 to 76,242."""
    sheet = tmp_path / "s.csv"
    assigned(imarena, arena, sheet, "--budget", 6, "--raters", "ann,bob")
    imarena("-w", arena, "route", "ingest", vote_all(arena, sheet))
    plan = imarena("-w", arena, "route", "plan", "--json").json
    low, high = plan["votes_likely"]
    assert high > 20 * low
    assert not plan["range_known"]
    printed = imarena("-w", arena, "route", "plan").out
    assert "the votes so far cannot give a range" in printed
    assert f"{high:,}" not in printed


def test_votes_on_the_gold_set_are_asked_for_and_rank_apart(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    imarena("-w", arena, "route", "gold", "--share", "0.3")
    assigned(imarena, arena, sheet, "--budget", 40, "--raters", "ann,bob")
    imarena("-w", arena, "route", "ingest", vote_all(arena, sheet))
    assert assigned(imarena, arena, sheet, "--budget", 60, "--policy", "gold", "--raters", "ann,bob")["battles"] == 60
    imarena("-w", arena, "route", "ingest", vote_all(arena, sheet, 1))
    with open_workspace(arena) as workspace:
        read = read_vote_data(workspace, "robot")
        assert int(read.gold[read.votes.item].sum()) == 63  # with three repeats
        assert len(read.work) == 40
    boards = imarena("-w", arena, "route", "rerank", "--settings", "gold,human", "--json").json["boards"]
    assert [board["n_battles"] for board in boards] == [60, 40]
    assert boards[1]["details"]["gold"]["votes"] == 60  # a repeat is no second opinion
    assert "gold" not in boards[0]["details"]  # it is not checked against its own votes
    plan = imarena("-w", arena, "route", "plan", "--target", "60", "--json").json
    assert plan["deferral"][0]["pairs"] == 28 * 10
    later = assigned(imarena, arena, sheet, "--budget", 40, "--gold", "0.2", "--raters", "cid")
    assert later["gold"] == 8
    with open_workspace(arena) as workspace:
        held = workspace.store.get(Campaign, later["campaign"])
        assert held is not None
        assert held.settings["gold"]


def test_all_boards_are_those_that_the_data_allow(imarena: Imarena, arena: Path) -> None:
    found = imarena("-w", arena, "route", "rerank", "--settings", "all", "--rounds", "20", "--json").json
    assert [board["setting"] for board in found["boards"]] == ["judge"]
    assert [text.split("'")[1] for text in found["left_out"]] == ["corrected", "active-elo", "mixture", "human"]
    assert all(f"imarena -w {arena} route assign" in text for text in found["left_out"])
