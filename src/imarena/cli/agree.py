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
        typer.Option("--from", help="Ratings: unit, rater, value; or votes: item, left, right, winner, rater."),
    ] = None,
    what: Annotated[
        str, typer.Option("--what", help="Of a workspace: ratings, votes (on pairs), or all that it has.")
    ] = "all",
    by: Annotated[list[str] | None, typer.Option("--by", help="Group by a column, such as model; repeatable.")] = None,
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

    options = {
        "by": tuple(by or ()), "rounds": rounds, "seed": seed, "leave_one_out": leave_one_out,
        "order": tuple(word.strip() for word in order.split(",") if word.strip()), "recipe": recipe(average),
        "pairs": rater_pairs,
    }  # fmt: skip
    read = [_read(from_file)] if from_file is not None else _workspace(session(context).workspace, what)
    # A group column or an order of ratings need not fit the votes beside them.
    documents = [agree(read[0], **options).to_json()]
    documents += [
        agree(columns, **options | {"order": (), "by": _fitting(columns, by)}).to_json() for columns in read[1:]
    ]
    sheets = [sheet for document in documents for sheet in _sheets(document)]
    document = documents[0] | ({"votes": documents[1]} if documents[1:] else {})
    if csv is not None:
        sheets[0].write_csv(csv)
    if not session(context).json:
        for warning in (warning for one in documents for warning in one["warnings"]):
            warn(warning)
    emit(context, document, lambda console: show_sheets(console, sheets, markdown=markdown, latex=latex))


def _read(path: Path) -> Any:
    from imarena.workflows.agree_votes import votes_as_ratings
    from imarena.workflows.columns import is_battle_file, ratings_from_file

    return votes_as_ratings(path) if is_battle_file(path) else ratings_from_file(path)


def _workspace(root: Path, what: str) -> list[Any]:
    """What raters of a workspace gave: ratings, then votes on pairs; never nothing."""
    from imarena.storage import is_workspace, open_workspace
    from imarena.workflows.agree_votes import votes_in_workspace
    from imarena.workflows.columns_store import ratings_from_store

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


def _sheets(document: dict[str, Any]) -> list[Sheet]:
    """The tables of one agreement: figures, and what else was asked for."""
    names = tuple(document["settings"]["by"])
    sheets = [_figures(document, names)]
    if any("leave_one_out" in group for group in document["groups"]):
        sheets.append(_folds(document, names))
    if any("rater_pairs" in group for group in document["groups"]):
        sheets.append(_pairs(document, names))
    return sheets


def recipe(name: str) -> Any:
    """A recipe for averages, by name."""
    from imarena.stats import RECIPES

    if name not in RECIPES:
        raise UserError(f"Unknown average '{name}'.", hint=f"Known: {', '.join(RECIPES)}.")
    return name


def _figures(document: dict[str, Any], by: tuple[str, ...]) -> Sheet:
    votes = document["settings"]["scale"] == "pair"
    levels = ("nominal",) if votes else ("nominal", "ordinal", "interval", "ratio")
    level = levels[0] if votes else "ordinal"
    rows: list[tuple[Cell, ...]] = []
    for group in document["groups"]:
        interval = group["alpha_interval"][level] or {}
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
                _note(group, levels),
            )
        )
    columns = ("criterion", *by, *levels, f"95% ({level})", "kappa", "equal pairs", "units", "raters", "missing",
               "note")  # fmt: skip
    title = (
        "Agreement of votes on pairs: Krippendorff's alpha, Fleiss' kappa, share of equal votes"
        if votes
        else "Agreement among raters: Krippendorff's alpha on four levels, Fleiss' kappa, share of equal pairs"
    )
    return Sheet(title, columns, tuple(rows))


def _note(group: dict[str, Any], levels: tuple[str, ...]) -> str:
    """Why figures are absent; levels that do not apply are not shown."""
    shown = {f"alpha.{level}" for level in levels} | {"fleiss_kappa", "pairwise_agreement", "percent_agreement"}
    return "; ".join(dict.fromkeys(reason for name, reason in group["reasons"].items() if name in shown))


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
