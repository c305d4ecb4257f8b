"""``imarena rank``: a leaderboard from a workspace or a table of battles."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imarena.cli import gates
from imarena.cli.console import emit, print_tables, session, stderr, warn
from imarena.cli.options import AllVotes, ColumnsOption, Editors, Latex, Markdown, parse_renames
from imarena.core import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from imarena.core.records import Ranking
    from imarena.ranking import OutsideComparison
    from imarena.stats import GateReport
    from imarena.workflows.boards import RankedBoards, RankRequest

From = Annotated[Path | None, typer.Option("--from", help="A table of battles: CSV, TSV, JSON Lines or Parquet.")]
Voters = Annotated[
    str,
    typer.Option("--source", metavar="<people|judge|all|auto>", help="Whose verdicts count (see the ranking guide)."),
]
JudgeName = Annotated[str | None, typer.Option("--judge", help="Only verdicts of this judge.")]
Dimension = Annotated[
    str | None, typer.Option("--dimension", help="Only battles about this dimension (default: overall).")
]
KindOption = Annotated[
    str | None,
    typer.Option(metavar="<compared|scored>", help="Only direct comparisons, or only battles from scores, of a judge."),
]
MethodOption = Annotated[
    str,
    typer.Option(
        metavar="<bt|davidson|elo|active-elo|mixture|corrected>", help="How ratings are computed; bt: Bradley-Terry."
    ),
]
Rounds = Annotated[int, typer.Option(help="Bootstrap rounds.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
By = Annotated[str | None, typer.Option(help="One board per value of this column.")]
BothBad = Annotated[
    str, typer.Option("--both-bad", metavar="<tie|exclude>", help="Count both_bad as a tie, or leave it out.")
]
MissingOption = Annotated[
    str, typer.Option(metavar="<exclude|loss>", help="If a side has no output: leave the battle out, or count a loss.")
]
IntervalOption = Annotated[
    str | None,
    typer.Option(
        metavar="<bootstrap|sandwich|none>",
        help="How intervals are computed (default: bootstrap; sandwich for mixture and covariates).",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="<battle|item|rater>", help="What is resampled (default: item if known, otherwise battle)."),
]
LevelOption = Annotated[float, typer.Option(help="Confidence level.")]
Position = Annotated[bool, typer.Option("--position", help="Fit the advantage of the left side.")]
Covariate = Annotated[
    list[str] | None,
    typer.Option("--covariate", help="A column to adjust for: NAME, or NAME_left and NAME_right; repeatable."),
]
Balanced = Annotated[bool, typer.Option("--balanced", help="Give all dimensions equal weight.")]
Anchors = Annotated[Path | None, typer.Option(help="A frozen board (model, rating): other models are placed on it.")]
Resume = Annotated[Path | None, typer.Option(help="An earlier Elo board (a --json file) to continue from.")]
Labels = Annotated[
    list[str] | None,
    typer.Option("--labels", help="THEIRS=OURS, such as model_a=left, if outcomes have other names; repeatable."),
]
ReliabilityOption = Annotated[
    str, typer.Option(metavar="<rater|source|gap>", help="Mixture: one reliability per rater, source or gap.")
]
Set = Annotated[list[str] | None, typer.Option("--set", help="A method's setting, such as k=16 or alpha=0.25.")]
Against = Annotated[Path | None, typer.Option(help="An outside leaderboard (model, rating or rank, date).")]
NamesOption = Annotated[list[str] | None, typer.Option("--names", help="OUR_NAME=THEIR_NAME, for --against.")]
CsvOut = Annotated[bool, typer.Option("--csv", help="Print CSV (into a file: --csv > board.csv).")]
Power = Annotated[bool, typer.Option("--power", help="Also print how many battles would separate neighbours.")]
Fragility = Annotated[
    int | None,
    typer.Option(
        "--fragility",
        metavar="K",
        help="Also print the fewest votes, items and raters that decide the first place, the top K (default 3) and "
        "neighbours.",
    ),
]
Samples = Annotated[
    bool,
    typer.Option("--samples", help="Also print pass@k, best of N and cost per success (default: if N > 1)."),
]
Success = Annotated[
    float | None, typer.Option("--success", help="Score from which an output counts as a success, for --samples.")
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if", help="A gate: 'MODEL below OTHER'; repeatable. Exit code 4 if one fails, 3 if data are missing."
    ),
]
RoundsExecutor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="<auto|threads|processes|ray>",
        help="Where the rounds of elo and active-elo are computed.",
    ),
]
Plot = Annotated[Path | None, typer.Option(metavar="DIR", help="Save plots of ratings and wins into this folder.")]


# Over 60 lines for its options alone: each is one line of the contract.
def command(
    context: typer.Context,
    source: From = None,
    voters: Voters = "auto",
    judge: JudgeName = None,
    dimension: Dimension = None,
    method: MethodOption = "bt",
    rounds: Rounds = 1000,
    seed: Seed = 0,
    by: By = None,
    both_bad: BothBad = "tie",
    missing: MissingOption = "exclude",
    interval: IntervalOption = None,
    cluster: Cluster = None,
    level: LevelOption = 0.95,
    position: Position = False,
    covariate: Covariate = None,
    balanced: Balanced = False,
    anchors: Anchors = None,
    resume: Resume = None,
    columns: ColumnsOption = None,
    labels: Labels = None,
    reliability: ReliabilityOption = "rater",
    settings: Set = None,
    against: Against = None,
    names: NamesOption = None,
    csv: CsvOut = False,
    latex: Latex = False,
    markdown: Markdown = False,
    power: Power = False,
    fail_if: FailIf = None,
    junit: gates.JUnitFile = None,
    summary: gates.SummaryFile = None,
    plot: Plot = None,
    samples: Samples = False,
    success: Success = None,
    all_votes: AllVotes = False,
    fragility: Fragility = None,
    executor: RoundsExecutor = "auto",
    kind: KindOption = None,
    editors: Editors = None,
) -> None:
    """Print a leaderboard: ratings and ranks with intervals, win counts, coverage."""
    from imarena import ranking
    from imarena.engine import read_executor
    from imarena.ranking import Options, with_settings
    from imarena.workflows.boards import BoardQuery, RankRequest, rank_requested, read_battle_kind, read_source

    gates.check_gate_options(junit, gated=bool(fail_if))
    options = Options(
        method=method,
        rounds=rounds,
        seed=seed,
        interval=interval,
        cluster=cluster,
        level=level,
        position=position,
        dimension_weight="balanced" if balanced else "count",
        anchors=ranking.load_outside_board(anchors)[0] if anchors else {},
        fragility=fragility,
        executor=read_executor(executor),
    )
    query = BoardQuery(
        source=read_source(voters),
        judge=judge,
        dimension=dimension,
        kind=read_battle_kind(kind),
        options=with_settings(options, settings, reliability, refuse_unused=True),
        both_bad=both_bad,
        missing=missing,
        covariates=tuple(covariate or ()),
        by=by,
        resume=ranking.load_ranking(resume) if resume is not None else None,
        editors=tuple(editors or ()),
        samples="always" if samples or success is not None else "auto",
        success=success,
    )
    request = RankRequest(
        query,
        source,
        parse_renames(columns, "--columns"),
        parse_renames(labels, "--labels"),
        all_votes,
        against,
        parse_renames(names, "--names"),
        tuple(fail_if or ()),
        summary is not None,
    )
    folder = session(context).workspace
    ranked = rank_requested(folder, request)
    if ranked.compared is not None and not ranked.boards:
        _show_comparison(context, request, ranked.compared, ranked.date)
        return
    _save_plots(ranked.boards, plot)
    gate = None
    if request.rules:
        from imarena.workflows.studies import gate_requested

        gate = gate_requested(folder, request, ranked.boards)
    _print(context, ranked, by, (csv, latex, markdown), power, gate)
    gates.write_gate_files(gate, "imarena rank", junit, summary, _summary(ranked.boards, gate) if summary else "")
    gates.gate_exit(gate)


def _save_plots(boards: "Sequence[Ranking]", folder: Path | None) -> None:
    if folder is not None:
        from imarena.reports import save_plots

        for board in boards:
            save_plots(board, folder)


def _summary(boards: "Sequence[Ranking]", gate: "GateReport | None") -> str:
    """Format the boards for a pull request."""
    from imarena.reports import board_tables, gate_markdown

    return gate_markdown(
        "Leaderboard", gate, (), [table for board in boards for table in board_tables(board, "report")]
    )


def _print(
    context: typer.Context,
    ranked: "RankedBoards",
    by: str | None,
    forms: tuple[bool, ...],
    power: bool,
    gate: "GateReport | None",
) -> None:
    from imarena.reports import board_data, rank_tables
    from imarena.reports.tables import to_csv, to_latex, to_markdown
    from imarena.workflows.boards import rank_tables_of

    writers = (None, to_latex, to_markdown)
    formats = [writer for writer, enabled in zip(writers, forms, strict=True) if enabled]
    if len(formats) > 1 or (formats and session(context).json):
        raise UserError("Choose one of --json, --csv, --latex and --markdown.")
    boards, compared = ranked.boards, ranked.compared
    tables = rank_tables_of(boards, compared, power=power, whole=bool(formats))
    if formats:
        write = formats[0]
        typer.echo(
            to_csv(board_data(boards)) if write is None else "\n".join(map(write, tables)),
            nl=False,
            file=session(context).out,
        )
        gates.show_gates(stderr(), gate)
        _warn_of(boards)
        return
    documents = [board.model_dump(mode="json") for board in boards]
    document: Any = documents[0] if by is None else {"by": by, "boards": documents}
    if compared is not None:
        document = {**document, "against": compared.to_json()}
    if gate is not None:
        document = {**document, "gate": gate.to_json()}

    def show(console: "Console") -> None:
        print_tables(console, [replace(table, signature="") for table in tables])
        gates.show_gates(console, gate)

    emit(context, document, show)
    if not session(context).json:
        _warn_of(boards, rank_tables.STATED)
        emit(context, None, lambda console: _show_signatures(console, boards))


def _show_signatures(console: "Console", boards: "Sequence[Ranking]") -> None:
    """Print the line of each board that `imarena signature` explains."""
    from rich.text import Text

    from imarena.reports import rank_tables
    from imarena.reports.tables import printable

    for board in boards:
        scope = ", ".join(f"{key} {value}" for key, value in board.scope.items())
        if line := rank_tables.signature_line(board):
            text = printable(": ".join(part for part in (scope, line) if part))
            console.print(Text(text, style="dim"), soft_wrap=not console.is_terminal)


def _warn_of(boards: "Sequence[Ranking]", stated: tuple[str, ...] = ()) -> None:
    """Warnings come last: the conclusion is what was asked for."""
    from imarena.reports import board_warnings

    for warning in board_warnings(boards, stated):
        warn(warning)


def _show_comparison(
    context: typer.Context, request: "RankRequest", compared: "OutsideComparison", date: str | None
) -> None:
    from imarena.workflows.boards import outside_table

    document = {"board": request.table.name if request.table else "", "date": date, "against": compared.to_json()}
    emit(context, document, lambda console: print_tables(console, [outside_table(compared)]))
