"""Quality of the work in a campaign: agreement, each rater compared with the others, and why tasks were skipped."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from sqlalchemy import select

from imarena.core import ROUNDS, SEED
from imarena.core.notices import Medium, Notice, sentence
from imarena.core.records import Campaign, Event, EventKind, FrozenModel
from imarena.routing import forms
from imarena.stats import Scale
from imarena.storage import StoredInvitation, Workspace, from_row
from imarena.storage.schema import assignments, events
from imarena.workflows.rating.answers import answered_tasks, answers_by_criterion
from imarena.workflows.rating.campaigns import CampaignProgress, campaign_progress
from imarena.workflows.rating.invitations import unopened_links
from imarena.workflows.rating.rater_work import RaterWork, rater_work

_LISTED = 20


class CriterionAgreement(FrozenModel):
    """Agreement among the raters of a campaign on one criterion. Undefined figures are None, with the reason."""

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


class SkippedTasks(FrozenModel):
    """One reason for skipping tasks: how often, on which items, and the raters' notes, newest first."""

    reason: str
    count: int
    n_items: int
    items: tuple[str, ...]
    words: tuple[str, ...]
    """At most 20 of each."""


@dataclass(frozen=True, slots=True)
class CampaignStatus:
    """A campaign's progress, its raters' agreement, and each rater's work."""

    progress: CampaignProgress
    agreement: list[CriterionAgreement]
    raters: list[RaterWork]
    least_look_s: float | None
    """A rater whose median time is below this cannot have looked properly; None: no limit for this kind."""
    unopened: tuple[StoredInvitation, ...] = ()
    """Links to the campaign that work and that nobody has opened, oldest first."""


def campaign_status(workspace: Workspace, campaign: Campaign) -> CampaignStatus:
    """Progress, agreement and raters' work in a campaign."""
    return CampaignStatus(
        campaign_progress(workspace, campaign),
        agreement(workspace, campaign),
        rater_work(workspace, campaign),
        forms().pace.least_s.get(campaign.kind),
        unopened_links(workspace, campaign),
    )


def agreement(workspace: Workspace, campaign: Campaign, medium: Medium = "terminal") -> list[CriterionAgreement]:
    """Agreement by criterion, with the reasons for undefined figures. Alpha and its interval are those of `agree`."""
    from imarena.stats import MeasurementLevel, fleiss_kappa, from_columns, krippendorff_alpha, pairwise_agreement

    report = []
    answers = answers_by_criterion(list(answered_tasks(workspace, campaign)))
    for criterion, (units, raters, values) in sorted(answers.items()):
        scale: Scale = "pair" if criterion == "preference" else "label" if campaign.kind == "yes_no" else "number"
        ratings, unit_names, rater_names = from_columns(units, raters, values, scale=scale)
        level: MeasurementLevel = "ordinal" if scale == "number" else "nominal"
        alpha = krippendorff_alpha(ratings, level, rounds=ROUNDS, seed=SEED)
        kappa, pairs = fleiss_kappa(ratings), pairwise_agreement(ratings)
        reasons = dict.fromkeys(figure.reason for figure in (alpha, kappa, pairs) if figure.reason)
        if len(units) == len(unit_names):  # no unit has two answers
            reasons[sentence(Notice(code="one_answer_each"), medium)] = None
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


def skip_reasons(workspace: Workspace, campaign: Campaign) -> list[SkippedTasks]:
    """Reasons for skipping tasks, each with its count, items and raters' notes; the most frequent first."""
    query = (
        select(events, assignments.c.item_id)
        .join(assignments, assignments.c.id == events.c.assignment_id)
        .where(assignments.c.campaign_id == campaign.campaign_id, events.c.kind.in_(("skipped", "unskipped")))
        .order_by(events.c.seq.desc())
    )
    items: dict[str, list[str]] = defaultdict(list)
    written: dict[str, list[str]] = defaultdict(list)
    taken_back: Counter[tuple[str, str]] = Counter()
    for row in workspace.store.fetch(query):
        key = (row["assignment_id"], row["rater_id"])
        if row["kind"] == EventKind.UNSKIPPED.value:
            taken_back[key] += 1  # the skip before it does not count
            continue
        if taken_back[key]:
            taken_back[key] -= 1
            continue
        event = from_row(Event, {name: value for name, value in row.items() if name != "item_id"})
        reason, _, note = event.reason.partition(": ")
        items[reason].append(row["item_id"])
        if note:
            written[reason].append(note)
    skipped = []
    for reason, on in items.items():
        first, words = tuple(dict.fromkeys(on)), tuple(written[reason])
        skipped.append(
            SkippedTasks(reason=reason, count=len(on), n_items=len(first), items=first[:_LISTED], words=words[:_LISTED])
        )
    return sorted(skipped, key=lambda tasks: -tasks.count)
