"""Each rater's work in a campaign compared with the others', and why a rater stands out. A flag excludes nobody."""

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import Field, JsonValue
from sqlalchemy import func, select

from imarena.core import moment_text
from imarena.core.notices import Notice
from imarena.core.records import Campaign, Exclusion, FrozenModel, Outcome, Rater, Vote
from imarena.routing import CampaignPlan, KnownTask, forms, is_correct_answer, plan_of, preference_label
from imarena.stats import Scale
from imarena.storage import Workspace, reading
from imarena.storage.schema import assignments, events, leases, participants
from imarena.workflows.rating.answers import (
    AnsweredTask,
    answered_tasks,
    answers_by_criterion,
    is_known_answer_right,
    sheet_raters,
)
from imarena.workflows.rating.exclusions import live_exclusions
from imarena.workflows.rating.task_counts import count_of_skips

if TYPE_CHECKING:
    from imarena.stats import RaterReport

from imarena.routing import RATERS_PER_UNIT
from imarena.storage import membership, writing
from imarena.workflows.rating.held_tasks import Refusal

FAST_SHARE = 0.25
"""A rater whose median time is below this share of the others' is flagged."""
OVERCLAIM_S = 5.0
"""A claimed time that exceeds the measured one by more than this, and is more than twice as long, cannot be true: the
server's clock starts before the page's.
"""
FEW_OVERCLAIMS = 3
"""Minimum number of such answers for a flag: a page may have been suspended."""
FEW = 10
"""Minimum number of timed answers for the flag `very_fast`; `one_sided` needs twice as many votes."""
AFTER_ALL = 10**12
"""Added to the sequence numbers of raters who never joined, to list them after those who did."""


class RaterWork(FrozenModel):
    """One rater's work in a campaign, and why the rater stands out (`flags`)."""

    seq: int = Field(exclude=True)
    """The rater's place among all of the campaign."""
    rater_id: str
    name: str
    params: dict[str, str]
    """Parameters that a crowd platform added to the link; the lead needs them for payment."""
    active: bool
    sheet: bool
    """The rater answered on a sheet and never joined here: times may be missing, and there is nothing to pause."""
    votes: int
    skipped: int
    median_time_s: float | None
    """Median time per answer as reported by the rater's page; None if no answer has a time."""
    median_measured_s: float | None
    """Median time per answer by the server's clock."""
    overclaimed: int
    """Answers whose claimed time is much longer than the measured one."""
    unseen: int
    """Answers given without loading all pictures from this server: on a sheet, or by a program."""
    last_active: str | None
    hasty: int
    """Answers given faster than anybody can look (`pace` in ``forms.yaml``). They count like any other."""
    test_right: int
    test_asked: int
    gold_right: int
    gold_asked: int
    repeats_same: int
    repeats_asked: int
    agreement: float | None
    """Share of this rater's votes that agree with others' votes on the same unit."""
    left_share: float | None
    """Share of left among the votes for a side; None if there are none."""
    flags: tuple[str, ...]
    notices: tuple[Notice, ...]
    """The flags as notices, with their figures."""
    excluded: bool
    """Whether the rater's votes are excluded: all, or those from `excluded_since` on."""
    excluded_since: str | None
    excluded_reason: str


@dataclass(frozen=True)
class _Person:
    """A rater of a campaign: the fields of `RaterWork` that do not depend on answers."""

    seq: int
    rater_id: str
    name: str = ""
    params: dict[str, str] = field(default_factory=dict)
    active: bool = True
    sheet: bool = False
    votes: int = 0
    """Checks, which are not stored as votes."""
    skipped: int = 0
    last_active: str | None = None


@dataclass
class _Answers:
    """Counts and times of one rater's answers."""

    votes: int = 0
    times: list[float] = field(default_factory=list)
    """Claimed times."""
    measured: list[float] = field(default_factory=list)
    shorter: list[float] = field(default_factory=list)
    """The shorter of the claimed and the measured time, which a false claim cannot lengthen."""
    overclaimed: list[tuple[float, float]] = field(default_factory=list)
    """Claimed and measured times of answers whose claim cannot be true."""
    unseen: int = 0
    tests: list[bool] = field(default_factory=list)
    gold: list[bool] = field(default_factory=list)
    repeats: list[bool] = field(default_factory=list)
    sides: list[bool] = field(default_factory=list)


