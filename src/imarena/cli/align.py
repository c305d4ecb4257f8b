"""``imarena align``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.cli.agree import recipe
from imarena.cli.console import emit, session, warn
from imarena.cli.sheet import Cell, Sheet, show_sheets
from imarena.core.errors import UserError


def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None, typer.Option("--from", help="Scores (unit, model, judge, score), or a judge's battles.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="Ratings (unit, rater, value), or people's battles.")
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="A judge of the workspace, or NAME@VERSION; repeatable."),
    ] = None,
    by: Annotated[list[str] | None, typer.Option("--by", help="Group by a column, such as model; repeatable.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="COLUMN=VALUE: only ratings that fit, such as criterion=overall; repeatable."),
    ] = None,
    average: Annotated[
        str, typer.Option("--average", help="Average correlations: fisher, plain or paper-compat.")
    ] = "fisher",
    lower_is_better: Annotated[
        list[str] | None, typer.Option("--lower-is-better", help="A judge whose low scores are good; repeatable.")
    ] = None,
    score_range: Annotated[
        list[str] | None, typer.Option("--score-range", help="LOW,HIGH of all scores, or JUDGE=LOW,HIGH; repeatable.")
    ] = None,
    rating_range: Annotated[str, typer.Option("--rating-range", help="LOW,HIGH of the ratings.")] = "",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Also against the mean of all raters but one.")
    ] = False,
    pairs: Annotated[bool, typer.Option("--pairs", help="Also pairs of models on the same unit.")] = False,
    gaps: Annotated[str, typer.Option("--gaps", help="Pair agreement by score gap: edges, such as 50,100,200.")] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Test every two judges against each other, with Holm's correction.")
    ] = False,
    missing: Annotated[
        str, typer.Option("--missing", help="Battles without a verdict of the judge: exclude, or wrong.")
    ] = "exclude",
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Bootstrap rounds over units; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")] = 0,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write the table to this file.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
) -> None:
    """A judge or a metric against people: correlations and bias, or accuracy on battles."""
    groups = tuple(by or ())
    tables = _tables(from_file, against, session(context).workspace, judge)
    if tables is not None and _both_battles(*tables):
        document = _verdicts(*tables, groups, missing, compare)
        sheets = [_verdict_sheet(document, groups), *_compare_sheets(document, "accuracy")]
    else:
        options = {
            "by": groups, "average": recipe(average), "lower_is_better": frozenset(lower_is_better or ()),
            "score_range": dict(_judge_range(text) for text in score_range or []),
            "rating_range": _range(rating_range) if rating_range else None, "leave_one_out": leave_one_out,
            "pairs": pairs, "gaps": _edges(gaps), "compare": compare, "rounds": rounds, "seed": seed,
            "only": tuple(only or ()),
        }  # fmt: skip
        if tables is None:
            document, sheets = _workspace(session(context).workspace, judge or [], options, missing)
        else:
            document = _scores(*tables, options)
            sheets = _score_sheets(document)
    if csv is not None:
        sheets[0].write_csv(csv)
    if not session(context).json:
        for warning in document.get("warnings", []):
            warn(warning)
    emit(context, document, lambda console: show_sheets(console, sheets, markdown=markdown, latex=latex))


def _tables(
    from_file: Path | None, against: Path | None, root: Path, judges: list[str] | None
) -> tuple[Path, Path] | None:
    """The two tables; None where the workspace's judges and people are meant."""
    from imarena.storage import is_workspace

    if from_file is not None and against is not None:
        return from_file, against
    if from_file is None and (against is None or str(against) == "people") and (judges or is_workspace(root)):
        return None
    raise UserError(
        "Name two tables.",
        hint="imarena align --from scores.csv --against ratings.csv, or --judge NAME --against people in a workspace",
    )


