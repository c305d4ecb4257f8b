"""How good the work in a campaign is: agreement, each rater beside the others, and the table of votes."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select

from imarena.core import ROUNDS, SEED
from imarena.core.notices import Notice, Place, sentence
from imarena.core.records import Assignment, Campaign, Event, Item, Outcome, Output, Rater, Verification, Vote
from imarena.reports.tables import csv_rows
from imarena.routing import CampaignPlan, KnownTask, forms, is_correct_answer, plan_of
from imarena.stats import PAIR_CODES, Scale
from imarena.storage import Workspace, from_row, reading
from imarena.storage.schema import assignments, events, leases, participants, verifications, votes
from imarena.workflows.rating.sheets import is_known_answer_right, sheet_raters, sheet_votes
from imarena.workflows.views import votes_in_force, without_excluded_raters

FAST_SHARE = 0.25
"""A rater whose median time is under this share of all raters' median is flagged."""
FEW = 10
"""Below this many votes nothing is said about a rater."""
AFTER_ALL = 10**12
"""Raters who never joined are listed after those who did; pages go by the number."""


@dataclass(frozen=True)
class AnsweredTask:
    """A live vote with the task it answers."""

    assignment: Assignment
    vote: Vote


@dataclass
class RaterWork:
    """One rater's work in a campaign."""

    rater_id: str
    seq: int
    name: str
    active: bool
    sheet: bool = False
    """Answered on a sheet and never joined here: there may be no times, and nothing to pause."""
    params: dict[str, str] = field(default_factory=dict)
    """What a crowd platform told of the person in the link: what the lead pays by."""
    votes: int = 0
    skipped: int = 0
    times: list[float] = field(default_factory=list)
    hasty: int = 0
    """Answers that came sooner than anybody can have looked (`pace` in ``forms.yaml``). They count like any other."""
    tests: list[bool] = field(default_factory=list)
    gold: list[bool] = field(default_factory=list)
    repeats: list[bool] = field(default_factory=list)
    sides: list[bool] = field(default_factory=list)
    agreement: float | None = None
    flags: list[str] = field(default_factory=list)

    @property
    def median_time_s(self) -> float | None:
        """The time of the middle answer; None where no answer came with one."""
        return statistics.median(self.times) if self.times else None

    @property
    def left_share(self) -> float | None:
        """Of the votes for a side, the share for the left one; None where there are none."""
        return sum(self.sides) / len(self.sides) if self.sides else None


@dataclass(frozen=True)
class CriterionAgreement:
    """Agreement among the raters of a campaign on one criterion. What is undefined is None, with the reason."""

    criterion: str
    alpha: float | None
    alpha_level: str
    alpha_low: float | None
    alpha_high: float | None
    alpha_interval_reason: str
    fleiss_kappa: float | None
    pairwise_agreement: float | None
    n_units: int
    n_raters: int
    reason: str


@dataclass(frozen=True)
class SkippedTasks:
    """One reason for skipping tasks: how often, on which items, and the newest words."""

    reason: str
    count: int
    items: tuple[str, ...]
    words: tuple[str, ...]


def answered_tasks(workspace: Workspace, campaign: Campaign, *, excluded: bool = False) -> Iterator[AnsweredTask]:
    """All live votes of a campaign, those that came on a sheet last. `excluded`: also of raters who are excluded."""
    query = (
        select(assignments, *(column.label(f"vote_{column.name}") for column in votes.c))
        .join(leases, leases.c.assignment_id == assignments.c.id)
        .join(votes, votes.c.id == leases.c.vote_id)
        .where(leases.c.campaign_id == campaign.campaign_id, leases.c.state == "done")
        .order_by(votes.c.seq)
    )
    query = query if excluded else without_excluded_raters(query)
    with reading(workspace.store.engine) as connection:
        rows = connection.execute(votes_in_force(query)).mappings().all()
    for row in rows:
        assignment = from_row(Assignment, row)
        vote = from_row(Vote, {name.removeprefix("vote_"): value for name, value in row.items() if "vote_" in name})
        if isinstance(assignment, Assignment) and isinstance(vote, Vote):
            yield AnsweredTask(assignment, vote)
    for assignment, vote in sheet_votes(workspace, campaign, excluded=excluded):
        yield AnsweredTask(assignment, vote)


