"""`campaign exclude` and `include`, and what `campaign export`, `rank --from` and `agree --from` make of it."""

import csv
from pathlib import Path

import pytest

from imarena.core.records import Rater
from imarena.routing.ballots import Answer
from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import Workspace
from imarena.workflows.rating.campaigns import create_campaign, plan_units
from imarena.workflows.rating.held_tasks import HeldTask
from imarena.workflows.rating.voting import Voting
from tests.command import Imarena
from tests.web.people import fill

RATERS = {"ann": "Ann", "bob": "Bob", "cat": "Bob"}


@pytest.fixture
def arena(any_workspace: Workspace) -> Path:
    """A campaign of three raters with practice, a test, gold and repeats; all of it answered. On each kind of database."""
    workspace = any_workspace
    fill(workspace, items=6, editors=("x", "y", "z"))
    first, second, *rest = plan_units(workspace, CampaignPlan(name="c"))
    names = ("item_id", "left_id", "right_id")

    def known(unit: object) -> dict[str, object]:
        return {**{name: getattr(unit, name) for name in names}, "preference": "left"}

    plan = CampaignPlan.model_validate({
        "name": "c", "raters_per_unit": 3, "gold_rate": 0.3, "repeat_rate": 0.3,
        "practice": [known(first)], "qualification": [known(second)], "gold": [known(unit) for unit in rest[:3]],
    })  # fmt: skip
    made = create_campaign(workspace, plan)
    voting = Voting(workspace)
    workspace.store.add([Rater(rater_id=identity, name=name) for identity, name in RATERS.items()])
    for rater in RATERS:
        voting.join(made.campaign_id, rater)
        while isinstance(task := voting.next(made.campaign_id, rater), HeldTask):
            # the left side is the first by name: the same answer whichever side it was shown on
            chosen = "left" if (task.assignment.left_id or "") < (task.assignment.right_id or "") else "right"
            if task.assignment.purpose in ("qualification", "gold"):
                chosen = str(task.assignment.params["expected"]["preference"])  # type: ignore[index, call-overload]
            voting.vote(task.address, rater, f"{rater}-{task.address}", Answer(preference=chosen))
    return workspace.root


