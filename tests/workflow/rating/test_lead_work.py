"""A lead's work on the command line: how many tasks there will be, known answers, payments, links, and a rehearsal."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Campaign, Rater, Vote
from imarena.routing.ballots import Answer
from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.rating.campaigns import campaign_progress, create_campaign
from imarena.workflows.rating.held_tasks import HeldTask
from imarena.workflows.rating.voting import Voting
from tests.command import Imarena
from tests.web.people import fill


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Items with outputs of three editors; no judge, no vote."""
    with init_workspace(tmp_path / "a") as workspace:
        fill(workspace, items=6, editors=("x", "y", "z"))
    return tmp_path / "a"


def voted(arena: Path, raters: tuple[str, ...] = ("ann", "bob"), **plan: Any) -> str:
    """A campaign whose raters have answered everything, all alike."""
    with open_workspace(arena) as workspace:
        values = {"name": "c", "raters_per_unit": len(raters), **plan}
        made = create_campaign(workspace, CampaignPlan.model_validate(values))
        voting = Voting(workspace)
        workspace.store.add([Rater(rater_id=rater, name=rater.capitalize()) for rater in raters])
        for rater in raters:
            voting.join(made.campaign_id, rater)
            while isinstance(task := voting.next(made.campaign_id, rater), HeldTask):
                ahead = (task.assignment.left_id or "") < (task.assignment.right_id or "")
                answer = Answer(preference="left" if ahead else "right", time_spent_s=30)
                voting.vote(task.address, rater, f"{rater}-{task.address}", answer)
    return made.campaign_id


def test_the_number_of_tasks_is_known_before(imarena: Imarena, arena: Path) -> None:
    create = ("campaign", "create", "c", "--raters-per-unit", 3, "--editor", "x", "--editor", "y", "--max-units", 4)
    text = imarena("-w", arena, *create, "--dry-run").out
    assert "4 pairs for 3 raters each: 12 tasks." in text
    assert "6 outputs by editors that were not chosen." in text
    assert "2 units over the maximum number of units." in text
    made = imarena("--json", "-w", arena, *create, "--dry-run").json
    assert (made["units"], made["tasks"], made["dry_run"]) == (4, 12, True)
    assert {left["reason"]: left["count"] for left in made["reasons"]} == {
        "outputs_other_editors": 6, "units_over_limit": 2,
    }  # fmt: skip
    assert (made["checks"], made["repeats"]) == (0, 0)
    again = ("campaign", "create", "c", "--raters-per-unit", 3, "--repeat-rate", 0.1, "--dry-run")
    assert imarena("--json", "-w", arena, *again).json["repeats"] == 4, "3 raters, 13 tasks after the fifth, 1 in 9"
    assert "Tasks shown again (repeats): about 4, fewer with more raters." in imarena("-w", arena, *again).out
    with open_workspace(arena) as workspace:
        assert not list(workspace.store.records(Campaign)), "nothing was stored"
    done = imarena("--json", "-w", arena, *create).json
    assert (done["units"], done["slots"]) == (4, 12)
    assert done["reasons"] == made["reasons"]
    assert imarena("-w", arena, *create, code=2).err.count("There is a campaign 'c' already") == 1


def test_known_answers_are_written_as_the_settings_of_a_campaign(imarena: Imarena, arena: Path) -> None:
    voted(arena)
    out = imarena("-w", arena, "campaign", "known", "--to", "known.json", "--most", 3, "--use", "qualification").out
    assert "Wrote 3 tasks to known.json" in out
    settings = json.loads((arena.parent / "known.json").read_text(encoding="utf-8"))
    assert [len(settings[use]) for use in settings] == [3]
    made = imarena("--json", "-w", arena, "campaign", "create", "second", "--settings", "known.json").json
    assert made["units"] == 18 - 3, "tasks with known answers are not asked as work"
    assert {left["reason"]: left["count"] for left in made["reasons"]} == {"units_known": 3}
    table = arena.parent / "t.csv"
    table.write_text("item,left,right,winner,use\nentry-0,x,y,left,practice\nentry-1,x,y,left,\n", encoding="utf-8")
    imarena("-w", arena, "campaign", "known", "--from", "t.csv", "--to", "both.json")
    assert set(json.loads((arena.parent / "both.json").read_text())) == {"practice", "gold"}