def _workspace(
    root: Path, judges: list[str], options: dict[str, Any], missing: str
) -> tuple[dict[str, Any], list[Sheet]]:
    """The workspace's judges against its people: scores with ratings, battles with votes, whichever there are."""
    from imarena.storage import open_workspace
    from imarena.workflows.align_store import align_workspace

    with open_workspace(root) as workspace:
        document = align_workspace(workspace, judges, options, missing)
    sheets = []
    if "scores" in document:
        sheets += _score_sheets(document["scores"])
    if "verdicts" in document:
        sheets.append(_verdict_sheet(document["verdicts"], tuple(options["by"])))
        sheets += _compare_sheets(document["verdicts"], "accuracy")
    return document, sheets


def _both_battles(from_file: Path, against: Path) -> bool:
    from imarena.workflows.columns import is_battle_file

    judge, people = is_battle_file(from_file), is_battle_file(against)
    if judge != people:
        raise UserError(
            "One table holds battles and the other does not.",
            hint="Compare scores with ratings, or a judge's battles with people's battles.",
        )
    return judge


def _scores(from_file: Path, against: Path, options: dict[str, Any]) -> dict[str, Any]:
    from imarena.workflows.align import AlignOptions, align
    from imarena.workflows.columns import only, ratings_from_file, scores_from_file

    ratings = only(ratings_from_file(against), options.pop("only"))
    return align(scores_from_file(from_file), ratings, AlignOptions(**options)).to_json()


def _verdicts(from_file: Path, against: Path, by: tuple[str, ...], missing: str, compare: bool) -> dict[str, Any]:
    from imarena.workflows.align_verdicts import HUMAN_WORDS, JUDGE_WORDS, align_verdicts
    from imarena.workflows.columns import verdicts_from_file

    verdicts = verdicts_from_file(from_file, words=JUDGE_WORDS)
    votes = verdicts_from_file(against, words=HUMAN_WORDS)
    if missing == "wrong":
        return align_verdicts(verdicts, votes, by=by, missing="wrong", compare=compare).to_json()
    if missing == "exclude":
        return align_verdicts(verdicts, votes, by=by, missing="exclude", compare=compare).to_json()
    raise UserError(f"Unknown --missing '{missing}'.", hint="Known: exclude, wrong.")


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"'{text}' is not a range.", hint="Write LOW,HIGH, such as 0,10.") from None
    if not low < high:
        raise UserError(f"The range '{text}' does not grow.", hint="Write LOW,HIGH, such as 0,10.")
    return low, high


def _judge_range(text: str) -> tuple[str, tuple[float, float]]:
    judge, equals, ends = text.rpartition("=")
    return judge if equals else "", _range(ends)


def _edges(text: str) -> tuple[float, ...]:
    try:
        edges = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UserError(f"'{text}' are not numbers.", hint="Write edges such as 50,100,200,400.") from None
    if list(edges) != sorted(set(edges)) or any(edge <= 0 for edge in edges):
        raise UserError(f"The edges '{text}' do not grow from above 0.", hint="Write edges such as 50,100,200,400.")
    return edges


FIGURES = ("spearman", "pearson", "kendall", "kendall_accuracy", "bias", "n")


def _score_sheets(document: dict[str, Any]) -> list[Sheet]:
    rows: list[tuple[Cell, ...]] = []
    names = tuple(document["settings"]["by"])
    for group in document["groups"]:
        interval = (group["interval"] or {}).get("spearman") or {}
        ends = "" if interval.get("low") is None else f"{interval['low']:.3f} to {interval['high']:.3f}"
        head = (group["judge"], group["criterion"] or "", *(group["group"][name] for name in names))
        rows.append((*head, *(group[name] for name in FIGURES), ends, group["n_missing"], group["bias_scale"] or "",
                     group["reason"] or ""))  # fmt: skip
    if names:
        for line in document["averages"]:
            head = (line["judge"], line["criterion"] or "", *("average" for _ in names))
            rows.append((*head, *(line[name] for name in FIGURES), "", "", "", line["reason"] or ""))
    columns = ("judge", "criterion", *names, "Spearman", "Pearson", "Kendall", "Kendall accuracy", "bias", "n",
               "95% (Spearman)", "missing", "bias on", "note")  # fmt: skip
    rule = document["settings"].get("overall")
    overall = f"; overall: the {rule.replace('-', ' ')} of each rater's marks" if rule else ""
    title = f"Against people (averages: {document['settings']['average']}{overall})"
    sheets = [Sheet(title, columns, tuple(rows))]
    if any(group.get("leave_one_out") for group in document["groups"]):
        sheets.append(_fold_sheet(document, names))
    if document["pairs"]:
        sheets.append(_pair_sheet(document))
    if any("by_gap" in line for line in document["pairs"]):
        sheets.append(_gap_sheet(document))
    return [*sheets, *_compare_sheets(document, "spearman")]


