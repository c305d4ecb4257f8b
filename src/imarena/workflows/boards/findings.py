"""Notices about a board: which models are missing, or were compared on less than others."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from sqlalchemy import select

from imarena.core import command_line
from imarena.core.notices import Notice
from imarena.core.records import Status
from imarena.judges import CARDS
from imarena.storage import reading
from imarena.storage.schema import outputs
from imarena.tables import filter_column, row_slices, rows_where, used_codes
from imarena.workflows.boards.default_source import AvailableSources, ChosenSource
from imarena.workflows.boards.query import BoardQuery
from imarena.workflows.views import ONE_SIDE, UNNAMED_EDITOR, BattleColumns, OutputCoverage, Reason, View, slots_of

FEW_VOTES = 30
"""Below this number of votes, a board of people's votes is unreliable, whatever its intervals."""
NEARLY_ALL = 0.95
"""Fraction of the outputs from which an editor counts as complete; if no editor reaches it, a sample was intended."""


def few_votes_notices(evidence: AvailableSources, choice: ChosenSource) -> tuple[Notice, ...]:
    """Warn if nobody chose the source and there are very few votes."""
    if choice.source != "human" or choice.asked or evidence.votes + evidence.ratings >= FEW_VOTES:
        return ()
    return (Notice(code="few_votes", values={"votes": evidence.votes, "judges": bool(evidence.judges)}),)


def one_sided_notices(view: View, choice: ChosenSource) -> tuple[Notice, ...]:
    """Report verdicts on a later turn that do not count, because one side was shown with the other side's source."""
    judges, people = choice.source in ("judge", "all"), choice.source in ("human", "all")
    judgments = view.uncounted(view.variants.counting(choice.judges or None))[ONE_SIDE] if judges else 0
    votes = view.votes.excluded.get(Reason.ONE_SIDE.value, 0) if people else 0
    if not judgments and not votes:
        return ()
    return (Notice(code="one_sided_verdicts", values={"judgments": judgments, "votes": votes}),)


def other_sources(evidence: AvailableSources, choice: ChosenSource) -> Notice | None:
    """Report the verdicts of other sources, which this board leaves out."""
    if choice.source == "all":
        return None
    votes = evidence.votes if choice.source == "judge" else 0
    ratings = evidence.ratings if choice.source == "judge" and not votes else 0  # with votes, no board ranks by ratings
    judges = {name: sum(n) for name, n in evidence.judges.items() if name not in choice.judges}
    if not votes and not ratings and not judges:
        return None
    return Notice(code="other_sources", values={"votes": votes, "ratings": ratings, "judges": judges})


def verdict_notices(view: View, battles: BattleColumns, *, weighed: bool = False) -> tuple[Notice, ...]:
    """Report which verdicts are pooled, and which editors a judge both drove and ranks.

    `weighed`: the method weighs people and judges itself, so their verdicts are not simply pooled.
    """
    judges = battles.judges
    notices: list[Notice] = []
    if judges and not weighed and battles.n_judged < len(battles):
        notices.append(Notice(code="people_and_judges"))
    if len(judges) > 1 and not weighed:
        notices.append(Notice(code="judges_pooled", values={"judges": list(judges)}))
    notices += self_judged(judge_driven_editors(view), judges) if judges else []
    notices += judge_limits(judges)
    return tuple(notices)


def judge_limits(judges: Iterable[str]) -> list[Notice]:
    """Report the limitations that the judges' cards list."""
    cards = ((name, CARDS.get(name.partition("/")[0])) for name in judges)
    return [
        Notice(code="judge_cannot_see", values={"judge": name, "limits": list(card.cannot_judge)})
        for name, card in cards
        if card is not None and card.cannot_judge
    ]


def judge_driven_editors(view: View) -> dict[str, str]:
    """Return the editors whose outputs a judge helped to make, with the judge."""
    query = select(outputs.c.editor, outputs.c.driven_by).where(
        outputs.c.driven_by.is_not(None), outputs.c.editor.is_not(None), outputs.c.status == Status.OK.value
    )
    with reading(view.workspace.store.engine) as connection:
        return dict(connection.execute(query.distinct()).tuples().all())


def self_judged(drivers: Mapping[str, str], judges: Iterable[str]) -> list[Notice]:
    """Return a notice for each editor that one of these judges both drove and ranks."""
    ranking = set(judges)
    return [
        Notice(code="self_judged", values={"editor": editor, "judge": judge})
        for editor, judge in sorted(drivers.items())
        if judge in ranking
    ]


def coverage_notices(
    view: View,
    battles: BattleColumns,
    output_coverage: OutputCoverage,
    choice: ChosenSource,
    evidence: AvailableSources,
    query: BoardQuery,
) -> tuple[Notice, ...]:
    """Report models that should be on this board but are not, or that were compared on less than others."""
    ranked, kind = editors_on(view, battles), query.kind
    unwanted = {name for name in view.entries.editor.names if query.editors and name not in query.editors}
    return (
        *_absent(view, ranked | unwanted, choice, evidence, kind),
        *([] if kind else _scored_only(view, battles, choice, evidence)),
        *_no_outputs(view, ranked | unwanted),
        *_fewer_items(battles, output_coverage, ranked),
        *(_not_judged(view, battles, output_coverage, ranked) if choice.judges else ()),
    )


def editors_on(view: View, battles: BattleColumns) -> set[str]:
    """Return the editors on either side of these battles."""
    entries = view.entries
    used = used_codes(entries.seq.size, battles.left, battles.right)
    return {entries.editor.names[code] for code in np.unique(entries.editor.of[used]).tolist() if code >= 0}