def rater_work(workspace: Workspace, campaign: Campaign) -> list[RaterWork]:
    """Each rater's work, and why a rater stands out."""
    people, plan = _people(workspace, campaign), plan_of(campaign)
    known_tasks = {task.unit: task for task in plan.gold}
    first: dict[tuple[str, str], Vote] = {}
    answered = list(answered_tasks(workspace, campaign, excluded=True))
    for cast in answered:
        if cast.assignment.purpose == "vote":
            first[cast.vote.rater_id, cast.assignment.unit] = cast.vote
    answers = {rater_id: _Answers() for rater_id in people}
    for cast in answered:
        if cast.vote.rater_id in answers:
            before = first.get((cast.vote.rater_id, cast.assignment.unit))
            _add(answers[cast.vote.rater_id], cast, before, known_tasks)
    reports = _beside_others(list(answered_tasks(workspace, campaign)))
    live = live_exclusions(workspace)
    work = (
        _work(person, answers[rater], reports.get(rater), plan, _usual_pace(answers, rater), live.get(rater))
        for rater, person in people.items()
    )
    return sorted(work, key=lambda own: own.seq)


def rater_names(workspace: Workspace, campaign: Campaign) -> dict[str, str]:
    """Names by id of the raters who joined a campaign or answered on a sheet."""
    query = select(participants.c.rater_id).where(participants.c.campaign_id == campaign.campaign_id)
    identities = sorted({*workspace.store.values(query), *sheet_raters(workspace, campaign)})
    raters = workspace.store.records(Rater, id=identities) if identities else ()
    return {rater.rater_id: rater.name for rater in raters}


def _people(workspace: Workspace, campaign: Campaign) -> dict[str, _Person]:
    skips = (
        select(events.c.rater_id, count_of_skips())
        .join(leases, leases.c.assignment_id == events.c.assignment_id)
        .where(leases.c.campaign_id == campaign.campaign_id)
        .group_by(events.c.rater_id)
    )
    # a check is not a vote: checks are counted by their completed tasks
    checks = (
        select(leases.c.rater_id, func.count())
        .where(
            leases.c.campaign_id == campaign.campaign_id,
            leases.c.state == "done",
            leases.c.vote_id.is_(None),
            leases.c.purpose.not_in(("practice", "qualification")),
        )
        .group_by(leases.c.rater_id)
    )
    query = select(participants).where(participants.c.campaign_id == campaign.campaign_id)
    active = (
        select(events.c.rater_id, func.max(events.c.created_at))
        .join(assignments, assignments.c.id == events.c.assignment_id)
        .where(assignments.c.campaign_id == campaign.campaign_id)
        .group_by(events.c.rater_id)
    )
    with reading(workspace.store.engine) as connection:
        rows = connection.execute(query).mappings().all()
        last = {row[0]: row[1] for row in connection.execute(active)}
        skipped = {row[0]: row[1] for row in connection.execute(skips)}
        checked = {row[0]: row[1] for row in connection.execute(checks)}
    people = {}
    for row in rows:
        rater = workspace.store.get(Rater, row["rater_id"])
        identity = row["rater_id"]
        people[identity] = _Person(
            row["seq"],
            identity,
            rater.name if rater is not None else "",
            {key: str(value) for key, value in rater.params.items()} if rater is not None else {},
            bool(row["active"]),
            votes=checked.get(identity, 0),
            skipped=skipped.get(identity, 0),
            last_active=last.get(identity),
        )
    for identity, first in sheet_raters(workspace, campaign).items():
        people[identity] = _Person(AFTER_ALL + first, identity, sheet=True)
    return people


