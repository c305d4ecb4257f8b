"""The tables of `imarena align`, which the report shows too."""

from collections.abc import Container, Sequence
from typing import TypeVar

from imarena.agreement import Alignment, AverageAlignment, GroupAlignment, VerdictAlignment, VerdictGroup
from imarena.core import counted
from imarena.reports import columns, figure_columns, interval, p_value_cell
from imarena.reports.tables import CellValue, Column, Table
from imarena.stats import wilson

FEW = 3
"""With fewer common outputs, a correlation is not printed: two outputs always give 1 or -1."""
OUTCOMES = ("left", "right", "tie", "both_bad", "equal", "missing")
"""Outcomes of people and judges. `equal` is a judge's tie of unstated kind, `missing` a battle without a verdict."""


def score_tables(alignment: Alignment, *, fewest: int = FEW) -> list[Table]:
    """Tables of scores against ratings: correlations, then any other requested tables.

    Correlations of fewer than `fewest` outputs are replaced by "too few".
    """
    names = tuple(alignment.settings["by"])
    tables = [_correlations(alignment, names, fewest)]
    if any(group.leave_one_out for group in alignment.groups):
        tables.append(_folds(alignment, names))
    if alignment.pairs:
        tables.append(_pairs(alignment))
    if any(line.by_gap for line in alignment.pairs):
        tables.append(_gaps(alignment))
    rows: list[tuple[CellValue, ...]] = [
        (
            line.criterion or "", line.left, line.right, line.spearman_left, line.spearman_right,
            interval(line.low, line.high), p_value_cell(line.p_value, line.p_is_bound),
            p_value_cell(line.p_holm, line.p_is_bound), line.n, line.reason or "",
        )
        for line in alignment.comparisons
    ]  # fmt: skip
    return [*tables, *_comparisons(rows, "spearman")]


def verdict_tables(alignment: VerdictAlignment, by: tuple[str, ...], *, all_figures: bool = False) -> list[Table]:
    """Tables of verdicts against votes: agreement, and confusion tables. `all_figures`: also F1 and the like."""
    accuracies = _accuracies if all_figures else _agreement
    missing = f"battles without a verdict: {alignment.settings['missing']}"
    tables = [accuracies(f"Verdicts against people's votes ({missing})", alignment.groups, by)]
    if alignment.majority is not None:
        title = (
            "Verdicts against the majority: each pair of outputs counts once, so these figures differ from those of "
            f"the votes ({missing}). Majority: {alignment.majority.rule}"
        )
        tables.append(accuracies(title, alignment.majority.groups, alignment.majority.by))
    rows: list[tuple[CellValue, ...]] = [
        (
            "", line.left, line.right, line.accuracy_left, line.accuracy_right, None,
            p_value_cell(line.p_value), p_value_cell(line.p_holm), line.n, line.reason or "",
        )
        for line in alignment.comparisons
    ]  # fmt: skip
    return [
        *tables,
        *(_confusion(group) for group in alignment.groups if _has_verdicts(group)),
        *_comparisons(rows, "agreement"),
    ]


def _correlations(alignment: Alignment, names: tuple[str, ...], fewest: int) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for group in of_its_own_mark(alignment.groups):
        ends = [group.interval.get(name) for name in ("spearman", "pearson")]
        spans = tuple(interval(end.low, end.high) if end else None for end in ends)
        figures, note = _figures(group), group.reason or ""
        if group.status == "ok" and group.n < fewest:
            figures, spans = tuple("too few" for _ in figures), (None, None)
            note = f"{counted(group.n, 'output')} with both; {FEW} or more are needed"
        head = (group.judge, group.criterion or "", *(group.group[name] for name in names))
        tail = (*spans, group.n_missing, group.bias_scale or "", note)
        rows.append((*head, *figures, group.n, *tail))
    for line in of_its_own_mark(alignment.averages) if names else ():
        head = (line.judge, line.criterion or "", *("average" for _ in names))
        rows.append((*head, *_figures(line), line.n, None, None, "", "", line.reason or ""))
    head_columns = columns(
        "judge", "criterion", *names,
        *figure_columns(("Spearman", "Pearson", "Kendall", "Kendall accuracy", "bias")), "n",
        Column("95% (Spearman)", ".3f"), Column("95% (Pearson)", ".3f"), "missing", Column("bias scale", wrap=True),
        Column("note", wrap=True),
    )  # fmt: skip
    rule = alignment.settings["overall"]
    overall = f"; overall: the {rule.replace('-', ' ')} of each rater's ratings" if rule else ""
    return Table(head_columns, tuple(rows), f"Against people (averages: {alignment.settings['average']}{overall})")


AlignedLine = TypeVar("AlignedLine", GroupAlignment, AverageAlignment)


def of_its_own_mark(lines: Sequence[AlignedLine]) -> list[AlignedLine]:
    """Leave out a judge's headline score on a criterion for which it has a mark of its own, `JUDGE: CRITERION`.

    The headline is about the whole output: against people's marks of one criterion it means nothing.
    """
    names = {(line.judge, line.criterion) for line in lines}
    return [line for line in lines if (f"{line.judge}: {line.criterion}", line.criterion) not in names]