def _absent(
    view: View, ranked: Collection[str], choice: ChosenSource, evidence: AvailableSources, kind: str | None
) -> Iterable[Notice]:
    entries = view.entries
    editors = np.unique(entries.editor.of[entries.ok & entries.pictured & (entries.editor.of >= 0)]).tolist()
    missing = [entries.editor.names[code] for code in editors if entries.editor.names[code] not in ranked]
    if not missing:
        return ()
    people = choice.source == "human"
    command = (
        command_line("campaign create NAME", workspace=view.workspace.root)
        if people
        else _adding(view, missing, choice, evidence, kind)
    )
    return (Notice(code="absent_editors", values={"models": list(missing), "people": people, "command": command}),)


def _scored_only(
    view: View, battles: BattleColumns, choice: ChosenSource, evidence: AvailableSources
) -> Iterable[Notice]:
    if battles.n_by_scores in (0, battles.n_judged):
        return ()
    fought = battles.where(~(battles.judged & battles.scored))
    only = sorted(editors_on(view, battles) - editors_on(view, fought))
    if not only:
        return ()
    command = _adding(view, only, choice, evidence, "compared")
    return (Notice(code="scored_only", values={"models": list(only), "command": command}),)


def _adding(view: View, missing: list[str], choice: ChosenSource, evidence: AvailableSources, kind: str | None) -> str:
    judges = evidence.judges
    judge = choice.judge or max(judges, key=lambda name: sum(judges[name]), default="builtin")
    judge_option = [] if judge == "builtin" else ["--judge", judge.partition("/")[0]]
    if kind == "compared" or (kind is None and judges.get(judge, (0, 0))[0]):
        arguments = ["battle", *judge_option, *(["--sampler", f"new-model:{missing[0]}"] if len(missing) == 1 else [])]
    else:
        arguments = ["judge", *judge_option, *(word for name in missing for word in ("--editors", name))]
    return command_line("", *arguments, workspace=view.workspace.root)


def _no_outputs(view: View, ranked: Collection[str]) -> Iterable[Notice]:
    statuses: dict[str, Any] = {
        editor: dict(row)
        for editor, row in slots_of(view.workspace).counts().items()
        if editor not in ranked and editor != UNNAMED_EDITOR and not row.get(Status.OK.value)
    }
    return (Notice(code="no_outputs", values={"models": statuses}),) if statuses else ()


def _fewer_items(battles: BattleColumns, output_coverage: OutputCoverage, ranked: Collection[str]) -> Iterable[Notice]:
    """Report who was asked for fewer of this board's units than others. Failures are part of coverage, not of this."""
    used = used_codes(output_coverage.unit.size, battles.left)
    units = np.flatnonzero(used_codes(output_coverage.item.size, filter_column(output_coverage.unit, used)))
    tried = output_coverage.tried[:, units].sum(axis=1).tolist()
    pairs = zip(output_coverage.editors, tried, strict=True)
    less = _lacking({name: (number, int(units.size)) for name, number in pairs if name in ranked})
    values: Any = {name: list(pair) for name, pair in less.items()}
    return (Notice(code="fewer_items", values={"models": values}),) if less else ()


def _not_judged(
    view: View, battles: BattleColumns, output_coverage: OutputCoverage, ranked: Collection[str]
) -> Iterable[Notice]:
    entries = view.entries
    variants = view.variants.counting(battles.judges)
    all_judged = battles.n_judged == len(battles)  # a vote is not a judgment
    judged_battles = battles if all_judged else battles.where(battles.judged)
    seen = used_codes(entries.seq.size, judged_battles.left, judged_battles.right)
    ranks = np.array([name in ranked for name in entries.editor.names] or [False])
    usable = entries.ok & entries.pictured & (entries.editor.of >= 0) & ranks[entries.editor.of]
    editors = len(entries.editor.names)
    present = np.zeros((output_coverage.item.size, editors), bool)
    for part in row_slices(usable.size):
        present[output_coverage.unit[part][usable[part]], entries.editor.of[part][usable[part]]] = True
    contested = present.sum(axis=1) > 1  # a single output cannot battle
    rows = rows_where(usable.size, lambda part: usable[part] & contested[output_coverage.unit[part]])
    if not seen[rows].all():  # some may have judgments that are in no battle
        judgments = view.judgments(variants)
        ok = judgments.ok
        seen |= used_codes(entries.seq.size, *(filter_column(side, ok) for side in (judgments.left, judgments.right)))
    outputs = np.bincount(entries.editor.of[rows], minlength=editors)
    judged = np.bincount(entries.editor.of[rows[seen[rows]]], minlength=editors)
    pairs = zip(entries.editor.names, judged.tolist(), outputs.tolist(), strict=True)
    less = _lacking({name: (part, total) for name, part, total in pairs})
    if not less:
        return ()
    values: Any = {name: [total - part, total] for name, (part, total) in less.items()}
    command = "battle" if any(variant.pairwise for variant in variants) else "judge"
    return (Notice(code="outputs_not_judged", values={"models": values, "command": command}),)


def _lacking(counts: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Return those with less than the others, lowest first; none if nobody is nearly complete."""
    shares = {name: part / total for name, (part, total) in counts.items() if total}
    if not shares or max(shares.values()) < NEARLY_ALL:
        return {}
    less = sorted((share, name) for name, share in shares.items() if share < NEARLY_ALL)
    return {name: counts[name] for _, name in less}
