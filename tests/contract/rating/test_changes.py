"""A campaign that is changed while people work in it; on both databases."""

from collections import Counter

import pytest

from imarena.core.errors import UserError
from imarena.core.records import Assignment, Vote
from imarena.routing.campaign_plan import CampaignPlan
from imarena.routing.offers import RaterStanding
from imarena.storage import Workspace
from imarena.workflows.rating.campaigns import campaign_progress, create_campaign, offer_missing
from imarena.workflows.rating.changes import CampaignChanges, change_campaign, history
from imarena.workflows.rating.held_tasks import HeldTask
from imarena.workflows.rating.prefetch import submit_prefetch
from imarena.workflows.rating.voting import Voting
from tests.contract.rating.test_voting import LEFT, desk, held, key
from tests.web.people import fill


def change(voting: Voting, campaign: str, by: str = "lead", **wanted: object) -> None:
    change_campaign(voting.workspace, campaign, CampaignChanges.model_validate(wanted), by)
    voting.records.forget_plans()


def slots(voting: Voting, campaign: str) -> tuple[int, int, int]:
    found = campaign_progress(voting.workspace, voting.campaign(campaign))
    return found.units, found.slots, found.complete_units


def work(voting: Voting, campaign: str, rater: str) -> list[str]:
    units = []
    while isinstance(task := voting.next(campaign, rater), HeldTask):
        units.append(task.assignment.unit)
        voting.vote(task.address, rater, key(), LEFT)
    return units


def test_changes_take_effect_and_are_kept_with_who_and_when(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace)
    change(voting, campaign, by="Ana", name="new name", weekly_quota=1, lease_s=60)
    change(voting, campaign, by="Bo", weekly_quota=3, lease_s=60)
    change(voting, campaign, by="Bo", weekly_quota=3)
    record = voting.campaign(campaign)
    assert record.name == "new name"
    told = history(record)
    assert [entry.by for entry in told] == ["Bo", "Ana"], "what stays the same is no change"
    assert told[0].changes == {"weekly_quota": {"old": 1, "new": 3}}
    assert told[1].changes["name"] == {"old": "c", "new": "new name"}
    assert told[0].at > told[1].at
    assert len(work(voting, campaign, one)) == 3
    assert voting.standing(campaign, one).stage == "quota"
    again = Voting(any_workspace)
    assert again.records.plan(campaign).weekly_quota == 3


def test_more_raters_for_each_unit_make_new_tasks_and_fewer_withdraw_free_ones(any_workspace: Workspace) -> None:
    fill(any_workspace, items=4)
    voting, campaign, raters = desk(any_workspace, raters=4, raters_per_unit=1)
    first = work(voting, campaign, raters[0])
    assert slots(voting, campaign) == (12, 12, 12)
    change(voting, campaign, raters_per_unit=3)
    assert slots(voting, campaign) == (12, 36, 0)
    assert sorted(work(voting, campaign, raters[1])) == sorted(first)
    assert work(voting, campaign, raters[0]) == [], "nobody gets a unit twice"
    taken = held(voting.next(campaign, raters[2]))
    change(voting, campaign, raters_per_unit=2)
    assert slots(voting, campaign) == (12, 25, 12), "the task in hand stays"
    voting.vote(taken.address, raters[2], key(), LEFT)
    assert isinstance(voting.next(campaign, raters[2]), RaterStanding)
    assert offer_missing(any_workspace) == 0, "withdrawn tasks do not come back with the next start"
    change(voting, campaign, raters_per_unit=3)
    change(voting, campaign, raters_per_unit=3)
    assert slots(voting, campaign) == (12, 36, 1)
    assert any_workspace.store.count(Assignment) == {(): 36}, "withdrawn tasks come back before new ones are made"
    work(voting, campaign, raters[2])
    assert work(voting, campaign, raters[3]) == []
    assert slots(voting, campaign) == (12, 36, 12)
    each = Counter((row["item_id"], *sorted((row["left_id"], row["right_id"]))) for row in _votes(any_workspace))
    assert set(each.values()) == {3}


def _votes(workspace: Workspace) -> list[dict[str, str]]:
    return list(workspace.store.rows(Vote))


def test_sides_of_added_tasks_are_by_chance(any_workspace: Workspace) -> None:
    fill(any_workspace, items=8)
    voting, campaign, _ = desk(any_workspace, raters_per_unit=1)
    change(voting, campaign, raters_per_unit=8)
    first: dict[str, str] = {}
    same: Counter[bool] = Counter()
    for row in any_workspace.store.rows(Assignment):
        same[row["left_id"] == first.setdefault(row["unit"], row["left_id"])] += 1
    assert sum(same.values()) == 24 * 8
    assert 60 <= same[False] <= 108, "half of 168 would be 84"


def test_a_paused_campaign_gives_no_tasks_and_goes_on(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace)
    task = held(voting.next(campaign, one))
    change(voting, campaign, paused=True)
    assert voting.standing(campaign, one).stage == "on_hold"
    assert submit_prefetch(voting, campaign, one).result() is None
    voting.vote(task.address, one, key(), LEFT)
    assert isinstance(voting.next(campaign, one), RaterStanding)
    assert any_workspace.store.count(Vote) == {(): 1}, "the task in hand could be answered"
    change(voting, campaign, paused=False)
    held(voting.next(campaign, one))
    change(voting, campaign, open=False)
    assert voting.standing(campaign, one).stage == "closed"
    assert [list(entry.changes) for entry in history(voting.campaign(campaign))] == [
        ["open"],
        ["paused"],
        ["paused"],
    ]


def test_another_consent_text_is_shown_to_everybody_again(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace, consent="May we?")
    voting.consent(campaign, one)
    task = held(voting.next(campaign, one))
    change(voting, campaign, guidelines="Look twice.")
    assert voting.standing(campaign, one).stage == "open"
    change(voting, campaign, consent="May we keep it for ten years?")
    assert voting.standing(campaign, one).stage == "consent"
    voting.consent(campaign, one)
    assert held(voting.next(campaign, one)).address == task.address


def test_gold_needs_tasks_with_known_answers(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, _ = desk(any_workspace)
    with pytest.raises(UserError, match="no tasks with known answers"):
        change(voting, campaign, gold_rate=0.1)
    assert history(voting.campaign(campaign)) == []
    with pytest.raises(UserError, match="needs such tasks, and there are none"):
        create_campaign(any_workspace, CampaignPlan(name="x", gold_rate=0.1))
    with pytest.raises(UserError, match="no such campaign"):
        change(voting, "campaign_none", name="x")
