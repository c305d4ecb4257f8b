"""`health`: how far each judge of a workspace can be trusted, and which data are missing to say more."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from imarena.core import content_id, grouped
from imarena.core.records import Order, Outcome, Output, Status
from imarena.judges import HealthFindings, JudgeHealth, SelfConsistency, Verdicts
from imarena.judges import health as figures
from imarena.stats import Z95, Figure, Interval, proportion_figure
from imarena.storage import Workspace
from imarena.workflows.studies.health_data import (
    JudgeAnswers,
    OutputIdPair,
    PeopleVotes,
    people_for,
    read_judges,
    read_people,
    read_rated_pairs,
)
from imarena.workflows.studies.probe import ProbeAnswer, add_probes, only_probed, stored_probes
from imarena.workflows.studies.tables.alignment import SIDES, of_its_own_mark
from imarena.workflows.views import AT, WHOLE, View, chosen_judges

GAPS = (50.0, 100.0, 200.0)
FIRST_TWICE = "When it changes its verdict, how often does it choose the image shown first? (0.5 is fair)"
GAP_QUESTION = "Is it right more often when the score gap is larger?"


# ---------------------------------------------------------------- the questions


def judge_health_report(
    workspace: Workspace, judges: Sequence[str] | None = None
) -> tuple[list[JudgeHealth], JudgeHealth]:
    """All findings that the data allow about each judge, and separately about the judges together."""
    view = View(workspace)
    all_judges = chosen_judges(view, judges or ())
    forms = read_judges(view, all_judges)
    people = read_people(view)
    rated = PeopleVotes([], frozenset()) if people else read_rated_pairs(view)
    editors = {row["id"]: row["editor"] or "(not named)" for row in workspace.store.rows(Output)}
    judged = {judge_choice.name: judge_choice.dimensions for judge_choice in all_judges}
    reports = []
    probed = stored_probes(workspace)
    for judge in sorted(forms):
        newest = forms[judge][-1]
        versions = tuple(answers.version for answers in forms[judge])
        health = HealthFindings(judge, dict(newest.statuses), versions)
        _failures(health, newest)
        _position(health, newest)
        _consistency(health, newest)
        matching = people_for(newest, judged[newest.name], people)
        _against_votes(health, newest, matching)
        _versions(health, forms[judge], matching)
        _gaps(health, newest, matching, rated if newest.dimension == WHOLE else matching)
        _means(health, newest, editors)
        _drift(health, forms[judge])
        _injection(health, newest, probed.pop(judge.partition(AT)[0] if judge not in probed else judge, []))
        reports.append(health)
    if not judges:
        reports += [only_probed(judge, probes) for judge, probes in sorted(probed.items())]
    _against_ratings(workspace, reports, list(judged))
    return [health.health() for health in reports], agreement_among_judges(forms)


def _failures(health: HealthFindings, answers: JudgeAnswers) -> None:
    total = answers.statuses.total()
    failed = total - answers.statuses[Status.OK.value]
    health.add(
        "How often does it give no verdict?",
        proportion_figure("failed", failed, total, "answers without an overall score or preference"),
    )


def _position(health: HealthFindings, answers: JudgeAnswers) -> None:
    in_both = [o for o in answers.pairs.values() if {Order.LEFT_FIRST.value, Order.RIGHT_FIRST.value} <= o.keys()]
    if not in_both:
        health.needs("position_bias")
        return
    bias = figures.position_bias(
        [orders[Order.LEFT_FIRST.value] for orders in in_both], [orders[Order.RIGHT_FIRST.value] for orders in in_both]
    )
    health.add("Does it favour the image shown first? (0.5 is fair)", bias.first_rate)
    health.add("How often does it change its verdict when the two images swap places?", bias.flips)
    health.add(
        FIRST_TWICE,
        bias.first_of_flips,
    )


def _consistency(health: HealthFindings, answers: JudgeAnswers) -> None:
    repeats = sorted({repeat for _, repeat in answers.pairs} or {repeat for _, repeat in answers.points})
    if len(repeats) < 2:
        health.needs("repeats")
        return
    keys = sorted(answers.keys()) or pairs_of_points(answers)
    if not keys:
        health.needs("repeated_pairs")
        return
    runs: list[Verdicts] = [[answers.battle(key, repeat) for key in keys] for repeat in repeats]
    consistency: SelfConsistency = figures.self_consistency(runs)
    health.add(f"Does it agree with itself over {consistency.n_runs} runs? (nominal alpha)", consistency.alpha)
    health.add("How often is its verdict the same in all runs?", consistency.unanimous)


def _injection(health: HealthFindings, answers: JudgeAnswers, probes: Sequence[ProbeAnswer]) -> None:
    if answers.flagged:
        share = proportion_figure(
            "flagged", sum(answers.flagged.values()), len(answers.flagged), "outputs with such words"
        )
        health.add("How often did the judge report text in the image that addresses it? (its own answers)", share)
    form = content_id("form", *json.loads(answers.form))
    own_probes = [probe for probe in probes if probe.form == form]
    if own_probes:
        add_probes(health, own_probes)
    elif probes:
        health.needs("probe_of_this_form")
    else:
        health.needs("probe")


def _against_votes(health: HealthFindings, answers: JudgeAnswers, people: PeopleVotes) -> None:
    if not people.votes:
        health.needs("votes")
        return
    human, judge, tracks = _met(answers, people)
    if not judge:
        health.needs("verdicts_on_votes")
        return
    groups = figures.accuracy_by_group(human, judge, tracks)
    other_dimensions = ", ".join(sorted(people.dimensions - {answers.dimension}))
    about = f"; votes about {other_dimensions}, verdicts about {answers.dimension}" if other_dimensions else ""
    health.add(f"Does it choose as people do? ({SIDES}; a tie of the judge is wrong{about})", groups.pop("overall"))
    if len(groups) > 1:
        for track, figure in groups.items():
            health.add("... by track or task", figure, group=track)
    health.add(f"How often does it answer with a tie {SIDES}?", figures.tie_laziness(human, judge).false_ties)


def _met(answers: JudgeAnswers, people: PeopleVotes) -> tuple[list[Outcome | None], list[Outcome | None], list[str]]:
    """Each vote matched with each verdict on its pair, as in `align`, and the track (or task) of the pair."""
    rows = [(vote, verdict, track) for key, vote, track in people.votes for verdict in answers.verdicts(key)]
    return [vote for vote, *_ in rows], [verdict for _, verdict, _ in rows], [track for *_, track in rows]


def _versions(health: HealthFindings, forms: Sequence[JudgeAnswers], people: PeopleVotes) -> None:
    """If there are several versions: how often each agrees with people, on the votes that it has verdicts on."""
    for answers in forms if len(forms) > 1 else ():
        human, judge, _ = _met(answers, people)
        if judge:
            accuracy = figures.accuracy_by_group(human, judge, ["overall"] * len(judge))["overall"]
            health.add(
                f"Does each version choose as people do? ({SIDES})", accuracy, group=f"version {answers.version}"
            )


def _gaps(health: HealthFindings, answers: JudgeAnswers, people: PeopleVotes, rated: PeopleVotes) -> None:
    """Agreement by score gap on the pairs that people voted on; without votes, on pairs of their mean ratings."""
    rows = []
    question = GAP_QUESTION if people.votes else f"{GAP_QUESTION} (pairs of people's mean ratings)"
    repeats = sorted({repeat for _, repeat in answers.points})
    for key, outcome, _ in people.votes or rated.votes:
        for repeat in repeats:
            left, right = answers.points.get((key[0], repeat)), answers.points.get((key[1], repeat))
            if left is not None and right is not None and outcome in figures.DECISIVE:
                rows.append((outcome is Outcome.LEFT, left, right))
    if not rows:
        health.needs("scores_of_pairs")
        return
    units = [number for number in range(len(rows)) for _ in range(2)]
    human = [value for left, _, _ in rows for value in (float(left), float(not left))]
    scores = [value for _, left, right in rows for value in (left, right)]
    agreement = figures.score_gap_agreement(units, human, scores, _edges(scores))
    for band, figure in zip(agreement.bands, agreement.figures, strict=True):
        if band.n:
            low = f"{band.low:.3g}"
            name = f"{low} to {band.high:.3g}" if band.high is not None else f"{low} and more"
            health.add(question, figure, group=name)


def _edges(scores: Sequence[float]) -> tuple[float, ...]:
    """The paper's edges for its scale of 0 to 1000; for any other scale, the same fractions of the scores' span."""
    span = max(scores) - min(scores)
    return GAPS if max(scores) > 100 else tuple(edge / 1000 * (span or 1.0) for edge in GAPS)


def _means(health: HealthFindings, answers: JudgeAnswers, editors: dict[str, str]) -> None:
    if not answers.dimensions:
        return
    rows = grouped((editors[output], scores) for output, scores in answers.dimensions.items())
    for editor, means in sorted(figures.dimension_means(rows).items()):
        for name, mean in means.items():
            figure = Figure(name, mean.mean, mean.n, "mean")
            if mean.error:
                low, high = mean.mean - Z95 * mean.error, mean.mean + Z95 * mean.error
                figure = replace(figure, low=low, high=high, interval="normal, 95%")
            else:  # equal scores do not prove an error of 0
                why = "one score" if mean.n == 1 else "no variation: all scores are equal"
                figure = replace(figure, interval_reason=why)
            health.add("Mean of each dimension", figure, group=editor)


def _drift(health: HealthFindings, forms: Sequence[JudgeAnswers]) -> None:
    if len(forms) < 2:
        health.needs("two_forms")
        return
    comparable = False
    for old, new in pairwise(forms):
        shared = old.keys() & new.keys()
        if shared:
            pairs = sorted(shared)
            changed = figures.verdict_drift([old.battle(k) for k in pairs], [new.battle(k) for k in pairs])
            health.add("Did its verdicts change with its version or prompt?", changed, group=new.changed_from(old))
            comparable = True
        common = {key for key, _ in old.points} & {key for key, _ in new.points}
        if len(common) > 1:
            drift = figures.score_drift(_scores(old, common), _scores(new, common))
            moved = (drift.shift, drift.rank_correlation, drift.changed)
            health.add("Did its scores change with its version or prompt?", *moved, group=new.changed_from(old))
            comparable = True
    if not comparable:
        health.needs("common_outputs")


def _scores(answers: JudgeAnswers, outputs: Iterable[str]) -> dict[str, float | None]:
    return {output: answers.score(output) for output in outputs}


FOLLOWS = "Do its scores follow people's ratings?"
NO_INTERVAL = Interval(None, None, "", "")
NOT_RESAMPLED = Interval(None, None, "", "not computed: see Spearman's")


def _against_ratings(workspace: Workspace, reports: Sequence[HealthFindings], judges: Sequence[str]) -> None:
    from imarena.agreement import AlignOptions, align
    from imarena.core import UserError
    from imarena.workflows.studies.columns import ratings_from_store, scores_from_store

    ratings = ratings_from_store(workspace)
    scores = scores_from_store(workspace, judges, sorted(set(ratings.labels["criterion"])))
    if not len(ratings) or not len(scores):
        for health in reports:
            health.needs("ratings_and_scores")
        return
    try:
        aligned = align(scores, ratings, AlignOptions())
    except UserError:
        for health in reports:
            health.needs("scores_of_ratings")
        return
    by_judge = {health.judge: health for health in reports}
    how = f"{aligned.settings['interval']}, {aligned.settings['rounds']} rounds, seed {aligned.settings['seed']}"
    for group in of_its_own_mark(aligned.groups):
        own = group.judge.removesuffix(f": {group.criterion}")  # its own mark of this criterion, not its headline score
        if own not in by_judge:
            continue
        question = (
            "Do its scores correlate with people's ratings on the same criterion?" if own != group.judge else FOLLOWS
        )
        for name, value in (("spearman", group.spearman), ("kendall_accuracy", group.kendall_accuracy)):
            reason = (group.reason or "") if value is None else ""
            ends = group.interval.get(name, NO_INTERVAL if name == "spearman" else NOT_RESAMPLED)
            figure = Figure(
                name, value, group.n, "against the mean rating", reason, ends.low, ends.high,
                how if ends.low is not None else "", ends.reason,
            )  # fmt: skip
            by_judge[own].add(question, figure, group=group.criterion or "")


TOGETHER = "The judges together"


def agreement_among_judges(forms: Mapping[str, Sequence[JudgeAnswers]]) -> JudgeHealth:
    """Agreement among the newest forms of the judges, separately for each dimension."""
    health = HealthFindings(TOGETHER)
    groups = grouped((answers[-1].dimension, answers[-1]) for _, answers in sorted(forms.items()))
    for dimension, judges in sorted(groups.items()):
        _agreement(health, dimension, judges)
    if len(forms) > 1 and not health.lines:
        health.needs("two_judges")
    return health.health()


def _agreement(health: HealthFindings, dimension: str, judges: Sequence[JudgeAnswers]) -> None:
    """Add agreement on the pairs of battles, with scores compared by sign; without battles, on all scored pairs."""
    if len(judges) < 2:
        return
    keys = set().union(*(answers.keys() for answers in judges)) or set().union(*map(pairs_of_points, judges))
    table = {answers.name: {key: answers.battle(key) for key in keys} for answers in judges}
    shared = [key for key in keys if sum(row[key] is not None for row in table.values()) > 1]
    table = {name: row for name, row in table.items() if any(row[key] is not None for key in shared)}
    if len(table) < 2:
        return
    agreement = figures.judge_agreement(table)
    group = f"{dimension}: {', '.join(sorted(table))}"
    health.add("Do they agree with each other? (nominal alpha)", agreement.alpha, group=group)
    health.add("How often do two judges give the same verdict?", agreement.equal, group=group)


def pairs_of_points(answers: JudgeAnswers) -> list[OutputIdPair]:
    """All pairs of scored outputs with the same item, turn and mode."""
    groups = grouped((unit, output) for output, unit in answers.units.items())
    return [pair for outputs in groups.values() for pair in combinations(sorted(outputs), 2)]