def _compare_sheets(document: dict[str, Any], figure: str) -> list[Sheet]:
    """Every two judges against each other, where that was asked for."""
    rows: list[tuple[Cell, ...]] = []
    for line in document["comparisons"]:
        head = (line.get("criterion") or "", line["left"], line["right"])
        ends = "" if line.get("low") is None else f"{line['low']:.3f} to {line['high']:.3f}"
        figures = (line[f"{figure}_left"], line[f"{figure}_right"])
        rows.append((*head, *figures, ends, line["p_value"], line["p_holm"], line["n"], line["reason"] or ""))
    columns = ("criterion", "first", "second", f"{figure}, first", f"{figure}, second", "95% (difference)", "p",
               "p (Holm)", "n", "note")  # fmt: skip
    return [Sheet("Every two judges on what both answered", columns, tuple(rows))] if rows else []


def _fold_sheet(document: dict[str, Any], names: tuple[str, ...]) -> Sheet:
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
    columns = ("judge", "criterion", *names, "Spearman", "spread", "Kendall accuracy", "spread", "bias", "spread")
    return Sheet("Against the mean of all raters but one, averaged over raters", columns, tuple(rows))


def _pair_sheet(document: dict[str, Any]) -> Sheet:
    keys = ("pair_accuracy", "decisive_accuracy", "n_decisive", "tie_calibrated_accuracy", "tie_threshold", "n_pairs")
    rows: list[tuple[Cell, ...]] = [
        (line["judge"], line["criterion"] or "", ", ".join(line["group"].values()), *(line[key] for key in keys))
        for line in document["pairs"]
    ]
    columns = ("judge", "criterion", "group", "with ties", "decisive", "n decisive", "ties calibrated", "tie threshold",
               "pairs")  # fmt: skip
    return Sheet("Pairs of models on the same unit: accuracy", columns, tuple(rows))


def _gap_sheet(document: dict[str, Any]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for line in document["pairs"]:
        head = (line["judge"], line["criterion"] or "", ", ".join(line["group"].values()))
        rows.append((*head, "0", "", line["n_gap_zero"]))
        for band in line["by_gap"]:
            opening = "(" if band["low"] == 0 else "["
            end = f"{opening}{band['low']:g}, {band['high']:g})" if band["high"] else f"{band['low']:g} and more"
            rows.append((*head, end, band["agreement"], band["n"]))
    columns = ("judge", "criterion", "group", "score gap", "agreement", "pairs")
    return Sheet("Pairs that people decide: agreement by score gap", columns, tuple(rows))


def _verdict_sheet(document: dict[str, Any], by: tuple[str, ...]) -> Sheet:
    keys = ("four_way_accuracy", "three_way_accuracy", "decisive_accuracy", "both_decisive_accuracy", "macro_f1",
            "n", "n_missing")  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (group["judge"], *(group["group"][name] for name in by), *(group[key] for key in keys), group["reason"] or "")
        for group in document["groups"]
    ]
    columns = ("judge", *by, "four-way", "three-way", "decisive", "both decisive", "macro F1", "n", "missing", "note")
    title = f"Verdicts against people's votes: accuracy (battles without a verdict: {document['settings']['missing']})"
    return Sheet(title, columns, tuple(rows))