def _figures(line: GroupAlignment | AverageAlignment) -> tuple[CellValue, ...]:
    return line.spearman, line.pearson, line.kendall, line.kendall_accuracy, line.bias


def _comparisons(rows: Sequence[tuple[CellValue, ...]], figure: str) -> list[Table]:
    """The comparison of every two judges, if requested."""
    head_columns = columns(
        "criterion", "first", "second", *figure_columns((f"{figure}, first", f"{figure}, second")),
        Column("95% (difference)", ".3f"), *figure_columns(("p", "p (Holm)")), "n", Column("note", wrap=True),
    )  # fmt: skip
    return [Table(head_columns, tuple(rows), "Every two judges on what both answered")] if rows else []


def _folds(alignment: Alignment, names: tuple[str, ...]) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for group in alignment.groups:
        if group.leave_one_out:
            folds = group.leave_one_out.folds
            head = (group.judge, group.criterion or "", *(group.group[name] for name in names))
            rho, accuracy = folds.spearman.value, folds.kendall_accuracy.value
            bias = (group.leave_one_out.bias, group.leave_one_out.bias_spread)
            rows.append((*head, rho, folds.spearman_spread, accuracy, folds.kendall_accuracy_spread, *bias))
    figures = figure_columns(("Spearman", "spread", "Kendall accuracy", "spread", "bias", "spread"))
    title = "Against the mean of all raters but one, averaged over raters"
    return Table(columns("judge", "criterion", *names, *figures), tuple(rows), title)


def _pairs(alignment: Alignment) -> Table:
    rows: list[tuple[CellValue, ...]] = [
        (
            line.judge, line.criterion or "", ", ".join(line.group.values()), line.pair_accuracy.value,
            _ends(line.pair_accuracy.value, line.n_pairs), line.n_pairs, line.decisive_accuracy.value,
            _ends(line.decisive_accuracy.value, line.decisive_accuracy.n), line.decisive_accuracy.n,
            line.tie_calibrated.accuracy.value, line.tie_calibrated.threshold,
        )
        for line in alignment.pairs
    ]  # fmt: skip
    head = columns(
        "judge", "criterion", "group", *figure_columns(("with ties",)), _interval_column("with ties"), "pairs",
        *figure_columns((SIDES,)), _interval_column(SIDES), Column("pairs", key="n decisive"),
        *figure_columns(("ties calibrated", "tie threshold")),
    )  # fmt: skip
    notes = (
        f"with ties: pairs on which judge and people agree, equal included. {SIDES}: of the pairs on which people's "
        "ratings differ, the share with the same side; equal scores of the judge count as wrong, so that many ties "
        "bring it below one half. ties calibrated: scores closer than the tie threshold count as equal.",
    )
    return Table(head, tuple(rows), "Pairs of models on the same unit: accuracy", notes)


def _interval_column(name: str) -> Column:
    return Column("95% interval", ".2f", "–", key=f"{name}, 95%")


def _ends(share: float | None, n: int) -> CellValue:
    """Wilson's interval of a share of n pairs."""
    return None if share is None or not n else interval(*wilson(share, n))


def _gaps(alignment: Alignment) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for line in alignment.pairs:
        head = (line.judge, line.criterion or "", ", ".join(line.group.values()))
        rows.append((*head, "0", "", None, line.n_gap_zero))
        for band in line.by_gap:
            opening = "(" if band.low == 0 else "["
            end = f"{opening}{band.low:g}, {band.high:g})" if band.high else f"{band.low:g} and more"
            rows.append((*head, end, band.agreement, _ends(band.agreement, band.n), band.n))
    head_columns = columns(
        "judge", "criterion", "group", "score gap", *figure_columns((AGREEMENT,)), _interval_column(AGREEMENT), "pairs"
    )
    return Table(head_columns, tuple(rows), "Pairs on which people choose a side: agreement by score gap")


AGREEMENT, TIES_AS_ONE, SIDES = "agreement", "ties as one", "where people choose a side"
"""The three figures of verdicts against votes, by the same names in `align`, `health` and reports."""
MEANINGS = (
    f"{AGREEMENT}: the share of votes with the same answer from the judge, of left, right, tie and both bad. "
    f"{TIES_AS_ONE}: the same, with tie and both bad as one answer. "
    f"{SIDES}: of the votes for left or right, the share with the same side; a tie of the judge is wrong.",
)


