"""The tables of `imarena align`, which the report shows too."""

from collections.abc import Sequence

from imarena.agreement import Alignment, AverageAlignment, GroupAlignment, VerdictAlignment, VerdictGroup
from imarena.reports import columns, figure_columns, interval, p_value_cell
from imarena.reports.tables import CellValue, Column, Table

OUTCOMES = ("left", "right", "tie", "both_bad", "equal", "missing")
"""Outcomes of people and judges. `equal` is a judge's tie of unstated kind, `missing` a battle without a verdict."""


def score_tables(alignment: Alignment) -> list[Table]:
    """Tables of scores against ratings: correlations, then any other requested tables."""
    names = tuple(alignment.settings["by"])
    tables = [_correlations(alignment, names)]
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


def verdict_tables(alignment: VerdictAlignment, by: tuple[str, ...]) -> list[Table]:
    """Tables of verdicts against votes: accuracies, F1 by outcome, and confusion tables."""
    missing = f"battles without a verdict: {alignment.settings['missing']}"
    tables = [_accuracies(f"Verdicts against people's votes: accuracy ({missing})", alignment.groups, by)]
    if alignment.majority is not None:
        title = f"Verdicts against the majority: accuracy ({missing}). Majority: {alignment.majority.rule}"
        tables.append(_accuracies(title, alignment.majority.groups, alignment.majority.by))
    rows: list[tuple[CellValue, ...]] = [
        (
            "", line.left, line.right, line.accuracy_left, line.accuracy_right, None,
            line.p_value, line.p_holm, line.n, line.reason or "",
        )
        for line in alignment.comparisons
    ]  # fmt: skip
    return [
        *tables,
        *(_confusion(group) for group in alignment.groups if _has_verdicts(group)),
        *_comparisons(rows, "accuracy"),
    ]


def _correlations(alignment: Alignment, names: tuple[str, ...]) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for group in alignment.groups:
        ends = [group.interval.get(name) for name in ("spearman", "pearson")]
        spans = (interval(end.low, end.high) if end else None for end in ends)
        head = (group.judge, group.criterion or "", *(group.group[name] for name in names))
        tail = (*spans, group.n_missing, group.bias_scale or "", group.reason or "")
        rows.append((*head, *_figures(group), group.n, *tail))
    for line in alignment.averages if names else ():
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
            line.decisive_accuracy.value, line.decisive_accuracy.n, line.tie_calibrated.accuracy.value,
            line.tie_calibrated.threshold, line.n_pairs,
        )
        for line in alignment.pairs
    ]  # fmt: skip
    head = columns(
        "judge", "criterion", "group", *figure_columns(("with ties", "decisive")), "n decisive",
        *figure_columns(("ties calibrated", "tie threshold")), "pairs",
    )  # fmt: skip
    notes = (
        "with ties: pairs on which judge and people agree, equal included. decisive: pairs that people decide; equal "
        "scores of the judge count as wrong, so that many ties bring it below one half. ties calibrated: scores closer "
        "than the tie threshold count as equal.",
    )
    return Table(head, tuple(rows), "Pairs of models on the same unit: accuracy", notes)


def _gaps(alignment: Alignment) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for line in alignment.pairs:
        head = (line.judge, line.criterion or "", ", ".join(line.group.values()))
        rows.append((*head, "0", "", line.n_gap_zero))
        for band in line.by_gap:
            opening = "(" if band.low == 0 else "["
            end = f"{opening}{band.low:g}, {band.high:g})" if band.high else f"{band.low:g} and more"
            rows.append((*head, end, band.agreement, band.n))
    head_columns = columns("judge", "criterion", "group", "score gap", *figure_columns(("agreement",)), "pairs")
    return Table(head_columns, tuple(rows), "Pairs that people decide: agreement by score gap")


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
    names = ("four-way", "of all votes", "three-way", "decisive", "both decisive", "ties calibrated", "macro F1")
    heads = [Column(name, ".4f", "" if name == "ties calibrated" and uncalibrated else "undefined") for name in names]
    head = columns(
        "judge", *by, *heads,
        *(Column(f"F1 {kind.replace('_', ' ')}", ".4f", "–") for kind in kinds), "n", "n decisive", "missing",
        Column("note", wrap=True),
    )  # fmt: skip
    notes = (f"Ties are not calibrated: {uncalibrated}.",) if uncalibrated else ()
    return Table(head, tuple(rows), title, notes)


def _no_ties_reason(groups: Sequence[VerdictGroup]) -> str:
    """The reason why no group has calibrated ties, if all have the same one."""
    reasons = {group.tie_calibrated_reason or "" for group in groups}
    has_value = any(group.tie_calibrated_accuracy is not None for group in groups)
    return next(iter(reasons)) if len(groups) > 1 and len(reasons) == 1 and not has_value else ""


def _verdict_note(group: VerdictGroup, *, with_ties: bool) -> str:
    """Why figures are absent, and why votes have no verdict."""
    parts = [group.reason] if group.reason else []
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
