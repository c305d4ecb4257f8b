"""The tables of `imarena align`."""

from typing import Any

from imarena.reports import columns, figure_columns, interval
from imarena.reports.tables import Cell, Column, Table

FIGURES = ("spearman", "pearson", "kendall", "kendall_accuracy", "bias")
OUTCOMES = ("left", "right", "tie", "both_bad", "equal", "missing")
"""What people and judges can say. `equal` is a judge's tie of unstated kind, `missing` a battle without a verdict."""


def score_tables(document: dict[str, Any]) -> list[Table]:
    """Scores against ratings: correlations, then what else was asked for."""
    names = tuple(document["settings"]["by"])
    tables = [_correlations(document, names)]
    if any(group.get("leave_one_out") for group in document["groups"]):
        tables.append(_folds(document, names))
    if document["pairs"]:
        tables.append(_pairs(document))
    if any("by_gap" in line for line in document["pairs"]):
        tables.append(_gaps(document))
    return [*tables, *_comparisons(document, "spearman")]


def verdict_tables(document: dict[str, Any], by: tuple[str, ...]) -> list[Table]:
    """Verdicts against votes: accuracies, F1 by outcome, and who said what."""
    missing = f"battles without a verdict: {document['settings']['missing']}"
    tables = [_accuracies(f"Verdicts against people's votes: accuracy ({missing})", document["groups"], by)]
    if document["majority"] is not None:
        majority = document["majority"]
        title = f"Verdicts against the majority: accuracy ({missing}). Majority: {majority['rule']}"
        tables.append(_accuracies(title, majority["groups"], tuple(majority["by"])))
    return [
        *tables,
        *(_confusion(group) for group in document["groups"] if group["confusion"]),
        *_comparisons(document, "accuracy"),
    ]


