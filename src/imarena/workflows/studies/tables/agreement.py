"""The tables of `imarena agree`, which the report shows too."""

from collections.abc import Mapping

from imarena.agreement import Agreement, GroupAgreement, RaterAgreement
from imarena.core import counted
from imarena.reports import columns, figure_columns, interval
from imarena.reports.tables import CellValue, Column, Table
from imarena.stats import MEASUREMENT_LEVELS, Figure

GOOD = "1 is full agreement, 0 is chance; .67 is often asked for, and .8 for firm conclusions (Krippendorff)."
FEW = 3
"""With fewer units that two raters rated, figures of agreement are not printed (--json has them)."""
FLAGS = {
    "out_of_step": "out of step: agrees with the others far less than the other raters do (more than three robust "
    "standard deviations below their median).",
    "backwards": "backwards: gives low values where the others give high ones.",
    "constant": "constant: gives the same value to everything although the others differ.",
    "too_few": "too few: too few units shared with other raters to flag this rater.",
}
"""What the flags of a rater mean."""
RATERS_SHOWN = 40


def agreement_tables(
    agreement: Agreement, people: Mapping[str, str] | None = None, *, fewest: int = FEW
) -> list[Table]:
    """The tables of one agreement: figures, and any other requested tables. `people`: names of raters, by id.

    Figures of fewer than `fewest` units are replaced by "too few".
    """
    names = tuple(agreement.settings["by"])
    groups = agreement.groups
    tables = [_figures(agreement, names, fewest)]
    several = len(_levels_of(agreement)) > 1  # with one level, its interval is in the table of figures
    if several and any(
        alpha.low is not None for group in groups for alpha in group.alpha.values() if alpha.value is not None
    ):
        tables.append(_intervals(agreement, names))
    if any(group.leave_one_out is not None for group in groups):
        tables.append(_folds(agreement, names))
    if any(group.rater_pairs for group in groups):
        tables.append(_pairs(agreement, names, people or {}))
    return [*tables, _raters(agreement, names, people or {})]


def _names(line: GroupAgreement | RaterAgreement, by: tuple[str, ...]) -> tuple[CellValue, ...]:
    """The cells for the criterion and group of a line."""
    return (line.criterion or "", *(line.group.get(name, "") for name in by))


def _ends(alpha: Figure) -> CellValue:
    """The interval of an alpha, if there is one."""
    return interval(alpha.low, alpha.high) if alpha.value is not None else None


def _figures(agreement: Agreement, by: tuple[str, ...], fewest: int) -> Table:
    levels = _levels_of(agreement)
    only = levels[0] if len(levels) == 1 else None  # with several levels, the intervals have a separate table
    rows: list[tuple[CellValue, ...]] = []
    for group in agreement.groups:
        alphas = [group.alpha[name].value for name in levels]
        figures: tuple[CellValue, ...] = (*alphas, None if only is None else _ends(group.alpha[only]))
        shares: tuple[CellValue, ...] = (
            group.fleiss_kappa.value, group.pairwise_agreement.value, group.percent_agreement.value,
        )  # fmt: skip
        note = _note(group, levels, only)
        if 0 < group.percent_agreement.n < fewest:  # one unit gives a kappa of -1 or 1, whatever it is
            figures, shares = (*("too few" for _ in levels), None), ("too few", "too few", "too few")
            note = f"too few: {counted(group.percent_agreement.n, 'unit')} with two answers; {FEW} or more are needed"
        counts = (group.n_units, group.percent_agreement.n, group.n_raters, group.n_missing)
        rows.append((*_names(group, by), *figures, *shares, *counts, note))
    noun = "votes" if agreement.settings["scale"] == "pair" else "ratings"
    head = columns(
        "criterion", *by, *figure_columns(levels), Column(f"95% ({only})", ".3f"),
        *figure_columns(("kappa", "equal pairs", "all equal")), "units", f"with two {noun}", "raters", "missing",
        Column("note", wrap=True),
    )  # fmt: skip
    title = (
        "Agreement of votes on pairs: Krippendorff's alpha, Fleiss' kappa, share of equal votes, share of pairs on "
        "which all are equal"
        if agreement.settings["scale"] == "pair"
        else "Agreement among raters: Krippendorff's alpha on four levels, Fleiss' kappa, share of equal pairs, share "
        "of units on which all are equal"
    )
    rule = agreement.settings["overall"]
    title += f"; overall: the {rule.replace('-', ' ')} of each rater's ratings" if rule else ""
    notes = [f"with two {noun}: units with two or more {noun}; only these count in the figures of agreement"]
    if agreement.settings["scale"] == "pair":
        notes.append("Read nominal: left, right, tie and both bad have no order. " + GOOD)
    elif only is None:
        notes.append(
            "Which alpha to read: ordinal for steps such as 1 to 5, interval for points with equal distances such as 0 "
            "to 100, nominal for labels, ratio for amounts with a true 0. " + GOOD
        )
    else:
        notes.append("Read nominal: labels have no order. " + GOOD)
    if only is not None and any(group.alpha[only].low is not None for group in agreement.groups):
        notes.append(f"95% interval: {_intervals_from(agreement)}")
    return Table(head, tuple(rows), title, tuple(notes))


