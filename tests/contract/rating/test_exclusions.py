"""Exclusions and the answers that decide access: the same on SQLite and on PostgreSQL."""

import pytest

from imarena.core.records import Exclusion, Rater, now
from imarena.datasets import READERS, WRITERS
from imarena.routing.ballots import Answer
from imarena.routing.campaign_plan import CampaignPlan
from imarena.routing.offers import RaterStanding
from imarena.storage import Workspace, init_workspace, read_exclusions, reading
from imarena.workflows.exchange import export_records, import_records
from imarena.workflows.rating import skip_task, undo_vote
from imarena.workflows.rating.campaigns import campaign_progress, get_campaign, plan_units
from imarena.workflows.rating.exclusions import exclude_rater, include_rater
from imarena.workflows.rating.held_tasks import HeldTask, Refusal
from imarena.workflows.rating.quality import agreement
from imarena.workflows.rating.rater_work import rater_work
from imarena.workflows.rating.vote_rows import export_csv
from imarena.workflows.rating.voting import Voting
from imarena.workflows.views import View
from tests.contract.rating.test_voting import LEFT, desk, held, key
from tests.web.people import fill


def answer_all(voting: Voting, campaign: str, rater: str) -> int:
    """Answer until nothing is offered; returns how many tasks there were."""
    done = 0
    while isinstance(task := voting.next(campaign, rater), HeldTask):
        voting.vote(task.address, rater, key(), LEFT)
        done += 1
    return done


def n_counting(workspace: Workspace) -> int:
    return int(View(workspace).votes.counts.sum())


def rows_with(workspace: Workspace, campaign: str, mark: str) -> int:
    return sum(line.endswith(mark) for line in export_csv(workspace, get_campaign(workspace, campaign)).splitlines())


def test_boards_agreement_exports_and_plans_follow_and_come_back(any_workspace: Workspace) -> None:
    fill(any_workspace, items=4, editors=("a", "b"))
    voting, campaign, (one, two, three) = desk(any_workspace, raters=3, raters_per_unit=2)
    assert (answer_all(voting, campaign, one), answer_all(voting, campaign, two)) == (4, 4)
    assert isinstance(voting.next(campaign, three), RaterStanding), "every task is answered"
    record = get_campaign(any_workspace, campaign)
    assert campaign_progress(any_workspace, record).complete_units == 4

    change = exclude_rater(any_workspace, two, since=None, reason="answers without looking", by="lead")
    assert (change.votes, change.excluded, n_counting(any_workspace)) == (4, True, 4)
    progress = campaign_progress(any_workspace, record)
    assert (progress.complete_units, progress.votes, progress.slots) == (0, 4, 8)
    assert [found.n_raters for found in agreement(any_workspace, record)] == [1]
    assert rows_with(any_workspace, campaign, ",rater excluded") == 4
    work = {own.rater_id: own for own in rater_work(any_workspace, record)}
    assert (work[two].excluded, work[two].excluded_reason) == (True, "answers without looking")
    assert not work[one].excluded
    stopped = voting.next(campaign, two)
    assert isinstance(stopped, RaterStanding)
    assert stopped.stage == "paused", "nobody works on tasks that do not count"
    assert answer_all(voting, campaign, three) == 4, "tasks are offered in the place of those that do not count"
    assert campaign_progress(any_workspace, record).complete_units == 4

    back = include_rater(any_workspace, two, reason="it was somebody else", by="lead")
    assert (back.votes, n_counting(any_workspace)) == (4, 12)
    assert rows_with(any_workspace, campaign, ",rater excluded") == 0
    with reading(any_workspace.store.engine) as connection:
        (stored,) = read_exclusions(connection, two)
    assert (stored.reason, stored.by, stored.lifted_by) == ("answers without looking", "lead", "lead")
    assert stored.lifted_reason == "it was somebody else"
    assert stored.lifted_at is not None


def test_free_replacements_are_withdrawn_when_votes_count_again(any_workspace: Workspace) -> None:
    fill(any_workspace, items=2, editors=("a", "b"))
    voting, campaign, (one, two) = desk(any_workspace, raters=2, raters_per_unit=1)
    assert answer_all(voting, campaign, one) == 2
    exclude_rater(any_workspace, one, since=None, reason="r", by="lead")
    include_rater(any_workspace, one, reason="", by="lead")
    assert answer_all(voting, campaign, two) == 0
    assert campaign_progress(any_workspace, get_campaign(any_workspace, campaign)).slots == 2


