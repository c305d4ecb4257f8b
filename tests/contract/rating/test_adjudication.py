"""Units on which raters disagree are answered once more, by another rater or by the lead: on both kinds of database."""

from imarena.core.records import Assignment, Vote
from imarena.routing.ballots import Answer
from imarena.storage import Workspace
from imarena.workflows.rating.adjudication import other_answers
from imarena.workflows.rating.campaigns import campaign_progress, get_campaign
from imarena.workflows.rating.changes import CampaignChanges, change_campaign
from imarena.workflows.rating.held_tasks import HeldTask
from imarena.workflows.rating.quality import agreement
from imarena.workflows.rating.voting import Voting
from imarena.workflows.views import View
from tests.contract.rating.test_voting import desk, held, key
from tests.web.people import fill


def choose(task: HeldTask, first: bool) -> Answer:
    """The output that comes first by id, or the other one, whichever side it is shown on."""
    ahead = (task.assignment.left_id or "") < (task.assignment.right_id or "")
    return Answer(preference="left" if ahead == first else "right")


def answer_all(voting: Voting, campaign: str, rater: str, disputed: int) -> None:
    """Answer everything; the last `disputed` units by name otherwise than the others do."""
    tasks: list[HeldTask] = []
    while isinstance(task := voting.next(campaign, rater), HeldTask):
        tasks.append(task)
        units = sorted({row["unit"] for row in voting.workspace.store.rows(Assignment)})
        voting.vote(task.address, rater, key(), choose(task, task.assignment.unit not in units[:disputed]))


def test_a_third_rater_settles_what_two_dispute(any_workspace: Workspace) -> None:
    fill(any_workspace, items=4, editors=("a", "b"))
    voting, campaign, (one, two, three) = desk(any_workspace, raters=3, raters_per_unit=2, adjudication="rater")
    answer_all(voting, campaign, one, 0)
    answer_all(voting, campaign, two, 2)
    record = get_campaign(any_workspace, campaign)
    progress = campaign_progress(any_workspace, record)
    assert (progress.disputed, progress.adjudicated, progress.slots, progress.complete_units) == (2, 0, 8, 4)
    assert not isinstance(voting.next(campaign, one), HeldTask), "nobody settles what they answered"
    before = agreement(any_workspace, record)
    for _ in range(2):
        task = held(voting.next(campaign, three))
        assert (task.assignment.purpose, task.assignment.params) == ("adjudication", {"answers": "hidden"})
        assert other_answers(any_workspace, task.assignment) == []
        voting.vote(task.address, three, key(), choose(task, first=True))
    assert not isinstance(voting.next(campaign, three), HeldTask)
    progress = campaign_progress(any_workspace, record)
    assert (progress.disputed, progress.adjudicated, progress.votes, progress.checks) == (2, 2, 8, 0)
    assert int(View(any_workspace).votes.counts.sum()) == 10, "both kinds of answers are kept and count"
    assert agreement(any_workspace, record) == before, "agreement is that of the raters"


def test_the_lead_settles_and_sees_answers_where_asked_for(any_workspace: Workspace) -> None:
    fill(any_workspace, items=3, editors=("a", "b"))
    voting, campaign, (one, two, lead) = desk(any_workspace, raters=3, raters_per_unit=2)
    answer_all(voting, campaign, one, 0)
    answer_all(voting, campaign, two, 1)
    shown = CampaignChanges(adjudication="lead", adjudication_answers="shown")
    record = change_campaign(any_workspace, campaign, shown, "lead")
    voting.records.forget_plans()
    assert campaign_progress(any_workspace, record).disputed == 1, "answers that were there before are looked at too"
    assert not isinstance(voting.next(campaign, lead), HeldTask), "raters are not offered what is for the lead"
    task = held(voting.next(campaign, lead, leads=True))
    said = other_answers(any_workspace, task.assignment)
    assert sorted(answer.preference or "" for answer in said) == ["left", "right"]
    votes = {vote.rater_id: vote for vote in any_workspace.store.records(Vote, item_id=task.assignment.item_id)}
    mine = next(answer for answer, vote in zip(said, votes.values(), strict=True) if vote.rater_id == one)
    assert mine.preference == choose(task, first=True).preference, "answers are shown on the sides of this task"
    voting.vote(task.address, lead, key(), choose(task, first=True))
    assert not isinstance(voting.next(campaign, lead, leads=True), HeldTask)
    assert campaign_progress(any_workspace, record).adjudicated == 1
    change_campaign(any_workspace, campaign, CampaignChanges(adjudication="off"), "lead")
    assert campaign_progress(any_workspace, record).adjudicated == 1, "what was settled stays"


def test_ratings_two_steps_apart_are_a_dispute(any_workspace: Workspace) -> None:
    fill(any_workspace, items=1, editors=("a",))
    plan = {"kind": "rating", "raters_per_unit": 2, "adjudication": "rater"}
    voting, campaign, raters = desk(any_workspace, raters=3, **plan)
    names = ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts")
    for rater, value in zip(raters[:2], (5, 3), strict=True):
        given = Answer(
            ratings=dict.fromkeys(names, value), no_object_issues=True, no_segment_issues=True, comment="why"
        )
        voting.vote(held(voting.next(campaign, rater)).address, rater, key(), given)
    assert held(voting.next(campaign, raters[2])).assignment.purpose == "adjudication"
