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