def preference_label(vote: Vote) -> float | None:
    """A preference as a label that does not depend on the sides shown: the outputs in the order of their ids."""
    if vote.preference is None or vote.right_id is None:
        return None
    return PAIR_CODES[(vote.preference if vote.left_id < vote.right_id else vote.preference.mirrored()).value]


def _columns(found: Sequence[AnsweredTask]) -> dict[str, tuple[list[str], list[str], list[float]]]:
    """Units, raters and values by criterion, of real work only; of two answers by one rater the newer counts."""
    told: dict[str, dict[tuple[str, str], float]] = {}
    for cast in found:
        if cast.assignment.purpose != "vote":
            continue
        mark = preference_label(cast.vote)
        values = cast.vote.ratings if mark is None else {"preference": mark}
        for criterion, value in values.items():
            told.setdefault(criterion, {})[cast.assignment.unit, cast.vote.rater_id] = value
    return {
        criterion: ([unit for unit, _ in given], [rater for _, rater in given], list(given.values()))
        for criterion, given in told.items()
    }


def agreement(workspace: Workspace, campaign: Campaign, place: Place = "terminal") -> list[CriterionAgreement]:
    """Agreement by criterion; what is undefined says why. Alpha and its interval are those of `agree`."""
    from imarena.stats import Level, fleiss_kappa, from_columns, krippendorff_alpha, pairwise_agreement

    report = []
    for criterion, (units, raters, values) in sorted(_columns(list(answered_tasks(workspace, campaign))).items()):
        scale: Scale = "pair" if criterion == "preference" else "label" if campaign.kind == "yes_no" else "number"
        ratings, unit_names, rater_names = from_columns(units, raters, values, scale=scale)
        level: Level = "ordinal" if scale == "number" else "nominal"
        alpha = krippendorff_alpha(ratings, level, rounds=ROUNDS, seed=SEED)
        kappa, pairs = fleiss_kappa(ratings), pairwise_agreement(ratings)
        reasons = dict.fromkeys(figure.reason for figure in (alpha, kappa, pairs) if figure.reason)
        if len(units) == len(unit_names):  # nobody answered what another did
            reasons[sentence(Notice(code="one_answer_each"), place)] = None
        report.append(
            CriterionAgreement(
                criterion=criterion,
                alpha=alpha.value,
                alpha_level=level,
                alpha_low=alpha.low,
                alpha_high=alpha.high,
                alpha_interval_reason=alpha.interval_reason,
                fleiss_kappa=kappa.value,
                pairwise_agreement=pairs.value,
                n_units=len(unit_names),
                n_raters=len(rater_names),
                reason="; ".join(reasons),
            )
        )
    return report


def rater_work(workspace: Workspace, campaign: Campaign) -> list[RaterWork]:
    """Each rater's work, and why a rater stands out."""
    people, plan = _people(workspace, campaign), plan_of(campaign)
    known = {one.unit: one for one in plan.gold}
    first: dict[tuple[str, str], Vote] = {}
    found = list(answered_tasks(workspace, campaign, excluded=True))
    for cast in found:
        if cast.assignment.purpose == "vote":
            first[cast.vote.rater_id, cast.assignment.unit] = cast.vote
    for cast in found:
        work = people.get(cast.vote.rater_id)
        if work is not None:
            _add(work, cast, first.get((cast.vote.rater_id, cast.assignment.unit)), known)
    _beside_others(people, list(answered_tasks(workspace, campaign)))
    _flag(people, plan)
    return sorted(people.values(), key=lambda work: work.seq)