def _intervals_from(agreement: Agreement) -> str:
    settings = agreement.settings
    return f"{settings['interval']}, {settings['rounds']:,} rounds, seed {settings['seed']}"


def _levels_of(agreement: Agreement) -> tuple[str, ...]:
    """The levels of measurement that apply: votes on pairs and labels are nominal."""
    return ("nominal",) if agreement.settings["scale"] in ("pair", "label") else MEASUREMENT_LEVELS


def _note(group: GroupAgreement, levels: tuple[str, ...], only: str | None) -> str:
    """Why figures or the interval of the only level are absent; levels that do not apply are skipped."""
    names = {f"alpha.{level}" for level in levels} | {"fleiss_kappa", "pairwise_agreement", "percent_agreement"}
    reasons = [reason for name, reason in group.reasons.items() if name in names]
    if only is not None and group.alpha[only].value is not None:
        reasons.append(group.alpha[only].interval_reason)
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def _intervals(agreement: Agreement, by: tuple[str, ...]) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for group in agreement.groups:
        alphas = [group.alpha[level] for level in MEASUREMENT_LEVELS]
        why = dict.fromkeys(
            alpha.interval_reason for alpha in alphas if alpha.value is not None and alpha.interval_reason
        )
        rows.append((*_names(group, by), *map(_ends, alphas), "; ".join(why)))
    head = columns(
        "criterion", *by, *(Column(level, ".3f", absent="–") for level in MEASUREMENT_LEVELS), Column("note", wrap=True)
    )
    return Table(head, tuple(rows), f"95% intervals of alpha ({_intervals_from(agreement)})")


def _folds(agreement: Agreement, by: tuple[str, ...]) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for group in agreement.groups:
        if group.leave_one_out:
            folds = group.leave_one_out.folds
            rho = (folds.spearman.value, folds.spearman_spread)
            rows.append((*_names(group, by), *rho, folds.kendall_accuracy.value, folds.kendall_accuracy_spread))
    for line in agreement.averages if by else ():
        names = (line.criterion or "", *("average" for _ in by))
        rows.append((*names, line.spearman.value, "", line.kendall_accuracy.value, ""))
    title = f"Each rater against the mean of the others (average: {agreement.settings['average']})"
    figures = figure_columns(("Spearman", "spread", "Kendall accuracy", "spread"))
    return Table(columns("criterion", *by, *figures), tuple(rows), title)


def _pairs(agreement: Agreement, by: tuple[str, ...], people: Mapping[str, str]) -> Table:
    rows: list[tuple[CellValue, ...]] = [
        (
            *_names(group, by),
            *(people.get(group.raters[rater], group.raters[rater]) for rater in (pair.left, pair.right)), pair.n,
            pair.agreement.value, pair.kappa.value, pair.linear.value, pair.quadratic.value,
        )
        for group in agreement.groups
        for pair in group.rater_pairs
    ]  # fmt: skip
    figures = figure_columns(("agreement", "Cohen kappa", "linear", "quadratic"))
    return Table(columns("criterion", *by, "rater", "rater", "units", *figures), tuple(rows), "Every two raters")


def _raters(agreement: Agreement, by: tuple[str, ...], people: Mapping[str, str]) -> Table:
    """How each rater compares with the others; flagged raters first."""
    lines = sorted(agreement.raters, key=lambda line: not line.report.flags)
    rows: list[tuple[CellValue, ...]] = []
    for line in lines[:RATERS_SHOWN]:
        report = line.report
        flags = ", ".join(flag.replace("_", " ") for flag in report.flags)
        figures = (report.with_others.value, report.mean_shift, report.most_common_share)
        rows.append((*_names(line, by), people.get(line.rater, line.rater), report.n, report.n_shared, *figures, flags))
    head = columns(
        "criterion", *by, "rater", "ratings", "shared units", Column("with others", ".3f", "–"),
        Column("mean shift", "+.3f", "–"), Column("most common value", ".0%", "–"), "flags",
    )  # fmt: skip
    more = len(lines) - RATERS_SHOWN
    compared = [line.report.with_others for line in lines]
    measures = dict.fromkeys(figure.method for figure in compared if figure.value is not None)
    notes = [f"with others: {'; '.join(measures)}"] if measures else []
    notes += [
        "mean shift: the rater's answers minus those of the others on the same units, on the scale of the ratings; "
        "above 0: gives higher values.",
    ] if any(line.report.mean_shift is not None for line in lines) else []  # fmt: skip
    notes += [FLAGS[flag] for flag in FLAGS if any(flag in line.report.flags for line in lines)]
    notes += [f"... and {more:,} more (--json lists them all)"] if more > 0 else []
    return Table(head, tuple(rows), "Raters", tuple(notes))
