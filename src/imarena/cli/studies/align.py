"""``imarena align``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_tables, session, stderr, warn
from imarena.cli.options import BootstrapSeed, ColumnsOption, Csv, Latex, Markdown, Only, UnitRounds, parse_renames
from imarena.core import ROUNDS, SEED, UserError, known_name
from imarena.reports.tables import write_csv


# Over 60 lines for its options alone: each is one line of the contract.
def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A table of scores (unit, model, judge, score), of a judge's battles, or of `export scores`."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            help="`people` (those of the workspace), or a file of their ratings (item, editor, value; optional: rater) "
            "or votes (item, left, right, winner).",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="A judge of the workspace, or NAME@VERSION; repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Group by a column, such as model, or by rater (votes); repeatable."),
    ] = None,
    only: Only = None,
    average: Annotated[
        str,
        typer.Option(
            "--average", metavar="<fisher|plain|paper-compat>", help="How correlations of groups are averaged."
        ),
    ] = "fisher",
    lower_is_better: Annotated[
        list[str] | None, typer.Option("--lower-is-better", help="A judge where lower scores are better; repeatable.")
    ] = None,
    score_range: Annotated[
        list[str] | None, typer.Option("--score-range", help="LOW,HIGH of all scores, or JUDGE=LOW,HIGH; repeatable.")
    ] = None,
    rating_range: Annotated[str, typer.Option("--rating-range", help="LOW,HIGH of the ratings.")] = "",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Also compare with the mean of all other raters, for each rater.")
    ] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also report agreement on pairs of models on the same unit.")
    ] = False,
    gaps: Annotated[
        str, typer.Option("--gaps", help="Report the agreement on pairs by score gap; edges such as 50,100,200.")
    ] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Test every two judges against each other, with Holm's correction.")
    ] = False,
    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            metavar="<exclude|wrong>",
            help="Battles without a verdict of the judge: leave them out, or count them as wrong.",
        ),
    ] = "exclude",
    rounds: UnitRounds = ROUNDS,
    seed: BootstrapSeed = SEED,
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="Also list the N largest disagreements of each judge.")
    ] = 0,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="DIR", help="Write the largest disagreements with their images (default 20)."),
    ] = None,
    csv: Csv = None,
    markdown: Markdown = False,
    latex: Latex = False,
    columns: ColumnsOption = None,
) -> None:
    """Compare a judge or a metric with people: correlations and bias, or accuracy on battles."""
    from imarena.agreement import AlignOptions
    from imarena.stats import CORRELATION_RECIPES
    from imarena.workflows.studies import AlignRequest, align_report

    if from_file is not None:
        from imarena.workflows.boards import refuse_with_table

        refuse_with_table({"--judge": bool(judge), "--worst": bool(worst), "--page": page is not None})
    options = AlignOptions(
        by=tuple(by or ()), average=known_name("Unknown average", average, CORRELATION_RECIPES),
        lower_is_better=frozenset(lower_is_better or ()),
        score_range=dict(_judge_range(text) for text in score_range or []),
        rating_range=_range(rating_range) if rating_range else None, leave_one_out=leave_one_out,
        pairs=pairs, gaps=_edges(gaps), compare=compare, rounds=rounds, seed=seed,
    )  # fmt: skip
    request = AlignRequest(
        options, from_file, against, tuple(judge or ()), tuple(only or ()), missing, worst, page, parse_renames(columns)
    )
    report = align_report(session(context).workspace, request)
    if csv is not None:
        write_csv(report.tables[0], csv)
    if not session(context).json:
        for warning in report.warnings:
            warn(warning)
        if report.page is not None:
            stderr().print(f"Page: {report.page}", soft_wrap=True)

    def show(console: Console) -> None:
        if report.conclusion and not (markdown or latex):
            console.print(report.conclusion, soft_wrap=True, markup=False, highlight=False)
        print_tables(console, report.tables, markdown=markdown, latex=latex)

    emit(context, report.to_json(), show)
    if report.is_partial:
        raise typer.Exit(Exit.PARTIAL)


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
