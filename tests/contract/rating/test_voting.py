"""The voting desk's rules, the same on SQLite and on PostgreSQL."""

import secrets
import threading
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import update

from imarena.core.records import Assignment, Campaign, Event, Rater, Vote, now
from imarena.core.records.base import moment_text
from imarena.routing.ballots import Answer
from imarena.routing.campaign_plan import CampaignPlan, KnownTask, unit_of
from imarena.routing.offers import RaterStanding
from imarena.storage import Workspace
from imarena.storage.database import writing
from imarena.storage.membership import change_membership
from imarena.storage.schema import leases
from imarena.workflows.rating import skip_task, undo_vote
from imarena.workflows.rating.campaigns import campaign_progress, create_campaign, offer_missing, plan_units
from imarena.workflows.rating.changes import CampaignChanges, change_campaign
from imarena.workflows.rating.held_tasks import HeldTask, Refusal
from imarena.workflows.rating.voting import Voting
from imarena.workflows.views import PREFERENCES, View
from tests.web.people import fill

LEFT = Answer(preference="left")


def counting(workspace: Workspace) -> list[str]:
    """The preferences of the votes that count."""
    votes = View(workspace).votes
    return [PREFERENCES[code] for code in votes.preference[votes.counts].tolist()]


def desk(workspace: Workspace, raters: int = 2, **plan: object) -> tuple[Voting, str, list[str]]:
    """A voting desk with one campaign and its raters."""
    made = create_campaign(workspace, CampaignPlan.model_validate({"name": "c", **plan}))
    voting = Voting(workspace)
    people = [Rater(rater_id=f"r{number}") for number in range(raters)]
    workspace.store.add(people)
    for person in people:
        voting.join(made.campaign_id, person.rater_id)
    return voting, made.campaign_id, [person.rater_id for person in people]


def key() -> str:
    return secrets.token_hex(8)


def held(found: HeldTask | RaterStanding) -> HeldTask:
    assert isinstance(found, HeldTask), found
    return found


def expire(workspace: Workspace, address: str) -> None:
    """Let a lease run out."""
    past = moment_text(now() - timedelta(seconds=5))
    with writing(workspace.store.engine) as connection:
        assert connection.execute(update(leases).where(leases.c.address == address).values(until=past)).rowcount == 1


