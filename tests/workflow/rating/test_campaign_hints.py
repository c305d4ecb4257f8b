"""What commands about campaigns print where there is nothing to do."""

from pathlib import Path

from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import init_workspace
from imarena.workflows.rating.campaigns import create_campaign
from tests.command import Imarena
from tests.web.people import fill


def test_a_closed_campaign_invites_nobody(tmp_path: Path, imarena: Imarena) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=2)
        create_campaign(workspace, CampaignPlan(name="c"))
    root = str(tmp_path / "arena")
    imarena("-w", root, "campaign", "close", "c")
    refused = imarena("-w", root, "campaign", "invite", "c", "--name", "Ann", code=2)
    assert "'c' is closed" in refused.err
    assert f"imarena -w {root} campaign close c --reopen" in refused.err
    imarena("-w", root, "campaign", "close", "c", "--reopen")
    assert "http" in imarena("-w", root, "campaign", "invite", "c", "--name", "Ann").out


def test_empty_answers_name_the_next_step(tmp_path: Path, imarena: Imarena) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=2)
    root = str(tmp_path / "arena")
    assert f"imarena -w {root} campaign create NAME" in imarena("-w", root, "campaign", "status").out
    known = imarena("-w", root, "campaign", "known", "--to", str(tmp_path / "known.json"), code=2)
    assert "No task has a known answer" in known.err
    assert "--from FILE" in known.err


def test_a_misspelt_command_suggests_the_nearest(imarena: Imarena) -> None:
    assert "Did you mean 'compare'?" in imarena("comapre", code=2).err


def test_states_and_next_steps_of_a_campaign_are_sentences(tmp_path: Path, imarena: Imarena) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=2)
        create_campaign(workspace, CampaignPlan(name="c", raters_per_unit=6))
    words = ("-w", str(tmp_path / "arena"), "campaign")
    assert "No rater of 'c' has answered a task yet" in imarena(*words, "payments", "c").out
    imarena(*words, "invite", "c", "--name", "Ana")
    assert "1 link not opened yet (Ana)" in imarena(*words, "status", "c").out
    (document,) = imarena(*words, "status", "c", "--json").json["campaigns"]
    assert [link["name"] for link in document["links_not_opened"]] == ["Ana"]
    told = imarena(*words, "rehearse", "c", "--to", str(tmp_path / "copy"), "--fast", 0).out
    assert "simulated votes" in told
    assert "adjudication is off" in told
    assert "disputed" not in told
    assert "Not all units are complete: each unit needs 6 raters, and 4 took part." in told
    again = imarena("-w", tmp_path / "copy", "campaign", "rehearse", "c", "--to", tmp_path / "twice", "--fast", 6).out
    assert "real vote" in again, "votes that the campaign had already are counted apart"
    assert imarena(*words, "close", "c").out.strip() == "Closed the campaign 'c'."
    refused = imarena(*words, "rehearse", "c", "--to", str(tmp_path / "new"), code=2).err
    assert "'c' is closed" in refused
    assert "campaign close c --reopen" in refused
    assert imarena(*words, "close", "c", "--reopen").out.strip() == "Opened the campaign 'c'."


def test_what_is_missing_comes_with_an_example_and_help_with_whole_sentences(imarena: Imarena) -> None:
    missing = " ".join(imarena("campaign", "rehearse", "c", code=2).err.split())
    assert "Missing option '--to'. Example: imarena campaign rehearse CAMPAIGN --to PATH" in missing
    missing = " ".join(imarena("campaign", "exclude", code=2).err.split())
    assert "Example: imarena campaign exclude RATER --reason TEXT" in missing
    shown = " ".join(imarena("campaign", "--help").out.split())
    assert "Create a campaign and its tasks from the items and outputs of the workspace." in shown
    assert "..." not in shown.partition("Commands:")[2]
    assert "preference 1, rating 3" in " ".join(imarena("campaign", "create", "--help").out.split())
