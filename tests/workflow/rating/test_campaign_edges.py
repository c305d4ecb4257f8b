"""Campaigns over what a workspace may hold after years: withdrawn pictures, two answers by one rater."""

from pathlib import Path

from sqlalchemy import update

from imarena.core.records import Output, Rater
from imarena.routing.ballots import Answer
from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import init_workspace
from imarena.storage.database import writing
from imarena.storage.schema import votes
from imarena.storage.upkeep import withdraw_image, withdrawn_images
from imarena.workflows.rating.campaigns import create_campaign, plan_units
from imarena.workflows.rating.held_tasks import HeldTask
from imarena.workflows.rating.quality import agreement
from imarena.workflows.rating.voting import Voting
from tests.web.people import fill


def test_nobody_is_asked_about_a_withdrawn_picture(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=2)
        before = plan_units(workspace, CampaignPlan(name="c"))
        gone = workspace.store.get(Output, before[0].left_id or "")
        assert gone is not None
        assert gone.image is not None
        withdraw_image(workspace, gone.image.sha256, "asked to")
        assert list(withdrawn_images(workspace)) == [gone.image.sha256]
        after = plan_units(workspace, CampaignPlan(name="c"))
        assert {unit.name for unit in after} == {
            unit.name for unit in before if gone.output_id not in (unit.left_id, unit.right_id)
        }


def test_of_two_answers_by_one_rater_the_newer_counts(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=2)
        made = create_campaign(workspace, CampaignPlan(name="c", raters_per_unit=3, max_units=2))
        voting = Voting(workspace)
        answers = {"r0": "left", "r1": "right", "r2": "right"}
        workspace.store.add([Rater(rater_id=name) for name in answers])
        for name, said in answers.items():
            voting.join(made.campaign_id, name)
            while isinstance(task := voting.next(made.campaign_id, name), HeldTask):
                voting.vote(task.address, name, f"{name}-{task.address}", Answer(preference=said))
        with writing(workspace.store.engine) as connection:
            connection.execute(update(votes).where(votes.c.rater_id == "r1").values(rater_id="r0"))
        (found,) = agreement(workspace, made)
        assert (found.n_units, found.n_raters) == (2, 2)