def test_two_raters_never_hold_the_same_task(any_workspace: Workspace) -> None:
    fill(any_workspace, items=4)
    voting, campaign, raters = desk(any_workspace, raters=8, raters_per_unit=1)
    taken: list[str] = []
    failures: list[str] = []
    guard = threading.Lock()

    def work(rater: str) -> None:
        while True:
            try:
                found = voting.next(campaign, rater)
            except Refusal as refusal:
                failures.extend([refusal.code] if refusal.code != "busy" else [])
                continue
            if not isinstance(found, HeldTask):
                return
            with guard:
                taken.append(found.assignment.assignment_id)
            try:
                voting.vote(found.address, rater, key(), LEFT)
            except Refusal as refusal:
                failures.append(refusal.code)

    threads = [threading.Thread(target=work, args=(rater,)) for rater in raters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert len(taken) == len(set(taken)) == 12
    assert any_workspace.store.count(Vote) == {(): 12}


def test_nobody_gets_the_same_unit_twice_and_every_slot_is_filled(any_workspace: Workspace) -> None:
    fill(any_workspace, items=2)
    voting, campaign, raters = desk(any_workspace, raters=4, raters_per_unit=3)
    seen: dict[str, Counter[str]] = {rater: Counter() for rater in raters}
    for rater in raters:
        while isinstance(found := voting.next(campaign, rater), HeldTask):
            seen[rater][found.assignment.unit] += 1
            voting.vote(found.address, rater, key(), LEFT)
    assert all(count == 1 for counter in seen.values() for count in counter.values())
    done = campaign_progress(any_workspace, voting.campaign(campaign))
    assert (done.votes, done.slots, done.complete_units) == (18, 18, 6)


def test_asking_again_gives_the_same_task(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace)
    first, again = held(voting.next(campaign, one)), held(voting.next(campaign, one))
    assert first.address == again.address


def test_a_vote_posted_many_times_at_once_counts_once(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace)
    task = held(voting.next(campaign, one))
    same = key()
    done: list[int] = []

    def post() -> None:
        done.append(voting.vote(task.address, one, same, LEFT).done)

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done == [1] * 8
    assert any_workspace.store.count(Vote) == {(): 1}
    with pytest.raises(Refusal) as refused:
        voting.vote(task.address, one, key(), LEFT)
    assert refused.value.code == "answered"


def test_an_expired_task_goes_to_another_and_the_late_vote_is_refused_but_kept(any_workspace: Workspace) -> None:
    fill(any_workspace, items=1, editors=("a", "b"))
    voting, campaign, (one, two) = desk(any_workspace)
    mine = held(voting.next(campaign, one))
    assert not isinstance(voting.next(campaign, two), HeldTask)
    expire(any_workspace, mine.address)
    theirs = held(voting.next(campaign, two))
    assert theirs.assignment.assignment_id == mine.assignment.assignment_id
    assert theirs.address != mine.address
    late = key()
    for _ in range(2):
        with pytest.raises(Refusal) as refused:
            voting.vote(mine.address, one, late, LEFT)
        assert refused.value.code == "too_late"
    kept = [event for event in any_workspace.store.records(Event) if event.reason.startswith("refused vote")]
    assert len(kept) == 1
    assert '"preference": "left"' in kept[0].reason
    voting.vote(theirs.address, two, key(), LEFT)
    assert [vote.rater_id for vote in any_workspace.store.records(Vote)] == [two]


def test_a_late_vote_counts_where_nobody_took_the_task(any_workspace: Workspace) -> None:
    fill(any_workspace, items=1, editors=("a", "b"))
    voting, campaign, (one, _) = desk(any_workspace)
    mine = held(voting.next(campaign, one))
    expire(any_workspace, mine.address)
    counted = voting.vote(mine.address, one, key(), LEFT)
    assert counted.late
    assert any_workspace.store.count(Vote) == {(): 1}


def test_undo_takes_the_vote_back_and_gives_the_task_again(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace)
    first = held(voting.next(campaign, one))
    voting.vote(first.address, one, key(), LEFT)
    second = held(voting.next(campaign, one))
    back = undo_vote(voting, campaign, one)
    assert back.address == first.address
    assert back.previous is not None
    assert back.previous.preference == "left"
    assert counting(any_workspace) == []
    voting.vote(back.address, one, key(), Answer(preference="right"))
    assert counting(any_workspace) == ["right"]
    assert held(voting.next(campaign, one)).address == second.address
    chain = list(any_workspace.store.records(Vote))
    assert [vote.retracted for vote in chain] == [False, True, False]
    assert [vote.supersedes for vote in chain] == [None, chain[0].vote_id, chain[1].vote_id]


def test_a_used_key_acknowledges_no_other_answer(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace)
    first = held(voting.next(campaign, one))
    used = key()
    voting.vote(first.address, one, used, LEFT)
    voting.vote(first.address, one, used, LEFT)
    second = held(voting.next(campaign, one))
    with pytest.raises(Refusal, match="another answer"):
        voting.vote(second.address, one, used, Answer(preference="right"))
    back = undo_vote(voting, campaign, one)
    with pytest.raises(Refusal, match="taken back"):
        voting.vote(back.address, one, used, Answer(preference="tie"))
    kept = [event.reason for event in any_workspace.store.records(Event) if event.reason.startswith("refused vote")]
    assert len(kept) == 1
    assert '"preference": "right"' in kept[0]
    voting.vote(back.address, one, key(), Answer(preference="tie"))
    assert counting(any_workspace) == ["tie"]


def test_no_vote_is_taken_back_once_the_items_can_be_looked_up(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, two) = desk(any_workspace)
    for rater in (one, two):
        voting.vote(held(voting.next(campaign, rater)).address, rater, key(), LEFT)
    with writing(any_workspace.store.engine) as connection:
        assert change_membership(connection, campaign, two, active=0)
    with pytest.raises(Refusal) as refused:
        undo_vote(voting, campaign, two)
    assert refused.value.code == "paused"
    change_campaign(any_workspace, campaign, CampaignChanges(open=False), "lead")
    with pytest.raises(Refusal) as refused:
        undo_vote(voting, campaign, one)
    assert refused.value.code == "closed"
    assert counting(any_workspace) == ["left", "left"]


def test_there_is_nothing_to_undo_before_a_vote(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace)
    with pytest.raises(Refusal, match="no vote"):
        undo_vote(voting, campaign, one)


def test_a_skipped_task_goes_to_others_and_never_comes_back(any_workspace: Workspace) -> None:
    fill(any_workspace, items=1, editors=("a", "b"))
    voting, campaign, (one, two) = desk(any_workspace)
    task = held(voting.next(campaign, one))
    skip_task(voting, task.address, one, "other")
    assert not isinstance(voting.next(campaign, one), HeldTask)
    assert held(voting.next(campaign, two)).assignment == task.assignment
    with pytest.raises(Refusal):
        voting.vote(task.address, one, key(), LEFT)


def test_the_weekly_quota_holds(any_workspace: Workspace) -> None:
    fill(any_workspace)
    voting, campaign, (one, _) = desk(any_workspace, weekly_quota=2)
    for left in (1, 0):
        counted = voting.vote(held(voting.next(campaign, one)).address, one, key(), LEFT)
        assert counted.quota_left == left
    stopped = voting.next(campaign, one)
    assert isinstance(stopped, RaterStanding)
    assert stopped.stage == "quota"
    with writing(any_workspace.store.engine) as connection:
        connection.execute(update(leases).values(done_at=moment_text(now() - timedelta(days=8))))
    held(voting.next(campaign, one))


def test_gold_and_repeats_come_at_their_rates_and_stay_off_the_boards(any_workspace: Workspace) -> None:
    fill(any_workspace, items=12)
    pairs = plan_units(any_workspace, CampaignPlan(name="x"))
    gold = tuple(
        KnownTask(item_id=unit.item_id, left_id=unit.left_id, right_id=unit.right_id, preference="left")
        for unit in pairs[:4]
    )
    voting, campaign, (one, _) = desk(
        any_workspace, gold_rate=0.2, repeat_rate=0.2, gold=[g.model_dump() for g in gold], weekly_quota=100
    )
    purposes: Counter[str] = Counter()
    while isinstance(found := voting.next(campaign, one), HeldTask):
        purposes[found.assignment.purpose] += 1
        voting.vote(found.address, one, key(), LEFT)
    assert purposes["vote"] == 36 - 4
    assert 1 <= purposes["gold"] <= 4
    assert purposes["repeat"] >= 1
    assert len(counting(any_workspace)) == purposes["vote"]
    known = {unit_of(g.item_id, g.left_id, g.right_id) for g in gold}
    asked = {row["unit"] for row in any_workspace.store.rows(Assignment, purpose="vote")}
    assert not known & asked


def test_consent_then_practice_then_qualification(any_workspace: Workspace) -> None:
    fill(any_workspace)
    first, second = plan_units(any_workspace, CampaignPlan(name="x"))[:2]

    def known(unit: object, side: str) -> dict[str, object]:
        names = ("item_id", "left_id", "right_id")
        return {**{name: getattr(unit, name) for name in names}, "preference": side, "explanation": "because"}

    voting, campaign, (one, two) = desk(
        any_workspace, consent="May we?", practice=[known(first, "left")], qualification=[known(second, "right")]
    )
    for rater, answer, ends in ((one, "right", "open"), (two, "left", "not_qualified")):
        assert isinstance(before := voting.next(campaign, rater), RaterStanding)
        assert before.stage == "consent"
        voting.consent(campaign, rater)
        practice = held(voting.next(campaign, rater))
        assert practice.assignment.purpose == "practice"
        told = voting.vote(practice.address, rater, key(), Answer(preference="right")).feedback
        assert told is not None
        assert "because" in told
        exam = held(voting.next(campaign, rater))
        assert exam.assignment.purpose == "qualification"
        assert voting.vote(exam.address, rater, key(), Answer(preference=answer)).feedback is None
        assert voting.standing(campaign, rater).stage == ends


def test_assignments_made_elsewhere_can_be_taken_once_offered(any_workspace: Workspace) -> None:
    fill(any_workspace, items=1, editors=("a", "b"))
    (unit,) = plan_units(any_workspace, CampaignPlan(name="x"))
    any_workspace.store.add([Rater(rater_id="r"), Campaign(campaign_id="routed", name="routed", kind="preference")])
    sides = {"left_id": unit.left_id, "right_id": unit.right_id}
    any_workspace.store.add([Assignment(campaign_id="routed", item_id=unit.item_id, unit="u", **sides)])
    assert (offer_missing(any_workspace), offer_missing(any_workspace)) == (1, 0)
    voting = Voting(any_workspace)
    voting.join("routed", "r")
    voting.vote(held(voting.next("routed", "r")).address, "r", key(), LEFT)
    assert any_workspace.store.count(Vote) == {(): 1}
