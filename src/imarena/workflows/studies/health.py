"""health: how far each judge of a workspace can be trusted, and what is missing to say more."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from imarena.core import content_id
from imarena.core.records import Order, Outcome, Output, Status
from imarena.judges import JudgeHealth, SelfConsistency, Verdicts
from imarena.judges import health as figures
from imarena.stats import Figure, proportion_figure
from imarena.storage import Workspace
from imarena.workflows.studies.health_data import JudgeAnswers, PeopleVotes, people_for, read_judges, read_people
from imarena.workflows.studies.judge_agreement import agreement_among_judges, pairs_of_points
from imarena.workflows.studies.probe import ProbeAnswer, add_probes, only_probed, stored_probes
from imarena.workflows.views import AT, View, chosen_judges

GAPS = (50.0, 100.0, 200.0)


# ---------------------------------------------------------------- the questions


def judge_health_report(
    workspace: Workspace, judges: Sequence[str] | None = None
) -> tuple[list[JudgeHealth], JudgeHealth]:
    """All that the data allow to say about each judge, and apart from that about the judges together."""
    view = View(workspace)
    chosen = chosen_judges(view, judges or ())
    forms = read_judges(view, chosen)
    people = read_people(view)
    editors = {row["id"]: row["editor"] or "(not named)" for row in workspace.store.rows(Output)}
    judged = {one.name: one.dimensions for one in chosen}
    found = []
    probed = stored_probes(workspace)
    for judge in sorted(forms):
        newest = forms[judge][-1]
        one = JudgeHealth(judge, dict(newest.statuses), versions=[said.version for said in forms[judge]])
        _failures(one, newest)
        _position(one, newest)
        _consistency(one, newest)
        asked = people_for(newest, judged[newest.name], people)
        _against_votes(one, newest, asked)
        _versions(one, forms[judge], asked)
        _gaps(one, newest, asked)
        _means(one, newest, editors)
        _drift(one, forms[judge])
        _injection(one, newest, probed.pop(judge.partition(AT)[0] if judge not in probed else judge, []))
        found.append(one)
    if not judges:
        found += [only_probed(judge, probes) for judge, probes in sorted(probed.items())]
    _against_ratings(workspace, found, [one.name for one in chosen])
    return found, agreement_among_judges(forms)


def _failures(one: JudgeHealth, said: JudgeAnswers) -> None:
    total = said.statuses.total()
    failed = total - said.statuses[Status.OK.value]
    one.add(
        "How often does it give no verdict?", proportion_figure("failed", failed, total, "attempts that are not ok")
    )


def _position(one: JudgeHealth, said: JudgeAnswers) -> None:
    both = [o for o in said.pairs.values() if {Order.LEFT_FIRST.value, Order.RIGHT_FIRST.value} <= o.keys()]
    if not both:
        one.needs("position_bias")
        return
    found = figures.position_bias(
        [orders[Order.LEFT_FIRST.value] for orders in both], [orders[Order.RIGHT_FIRST.value] for orders in both]
    )
    one.add("Does it like the first place? (0.5 is fair)", found.first_rate)
    one.add("How often do the two orders disagree?", found.flips)
    one.add("Of those that chose one place twice: how often the first?", found.first_of_flips)


def _consistency(one: JudgeHealth, said: JudgeAnswers) -> None:
    repeats = sorted({repeat for _, repeat in said.pairs} or {repeat for _, repeat in said.points})
    if len(repeats) < 2:
        one.needs("repeats")
        return
    keys = sorted(said.keys()) or pairs_of_points(said)
    if not keys:
        one.needs("repeated_pairs")
        return
    runs: list[Verdicts] = [[said.battle(key, repeat) for key in keys] for repeat in repeats]
    found: SelfConsistency = figures.self_consistency(runs)
    one.add(f"Does it agree with itself over {found.n_runs} runs? (nominal alpha)", found.alpha)
    one.add("Pairs with one verdict in all runs", found.unanimous)


def _injection(one: JudgeHealth, said: JudgeAnswers, probes: Sequence[ProbeAnswer]) -> None:
    if said.flagged:
        found = proportion_figure("flagged", sum(said.flagged.values()), len(said.flagged), "outputs with such words")
        one.add("In how many outputs did it see words that address a judge?", found)
    form = content_id("form", *json.loads(said.form))
    mine = [probe for probe in probes if probe.form == form]
    if mine:
        add_probes(one, mine)
    elif probes:
        one.needs("probe_of_this_form")
    else:
        one.needs("probe")


def _against_votes(one: JudgeHealth, said: JudgeAnswers, people: PeopleVotes) -> None:
    if not people.votes:
        one.needs("votes")
        return
    human, judge, tracks = _met(said, people)
    if not judge:
        one.needs("verdicts_on_votes")
        return
    groups = figures.accuracy_by_group(human, judge, tracks)
    others = ", ".join(sorted(people.dimensions - {said.dimension}))
    about = f"; votes about {others}, verdicts about {said.dimension}" if others else ""
    one.add(f"Does it choose as people do where they decide? (a tie is wrong{about})", groups.pop("overall"))
    if len(groups) > 1:
        for track, figure in groups.items():
            one.add("... by track or task", figure, group=track)
    lazy = figures.tie_laziness(human, judge)
    one.add("How often does it tie where people decide?", lazy.false_ties)


def _met(said: JudgeAnswers, people: PeopleVotes) -> tuple[list[Outcome | None], list[Outcome | None], list[str]]:
    """Every vote beside every verdict on its pair, as in `align`, and the track (or task) of the pair."""
    rows = [(vote, verdict, track) for key, vote, track in people.votes for verdict in said.verdicts(key)]
    return [vote for vote, *_ in rows], [verdict for _, verdict, _ in rows], [track for *_, track in rows]


def _versions(one: JudgeHealth, forms: Sequence[JudgeAnswers], people: PeopleVotes) -> None:
    """Where there are several versions: how often each chooses as people do, on the votes that it has verdicts on."""
    for said in forms if len(forms) > 1 else ():
        human, judge, _ = _met(said, people)
        if judge:
            found = figures.accuracy_by_group(human, judge, ["overall"] * len(judge))["overall"]
            one.add("Does each version choose as people do where they decide?", found, group=f"version {said.version}")


def _gaps(one: JudgeHealth, said: JudgeAnswers, people: PeopleVotes) -> None:
    rows = []
    repeats = sorted({repeat for _, repeat in said.points})
    for key, outcome, _ in people.votes:
        for repeat in repeats:
            left, right = said.points.get((key[0], repeat)), said.points.get((key[1], repeat))
            if left is not None and right is not None and outcome in figures.DECISIVE:
                rows.append((outcome is Outcome.LEFT, left, right))
    if not rows:
        one.needs("scores_of_pairs")
        return
    units = [number for number in range(len(rows)) for _ in range(2)]
    human = [value for left, _, _ in rows for value in (float(left), float(not left))]
    scores = [value for _, one_score, other in rows for value in (one_score, other)]
    edges = _edges(scores)
    found = figures.score_gap_agreement(units, human, scores, edges)
    for band, figure in zip(found.bands, found.figures, strict=True):
        if band.n:
            low = f"{band.low:.3g}"
            name = f"{low} to {band.high:.3g}" if band.high is not None else f"{low} and more"
            one.add("Is a larger score gap a surer verdict?", figure, group=name)


def _edges(scores: Sequence[float]) -> tuple[float, ...]:
    """The paper's edges on its scale of 0 to 1000; the same shares of the span on any other."""
    span = max(scores) - min(scores)
    return GAPS if max(scores) > 100 else tuple(edge / 1000 * (span or 1.0) for edge in GAPS)


