"""``imarena agree``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.cli.console import emit, print_tables, session, warn
from imarena.cli.options import refuse_with_table
from imarena.core import ROUNDS, SEED, UserError
from imarena.reports import columns, figure_columns, interval
from imarena.reports.tables import Cell, Column, Table, write_csv


def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Ratings: unit, rater, value; votes: item, left, right, winner, rater; or an exported table."
        ),
    ] = None,
    what: Annotated[
        str, typer.Option("--what", help="Of a workspace: ratings, votes (on pairs), or all that it has.")
    ] = "all",
    by: Annotated[list[str] | None, typer.Option("--by", help="Group by a column, such as model; repeatable.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="COLUMN=VALUE: only ratings that fit, such as criterion=overall; repeatable."),
    ] = None,
    order: Annotated[str, typer.Option("--order", help="Words from worst to best: bad,fair,good.")] = "",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Each rater against the mean of the others.")
    ] = False,
    average: Annotated[
        str, typer.Option("--average", help="Average correlations: fisher, plain or paper-compat.")
    ] = "fisher",
    rater_pairs: Annotated[bool, typer.Option("--rater-pairs", help="Cohen's kappa of every two raters.")] = False,
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Bootstrap rounds over units; 0 for none.")] = ROUNDS,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")] = SEED,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write the table to this file.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
) -> None:
    """Agreement among raters: Krippendorff's alpha, kappa and raw agreement, per criterion and group."""
    from imarena.agreement import filter_ratings, measure_agreement

    options = {
        "by": tuple(by or ()), "rounds": rounds, "seed": seed, "leave_one_out": leave_one_out,
        "order": tuple(word.strip() for word in order.split(",") if word.strip()), "recipe": find_recipe(average),
        "pairs": rater_pairs,
    }  # fmt: skip
    if from_file is not None:
        refuse_with_table({"--what": what != "all"})
    read = [_read(from_file)] if from_file is not None else _workspace(session(context).workspace, what)
    if only:
        read = filter_ratings(read, only)
    # A group column or an order of ratings need not fit the votes beside them.
    documents = [measure_agreement(read[0], **options).to_json()]
    documents += [
        measure_agreement(columns, **options | {"order": (), "by": _fitting(columns, by)}).to_json()
        for columns in read[1:]
    ]
    tables = [table for document in documents for table in _tables(document)]
    document = documents[0] | ({"votes": documents[1]} if documents[1:] else {})
    if csv is not None:
        write_csv(tables[0], csv)
    if not session(context).json:
        for warning in (warning for one in documents for warning in one["warnings"]):
            warn(warning)
    emit(context, document, lambda console: print_tables(console, tables, markdown=markdown, latex=latex))


def _read(path: Path) -> Any:
    from imarena.workflows.studies import ratings_of_file

    return ratings_of_file(path)


def _workspace(root: Path, what: str) -> list[Any]:
    """What raters of a workspace gave: ratings, then votes on pairs; never nothing."""
    from imarena.storage import is_workspace, open_workspace
    from imarena.workflows.studies import ratings_from_store, votes_in_workspace

    if what not in ("ratings", "votes", "all"):
        raise UserError(f"Unknown --what '{what}'.", hint="Known: ratings, votes, all.")
    if not is_workspace(root):
        raise UserError("Name a ratings table.", hint="imarena agree --from ratings.csv, or --workspace DIR")
    with open_workspace(root) as workspace:
        found = [] if what == "votes" else [ratings_from_store(workspace)]
        found += [] if what == "ratings" else [votes_in_workspace(workspace)]
    return [columns for columns in found if len(columns)] or found[:1]


def _fitting(columns: Any, by: list[str] | None) -> tuple[str, ...]:
    return tuple(name for name in by or () if name in columns.labels)


def _tables(document: dict[str, Any]) -> list[Table]:
    """The tables of one agreement: figures, and what else was asked for."""
    names = tuple(document["settings"]["by"])
    tables = [_figures(document, names)]
    if any(
        end
        for group in document["groups"]
        for end in group["alpha_interval"].values()
        if end and end.get("low") is not None
    ):
        tables.append(_intervals(document, names))
    if any("leave_one_out" in group for group in document["groups"]):
        tables.append(_folds(document, names))
    if any("rater_pairs" in group for group in document["groups"]):
        tables.append(_pairs(document, names))
    return [*tables, _raters(document, names)]


def find_recipe(name: str) -> Any:
    """A recipe for averages, by name."""
    from imarena.stats import RECIPES

    if name not in RECIPES:
        raise UserError(f"Unknown average '{name}'.", hint=f"Known: {', '.join(RECIPES)}.")
    return name


LEVELS = ("nominal", "ordinal", "interval", "ratio")
FOLD_COLUMNS = ("spearman", "spearman_spread", "kendall_accuracy", "kendall_accuracy_spread")
RATERS_SHOWN = 40


def _names(line: dict[str, Any], by: tuple[str, ...]) -> tuple[Cell, ...]:
    """The criterion and the group of a line."""
    return (line["criterion"] or "", *(line["group"].get(name, "") for name in by))


