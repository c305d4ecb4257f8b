"""The task that is kept ready while another is answered: exclusive, short-lived, given back; on both databases."""

import pytest
from sqlalchemy import event

from imarena.core.records import Assignment, Event, Rater, Vote
from imarena.routing.campaign_plan import CampaignPlan, unit_of
from imarena.routing.offers import RaterStanding, fixed_chance
from imarena.storage import Workspace
from imarena.storage.database import reading
from imarena.storage.leases import lease_of
from imarena.workflows.rating import skip_task, undo_vote
from imarena.workflows.rating.campaigns import campaign_progress, plan_units
from imarena.workflows.rating.held_tasks import HeldTask, Refusal
from imarena.workflows.rating.prefetch import release_task, submit_prefetch
from imarena.workflows.rating.voting import Voting
from tests.contract.rating.test_voting import LEFT, desk, expire, held, key
from tests.web.people import fill


def ready(voting: Voting, campaign: str, rater: str) -> HeldTask:
    found = submit_prefetch(voting, campaign, rater).result()
    assert found is not None
    return found


def test_the_task_that_waits_is_the_next_one(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, two) = desk(any_workspace)
    assert submit_prefetch(voting, campaign, one).result() is None, "nothing is kept for somebody who holds nothing"
    first = held(voting.next(campaign, one))
    waits = ready(voting, campaign, one)
    assert waits.address != first.address
    assert ready(voting, campaign, one).address == waits.address, "asking again takes nothing more"
    assert held(voting.next(campaign, one)).address == first.address
    assert voting.shown(waits.address, one) == waits.assignment
    others = {first.assignment.assignment_id, waits.assignment.assignment_id}
    assert held(voting.next(campaign, two)).assignment.assignment_id not in others
    assert campaign_progress(any_workspace, voting.campaign(campaign)).held == 2, (
        "a task that waits is not being answered"
    )
    voting.vote(first.address, one, key(), LEFT)
    then = held(voting.next(campaign, one))
    assert (then.address, then.assignment) == (waits.address, waits.assignment)
    assert then.standing.done == waits.standing.done == 1
    voting.vote(then.address, one, key(), LEFT)
    assert any_workspace.store.count(Vote) == {(): 2}


def test_a_task_that_waits_cannot_be_answered_skipped_or_seen_by_others(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, two) = desk(any_workspace)
    held(voting.next(campaign, one))
    waits = ready(voting, campaign, one)
    refused = []
    for act in (
        lambda: voting.vote(waits.address, one, key(), LEFT),
        lambda: skip_task(voting, waits.address, one, "no"),
        lambda: voting.task(waits.address, one),
        lambda: voting.shown(waits.address, two),
        lambda: release_task(voting, waits.address, two),
    ):
        try:
            act()
        except Refusal as refusal:
            refused.append(refusal.code)
    assert refused == ["not_yet", "gone", "gone", "no_task", "no_task"]
    assert any_workspace.store.count(Vote) == {(): 0}


def test_a_task_that_is_given_back_is_free_and_unseen(any_workspace: Workspace) -> None:
    fill(any_workspace, items=1, editors=("a", "b", "c"))
    voting, campaign, (one, two) = desk(any_workspace)
    first = held(voting.next(campaign, one))
    waits = ready(voting, campaign, one)
    release_task(voting, waits.address, one)
    release_task(voting, waits.address, one)
    assert any_workspace.store.count(Event, kind="returned") == {(): 1}
    taken = held(voting.next(campaign, two))
    assert taken.assignment == waits.assignment, "somebody else gets it"
    skip_task(voting, taken.address, two, "no")
    voting.vote(first.address, one, key(), LEFT)
    units = set()
    while isinstance(task := voting.next(campaign, one), HeldTask):
        units.add(task.assignment.unit)
        voting.vote(task.address, one, key(), LEFT)
    assert waits.assignment.unit in units, "who gave it back has not seen it and may get it later"
    release_task(voting, first.address, one)
    with reading(any_workspace.store.engine) as connection:
        lease = lease_of(connection, first.assignment.assignment_id)
    assert lease is not None
    assert lease.state == "done", "an answered task is not given back"


def test_a_forgotten_task_goes_to_others_and_its_rater_gets_another(any_workspace: Workspace) -> None:
    fill(any_workspace, items=1, editors=("a", "b", "c"))
    voting, campaign, (one, two) = desk(any_workspace)
    first = held(voting.next(campaign, one))
    waits = ready(voting, campaign, one)
    mine = held(voting.next(campaign, two))
    voting.vote(mine.address, two, key(), LEFT)
    assert isinstance(voting.next(campaign, two), RaterStanding), "nothing is free"
    expire(any_workspace, waits.address)
    assert held(voting.next(campaign, two)).assignment == waits.assignment
    voting.vote(first.address, one, key(), LEFT)
    assert isinstance(voting.next(campaign, one), RaterStanding)


def test_undo_comes_before_the_task_that_waits(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace, lease_s=60)
    first = held(voting.next(campaign, one))
    voting.vote(first.address, one, key(), LEFT)
    second = held(voting.next(campaign, one))
    waits = ready(voting, campaign, one)
    assert undo_vote(voting, campaign, one).address == first.address
    assert ready(voting, campaign, one).address == second.address, "what was put aside comes first"
    order = []
    for _ in range(3):
        task = held(voting.next(campaign, one))
        order.append(task.address)
        voting.vote(task.address, one, key(), LEFT)
    assert order == [first.address, second.address, waits.address]