def _add(counts: _Answers, cast: AnsweredTask, first: Vote | None, known_tasks: dict[str, KnownTask]) -> None:
    vote = cast.vote
    if cast.assignment.purpose == "qualification":
        counts.tests.append(is_correct_answer(cast.assignment, vote) is not False)
    if cast.assignment.purpose in ("practice", "qualification"):
        return  # training is not work: it would also make a rater look slow or in disagreement
    counts.votes += 1
    counts.unseen += vote.unseen
    _add_times(counts, vote)
    if vote.preference in (Outcome.LEFT, Outcome.RIGHT):
        counts.sides.append(vote.preference is Outcome.LEFT)
    verdict = is_known_answer_right(cast.assignment, vote, known_tasks) if cast.assignment.purpose == "gold" else None
    if verdict is not None:
        counts.gold.append(verdict)
    if cast.assignment.purpose == "repeat" and first is not None:
        counts.repeats.append(preference_label(vote) == preference_label(first) and vote.ratings == first.ratings)


def _add_times(counts: _Answers, vote: Vote) -> None:
    claimed, measured = vote.time_spent_s, vote.measured_time_s
    times = [time for time in (claimed, measured) if time is not None]
    if times:
        counts.shorter.append(min(times))
    if claimed is not None:
        counts.times.append(claimed)
    if measured is not None:
        counts.measured.append(measured)
    if claimed is not None and measured is not None and claimed - measured > max(OVERCLAIM_S, measured):
        counts.overclaimed.append((claimed, measured))


def _beside_others(answered: list[AnsweredTask]) -> "dict[str, RaterReport]":
    """How far each rater agrees with the others: share of equal pairs, or correlation with the others' mean."""
    from imarena.stats import from_columns, rater_reports

    columns = answers_by_criterion(answered)
    if not columns:
        return {}
    labels = "preference" in columns or all(value in (0.0, 1.0) for c in columns.values() for value in c[2])
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    for units, raters, values in columns.values():
        for unit, rater, value in zip(units, raters, values, strict=True):
            sums[unit, rater].append(value)
    units, raters = [key[0] for key in sums], [key[1] for key in sums]
    means = [statistics.fmean(values) for values in sums.values()]
    scale: Scale = "pair" if set(columns) == {"preference"} else "label" if labels else "number"
    ratings, _, names = from_columns(units, raters, means, scale=scale)
    return {names[report.rater]: report for report in rater_reports(ratings)}


def _work(
    person: _Person,
    counts: _Answers,
    report: "RaterReport | None",
    plan: CampaignPlan,
    usual: float | None,
    exclusion: Exclusion | None,
) -> RaterWork:
    """Return a rater's work with the figures of the answers. `usual`: the pace of the others."""
    least = forms().pace.least_s.get(plan.kind, 0.0)
    reasons = _reasons(person.rater_id, counts, plan, usual)
    beside = [flag for flag in report.flags if flag != "too_few"] if report is not None else []
    rater: dict[str, JsonValue] = {"rater": person.rater_id}
    notices = [Notice(code=f"rater_{flag}", values=rater) for flag in beside]
    since = None if exclusion is None or exclusion.since is None else moment_text(exclusion.since)
    return RaterWork(
        **{**vars(person), "votes": person.votes + counts.votes},
        median_time_s=_median(counts.times),
        median_measured_s=_median(counts.measured),
        overclaimed=len(counts.overclaimed),
        unseen=counts.unseen,
        hasty=sum(time < least for time in counts.shorter),
        test_right=sum(counts.tests),
        test_asked=len(counts.tests),
        gold_right=sum(counts.gold),
        gold_asked=len(counts.gold),
        repeats_same=sum(counts.repeats),
        repeats_asked=len(counts.repeats),
        agreement=report.with_others.value if report is not None else None,
        left_share=sum(counts.sides) / len(counts.sides) if counts.sides else None,
        flags=(*beside, *reasons),
        notices=(*notices, *(Notice(code=f"rater_{flag}", values=values) for flag, values in reasons.items())),
        excluded=exclusion is not None,
        excluded_since=since,
        excluded_reason="" if exclusion is None else exclusion.reason,
    )


def _usual_pace(answers: dict[str, _Answers], rater: str) -> float | None:
    """The median of the median times of the other raters who have answered often enough."""
    paces = (counts.shorter for other, counts in answers.items() if other != rater)
    return _median([statistics.median(times) for times in paces if len(times) >= FEW])


def _median(times: list[float]) -> float | None:
    return statistics.median(times) if times else None