def skip_reasons(workspace: Workspace, campaign: Campaign) -> list[SkippedTasks]:
    """Why tasks were skipped: each with how often, on which items and the newest words; the most frequent first."""
    query = (
        select(events, assignments.c.item_id)
        .join(assignments, assignments.c.id == events.c.assignment_id)
        .where(assignments.c.campaign_id == campaign.campaign_id, events.c.kind == "skipped")
        .order_by(events.c.seq.desc())
    )
    items: dict[str, list[str]] = defaultdict(list)
    written: dict[str, list[str]] = defaultdict(list)
    with reading(workspace.store.engine) as connection:
        rows = connection.execute(query).mappings().all()
    for row in rows:
        event = from_row(Event, {name: value for name, value in row.items() if name != "item_id"})
        reason, _, words = event.reason.partition(": ") if isinstance(event, Event) else ("", "", "")
        items[reason].append(row["item_id"])
        if words:
            written[reason].append(words)
    found = [
        SkippedTasks(reason, len(on), tuple(dict.fromkeys(on)), tuple(written[reason])) for reason, on in items.items()
    ]
    return sorted(found, key=lambda one: -one.count)


def _people(workspace: Workspace, campaign: Campaign) -> dict[str, RaterWork]:
    skips = (
        select(events.c.rater_id, func.count())
        .join(leases, leases.c.assignment_id == events.c.assignment_id)
        .where(leases.c.campaign_id == campaign.campaign_id, events.c.kind == "skipped")
        .group_by(events.c.rater_id)
    )
    # a check is no vote: what was checked is counted by the tasks that are done
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
    with reading(workspace.store.engine) as connection:
        rows = connection.execute(query).mappings().all()
        skipped = {row[0]: row[1] for row in connection.execute(skips)}
        checked = {row[0]: row[1] for row in connection.execute(checks)}
    people = {}
    for row in rows:
        rater = workspace.store.get(Rater, row["rater_id"])
        identity = row["rater_id"]
        people[identity] = RaterWork(
            identity,
            row["seq"],
            rater.name if rater is not None else "",
            bool(row["active"]),
            params={key: str(value) for key, value in rater.params.items()} if rater is not None else {},
            votes=checked.get(identity, 0),
            skipped=skipped.get(identity, 0),
        )
    for identity, first in sheet_raters(workspace, campaign).items():
        people[identity] = RaterWork(identity, AFTER_ALL + first, "", active=True, sheet=True)
    return people


def _add(work: RaterWork, cast: AnsweredTask, first: Vote | None, known: dict[str, KnownTask]) -> None:
    vote = cast.vote
    if cast.assignment.purpose == "qualification":
        work.tests.append(is_correct_answer(cast.assignment, vote) is not False)
    if cast.assignment.purpose in ("practice", "qualification"):
        return  # learning is not work: it would also make a rater look slow, or of another mind
    work.votes += 1
    if vote.time_spent_s is not None:
        work.times.append(vote.time_spent_s)
    if vote.preference in (Outcome.LEFT, Outcome.RIGHT):
        work.sides.append(vote.preference is Outcome.LEFT)
    verdict = is_known_answer_right(cast.assignment, vote, known) if cast.assignment.purpose == "gold" else None
    if verdict is not None:
        work.gold.append(verdict)
    if cast.assignment.purpose == "repeat" and first is not None:
        work.repeats.append(preference_label(vote) == preference_label(first) and vote.ratings == first.ratings)


def _beside_others(people: dict[str, RaterWork], found: list[AnsweredTask]) -> None:
    """How far each rater is with the others: shares of equal pairs, or the correlation with the others' mean."""
    from imarena.stats import from_columns, rater_reports

    columns = _columns(found)
    if not columns:
        return
    labels = "preference" in columns or all(value in (0.0, 1.0) for c in columns.values() for value in c[2])
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    for units, raters, values in columns.values():
        for unit, rater, value in zip(units, raters, values, strict=True):
            sums[unit, rater].append(value)
    units, raters = [key[0] for key in sums], [key[1] for key in sums]
    means = [statistics.fmean(values) for values in sums.values()]
    scale: Scale = "pair" if set(columns) == {"preference"} else "label" if labels else "number"
    ratings, _, names = from_columns(units, raters, means, scale=scale)
    for report in rater_reports(ratings):
        work = people.get(names[report.rater])
        if work is not None:
            work.agreement = report.with_others.value
            work.flags += [flag for flag in report.flags if flag != "too_few"]


