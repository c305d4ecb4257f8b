"""``imarena rank``: a leaderboard from a workspace or a table of battles."""

from pathlib import Path
from typing import Annotated, Any

import typer

from imarena.cli.console import emit, print_tables, session, warn
from imarena.cli.options import refuse_with_table
from imarena.core import UserError

From = Annotated[Path | None, typer.Option("--from", help="A table of battles: CSV, TSV, JSON Lines or Parquet.")]
Voters = Annotated[str, typer.Option("--source", help="Workspace: people, judge, all, or auto (see the guide).")]
JudgeName = Annotated[str | None, typer.Option("--judge", help="Workspace: verdicts of this judge only.")]
Dimension = Annotated[
    str | None, typer.Option("--dimension", help="Workspace: battles about this dimension; without it the whole.")
]
Method = Annotated[str, typer.Option(help="bt, davidson, elo, active-elo, mixture or corrected.")]
Rounds = Annotated[int, typer.Option(help="Bootstrap rounds.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
By = Annotated[str | None, typer.Option(help="One board for each value of this column.")]
BothBad = Annotated[str, typer.Option("--both-bad", help="tie: count both_bad as a tie; exclude: leave it out.")]
Missing = Annotated[str, typer.Option(help="A side without an output: exclude the battle, or count a loss.")]
Interval = Annotated[str | None, typer.Option(help="bootstrap, sandwich or none.")]
Cluster = Annotated[str | None, typer.Option(help="What is resampled: battle, item (default where given) or rater.")]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Position = Annotated[bool, typer.Option("--position", help="Fit the advantage of the left side.")]
Covariate = Annotated[list[str] | None, typer.Option("--covariate", help="NAME, or NAME_left and NAME_right.")]
Balanced = Annotated[bool, typer.Option("--balanced", help="Every dimension weighs the same, however many battles.")]
Anchors = Annotated[Path | None, typer.Option(help="A frozen board (model, rating): other models are placed on it.")]
Resume = Annotated[Path | None, typer.Option(help="An earlier Elo board (--json) to go on from.")]
Columns = Annotated[list[str] | None, typer.Option("--columns", help="OURS=THEIRS, such as left=model_a.")]
Labels = Annotated[list[str] | None, typer.Option("--labels", help="THEIRS=OURS, such as model_a=left.")]
Reliability = Annotated[str, typer.Option(help="Mixture: one q per rater, source or gap.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="A method's setting, such as k=16 or alpha=0.25.")]
Against = Annotated[Path | None, typer.Option(help="An outside leaderboard (model, rating or rank, date).")]
Names = Annotated[list[str] | None, typer.Option("--names", help="OUR_NAME=THEIR_NAME, for --against.")]
CsvOut = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
LatexOut = Annotated[bool, typer.Option("--latex", help="Print LaTeX.")]
MarkdownOut = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
Power = Annotated[bool, typer.Option("--power", help="Also how many battles would separate every two neighbours.")]
Plot = Annotated[Path | None, typer.Option(help="Save plots of ratings and wins into this folder.")]


# Over 60 lines for its options alone: each is one line of the contract.
def command(
    context: typer.Context,
    source: From = None,
    voters: Voters = "auto",
    judge: JudgeName = None,
    dimension: Dimension = None,
    method: Method = "bt",
    rounds: Rounds = 1000,
    seed: Seed = 0,
    by: By = None,
    both_bad: BothBad = "tie",
    missing: Missing = "exclude",
    interval: Interval = None,
    cluster: Cluster = None,
    level: Level = 0.95,
    position: Position = False,
    covariate: Covariate = None,
    balanced: Balanced = False,
    anchors: Anchors = None,
    resume: Resume = None,
    columns: Columns = None,
    labels: Labels = None,
    reliability: Reliability = "rater",
    settings: Set = None,
    against: Against = None,
    names: Names = None,
    csv: CsvOut = False,
    latex: LatexOut = False,
    markdown: MarkdownOut = False,
    power: Power = False,
    plot: Plot = None,
) -> None:
    """Leaderboard: ratings with intervals, ranks with intervals, records, coverage."""
    from imarena.ranking import Options, with_settings
    from imarena.ranking import from_tables as work

    if source is not None:
        chosen = {"--source": voters != "auto", "--judge": judge is not None, "--dimension": dimension is not None}
        refuse_with_table(chosen)
    if source is not None and against is not None and work.is_board(source):
        _compare_only(context, source, against, _pairs(names, "--names"))
        return
    options = Options(
        method=method,
        rounds=rounds,
        seed=seed,
        interval=interval,
        cluster=cluster,
        level=level,
        position=position,
        dimension_weight="balanced" if balanced else "count",
        anchors=work.load_outside_board(anchors)[0] if anchors else {},
    )
    options = with_settings(options, settings, reliability)
    reading: dict[str, Any] = {"both_bad": both_bad, "missing": missing, "covariates": tuple(covariate or ())}
    if resume is not None:
        reading["resume"] = work.load_ranking(resume)
    if source is None:
        from imarena.workflows.boards import rank_workspace

        boards = rank_workspace(
            session(context).workspace, options, source=voters, judge=judge, dimension=dimension, by=by, **reading
        )
    else:
        boards = work.rank_file(
            source,
            options,
            columns=_pairs(columns, "--columns"),
            labels=_pairs(labels, "--labels"),
            by=by,
            **reading,
        )
    compared = _compared(boards, by, against, _pairs(names, "--names"))
    if plot is not None:
        from imarena.reports import save_plots

        for board in boards:
            save_plots(board, plot)
    _print(context, boards, by, compared, (csv, latex, markdown), power)


def _compared(boards: list[Any], by: str | None, against: Path | None, names: dict[str, str]) -> dict[str, Any] | None:
    from imarena.ranking import compare_boards

    if against is None:
        return None
    if by:
        raise UserError("--against takes one board.", hint="Leave out --by.")
    return compare_boards({standing.model: standing.rating for standing in boards[0].models}, against, names)


def _print(
    context: typer.Context,
    boards: list[Any],
    by: str | None,
    compared: dict[str, Any] | None,
    forms: tuple[bool, ...],
    power: bool,
) -> None:
    from imarena.reports import board_data, board_tables, board_warnings, comparison_table, neighbours_table
    from imarena.reports.tables import to_csv, to_latex, to_markdown

    writers = (None, to_latex, to_markdown)
    chosen = [writer for writer, wanted in zip(writers, forms, strict=True) if wanted]
    if len(chosen) > 1 or (chosen and session(context).json):
        raise UserError("Choose one of --json, --csv, --latex and --markdown.")
    if not session(context).json:
        for warning in board_warnings(boards):
            warn(warning)
    tables = []
    for board in boards:
        tables += board_tables(board, "report" if chosen else None)
        tables += [neighbours_table(board)] if power else []
    tables += [] if compared is None else [comparison_table(compared)]
    if chosen:
        write = chosen[0]
        typer.echo(to_csv(board_data(boards)) if write is None else "\n".join(map(write, tables)), nl=False)
        return
    documents = [board.model_dump(mode="json") for board in boards]
    document: Any = documents[0] if by is None else {"by": by, "boards": documents}
    if compared is not None:
        document = {**document, "against": compared}
    emit(context, document, lambda console: print_tables(console, tables))


def _compare_only(context: typer.Context, source: Path, against: Path, names: dict[str, str]) -> None:
    from imarena.ranking import from_tables as work
    from imarena.reports import comparison_table

    ours, date = work.load_outside_board(source)
    compared = work.compare_boards(ours, against, names)
    document = {"board": source.name, "date": date, "against": compared}
    emit(context, document, lambda console: print_tables(console, [comparison_table(compared)]))


def _pairs(words: list[str] | None, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words or []:
        for part in word.split(",") if option in ("--columns", "--labels") else [word]:
            key, equals, value = part.rpartition("=") if option == "--names" else part.partition("=")
            if not equals or not key or not value:
                raise UserError(f"{option} takes NAME=VALUE, not '{part}'.")
            found[key] = value
    return found
