"""``imarena route``: calibrate, gold, plan, assign, sheet, ingest, rerank, report."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imarena.cli.console import Exit, command_group, emit, print_tables, session_workspace, warn, warn_all
from imarena.cli.options import Delta, ScoreRangeText, Seed, Tau, read_range
from imarena.core import UserError, command_line, counted, known_name
from imarena.core.notices import sentences
from imarena.reports import columns
from imarena.reports.tables import CellValue, Column, Number, Table
from imarena.routing import POLICIES

if TYPE_CHECKING:
    from imarena.core.records import Ranking
    from imarena.routing import GapRow
    from imarena.workflows.active_elo import VotesNeeded

app = command_group("Active Elo: calibrate a judge, plan and assign votes, read them, rank again.")

JudgeOption = Annotated[
    str | None, typer.Option("--judge", help="The judge whose scores are used; required if there are several judges.")
]
Deferral = Annotated[float, typer.Option("--deferral", help="Share of pairs that pass, without --tau and --delta.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="A method's setting, such as alpha=0.25; as `rank --set`.")
]
Rounds = Annotated[int, typer.Option("--rounds", min=20, help="Bootstrap rounds.")]
REFUSED_SHOWN = 50
"""Maximum number of refused rows to list."""


@app.command()
def calibrate(
    context: typer.Context,
    judge: JudgeOption = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="<isotonic|piecewise|logistic>", help="The curve; piecewise: the paper's step function."
        ),
    ] = "isotonic",
    ridge: Annotated[
        float, typer.Option("--ridge", help="logistic: ridge penalty on both coefficients; the paper uses 0.")
    ] = 0.25,
    edges: Annotated[str, typer.Option("--edges", help="Edges of the table by score gap, such as 0.5,1,2.")] = "",
    score_range: ScoreRangeText = None,
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Bootstrap rounds.")] = 1000,
    seed: Seed = 0,
    plot: Annotated[Path | None, typer.Option("--plot", help="Save the reliability diagram as PNG here.")] = None,
) -> None:
    """Measure how well a judge agrees with people, by score gap, and store the calibration."""
    from imarena.routing import CALIBRATION_METHODS
    from imarena.workflows.active_elo import calibrate_judge
    from imarena.workflows.boards import CalibrationOptions

    fit = CalibrationOptions(
        known_name("No calibration method", method, CALIBRATION_METHODS),
        ridge,
        _edges(edges),
        read_range(score_range),
        rounds,
        seed,
    )
    with session_workspace(context) as workspace:
        report = calibrate_judge(workspace, judge, fit)
    document = report.to_json()
    if plot is not None:
        from imarena.reports import save_reliability

        save_reliability(report.judge, document["curves"], plot)
    warn_all(context, sentences(report.notices))
    rows = tuple(_band(row) for row in report.tables.table)
    ends = report.score_range.range
    title = (
        f"Agreement of {report.judge} with people by score gap, {report.n_pairs} decided pairs; "
        f"scores from {ends.low:g} to {ends.high:g}"
    )
    head = columns("gap", Column("agreement", ".3f", "undefined"), "pairs", Column("fraction", ".3f", "undefined"))
    emit(context, document, lambda console: print_tables(console, [Table(head, rows, title)]))


@app.command()
def gold(
    context: typer.Context,
    share: Annotated[float, typer.Option("--share", help="Share of the items to set aside.")] = 0.1,
    seed: Seed = 0,
) -> None:
    """Reserve a gold set: items that calibration and routing never use."""
    from imarena.workflows.active_elo import freeze_gold

    with session_workspace(context) as workspace:
        frozen = freeze_gold(workspace, share=share, seed=seed)
    state = "frozen" if frozen.new else "frozen earlier, unchanged"
    items = counted(frozen.gold_items, "item")
    emit(context, asdict(frozen), f"gold set of {items}, {state}")


@app.command()
def plan(
    context: typer.Context,
    judge: JudgeOption = None,
    target: Annotated[float, typer.Option("--target", help="Half-width of intervals, in rating points.")] = 25.0,
    level: Annotated[float, typer.Option("--level", help="Level of the intervals.")] = 0.95,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of top models that must be in order.")] = 3,
    confidence: Annotated[float, typer.Option("--confidence", help="Required probability of that order.")] = 0.95,
    cost_vote: Annotated[float, typer.Option("--cost-vote", min=0, help="Cost of a vote.")] = 0.1,
    raters: Annotated[int, typer.Option("--raters", min=1, help="Number of raters.")] = 1,
    tau: Tau = None,
    delta: Delta = None,
    deferral: Deferral = 0.337,
) -> None:
    """Estimate the number of votes and their cost for a target interval."""
    from imarena.routing import explicit_gates
    from imarena.workflows.active_elo import PlanTarget, plan_votes

    wish = PlanTarget(target, level, top, confidence, cost_vote, raters)
    gates = explicit_gates(tau, delta)
    with session_workspace(context) as workspace:
        vote_plan = plan_votes(workspace, judge, wish, gates, deferral)
    warn_all(context, sentences(vote_plan.notices))
    forecast = vote_plan.wanted
    rows: tuple[tuple[CellValue, ...], ...] = (
        ("votes so far; plus repeats and gold", f"{vote_plan.votes_so_far:,}; {vote_plan.controls_so_far:,}"),
        (f"widest interval now, +- points at {level:.0%}", Number(forecast.half_width_now, ".0f")),
        (
            f"votes until all models are within +-{target:g}, spread evenly (--policy random)",
            _number(forecast.votes_needed),
        ),
        ("likely between", _likely_text(forecast)),
        ("votes per rater", _number(forecast.votes_per_rater)),
        (f"cost, at {cost_vote:g} a vote", None if forecast.cost is None else Number(forecast.cost, ",.2f")),
        ("battles available; votes still possible", f"{forecast.battles:,}; {forecast.votes_left:,}"),
        (f"chance that the best {len(vote_plan.top)} are in order", Number(vote_plan.top_confidence, ".3f")),
        (f"stop asking (that chance is {confidence:g} or more)", "yes" if vote_plan.stop else "no"),
    )
    models: tuple[tuple[CellValue, ...], ...] = tuple(
        (line.model, line.rating, line.half_width_now, _number(line.votes_needed)) for line in forecast.by_model
    )
    families: tuple[tuple[CellValue, ...], ...] = tuple(
        (line.family or "(none)", line.pairs, line.routed, line.rate) for line in vote_plan.deferral
    )
    tables = [
        Table(columns("what", "value"), rows, "Plan"),
        Table(
            columns("model", Column("rating", ".0f"), Column("now +-", ".0f"), "votes"),
            models,
            f"By model: votes on the whole board, spread evenly, until this one is within +-{target:g}",
        ),
        Table(columns("family", "pairs", "routed", Column("rate", ".3f", "–")), families, "Deferral by family"),
    ]
    emit(context, vote_plan.to_json(), lambda console: print_tables(console, tables))


@app.command()
def assign(
    context: typer.Context,
    budget: Annotated[int, typer.Option("--budget", help="Number of votes to ask for.")],
    judge: JudgeOption = None,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar=f"<{'|'.join(POLICIES)}>",
            help="Which pairs people are asked about.",
        ),
    ] = "information",
    raters: Annotated[str, typer.Option("--raters", help="Comma-separated names of raters (default: any rater).")] = "",
    votes: Annotated[int, typer.Option("--votes", min=1, help="Votes per battle, from different raters.")] = 1,
    repeats: Annotated[
        float, typer.Option("--repeats", min=0, max=1, help="Share of tasks shown again to the same rater.")
    ] = 0.05,
    gold_share: Annotated[float, typer.Option("--gold", min=0, max=1, help="Share from the gold set.")] = 0.05,
    tau: Tau = None,
    delta: Delta = None,
    deferral: Deferral = 0.337,
    new_models: Annotated[str, typer.Option("--place", help="Ask only about these new models; comma-separated.")] = "",
    stop_top: Annotated[int, typer.Option("--stop-top", min=0, help="Stop when the best K are in order.")] = 0,
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence level of --stop-top.")] = 0.95,
    cost_vote: Annotated[float, typer.Option("--cost-vote", help="per-cost: cost of a vote.")] = 0.1,
    cost_judgment: Annotated[float, typer.Option("--cost-judgment", help="per-cost: cost of a judgment.")] = 0.01,
    paper_compat: Annotated[bool, typer.Option("--paper-compat", help="per-cost: equation 20 as printed.")] = False,
    name: Annotated[str, typer.Option("--campaign", help="Name of the campaign.")] = "active elo",
    out: Annotated[Path | None, typer.Option("--out", help="Also write a sheet: .csv, .xlsx or .html.")] = None,
    seed: Seed = 0,
) -> None:
    """Choose battles and create tasks, for the web application or as a sheet."""
    from imarena.routing import AssignmentRequest
    from imarena.workflows.active_elo import assign_battles

    request = AssignmentRequest(
        budget, policy, _names(raters), votes, repeats, gold_share, tau, delta, deferral, _names(new_models), stop_top,
        confidence, cost_vote, cost_judgment, paper_compat, name, seed,
    )  # fmt: skip
    with session_workspace(context) as workspace:
        assigned = assign_battles(workspace, judge, request, out)
    warn_all(context, sentences(assigned.notices))
    if assigned.stopped:
        message = f"nothing assigned: the best {stop_top} are in order with {assigned.top_confidence:.3f}"
    else:
        message = (
            f"{counted(assigned.assignments, 'assignment')} by '{policy}': "
            f"{counted(assigned.battles, 'battle')}, {counted(assigned.repeats, 'repeat')}, "
            f"{assigned.gold} gold"
        )
        if assigned.for_named_raters and out is None:
            message += (
                f"\nNamed raters work by a link of their own: {command_line('campaign invite', name)} --rater NAME"
                f"\n                         or with a sheet: {command_line('route sheet sheet.csv --campaign', name)}"
            )
        if out is not None:
            message += f"\nThe sheet: {out}; its images: {out.with_name(out.stem + '-images')}"
    emit(context, assigned.to_json(), message)


@app.command()
def sheet(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(help="The file to write: .csv, .xlsx, or .html for a page with the images.")],
    name: Annotated[str, typer.Option("--campaign", help="Name or id of the campaign.")] = "active elo",
    raters: Annotated[str, typer.Option("--raters", help="Only tasks of these raters; comma-separated.")] = "",
) -> None:
    """Write a sheet of the open tasks of a campaign."""
    from imarena.workflows.active_elo import write_sheet

    with session_workspace(context) as workspace:
        result = write_sheet(workspace, name, out, _names(raters))
    message = f"{counted(result.assignments, 'assignment')}: {result.file}"
    emit(context, asdict(result), message)


@app.command()
def ingest(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="A sheet, CSV or XLSX: assignment, rater, winner.")],
) -> None:
    """Read votes from a sheet. Rows that cannot be read are listed by the row number of the spreadsheet."""
    from imarena.workflows.active_elo import ingest_votes

    with session_workspace(context) as workspace:
        result = ingest_votes(workspace, path)
    for row in result.refused[:REFUSED_SHOWN]:
        warn(f"row {row.row}, {row.assignment}: {row.reason}")
    if (more := len(result.refused) - REFUSED_SHOWN) > 0:
        warn(f"and {counted(more, 'row')} more that were refused; --json names them all")
    message = f"{counted(result.new, 'new vote')}, {result.same} known, {result.waiting} not voted yet, "
    message += f"{len(result.refused)} refused"
    emit(context, asdict(result), message)
    if result.refused:
        raise typer.Exit(int(Exit.PARTIAL if result.new or result.same else Exit.USER))


@app.command("rerank")
def rank_again(
    context: typer.Context,
    judge: JudgeOption = None,
    settings: Annotated[
        str,
        typer.Option(
            "--settings",
            help="One or more of corrected, active-elo, mixture, human, judge, gold, or all; comma-separated.",
        ),
    ] = "corrected",
    reward: Annotated[str | None, typer.Option("--reward", help="Another judge, with its own board.")] = None,
    by_family: Annotated[bool, typer.Option("--by-family", help="One board per task family.")] = False,
    weigh_routing: Annotated[
        bool, typer.Option("--weigh-routing", help="Weight votes by 1 / probability of being routed.")
    ] = False,
    paper_compat: Annotated[
        bool, typer.Option("--paper-compat", help="active-elo as printed: q = a, piecewise constant.")
    ] = False,
    changed: Set = None,
    rounds: Rounds = 1000,
    seed: Seed = 0,
) -> None:
    """Rank again with all votes so far, and store the boards."""
    from imarena.ranking import Options, with_settings
    from imarena.workflows.boards import SETTINGS, rerank

    names = SETTINGS if settings == "all" else _names(settings)
    options = with_settings(Options(rounds=rounds, seed=seed, matrices=False), changed)
    with session_workspace(context) as workspace:
        reranked = rerank(
            workspace, judge, settings=names, reward=reward, by_family=by_family, weigh_routing=weigh_routing,
            options=options, paper_compat=paper_compat, skip_missing=settings == "all",
        )  # fmt: skip
    boards, left_out = reranked.boards, list(reranked.left_out)
    if not boards:
        raise UserError("No board can be made yet.", hint=" ".join(left_out))
    documents = [
        {"setting": name, **ranking.model_dump(mode="json", exclude={"covariance"})} for name, ranking in boards
    ]
    document = {"boards": documents, "left_out": left_out}
    tables = [table for name, ranking in boards for table in _board_tables(name, ranking)]
    warn_all(context, [*left_out, *sentences(notice for _, ranking in boards for notice in ranking.notices)])
    emit(context, document, lambda console: print_tables(console, tables))


@app.command()
def report(
    context: typer.Context,
    judge: JudgeOption = None,
    tau: Tau = None,
    delta: Delta = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the page here: a folder with index.html, report.md and plots.")
    ] = None,
    reward: Annotated[str, typer.Option("--reward", help="Judges with a board of their own; comma-separated.")] = "",
    groups: Annotated[
        bool, typer.Option("--groups/--no-groups", help="Boards by family, task, topic, track and dimension.")
    ] = True,
    seeds: Annotated[
        int, typer.Option("--seeds", min=0, help="Number of repetitions of the policy comparison; 0: none.")
    ] = 100,
    changed: Set = None,
    rounds: Rounds = 1000,
    seed: Seed = 0,
) -> None:
    """Report boards side by side, overall and by group, with calibration, policies, thresholds, weights and metrics."""
    from imarena.cli.console import progress_bars
    from imarena.ranking import Options, with_settings
    from imarena.reports import active_page, markdown, write_active_report
    from imarena.routing import explicit_gates
    from imarena.workflows.active_elo import SimulationPlan, active_report

    gates = explicit_gates(tau, delta)
    options = with_settings(Options(rounds=rounds, matrices=False, seed=seed), changed)
    trial = SimulationPlan(seeds=max(seeds, 2), seed=seed) if seeds else None
    with session_workspace(context) as workspace, progress_bars("report") as progress:
        document = active_report(
            workspace,
            judge,
            gates=gates,
            options=options,
            rewards=_names(reward),
            trial=trial,
            groups=groups,
            progress=progress,
        ).to_json()
    if out is not None:
        document["file"] = str(write_active_report(document, out))
        emit(context, document, f"report: {document['file']}")
        return
    emit(context, document, lambda console: console.print(markdown(active_page(document)), soft_wrap=True))


def _likely_text(forecast: "VotesNeeded") -> str:
    """Format the range of the forecast, unless it is too wide to be useful."""
    if not forecast.range_known:
        return "the votes so far cannot give a range"
    return " and ".join(_number(votes) for votes in forecast.votes_likely)


def _number(votes: int | None) -> str:
    return "over a million" if votes is None else f"{votes:,}"


def _board_tables(name: str, ranking: "Ranking") -> list[Table]:
    from imarena.reports import board_tables

    standings, *other_tables = board_tables(ranking)
    gold = ranking.details.get("gold")
    accuracy = f"; orders {gold['accuracy']:.3f} of {gold['votes']} gold votes" if isinstance(gold, dict) else ""
    scope = "".join(f", {key} {value}" for key, value in ranking.scope.items())
    level = f", {ranking.settings['level']:.0%} intervals" if "level" in ranking.settings else ""
    title = f"{name}{scope}: {counted(ranking.n_battles, 'battle')}{level}{accuracy}"
    return [replace(standings, title=title), *other_tables]


def _band(row: "GapRow") -> tuple[CellValue, ...]:
    end = f"below {row.high:g}" if row.high is not None else "and more"
    return f"{row.low:g}, {end}", row.agreement, row.n, row.fraction


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _edges(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in _names(text))
    except ValueError:
        raise UserError(f"'{text}' is not a list of score gaps.", hint="Such as --edges 0.5,1,2.") from None