def _flag(people: dict[str, RaterWork], plan: CampaignPlan) -> None:
    asked = len(plan.qualification)
    pace = forms().pace
    least = pace.least_s.get(plan.kind, 0.0)
    medians = [statistics.median(work.times) for work in people.values() if len(work.times) >= FEW]
    usual = statistics.median(medians) if medians else None
    for work in people.values():
        if asked and len(work.tests) == asked and sum(work.tests) < plan.pass_share * asked:
            work.flags.append("not_qualified")
        if len(work.gold) >= 3 and sum(work.gold) < 0.7 * len(work.gold):
            work.flags.append("misses_gold")
        if len(work.repeats) >= 3 and sum(work.repeats) < 0.6 * len(work.repeats):
            work.flags.append("contradicts_self")
        work.hasty = sum(time < least for time in work.times)
        if len(work.times) >= pace.least_answers and statistics.median(work.times) < least:
            work.flags.append("no_time_to_look")
        if usual and len(work.times) >= FEW and statistics.median(work.times) < FAST_SHARE * usual:
            work.flags.append("very_fast")
        if len(work.sides) >= 2 * FEW and not 0.2 <= sum(work.sides) / len(work.sides) <= 0.8:
            work.flags.append("one_sided")


# ---------------------------------------------------------------- the table


COLUMNS = (
    "left", "right", "winner", "item", "rater", "dataset", "task", "topic", "purpose", "dimension", "ratings",
    "issues", "comment", "time_spent_s", "created_at", "unit", "vote_id",
)  # fmt: skip


def export_csv(workspace: Workspace, campaign: Campaign) -> str:
    """All live votes of a campaign; for checks, all of their verdicts. `imarena rank --from` reads the former.

    Votes that test a rater are among them, with their purpose; those of excluded raters are not.
    """
    if campaign.kind == "check":
        return _export_checks(workspace, campaign)
    editors = {row["id"]: row["editor"] for row in workspace.store.rows(Output)}
    about = {row["id"]: row for row in workspace.store.rows(Item)}

    def rows() -> Iterator[Sequence[object]]:
        for cast in answered_tasks(workspace, campaign):
            vote, item = cast.vote, about[cast.vote.item_id]
            yield (
                editors.get(vote.left_id), editors.get(vote.right_id or ""),
                vote.preference.value if vote.preference else None, item["key"], vote.rater_id, item["dataset"],
                item["task"], item["topic"], cast.assignment.purpose, vote.dimension,
                json.dumps(vote.ratings) if vote.ratings else None,
                json.dumps([issue.model_dump(exclude_defaults=True) for issue in vote.issues]) if vote.issues else None,
                vote.comment, vote.time_spent_s, vote.created_at.isoformat(), cast.assignment.unit, vote.vote_id,
            )  # fmt: skip

    return "".join(csv_rows(COLUMNS, rows()))


def _export_checks(workspace: Workspace, campaign: Campaign) -> str:
    query = (
        select(verifications)
        .join(assignments, assignments.c.item_id == verifications.c.item_id)
        .where(assignments.c.campaign_id == campaign.campaign_id)
        .order_by(verifications.c.seq)
        .distinct()
    )
    with reading(workspace.store.engine) as connection:
        found = [from_row(Verification, row) for row in connection.execute(query).mappings()]
    about = {row["id"]: row for row in workspace.store.rows(Item)}
    names = ("item", "dataset", "rater", "decision", "checks", "comment", "created_at")

    def rows() -> Iterator[Sequence[object]]:
        for check in found:
            if isinstance(check, Verification):
                item = about[check.item_id]
                yield (
                    item["key"], item["dataset"], check.rater_id, check.decision, json.dumps(check.checks),
                    check.comment, check.created_at.isoformat(),
                )  # fmt: skip

    return "".join(csv_rows(names, rows()))