def test_whom_to_pay_for_what(imarena: Imarena, arena: Path) -> None:
    voted(arena, completion_codes={"completed": "DONE1"}, repeat_rate=0.3)
    rows = imarena("--json", "-w", arena, "campaign", "payments", "c").json["payments"]
    assert [row["name"] for row in rows] == ["Ann", "Bob"]
    for row in rows:
        assert row["tasks"] >= 18
        assert row["minutes"] == pytest.approx(row["tasks"] * 0.5), "by the rater's own figure: no browser, no clock"
        assert row["checks_passed"] == row["checks_asked"] == row["tasks"] - 18
        assert (row["outcome"], row["completion_code"]) == ("completed", "DONE1")
    imarena("-w", arena, "campaign", "payments", "c", "--to", "pay.csv")
    with (arena.parent / "pay.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [row["completion_code"] for row in written] == ["DONE1", "DONE1"]
    assert "Ann: " in imarena("-w", arena, "campaign", "payments", "c").out


def test_history_lists_who_was_excluded(imarena: Imarena, arena: Path) -> None:
    voted(arena)
    imarena("-w", arena, "campaign", "change", "c", "--weekly-quota", 300)
    imarena("-w", arena, "campaign", "exclude", "ann", "--reason", "no looking", "--by", "Lea")
    imarena("-w", arena, "campaign", "include", "ann", "--reason", "a mistake")
    entries = imarena("--json", "-w", arena, "campaign", "history", "c").json["history"]
    assert [(entry["kind"], entry["rater_id"], entry["reason"]) for entry in entries] == [
        ("included", "ann", "a mistake"), ("excluded", "ann", "no looking"), ("settings", None, ""),
    ]  # fmt: skip
    assert "Lea  excluded Ann (ann): no looking" in imarena("-w", arena, "campaign", "history", "c").out


def test_links_are_listed_revoked_and_restored(imarena: Imarena, arena: Path) -> None:
    imarena("-w", arena, "campaign", "create", "c")
    made = imarena("--json", "-w", arena, "campaign", "invite", "c", "--name", "Ann").json["invitation_id"]
    assert imarena("-w", arena, "campaign", "invite", "c", "--name", "Ann", code=2).err.count("a link for 'Ann'") == 1
    imarena("-w", arena, "campaign", "revoke", made)
    assert imarena("--json", "-w", arena, "campaign", "links", "c").json["links"][0]["revoked"] is True
    imarena("-w", arena, "campaign", "restore", made)
    assert imarena("--json", "-w", arena, "campaign", "links", "c").json["links"][0]["revoked"] is False
    assert imarena("-w", arena, "campaign", "restore", made, code=2).err.count("not revoked") == 1
    assert imarena("-w", arena, "campaign", "reinvite", "nobody", code=2).err.count("no rater 'nobody'") == 1


def test_a_rehearsal_marks_the_careless_and_leaves_the_workspace_alone(imarena: Imarena, arena: Path) -> None:
    imarena("-w", arena, "campaign", "create", "c", "--raters-per-unit", 5, "--adjudication", "lead")
    rehearse = ("-w", arena, "campaign", "rehearse", "c", "--to", "copy", "--careful", 3)
    result = imarena("--json", *rehearse).json
    assert (result["votes"], result["units"], result["complete_units"]) == (90, 18, 18)
    assert result["disputed"] > 0
    marks = {rater["rater_id"]: {notice["code"] for notice in rater["notices"]} for rater in result["raters"]}
    assert "rater_no_time_to_look" in marks["rehearsal-fast-1"]
    assert not any("rater_no_time_to_look" in marks[f"rehearsal-careful-{number}"] for number in (1, 2, 3))
    assert all("rater_overclaims_time" not in codes for codes in marks.values())
    assert {rater["outcome"] for rater in result["raters"]} == {"completed"}
    with open_workspace(arena) as workspace:
        assert workspace.store.count(Vote) == {(): 0}
        assert not list(workspace.store.records(Rater))
    with open_workspace(arena.parent / "copy") as copy:
        assert len(list(copy.blobs)) == 6 * 4, "the pages of the copy have their pictures"
    assert imarena(*rehearse, code=2).err.count("is not empty") == 1
    exported = imarena("-w", arena.parent / "copy", "campaign", "export", "c").out
    assert exported.count("\n") == 91


def test_people_alone_are_asked_without_any_judge(imarena: Imarena, arena: Path) -> None:
    plan = imarena("--json", "-w", arena, "route", "plan").json
    assert [notice["code"] for notice in plan["notices"]][:1] == ["people_alone"]
    assert (
        imarena("-w", arena, "route", "assign", "--budget", 4, "--policy", "two-gate", code=2).err.count("scores") == 1
    )
    made = imarena("--json", "-w", arena, "route", "assign", "--budget", 6, "--raters", "ann,bob", "--repeats", 0).json
    assert made["for_named_raters"] == made["assignments"] == 6
    imarena("-w", arena, "route", "sheet", "sheet.csv")
    with (arena.parent / "sheet.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (arena.parent / "sheet.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "winner": "Left is better"} for row in rows)
    assert "6 new votes" in imarena("-w", arena, "route", "ingest", "sheet.csv").out
    with open_workspace(arena) as workspace:
        assert all(vote.unseen for vote in workspace.store.records(Vote)), "sheets are marked, not refused"
    exported = imarena("-w", arena, "campaign", "export", "active elo").out
    assert exported.count("unseen by the server") == 6


def test_more_raters_for_a_campaign_that_routing_made_adds_tasks(imarena: Imarena, arena: Path) -> None:
    imarena("-w", arena, "route", "assign", "--budget", 6, "--raters", "ann,bob", "--repeats", 0)
    text = imarena("-w", arena, "campaign", "change", "active elo", "--raters-per-unit", 3).out
    assert "Changed: raters_per_unit. 12 tasks added." in text
    with open_workspace(arena) as workspace:
        (campaign,) = workspace.store.records(Campaign)
        progress = campaign_progress(workspace, campaign)
        assert (progress.units, progress.slots) == (6, 18)
    fewer = imarena("-w", arena, "campaign", "change", "active elo", "--raters-per-unit", 1).out
    assert "12 tasks withdrawn." in fewer