def _reasons(
    rater_id: str, counts: _Answers, plan: CampaignPlan, usual: float | None
) -> dict[str, dict[str, JsonValue]]:
    """The rater's flags, each with its figures."""
    pace = forms().pace
    least, median = pace.least_s.get(plan.kind, 0.0), _median(counts.shorter)
    n_tests, sides = len(plan.qualification), len(counts.sides)
    left_share = sum(counts.sides) / sides if sides else None
    reasons: dict[str, dict[str, JsonValue]] = {}
    if n_tests and len(counts.tests) == n_tests and sum(counts.tests) < plan.pass_share * n_tests:
        reasons["not_qualified"] = {"right": sum(counts.tests), "asked": n_tests}
    if len(counts.gold) >= 3 and sum(counts.gold) < 0.7 * len(counts.gold):
        reasons["misses_gold"] = {"right": sum(counts.gold), "asked": len(counts.gold)}
    if len(counts.repeats) >= 3 and sum(counts.repeats) < 0.6 * len(counts.repeats):
        reasons["contradicts_self"] = {"right": sum(counts.repeats), "asked": len(counts.repeats)}
    if median is not None and len(counts.shorter) >= pace.least_answers and median < least:
        reasons["no_time_to_look"] = {"answers": sum(time < least for time in counts.shorter), "least_s": least}
    elif median is not None and usual is not None and len(counts.shorter) >= FEW and median < FAST_SHARE * usual:
        reasons["very_fast"] = {"median_s": median, "usual_s": usual}
    if left_share is not None and sides >= 2 * FEW and not 0.2 <= left_share <= 0.8:
        reasons["one_sided"] = {"left_share": left_share, "asked": sides}
    if len(counts.overclaimed) >= FEW_OVERCLAIMS:
        claimed, measured = zip(*counts.overclaimed, strict=True)
        medians = {"claimed_s": statistics.median(claimed), "measured_s": statistics.median(measured)}
        reasons["overclaims_time"] = {"answers": len(claimed), "of": len(counts.measured), **medians}
    return {flag: {"rater": rater_id, **values} for flag, values in reasons.items()}


@dataclass(frozen=True)
class JoinedCampaigns:
    """A page of a rater's campaigns, each with its sequence number for paging, and their total on all pages."""

    campaigns: list[tuple[int, str]]
    total: int


def campaigns_of_rater(
    workspace: Workspace, rater_id: str, *, leads: bool, after: int = 0, limit: int = 50
) -> JoinedCampaigns:
    """The campaigns that a rater joined; for leads, who need no invitation, all that are open."""
    store = workspace.store
    if not leads:
        with reading(store.engine) as connection:
            return JoinedCampaigns(*membership.memberships(connection, rater_id, after, limit))
    kinds = list(RATERS_PER_UNIT)
    rows = store.rows(Campaign, after=after, limit=limit, open=1, kind=kinds)
    campaigns = [(int(row["seq"]), str(row["id"])) for row in rows]
    return JoinedCampaigns(campaigns, sum(store.count(Campaign, open=1, kind=kinds).values()))


def pause_rater(workspace: Workspace, campaign: Campaign, rater_id: str, *, active: bool) -> RaterWork:
    """Pause a rater in a campaign, or resume (`active`); returns the rater's work."""
    with writing(workspace.store.engine) as connection:
        changed = membership.change_membership(connection, campaign.campaign_id, rater_id, active=int(active))
    if not changed:
        raise Refusal("not_found", "This rater does not take part in the campaign.")
    return next(work for work in rater_work(workspace, campaign) if work.rater_id == rater_id)


@dataclass(frozen=True)
class RaterWorkPage:
    """One page of raters, how many there are in all, and the `seq` after which the next page begins, if any."""

    raters: tuple[RaterWork, ...]
    total: int
    after: int | None


def rater_work_page(workspace: Workspace, campaign: Campaign, limit: int, *, after: int = 0) -> RaterWorkPage:
    """The work of the first `limit` raters after `seq`."""
    everybody = rater_work(workspace, campaign)
    later = [work for work in everybody if work.seq > after]
    return RaterWorkPage(tuple(later[:limit]), len(everybody), later[limit - 1].seq if len(later) > limit else None)