def _figures(document: dict[str, Any], by: tuple[str, ...]) -> Table:
    levels = levels_of(document)
    level = levels[0] if len(levels) == 1 else "ordinal"
    rows: list[tuple[Cell, ...]] = []
    for group in document["groups"]:
        ends = group["alpha_interval"][level] or {}
        rows.append(
            (
                *_names(group, by),
                *(group["alpha"][one] for one in levels),
                interval(ends.get("low"), ends.get("high")),
                *(group[name] for name in ("fleiss_kappa", "pairwise_agreement", "percent_agreement")),
                *(group[name] for name in ("n_units", "n_raters", "n_missing")),
                _note(group, levels),
            )
        )
    head = columns(
        "criterion", *by, *figure_columns(levels), Column(f"95% ({level})", ".3f"),
        *figure_columns(("kappa", "equal pairs", "all equal")), "units", "raters", "missing", Column("note", wrap=True),
    )  # fmt: skip
    title = (
        "Agreement of votes on pairs: Krippendorff's alpha, Fleiss' kappa, share of equal votes, share of pairs on "
        "which all are equal"
        if document["settings"]["scale"] == "pair"
        else "Agreement among raters: Krippendorff's alpha on four levels, Fleiss' kappa, share of equal pairs, share "
        "of units on which all are equal"
    )
    rule = document["settings"]["overall"]
    title += f"; overall: the {rule.replace('-', ' ')} of each rater's marks" if rule else ""
    return Table(head, tuple(rows), title)


def levels_of(document: dict[str, Any]) -> tuple[str, ...]:
    """The levels of measurement that apply: votes on pairs and labels are nominal."""
    return ("nominal",) if document["settings"]["scale"] in ("pair", "label") else LEVELS


def _note(group: dict[str, Any], levels: tuple[str, ...]) -> str:
    """Why figures are absent; levels that do not apply are not shown."""
    shown = {f"alpha.{level}" for level in levels} | {"fleiss_kappa", "pairwise_agreement", "percent_agreement"}
    return "; ".join(dict.fromkeys(reason for name, reason in group["reasons"].items() if name in shown))


def _intervals(document: dict[str, Any], by: tuple[str, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in document["groups"]:
        ends = [group["alpha_interval"][level] or {} for level in LEVELS]
        why = dict.fromkeys(one["reason"] for one in ends if one.get("reason"))
        rows.append((*_names(group, by), *(interval(one.get("low"), one.get("high")) for one in ends), "; ".join(why)))
    head = columns("criterion", *by, *(Column(level, ".3f", absent="–") for level in LEVELS), Column("note", wrap=True))
    settings = document["settings"]
    title = f"95% intervals of alpha ({settings['interval']}, {settings['rounds']:,} rounds, seed {settings['seed']})"
    return Table(head, tuple(rows), title)


def _folds(document: dict[str, Any], by: tuple[str, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (*_names(group, by), *(group["leave_one_out"][name] for name in FOLD_COLUMNS))
        for group in document["groups"]
        if group.get("leave_one_out")
    ]
    for line in document["averages"] if by else ():
        found = line["leave_one_out"]
        names = (line["criterion"] or "", *("average" for _ in by))
        rows.append((*names, found["spearman"], "", found["kendall_accuracy"], ""))
    title = f"Each rater against the mean of the others (average: {document['settings']['average']})"
    shown = figure_columns(("Spearman", "spread", "Kendall accuracy", "spread"))
    return Table(columns("criterion", *by, *shown), tuple(rows), title)


def _pairs(document: dict[str, Any], by: tuple[str, ...]) -> Table:
    kinds = ("agreement", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")
    rows: list[tuple[Cell, ...]] = [
        (*_names(group, by), *pair["raters"], pair["n"], *(pair[name] for name in kinds))
        for group in document["groups"]
        for pair in group.get("rater_pairs", [])
    ]
    shown = figure_columns(("agreement", "Cohen kappa", "linear", "quadratic"))
    return Table(columns("criterion", *by, "rater", "rater", "units", *shown), tuple(rows), "Every two raters")


def _raters(document: dict[str, Any], by: tuple[str, ...]) -> Table:
    """How each rater stands to the others; those with a flag first."""
    lines = sorted(document["raters"], key=lambda line: not line["flags"])
    rows: list[tuple[Cell, ...]] = [
        (
            *_names(line, by), line["rater"], line["n"], line["n_shared"], line["with_others"], line["mean_shift"],
            line["most_common_share"], ", ".join(flag.replace("_", " ") for flag in line["flags"]),
        )
        for line in lines[:RATERS_SHOWN]
    ]  # fmt: skip
    head = columns(
        "criterion", *by, "rater", "ratings", "shared units", Column("with others", ".3f", "–"),
        Column("mean shift", "+.3f", "–"), Column("most common value", ".0%", "–"), "flags",
    )  # fmt: skip
    more = len(lines) - RATERS_SHOWN
    measures = dict.fromkeys(str(line["measure"]) for line in lines if line["with_others"] is not None)
    notes = [f"with others: {'; '.join(measures)}"] if measures else []
    notes += [f"... and {more:,} more (--json lists them all)"] if more > 0 else []
    return Table(head, tuple(rows), "Raters", tuple(notes))