def test_only_votes_from_a_moment_on(any_workspace: Workspace) -> None:
    fill(any_workspace, items=4, editors=("a", "b"))
    voting, campaign, (one,) = desk(any_workspace, raters=1, raters_per_unit=1)
    voting.vote(held(voting.next(campaign, one)).address, one, key(), LEFT)
    moment = now()
    voting.vote(held(voting.next(campaign, one)).address, one, key(), LEFT)
    assert exclude_rater(any_workspace, one, since=moment, reason="tired", by="lead").votes == 1
    assert n_counting(any_workspace) == 1
    with pytest.raises(Exception, match="excluded already: tired"):
        exclude_rater(any_workspace, one, since=now(), reason="again", by="lead")
    assert exclude_rater(any_workspace, one, since=None, reason="all of it", by="lead").votes == 1
    assert include_rater(any_workspace, one, reason="", by="lead").votes == 2


@pytest.mark.parametrize("form", ["native", "native_jsonl", "native_parquet"])
def test_native_exports_carry_exclusions(
    any_workspace: Workspace, form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fill(any_workspace, items=2, editors=("a", "b"))
    voting, campaign, (one, two) = desk(any_workspace, raters=2, raters_per_unit=2)
    for rater in (one, two):
        answer_all(voting, campaign, rater)
    exclude_rater(any_workspace, one, since=None, reason="fast", by="ann")
    folder = tmp_path_factory.mktemp("exchange")
    assert export_records(any_workspace, WRITERS.get(form), folder / "out") == []
    with init_workspace(folder / "new") as other:
        report = import_records(other, READERS.get(form), format_name=form, path=folder / "out")
        assert (report.skipped, report.new["Exclusion"], n_counting(other)) == (0, 1, 2)
        with reading(other.store.engine) as connection:
            (stored,) = read_exclusions(connection)
        assert (stored.rater_id, stored.reason, stored.by, stored.since) == (one, "fast", "ann", None)
        include_rater(any_workspace, one, reason="", by="bob")
        export_records(any_workspace, WRITERS.get(form), folder / "later")
        again = import_records(other, READERS.get(form), format_name=form, path=folder / "later")
        assert (again.new["Exclusion"], again.same["Exclusion"], n_counting(other)) == (0, 1, 4)


def test_an_exclusion_without_its_rater_is_reported(any_workspace: Workspace) -> None:
    def read(*_: object) -> object:
        yield Exclusion(rater_id="nobody", reason="fast")
        yield Rater(rater_id="somebody")

    report = import_records(any_workspace, read, format_name="native", path=any_workspace.root)  # type: ignore[arg-type]
    assert (report.skipped, report.new["Rater"]) == (1, 1)
    assert "no rater 'nobody'" in report.skips[0].reason


def test_a_failed_test_cannot_be_passed(any_workspace: Workspace) -> None:
    """The rater tries everything after a wrong answer: undo, another ballot, the same key, a skip, joining again."""
    fill(any_workspace)
    units = plan_units(any_workspace, CampaignPlan(name="x"))[:2]
    names = ("item_id", "left_id", "right_id")
    test = [{**{name: getattr(unit, name) for name in names}, "preference": "right"} for unit in units]
    voting, campaign, (one,) = desk(any_workspace, raters=1, qualification=test)
    first = held(voting.next(campaign, one))
    voting.vote(first.address, one, key(), Answer(preference="right"))
    with pytest.raises(Refusal, match="final"):
        undo_vote(voting, campaign, one)  # also before the test has ended
    last, used = held(voting.next(campaign, one)), key()
    voting.vote(last.address, one, used, Answer(preference="left"))
    assert voting.standing(campaign, one).stage == "not_qualified"
    for attack in (
        lambda: undo_vote(voting, campaign, one),
        lambda: voting.vote(last.address, one, key(), Answer(preference="right")),
        lambda: voting.vote(first.address, one, key(), Answer(preference="right")),
        lambda: skip_task(voting, last.address, one, "unclear"),
    ):
        with pytest.raises(Refusal):
            attack()
    with pytest.raises(Refusal, match="another answer"):
        voting.vote(last.address, one, used, Answer(preference="right"))
    voting.vote(last.address, one, used, Answer(preference="left"))  # the same again stores nothing
    voting.join(campaign, one)
    assert voting.standing(campaign, one).stage == "not_qualified"
    assert isinstance(voting.next(campaign, one), RaterStanding)


def test_work_after_a_passed_test_can_be_undone_and_the_test_cannot(any_workspace: Workspace) -> None:
    fill(any_workspace)
    unit = plan_units(any_workspace, CampaignPlan(name="x"))[0]
    test = [{**{name: getattr(unit, name) for name in ("item_id", "left_id", "right_id")}, "preference": "right"}]
    voting, campaign, (one,) = desk(any_workspace, raters=1, qualification=test)
    voting.vote(held(voting.next(campaign, one)).address, one, key(), Answer(preference="right"))
    task = held(voting.next(campaign, one))
    voting.vote(task.address, one, key(), LEFT)
    assert undo_vote(voting, campaign, one).assignment == task.assignment
    with pytest.raises(Refusal, match="final"):
        undo_vote(voting, campaign, one)
    assert voting.standing(campaign, one).stage == "open"