def test_nothing_waits_past_the_quota_or_for_a_paused_rater(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace, weekly_quota=2)
    first = held(voting.next(campaign, one))
    assert submit_prefetch(voting, campaign, one).result() is not None
    voting.vote(first.address, one, key(), LEFT)
    held(voting.next(campaign, one))
    assert submit_prefetch(voting, campaign, one).result() is None


def test_gold_waits_when_it_is_its_turn(any_workspace: Workspace) -> None:
    fill(any_workspace, items=4)
    units = plan_units(any_workspace, CampaignPlan(name="x"))[:4]
    sides = [{"item_id": unit.item_id, "left_id": unit.left_id, "right_id": unit.right_id} for unit in units]
    gold = [{**one, "preference": "left"} for one in sides]
    voting, campaign, (one, two) = desk(any_workspace, gold=gold, gold_rate=0.5, raters_per_unit=2)
    orders: dict[str, list[str]] = {}
    for rater, looks in ((one, True), (two, False)):
        orders[rater] = []
        while isinstance(task := voting.next(campaign, rater), HeldTask):
            orders[rater].append(task.assignment.purpose)
            if looks:
                submit_prefetch(voting, campaign, rater).result()
            voting.vote(task.address, rater, key(), LEFT)
    for rater, purposes in orders.items():
        due = [fixed_chance(campaign, rater, done, "gold") < 0.5 for done in range(len(purposes))]
        left = 4
        for place, purpose in enumerate(purposes):
            assert purpose == ("gold" if due[place] and left else "vote"), "looking ahead does not change what comes"
            left -= purpose == "gold"
        assert purposes.count("vote") == 8
    known = {unit_of(str(g["item_id"]), str(g["left_id"]), str(g["right_id"])) for g in gold}
    asked = {row["unit"] for row in any_workspace.store.rows(Assignment, purpose="vote")}
    assert not known & asked


def test_giving_back_does_not_tell_gold_from_real_work(any_workspace: Workspace) -> None:
    fill(any_workspace, items=8)  # enough that both kinds wait at some moment, whatever the campaign's random id
    units = plan_units(any_workspace, CampaignPlan(name="x"))[:8]
    gold = [{"item_id": u.item_id, "left_id": u.left_id, "right_id": u.right_id, "preference": "left"} for u in units]
    voting, campaign, (one, _) = desk(any_workspace, gold=gold, gold_rate=0.5)
    met = set()
    while isinstance(task := voting.next(campaign, one), HeldTask):
        waits = submit_prefetch(voting, campaign, one).result()
        if waits is not None:
            met.add(waits.assignment.purpose)
            release_task(voting, waits.address, one)
            again = ready(voting, campaign, one)
            assert again.address != waits.address
            assert again.assignment == waits.assignment
            assert voting.shown(again.address, one) == waits.assignment
        voting.vote(task.address, one, key(), LEFT)
    assert met == {"gold", "vote"}


def test_practice_and_test_tasks_wait_too_but_never_real_work(any_workspace: Workspace) -> None:
    fill(any_workspace)
    units = plan_units(any_workspace, CampaignPlan(name="x"))[:3]
    sides = [{"item_id": unit.item_id, "left_id": unit.left_id, "right_id": unit.right_id} for unit in units]
    known = [{**one, "preference": "left"} for one in sides]
    voting, campaign, (one, _) = desk(any_workspace, practice=known[:2], qualification=known[2:])
    first = held(voting.next(campaign, one))
    waits = ready(voting, campaign, one)
    assert waits.assignment.purpose == "practice"
    voting.vote(first.address, one, key(), LEFT)
    assert held(voting.next(campaign, one)).address == waits.address
    assert submit_prefetch(voting, campaign, one).result() is None, (
        "what comes after practice is known when practice is done"
    )
    skip_task(voting, waits.address, one, "no")
    exam = held(voting.next(campaign, one))
    assert exam.assignment.purpose == "qualification"
    skip_task(voting, exam.address, one, "no")
    assert voting.standing(campaign, one).stage == "not_qualified", "skipping a test does not pass it"
    assert isinstance(voting.next(campaign, one), RaterStanding)


def test_a_vote_with_its_next_and_its_look_ahead_is_eleven_queries(
    any_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imarena.workflows.rating.record_cache._PLAN_S", 3600.0)
    monkeypatch.setattr("imarena.workflows.rating.picture_log.FLUSH_S", 3600.0)
    fill(any_workspace)
    voting, campaign, _ = desk(any_workspace)
    rater = "rater_0123456789abcdef"  # as those who come by a link are called
    any_workspace.store.add([Rater(rater_id=rater)])
    voting.join(campaign, rater)
    asked: list[str] = []

    def note(*call: object) -> None:
        asked.extend([str(call[2])] if not str(call[2]).startswith("BEGIN") else [])

    for _ in range(2):
        asked.clear()
        event.listen(voting.engine, "before_cursor_execute", note)
        task = held(voting.next(campaign, rater))
        assert submit_prefetch(voting, campaign, rater).result() is not None
        event.remove(voting.engine, "before_cursor_execute", note)
        for slot in voting.records.slots(task.assignment):  # as the page does; written with those of others, later
            voting.pictures.add(task.address, slot)
        event.listen(voting.engine, "before_cursor_execute", note)
        voting.vote(task.address, rater, key(), LEFT, browser=True)
        event.remove(voting.engine, "before_cursor_execute", note)
    assert len(asked) == 3 + 4 + 4, asked
