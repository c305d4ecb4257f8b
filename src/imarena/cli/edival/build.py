"""``imarena edival build``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, confirm_spending, emit, print_causes, progress_bars, session_workspace, stderr
from imarena.cli.options import ExecutorOption, MaxCost
from imarena.cli.questions.judging_options import Yes
from imarena.core import UserError, counted

if TYPE_CHECKING:
    from imarena.clients import Budget
    from imarena.core import Settings
    from imarena.instructions import TextLanguage
    from imarena.workflows.edival_building import BuildPlan, BuildReport
    from imarena.workflows.wiring import JudgeChat

DecomposerOption = Annotated[
    str,
    typer.Option("--decomposer", help="How to list the objects: offline, or an endpoint of imarena.toml (a VLM)."),
]
DetectorName = Annotated[
    str, typer.Option("--detector", help="The detector that finds, or confirms, the objects: efficientdet, ...")
]


def command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A folder of images; folders below it are read too.")],
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="Name of the data set; default: the folder's.")] = "",
    turns: Annotated[int, typer.Option("--turns", "-n", min=1, max=100, help="Instructions per image.")] = 3,
    seed: Annotated[int, typer.Option("--seed", help="Seed for drawing the chains.")] = 0,
    decomposer: DecomposerOption = "offline",
    detector: DetectorName = "efficientdet",
    writer: Annotated[
        str,
        typer.Option("--writer", help="How to choose new objects, texts and backgrounds: offline, or an endpoint."),
    ] = "offline",
    texts: Annotated[
        str, typer.Option("--texts", metavar="<en|zh>", help="Language of texts written into images.")
    ] = "en",
    licence: Annotated[str, typer.Option("--licence", help="Licence of the images, stored with every item.")] = "",
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Maximum number of images, in the order of their names.")
    ] = None,
    keep_empty: Annotated[
        bool, typer.Option("--keep-empty", help="Write chains for images without objects too.")
    ] = False,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, max=4096, help="Number of concurrent images.")
    ] = None,
    executor: ExecutorOption = "",
    max_cost_usd: MaxCost = None,
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, with its time and cost, and store nothing.")
    ] = False,
) -> None:
    """Build a benchmark from a folder of images: list their objects and write a chain of edits for each.

    Run the same command again to continue: finished images and chains are kept, failures are retried.
    """
    from imarena.clients import Budget
    from imarena.instructions import ChainSettings
    from imarena.workflows.edival_building import BuildSettings, build_benchmark, plan_build, wire_decomposer
    from imarena.workflows.questions import executor_for

    budget = None if max_cost_usd is None else Budget(max_cost_usd)
    with session_workspace(context) as workspace:
        wired = wire_decomposer(workspace.settings, decomposer, detector, budget)
        kind = executor_for(workspace.settings, executor, None if wired.client is None else decomposer)
        client = None if writer == "offline" else _chat(workspace.settings, writer, budget)
        settings = BuildSettings(
            dataset or folder.resolve().name, ChainSettings(turns, seed, _language(texts)), detector,
            licence or None, limit, keep_empty, concurrency, kind,
        )  # fmt: skip
        if dry_run or wired.client is not None or client is not None:
            plan = plan_build(workspace, folder, settings, wired, client)
            if not _may_build(context, plan, yes=yes, dry_run=dry_run):
                return
        with progress_bars("edival") as tell:
            report = build_benchmark(workspace, folder, settings, wired, client, progress=tell)
    emit(context, report.to_json(), lambda console: _show(console, report))
    if report.stopped or report.failed:
        raise typer.Exit(Exit.PARTIAL)


def _may_build(context: typer.Context, plan: "BuildPlan", *, yes: bool, dry_run: bool) -> bool:
    """Print the plan; ask for confirmation if the build may cost money. False: nothing is built."""
    if dry_run:
        emit(context, {"dry_run": True, **asdict(plan)}, lambda console: _show_plan(console, plan))
        return False
    _show_plan(stderr(), plan)
    if confirm_spending(context, spends=plan.spends, yes=yes, dry_run=False):
        return True
    stderr().print("Nothing was built.")
    return False


def _chat(settings: "Settings", endpoint: str, budget: "Budget | None") -> "JudgeChat":
    from imarena.workflows.wiring import EndpointArguments, wire_chat

    return wire_chat(settings, EndpointArguments(endpoint=endpoint), "instruction writing", budget)


def _language(texts: str) -> "TextLanguage":
    if texts == "en":
        return "en"
    if texts == "zh":
        return "zh"
    raise UserError(f"Texts cannot be written in '{texts}'.", hint="Known: en, zh.")


def _show_plan(console: Console, plan: "BuildPlan") -> None:
    left_out = (
        f", {plan.unreadable:,} unreadable, {plan.same:,} with the same bytes" if plan.unreadable + plan.same else ""
    )
    console.print(f"{plan.dataset}: {counted(plan.images, 'image')}{left_out}")
    console.print(f"  to decompose: {plan.to_decompose:,} ({plan.decomposed_before:,} decomposed before)")
    console.print(f"  chains to write: {plan.chains_at_most:,} at most ({plan.items_before:,} items are there)")
    console.print(f"  questions to models: {plan.questions_at_most:,} at most")
    cost = "not known" if plan.cost_usd is None else f"{plan.cost_usd:.4f} USD at most"
    console.print(f"  time: about {plan.seconds:,.0f} s; cost: {cost}")
    for line in plan.basis:
        console.print(f"  {line}")


def _show(console: Console, report: "BuildReport") -> None:
    from imarena.reports.tables import show_table
    from imarena.workflows.edival_building import build_tables

    before = f", {report.items_before:,} built before" if report.items_before else ""
    console.print(f"{report.dataset}: {counted(report.items, 'item')} added{before}, from {report.images:,} images")
    for table in build_tables(report.statistics, report.outcomes):
        show_table(table, console)
    print_causes(console, report.reasons, "  left out")
    for reason, number in report.refused_words.most_common():
        console.print(f"  word not used, {number:,}: {reason}")
    if report.cost_usd:
        console.print(f"{report.cost_usd:.4f} USD")
    if report.stopped:
        console.print(f"stopped: {report.stopped}")