def _means(one: JudgeHealth, said: JudgeAnswers, editors: dict[str, str]) -> None:
    if not said.dimensions:
        return
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    for output, scores in said.dimensions.items():
        rows[editors[output]].append(scores)
    for editor, found in figures.dimension_means(rows).items():
        for name, mean in found.items():
            half = 1.96 * mean.error if mean.error else None  # equal scores show no error, and not that there is none
            low, high = (mean.mean - half, mean.mean + half) if half is not None else (None, None)
            told = "normal, 95 %" if half is not None else ""
            why = "one score" if mean.n == 1 else "no variation: all scores are equal"
            figure = Figure(
                name, mean.mean, mean.n, "mean", low=low, high=high, interval=told, interval_reason="" if told else why
            )
            one.add("Mean of each dimension", figure, group=editor)


def _drift(one: JudgeHealth, forms: Sequence[JudgeAnswers]) -> None:
    if len(forms) < 2:
        one.needs("two_forms")
        return
    told = False
    for old, new in pairwise(forms):
        both = old.keys() & new.keys()
        if both:
            pairs = sorted(both)
            changed = figures.verdict_drift([old.battle(k) for k in pairs], [new.battle(k) for k in pairs])
            one.add("Did its verdicts change with its form?", changed, group=new.changed_from(old))
            told = True
        common = {key for key, _ in old.points} & {key for key, _ in new.points}
        if len(common) > 1:
            found = figures.score_drift(_scores(old, common), _scores(new, common))
            moved = (found.shift, found.rank_correlation, found.changed)
            one.add("Did its scores move with its form?", *moved, group=new.changed_from(old))
            told = True
    if not told:
        one.needs("common_outputs")


def _scores(said: JudgeAnswers, outputs: Iterable[str]) -> dict[str, float | None]:
    return {output: said.score(output) for output in outputs}


FOLLOWS = "Do its scores follow people's ratings?"


def _against_ratings(workspace: Workspace, found: Sequence[JudgeHealth], judges: Sequence[str]) -> None:
    from imarena.agreement import AlignOptions, align
    from imarena.core import UserError
    from imarena.workflows.studies.columns import ratings_from_store, scores_from_store

    ratings = ratings_from_store(workspace)
    scores = scores_from_store(workspace, judges, sorted(set(ratings.labels["criterion"])))
    if not len(ratings) or not len(scores):
        for one in found:
            one.needs("ratings_and_scores")
        return
    try:
        aligned = align(scores, ratings, AlignOptions())
    except UserError:
        for one in found:
            one.needs("scores_of_ratings")
        return
    named = {one.judge: one for one in found}
    how = f"{aligned.settings['interval']}, {aligned.settings['rounds']} rounds, seed {aligned.settings['seed']}"
    for group in aligned.groups:
        own = group["judge"].removesuffix(f": {group['criterion']}")  # its mark of the same name, not its headline
        if own not in named:
            continue
        marks = own != group["judge"]
        question = "Do its marks follow people's on the same criterion?" if marks else FOLLOWS
        for name in ("spearman", "kendall_accuracy"):
            reason = str(group["reason"] or "") if group[name] is None else ""
            ends = (group["interval"] or {}).get(name) or {}
            figure = Figure(
                name, group[name], group["n"], "against the mean rating", reason, ends.get("low"), ends.get("high"),
                how if ends.get("low") is not None else "", ends.get("reason") or "",
            )  # fmt: skip
            named[own].add(question, figure, group=group["criterion"] or "")