def exported(imarena: Imarena, arena: Path) -> list[dict[str, str]]:
    imarena("-w", arena, "campaign", "export", "c", "--to", "votes.csv")
    with (arena.parent / "votes.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ranked(imarena: Imarena, *words: object) -> int:
    return int(imarena("--json", *words, "--interval", "none").json["n_battles"])


def test_the_export_and_the_board_agree(imarena: Imarena, arena: Path) -> None:
    rows = exported(imarena, arena)
    assert {row["not_counted"] for row in rows} == {"", "practice", "test", "gold", "repeat"}
    work = sum(not row["not_counted"] for row in rows)
    board = ranked(imarena, "-w", arena, "rank", "--source", "people")
    assert board == work == ranked(imarena, "rank", "--from", "votes.csv") < len(rows)
    assert ranked(imarena, "rank", "--from", "votes.csv", "--all-votes") == len(rows)
    here = imarena("-w", arena, "--json", "agree", "--what", "votes", "--rounds", 0).json["groups"]
    there = imarena("--json", "agree", "--from", "votes.csv", "--rounds", 0).json["groups"]
    every = imarena("--json", "agree", "--from", "votes.csv", "--rounds", 0, "--all-votes").json["groups"]
    assert [group["n_units"] for group in there] == [group["n_units"] for group in here]
    assert every[0]["n_units"] > there[0]["n_units"]
    assert "--all-votes needs a table" in imarena("-w", arena, "rank", "--all-votes", code=2).err
    assert "--all-votes needs a table" in imarena("-w", arena, "agree", "--all-votes", code=2).err


def test_an_excluded_rater_leaves_everything_at_once_and_comes_back(imarena: Imarena, arena: Path) -> None:
    before = ranked(imarena, "-w", arena, "rank", "--source", "people")
    words = ("-w", arena, "--json", "campaign", "exclude", "Ann", "--reason", "answers without looking")
    done = imarena(*words, "--by", "the lead").json
    assert (done["rater_id"], done["votes"], done["since"]) == ("ann", before // 3, None)
    assert (done["reason"], done["by"]) == ("answers without looking", "the lead")
    assert ranked(imarena, "-w", arena, "rank", "--source", "people") == before - before // 3
    rows = exported(imarena, arena)
    marked = [row for row in rows if row["not_counted"] == "rater excluded"]
    assert {row["rater"] for row in marked} == {"ann"}
    assert len(marked) == before // 3
    assert {row["not_counted"] for row in rows if row["purpose"] == "gold"} == {"gold"}
    assert ranked(imarena, "rank", "--from", "votes.csv") == before - before // 3
    (group,) = imarena("--json", "agree", "--from", "votes.csv", "--rounds", 0).json["groups"]
    assert group["n_raters"] == 2
    status = imarena("-w", arena, "--json", "campaign", "status", "c").json["campaigns"][0]
    assert {person["rater_id"]: person["excluded"] for person in status["people"]} == {
        "ann": True, "bob": False, "cat": False,
    }  # fmt: skip
    assert status["complete_units"] == 0, "more answers are asked for"
    assert "excluded (answers without looking)" in imarena("-w", arena, "campaign", "status", "c").out
    assert "excluded already" in imarena(*words, code=2).err
    status = imarena("-w", arena, "campaign", "status", "c").out
    ann = next(line for line in status.splitlines() if "Ann (ann)" in line)
    assert "still count" not in ann
    assert "excluded Ann (ann): answers without looking" in imarena("-w", arena, "campaign", "history", "c").out
    back = imarena("-w", arena, "campaign", "include", "ann", "--reason", "a mistake").out
    assert f"{before // 3} votes of Ann (ann) count again." in back
    assert ranked(imarena, "-w", arena, "rank", "--source", "people") == before
    first, second = imarena("-w", arena, "campaign", "history", "c").out.splitlines()
    assert "included Ann (ann): a mistake" in first
    assert "excluded Ann (ann)" in second
    entries = imarena("-w", arena, "--json", "campaign", "history", "c").json["history"]
    assert [(entry["kind"], entry["rater_id"]) for entry in entries] == [("included", "ann"), ("excluded", "ann")]
    assert "not excluded" in imarena("-w", arena, "campaign", "include", "ann", code=2).err


def test_what_is_refused(imarena: Imarena, arena: Path) -> None:
    exclude = ("-w", arena, "campaign", "exclude")
    assert "There is no rater 'dan'" in imarena(*exclude, "dan", "--reason", "r", code=2).err
    assert "2 raters are called 'Bob'" in imarena(*exclude, "Bob", "--reason", "r", code=2).err
    assert "--reason" in imarena(*exclude, "ann", code=2).err
    assert "needs a reason" in imarena(*exclude, "ann", "--reason", " ", code=2).err
    assert "is not a date" in imarena(*exclude, "ann", "--reason", "r", "--from", "soon", code=2).err
    assert "future" in imarena(*exclude, "ann", "--reason", "r", "--from", "2999-01-01", code=2).err
    assert "0 votes of Ann" not in imarena(*exclude, "ann", "--reason", "r", "--from", "2020-01-01").out


def test_a_rater_is_excluded_before_anybody_has_voted(imarena: Imarena, workspace: Workspace) -> None:
    fill(workspace, items=1, editors=("x", "y"))
    workspace.store.add([Rater(rater_id="ann")])
    imarena("-w", workspace.root, "campaign", "exclude", "ann", "--reason", "a test")
    imarena("-w", workspace.root, "campaign", "include", "ann", "--reason", "a mistake")


def test_campaigns_are_listed_with_state_votes_and_raters(imarena: Imarena, arena: Path) -> None:
    listed = imarena("-w", arena, "--json", "campaign", "list").json["campaigns"]
    status = imarena("-w", arena, "--json", "campaign", "status").json["campaigns"]
    names = ("name", "kind", "open", "votes", "slots", "raters")
    assert [[each[name] for name in names] for each in listed] == [[each[name] for name in names] for each in status]
    line = next(line for line in imarena("-w", arena, "campaign", "list").out.splitlines() if line.startswith("c "))
    assert line.split()[1:] == ["preference", "open", str(listed[0]["votes"]), str(listed[0]["slots"]), "3"]
    imarena("-w", arena, "campaign", "close", "c")
    assert "closed" in imarena("-w", arena, "campaign", "list").out


def test_a_workspace_without_campaigns_names_the_next_step(imarena: Imarena) -> None:
    imarena("init", "empty")
    assert "imarena -w empty campaign create NAME" in imarena("-w", "empty", "campaign", "list").out


def test_an_export_prints_the_number_of_votes(imarena: Imarena, arena: Path) -> None:
    ended = imarena("-w", arena, "campaign", "export", "c", "--to", "votes.csv")
    with (arena.parent / "votes.csv").open(encoding="utf-8", newline="") as file:
        assert f"Wrote votes.csv: {len(list(csv.DictReader(file)))} votes." in ended.out


def test_agreement_shows_names_in_the_terminal_only(imarena: Imarena, arena: Path) -> None:
    """Files, JSON and tables for papers have ids: names are personal data."""
    words = ("-w", arena, "agree", "--rounds", 0, "--rater-pairs", "--csv", "table.csv")
    ended = imarena(*words)
    for name in ("Ann (ann)", "Bob (bob)", "Bob (cat)"):
        assert name in ended.out
    papers = [imarena(*words, option).out for option in ("--markdown", "--latex", "--json")]
    for text in (*papers, (arena.parent / "table.csv").read_text()):
        assert "Ann" not in text
        assert "Bob" not in text