def _agreement(title: str, groups: Sequence[VerdictGroup], by: tuple[str, ...]) -> Table:
    """The three figures that matter, with intervals."""
    rows: list[tuple[CellValue, ...]] = []
    for group in groups:
        figures = group.figures
        shares = (figures.four_way_accuracy, figures.three_way_accuracy, figures.decisive_accuracy)
        cells = (cell for share in shares for cell in (share.value, interval(share.low, share.high), share.n))
        note = _verdict_note(group, with_ties=False, names=tuple(share.name for share in shares))
        rows.append((group.judge, *(group.group[name] for name in by), *cells, figures.n_missing, note))
    head = [
        column
        for name in (AGREEMENT, TIES_AS_ONE, SIDES)
        for column in (
            Column(name, ".3f", "undefined"),
            Column("95% interval", ".2f", "–", key=f"{name}, 95%"),
            Column("n", ",", key=f"{name}, n"),
        )
    ]
    return Table(columns("judge", *by, *head, "missing", Column("note", wrap=True)), tuple(rows), title, MEANINGS)


def _accuracies(title: str, groups: Sequence[VerdictGroup], by: tuple[str, ...]) -> Table:
    kinds = tuple(kind for kind in OUTCOMES if any(kind in group.figures.f1 for group in groups))
    uncalibrated = _no_ties_reason(groups)
    rows: list[tuple[CellValue, ...]] = []
    for group in groups:
        figures = group.figures
        by_kind = (figures.f1[kind].value if kind in figures.f1 else None for kind in kinds)
        rows.append((
            group.judge, *(group.group[name] for name in by), figures.four_way_accuracy.value, group.all_votes.value,
            figures.three_way_accuracy.value, figures.decisive_accuracy.value, figures.both_decisive_accuracy.value,
            group.tie_calibrated_accuracy, figures.macro_f1.value, *by_kind,
            figures.n, figures.decisive_accuracy.n, figures.n_missing, _verdict_note(group, with_ties=not uncalibrated),
        ))  # fmt: skip
    names = {
        AGREEMENT: "four-way", "missing as wrong": "of all votes", TIES_AS_ONE: "three-way", SIDES: "decisive",
        "where both choose a side": "both decisive", "ties calibrated": "ties calibrated", "macro F1": "macro F1",
    }  # fmt: skip
    heads = [
        Column(name, ".4f", "" if name == "ties calibrated" and uncalibrated else "undefined", key=key)
        for name, key in names.items()
    ]
    head = columns(
        "judge", *by, *heads,
        *(Column(f"F1 {kind.replace('_', ' ')}", ".4f", "–") for kind in kinds), "n",
        Column("n of sides", key="n decisive"), "missing", Column("note", wrap=True),
    )  # fmt: skip
    more = (
        "missing as wrong: agreement where a vote without a verdict counts as wrong. where both choose a side: the "
        "same side, without ties of people or the judge. ties calibrated: scores closer than the best threshold count "
        "as equal. F1: of each answer; macro F1: their mean.",
    )
    notes = (f"Ties are not calibrated: {uncalibrated}.",) if uncalibrated else ()
    return Table(head, tuple(rows), title, (*MEANINGS, *more, *notes))


def _no_ties_reason(groups: Sequence[VerdictGroup]) -> str:
    """The reason why no group has calibrated ties, if all have the same one."""
    reasons = {group.tie_calibrated_reason or "" for group in groups}
    has_value = any(group.tie_calibrated_accuracy is not None for group in groups)
    return next(iter(reasons)) if len(groups) > 1 and len(reasons) == 1 and not has_value else ""


def _verdict_note(group: VerdictGroup, *, with_ties: bool, names: Container[str] | None = None) -> str:
    """Why figures (or only those with these names) are absent, and why votes have no verdict."""
    shown = [figure for figure in group.accuracies if names is None or figure.name in names]
    parts = list(dict.fromkeys(figure.reason for figure in shown if figure.value is None))
    if with_ties and group.tie_calibrated_accuracy is None:
        parts.append(f"ties calibrated: {group.tie_calibrated_reason}")
    if group.missing:
        parts.append("missing: " + ", ".join(f"{number:,} {why}" for why, number in group.missing.items()))
    return "; ".join(parts)


def _has_verdicts(group: VerdictGroup) -> bool:
    """Whether any battle of a confusion table has a verdict."""
    rows = group.figures.confusion.values()
    return any(number for row in rows for outcome, number in row.items() if outcome != "missing")


def _confusion(group: VerdictGroup) -> Table:
    """Confusion table with people's outcomes in rows and the judge's in columns; a pair that never occurs is 0."""
    confusion = group.figures.confusion
    verdicts = [kind for kind in OUTCOMES if any(kind in row for row in confusion.values())]
    rows: list[tuple[CellValue, ...]] = []
    for vote in (kind for kind in OUTCOMES if kind in confusion):
        counts = [confusion[vote].get(kind, 0) for kind in verdicts]
        rows.append((vote.replace("_", " "), *counts, sum(counts)))
    head = columns(
        "people", *(Column(f"judge: {kind.replace('_', ' ')}", ",") for kind in verdicts), Column("all", ",")
    )
    where = "".join(f", {key} {value}" for key, value in group.group.items())
    return Table(head, tuple(rows), f"Verdicts of people and of {group.judge}{where} on the same battles")