def _correlations(document: dict[str, Any], names: tuple[str, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in document["groups"]:
        found = group["interval"] or {}
        ends = [found.get(name) or {} for name in ("spearman", "pearson")]
        head = (group["judge"], group["criterion"] or "", *(group["group"][name] for name in names))
        spans = (interval(one.get("low"), one.get("high")) for one in ends)
        told = (*spans, group["n_missing"], group["bias_scale"] or "", group["reason"] or "")
        rows.append((*head, *(group[name] for name in FIGURES), group["n"], *told))
    for line in document["averages"] if names else ():
        head = (line["judge"], line["criterion"] or "", *("average" for _ in names))
        rows.append((*head, *(line[name] for name in FIGURES), line["n"], None, None, "", "", line["reason"] or ""))
    head_columns = columns(
        "judge", "criterion", *names,
        *figure_columns(("Spearman", "Pearson", "Kendall", "Kendall accuracy", "bias")), "n",
        Column("95% (Spearman)", ".3f"), Column("95% (Pearson)", ".3f"), "missing", Column("bias scale", wrap=True),
        Column("note", wrap=True),
    )  # fmt: skip
    rule = document["settings"]["overall"]
    overall = f"; overall: the {rule.replace('-', ' ')} of each rater's marks" if rule else ""
    return Table(head_columns, tuple(rows), f"Against people (averages: {document['settings']['average']}{overall})")


def _comparisons(document: dict[str, Any], figure: str) -> list[Table]:
    """Every two judges against each other, where that was asked for."""
    rows: list[tuple[Cell, ...]] = []
    for line in document["comparisons"]:
        head = (line.get("criterion") or "", line["left"], line["right"])
        shown = (line[f"{figure}_left"], line[f"{figure}_right"], interval(line.get("low"), line.get("high")))
        rows.append((*head, *shown, line["p_value"], line["p_holm"], line["n"], line["reason"] or ""))
    head_columns = columns(
        "criterion", "first", "second", *figure_columns((f"{figure}, first", f"{figure}, second")),
        Column("95% (difference)", ".3f"), *figure_columns(("p", "p (Holm)")), "n", Column("note", wrap=True),
    )  # fmt: skip
    return [Table(head_columns, tuple(rows), "Every two judges on what both answered")] if rows else []


def _folds(document: dict[str, Any], names: tuple[str, ...]) -> Table:
    keys = ("spearman", "spearman_spread", "kendall_accuracy", "kendall_accuracy_spread", "bias", "bias_spread")
    rows: list[tuple[Cell, ...]] = [
        (
            group["judge"],
            group["criterion"] or "",
            *(group["group"][name] for name in names),
            *(group["leave_one_out"][key] for key in keys),
        )
        for group in document["groups"]
        if group.get("leave_one_out")
    ]
    shown = figure_columns(("Spearman", "spread", "Kendall accuracy", "spread", "bias", "spread"))
    title = "Against the mean of all raters but one, averaged over raters"
    return Table(columns("judge", "criterion", *names, *shown), tuple(rows), title)


def _pairs(document: dict[str, Any]) -> Table:
    keys = ("pair_accuracy", "decisive_accuracy", "n_decisive", "tie_calibrated_accuracy", "tie_threshold", "n_pairs")
    rows: list[tuple[Cell, ...]] = [
        (line["judge"], line["criterion"] or "", ", ".join(line["group"].values()), *(line[key] for key in keys))
        for line in document["pairs"]
    ]
    head = columns(
        "judge", "criterion", "group", *figure_columns(("with ties", "decisive")), "n decisive",
        *figure_columns(("ties calibrated", "tie threshold")), "pairs",
    )  # fmt: skip
    return Table(head, tuple(rows), "Pairs of models on the same unit: accuracy")


def _gaps(document: dict[str, Any]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for line in document["pairs"]:
        head = (line["judge"], line["criterion"] or "", ", ".join(line["group"].values()))
        rows.append((*head, "0", "", line["n_gap_zero"]))
        for band in line["by_gap"]:
            opening = "(" if band["low"] == 0 else "["
            end = f"{opening}{band['low']:g}, {band['high']:g})" if band["high"] else f"{band['low']:g} and more"
            rows.append((*head, end, band["agreement"], band["n"]))
    head_columns = columns("judge", "criterion", "group", "score gap", *figure_columns(("agreement",)), "pairs")
    return Table(head_columns, tuple(rows), "Pairs that people decide: agreement by score gap")


def _accuracies(title: str, groups: list[dict[str, Any]], by: tuple[str, ...]) -> Table:
    keys = (
        "four_way_accuracy", "four_way_accuracy_all_votes", "three_way_accuracy", "decisive_accuracy",
        "both_decisive_accuracy", "tie_calibrated_accuracy", "macro_f1",
    )  # fmt: skip
    kinds = tuple(kind for kind in OUTCOMES if any(kind in group["f1"] for group in groups))
    rows: list[tuple[Cell, ...]] = [
        (
            group["judge"],
            *(group["group"][name] for name in by),
            *(group[key] for key in keys),
            *(group["f1"].get(kind) for kind in kinds),
            *(group[key] for key in ("n", "n_decisive", "n_missing")),
            _verdict_note(group),
        )
        for group in groups
    ]
    names = ("four-way", "of all votes", "three-way", "decisive", "both decisive", "ties calibrated", "macro F1")
    head = columns(
        "judge", *by, *figure_columns(names),
        *(Column(f"F1 {kind.replace('_', ' ')}", ".4f", "–") for kind in kinds), "n", "n decisive", "missing",
        Column("note", wrap=True),
    )  # fmt: skip
    return Table(head, tuple(rows), title)


def _verdict_note(group: dict[str, Any]) -> str:
    """Why figures are absent, and why votes have no verdict."""
    parts = [group["reason"]] if group["reason"] else []
    if group["tie_calibrated_accuracy"] is None:
        parts.append(f"ties calibrated: {group['tie_calibrated_reason']}")
    if group["missing"]:
        parts.append("missing: " + ", ".join(f"{number:,} {why}" for why, number in group["missing"].items()))
    return "; ".join(parts)


def _confusion(group: dict[str, Any]) -> Table:
    """People's outcomes down, the judge's across; a pair of outcomes that never occurs is 0."""
    found = group["confusion"]
    said = [kind for kind in OUTCOMES if any(kind in row for row in found.values())]
    rows: list[tuple[Cell, ...]] = []
    for vote in (kind for kind in OUTCOMES if kind in found):
        counts = [found[vote].get(kind, 0) for kind in said]
        rows.append((vote.replace("_", " "), *counts, sum(counts)))
    head = columns(
        "people say", *(Column(f"judge: {kind.replace('_', ' ')}", ",") for kind in said), Column("all", ",")
    )
    where = "".join(f", {key} {value}" for key, value in group["group"].items())
    return Table(head, tuple(rows), f"What people and {group['judge']}{where} said on the same battles")
