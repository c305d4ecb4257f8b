"""``imarena simulate``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imarena.cli.console import emit, print_tables, session, stderr
from imarena.cli.options import Csv, Delta, Latex, Markdown, ScoreRangeText, Seed, Tau, read_range
from imarena.core import UserError
from imarena.reports import columns, interval
from imarena.reports.tables import CellValue, Column, Table, write_csv

if TYPE_CHECKING:
    from imarena.workflows.active_elo import Simulation


def command(
    context: typer.Context,
    from_file: Annotated[
        Path | None,
        typer.Option("--from", help="A judge's scores (unit, model, judge, score). Default: simulated data."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="People's ratings of the same outputs (unit, model, rater, value).")
    ] = None,
    judge: Annotated[str | None, typer.Option("--judge", help="The judge, if the file has several.")] = None,
    score_range: ScoreRangeText = None,
    budgets: Annotated[str, typer.Option("--budgets", help="Numbers of votes to compare.")] = "50,100,200,400",
    seeds: Annotated[int, typer.Option("--seeds", help="Number of repetitions, each on a new split.")] = 200,
    policies: Annotated[
        str, typer.Option("--policies", help="Policies, comma-separated, or a set: paper (default), all, sensitivity.")
    ] = "paper",
    tau: Tau = None,
    delta: Delta = None,
    deferral: Annotated[
        float, typer.Option("--deferral", help="Share of pairs that pass the gates, if no threshold is given.")
    ] = 0.337,
    models: Annotated[int, typer.Option("--models", min=2, help="Simulated data: number of models.")] = 21,
    items: Annotated[int, typer.Option("--items", min=8, help="Simulated data: number of items.")] = 400,
    bias: Annotated[
        float, typer.Option("--bias", min=0, help="Simulated data: spread of the judge's bias per model, in quality.")
    ] = 0.3,
    rounds: Annotated[int, typer.Option("--rounds", min=2, help="Bootstrap rounds in each seed.")] = 20,
    seed: Seed = 0,
    csv: Csv = None,
    markdown: Markdown = False,
    latex: Latex = False,
) -> None:
    """Compare routing policies at the same number of human votes, on recorded or simulated judges and raters."""
    from imarena.routing import explicit_gates
    from imarena.workflows.active_elo import SimulationPlan, named_policies, recorded_world, simulate, simulated_world

    if score_range is not None and from_file is None:
        raise UserError("Simulated scores are of 0 to 1000.", hint="--range goes with --from.")
    if (from_file is None) != (against is None):
        raise UserError("Recorded data need two tables.", hint="Give --from scores.csv and --against ratings.csv.")
    if from_file is not None and against is not None:
        world = recorded_world(from_file, against, judge, read_range(score_range))
    else:
        world = simulated_world(n_models=models, n_items=items, bias=bias, seed=seed)
    plan = SimulationPlan(
        budgets=_numbers(budgets),
        seeds=seeds,
        policies=named_policies(policies),
        rounds=rounds,
        deferral=deferral,
        gates=explicit_gates(tau, delta),
        seed=seed,
    )
    quiet = session(context).json
    report_done = None if quiet else lambda name: stderr().print(f"done: {name}")
    simulation = simulate(world, plan, report_done)
    table = _table(simulation)
    if csv is not None:
        write_csv(table, csv)
    emit(context, asdict(simulation), lambda console: print_tables(console, [table], markdown=markdown, latex=latex))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",") if part.strip()}))
    except ValueError as error:
        raise UserError(f"'{text}' is not a list of whole numbers.", hint="Such as --budgets 50,100,200.") from error


FIGURES = ("Acc_H", "Spearman", "RankStd")


def _table(simulation: "Simulation") -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for line in simulation.policies:
        figures: list[CellValue] = []
        for figure in (line.accuracy, line.spearman, line.rank_std):
            figures += [figure.mean, interval(figure.low, figure.high)]
        rows.append((line.policy, line.aggregation, line.budget, *figures))
    settings = simulation.settings
    title = (
        f"Acc_H on held-out pairs, {settings.seeds} seeds; deferral {settings.deferral:.1%} "
        f"(tau {settings.tau}, delta {settings.delta}); the order of all votes gives "
        f"{simulation.true_order_accuracy:.4f}"
    )
    head: list[str | Column] = ["policy", "aggregation", "votes"]
    for name in FIGURES:
        head += [Column(name, ".4f", "undefined"), Column("95%", ".4f", key=f"{name} 95%")]
    return Table(columns(*head), tuple(rows), title)
