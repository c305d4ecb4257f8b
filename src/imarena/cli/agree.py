"""``imarena agree``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.cli.console import emit, session, warn
from imarena.cli.sheet import Cell, Sheet, show_sheets
from imarena.core.errors import UserError


def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Ratings: unit, rater, value; votes: item, left, right, winner, rater; or an exported table."
        ),
    ] = None,
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
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Bootstrap rounds over units; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")] = 0,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write the table to this file.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
) -> None:
    """Agreement among raters: Krippendorff's alpha, kappa and raw agreement, per criterion and group."""
    from imarena.workflows.agree import agree
    from imarena.workflows.columns import only as fitting

    found = agree(
        fitting(_read(from_file) if from_file is not None else _ratings(session(context).workspace), only or ()),
        by=tuple(by or ()),
        rounds=rounds,
        seed=seed,
        order=tuple(word.strip() for word in order.split(",") if word.strip()),
        leave_one_out=leave_one_out,
        recipe=recipe(average),
        pairs=rater_pairs,
    )
    document = found.to_json()
    names = tuple(document["settings"]["by"])
    sheets = [_figures(document, names)]
    if leave_one_out:
        sheets.append(_folds(document, names))
    if rater_pairs:
        sheets.append(_pairs(document, names))
    if csv is not None:
        sheets[0].write_csv(csv)
    if not session(context).json:
        for warning in found.warnings:
            warn(warning)
    emit(context, document, lambda console: show_sheets(console, sheets, markdown=markdown, latex=latex))


def _read(path: Path) -> Any:
    from imarena.workflows.agree_files import ratings_of_file

    return ratings_of_file(path)


def _ratings(root: Path) -> Any:
    """The ratings of a workspace, or a word on how to name a table."""
    from imarena.storage import is_workspace, open_workspace
    from imarena.workflows.columns_store import ratings_from_store

    if not is_workspace(root):
        raise UserError("Name a ratings table.", hint="imarena agree --from ratings.csv, or --workspace DIR")
    with open_workspace(root) as workspace:
        return ratings_from_store(workspace)


def recipe(name: str) -> Any:
    """A recipe for averages, by name."""
    from imarena.stats import RECIPES

    if name not in RECIPES:
        raise UserError(f"Unknown average '{name}'.", hint=f"Known: {', '.join(RECIPES)}.")
    return name


def _figures(document: dict[str, Any], by: tuple[str, ...]) -> Sheet:
    levels = ("nominal", "ordinal", "interval", "ratio")
    rows: list[tuple[Cell, ...]] = []
    for group in document["groups"]:
        interval = group["alpha_interval"]["ordinal"] or {}
        rows.append(
            (
                group["criterion"] or "",
                *(group["group"].get(name, "") for name in by),
                *(group["alpha"][level] for level in levels),
                _range(interval.get("low"), interval.get("high")),
                group["fleiss_kappa"],
                group["pairwise_agreement"],
                group["n_units"],
                group["n_raters"],
                group["n_missing"],
                group["reason"] or "",
            )
        )
    columns = ("criterion", *by, *levels, "95% (ordinal)", "kappa", "equal pairs", "units", "raters", "missing",
               "note")  # fmt: skip
    title = "Agreement among raters: Krippendorff's alpha on four levels, Fleiss' kappa, share of equal pairs"
    rule = document["settings"]["overall"]
    title += f"; overall: the {rule.replace('-', ' ')} of each rater's marks" if rule else ""
    return Sheet(title, columns, tuple(rows))


def _folds(document: dict[str, Any], by: tuple[str, ...]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for group in document["groups"]:
        folds = group.get("leave_one_out")
        if folds:
            names = (group["criterion"] or "", *(group["group"].get(name, "") for name in by))
            rows.append((*names, *(folds[name] for name in FOLD_COLUMNS)))
    for line in document["averages"]:
        names = (line["criterion"] or "", *("average" for _ in by))
        found = line["leave_one_out"]
        if by:
            rows.append((*names, found["spearman"], "", found["kendall_accuracy"], ""))
    title = f"Each rater against the mean of the others (average: {document['settings']['average']})"
    return Sheet(title, ("criterion", *by, "Spearman", "spread", "Kendall accuracy", "spread"), tuple(rows))


FOLD_COLUMNS = ("spearman", "spearman_spread", "kendall_accuracy", "kendall_accuracy_spread")


def _pairs(document: dict[str, Any], by: tuple[str, ...]) -> Sheet:
    rows: list[tuple[Cell, ...]] = [
        (
            group["criterion"] or "",
            *(group["group"].get(name, "") for name in by),
            *pair["raters"],
            pair["n"],
            *(pair[name] for name in ("agreement", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")),
        )
        for group in document["groups"]
        for pair in group.get("rater_pairs", [])
    ]
    columns = ("criterion", *by, "rater", "rater", "units", "agreement", "Cohen kappa", "linear", "quadratic")
    return Sheet("Every two raters", columns, tuple(rows))


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"
