"""``imarena curate`` log, release, datasheet and instructions: what was collected, and the benchmark made of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_tables, progress_bars, session, session_workspace, stderr
from imarena.cli.options import MaxCost, Verifiers
from imarena.cli.questions.judging_options import (
    ChosenOptions,
    Concurrency,
    DryRun,
    Yes,
    may_spend,
)
from imarena.core import command_line, counted

if TYPE_CHECKING:
    from imarena.workflows.curating import InstructionReport, ItemDecision, MissingChecks, ReleaseReport

Dataset = Annotated[str, typer.Argument(help="The data set.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to `imarena curate`."""
    for name, command in (("log", log), ("release", release), ("datasheet", datasheet), ("instructions", instructions)):
        app.command(name)(command)


def log(context: typer.Context, item: Annotated[str, typer.Argument(help="The item's key or id.")]) -> None:
    """Print the history of an image: queries, results, checks, scores, reflections, verifications."""
    from imarena.workflows.curating import item_story

    with session_workspace(context) as workspace:
        story = item_story(workspace, item)

    def show(console: Console) -> None:
        about = story.item
        console.print(f"{about.key} ({about.dataset}): {about.instruction}")
        for line in story.lines:
            console.print(f"{line.moment}  {line.step:12} {'*' if line.own else ' '} {line.text}")
        console.print(f"* about this image; {counted(story.candidates, 'candidate')} for the instruction.")

    emit(context, story.to_json(), show)


def release(
    context: typer.Context,
    dataset: Dataset,
    to: Annotated[str, typer.Option("--to", help="The data set that accepted items go to.")],
    verifiers: Verifiers = 2,
) -> None:
    """Copy the items that people accepted in a `check` campaign, and accepted repairs, to a data set of their own.

    Exit code 3: some items are not checked, disputed or on the repair list.
    """
    from imarena.workflows.curating import release_items

    with session_workspace(context) as workspace:
        report = release_items(workspace, dataset, to, verifiers=verifiers)
    emit(context, report.to_json(), lambda console: _show_release(console, report))
    if not report.complete:
        raise typer.Exit(Exit.PARTIAL)


def _show_release(console: Console, report: "ReleaseReport") -> None:
    for item in report.decisions:
        if item.decision != "accept":
            why = f" (not met: {', '.join(item.failed)})" if item.failed else ""
            console.print(f"{item.key}: {_decision_text(item, report.verifiers)}{why}")
        elif item.replaced:
            console.print(f"{item.key}: accept, repaired from {item.replaced[0]}")
    counts = ", ".join(f"{number} {name}" for name, number in sorted(report.counts.items()))
    if report.agreement is not None:
        console.print(f"Verifiers agree on {report.agreement:.0%} of the items that several checked.")
    console.print(f"{counts}. {counted(report.new_items, 'new item')} in data set '{report.target}'.")
    for missing in report.missing:
        lines = _next_check(missing, report)
        console.print("\n".join(lines), soft_wrap=True)
    if "repair" in report.counts:
        console.print(f"Next: {command_line('curate repair', report.dataset)}", soft_wrap=True)
    if report.complete and "accept" in report.counts:
        console.print(f"Next: {command_line('edit --editors NAME --datasets', report.target)}", soft_wrap=True)


def _decision_text(decision: "ItemDecision", verifiers: int) -> str:
    checks = sum(decision.votes.values())
    partly = decision.decision == "not checked" and checks
    return f"{checks} of {verifiers} checks" if partly else decision.decision


def _next_check(missing: "MissingChecks", report: "ReleaseReport") -> list[str]:
    """Return commands for the missing checks of a data set: a campaign, or more people for the open one."""
    people = "1 person" if report.verifiers == 1 else f"{report.verifiers} people"
    third = "a third person decides about disputed ones" if report.verifiers > 1 else ""
    if missing.campaign:
        name = missing.campaign
        lines = [
            f"Next: {people} must check each item in the campaign '{missing.campaign}'{third and f'; {third}'}. "
            "Wait for those whom you invited, or invite one more:"
        ]
        if missing.disputed and not missing.adjudicated:
            lines.append(f"  {command_line('campaign change', name)} --adjudication rater")
        return [*lines, f"  {command_line('campaign invite', name)} --name NAME"]
    name = "Image check" if missing.dataset == report.dataset else f"Check of {missing.dataset}"
    settle = " --adjudication rater" if report.verifiers > 1 else ""
    return [
        f"Next: let {people} check each item of '{missing.dataset}'{third and f' ({third})'}:",
        f"  {command_line('campaign create', name, '--kind', 'check', '--datasets', missing.dataset)}"
        f" --raters-per-unit {report.verifiers}{settle}",
        f"  {command_line('campaign invite', name)} --name NAME",
        f"  {command_line('serve')}",
    ]


def datasheet(
    context: typer.Context,
    dataset: Dataset,
    output: Annotated[Path | None, typer.Option("--output", "-O", help="A folder for datasheet.md and plots.")] = None,
) -> None:
    """Print the composition of a data set: sources, licences, resolution, tasks, keywords."""
    from imarena.workflows.curating import datasheet_tables, read_datasheet, save_datasheet

    with session_workspace(context) as workspace:
        sheet = read_datasheet(workspace, dataset)
    files = save_datasheet(sheet, output) if output else []

    def show(console: Console) -> None:
        print_tables(console, datasheet_tables(sheet))
        for file in files:
            console.print(f"Wrote {file}")

    emit(context, {**sheet.to_json(), "files": [str(file) for file in files]}, show)


def instructions(
    context: typer.Context,
    table: Annotated[Path | None, typer.Argument(help="A table of instructions, as for `curate run`.")] = None,
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="Instructions and images of a data set.")] = "",
    output: Annotated[Path | None, typer.Option("--output", "-O", help="Write the variants as a table (CSV).")] = None,
    taxonomy: Annotated[str, typer.Option(help="The taxonomy whose tasks should be covered.")] = "cv_arena",
    endpoint: Annotated[
        str, typer.Option("--endpoint", help="An endpoint of imarena.toml whose model writes the variants.")
    ] = "",
    concurrency: Concurrency = None,
    max_cost_usd: MaxCost = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Suggest paraphrases and easier or harder variants, check feasibility, and report the balance over tasks.

    Answers of a model are stored: run the same command again to continue after a stop and to retry failures.
    """
    from imarena.workflows.curating import (
        help_instructions,
        plan_instructions,
        read_requests,
        wire_curation_planner,
        write_variants,
    )
    from imarena.workflows.wiring import EndpointArguments

    chosen = ChosenOptions(yes=yes, dry_run=dry_run)
    with session_workspace(context) as workspace:
        arguments = EndpointArguments(endpoint, concurrency=concurrency)
        chat = wire_curation_planner(workspace.settings, arguments, max_cost_usd).chat
        requests = read_requests(table) if table else []
        job = plan_instructions(workspace, requests, dataset=dataset, chat=chat, dry_run=dry_run)
        if not may_spend(context, chosen, job.estimates, "Nothing was asked."):
            return
        with progress_bars("curate") as progress:
            report = help_instructions(workspace, job, taxonomy=taxonomy, progress=progress)
    rows = write_variants(report, output) if output else 0

    def show(console: Console) -> None:
        _show_instructions(console, report)
        if output:
            console.print(f"Wrote {counted(rows, 'row')} to {output}.")
        if report.stopped:
            console.print(f"stopped: {report.stopped}")

    emit(context, report.to_json(), show)
    if report.missing:
        if not session(context).json:
            stderr().print(f"{counted(report.missing, 'question')} left; run the same command to continue.")
        raise typer.Exit(Exit.PARTIAL)


def _show_instructions(console: Console, report: "InstructionReport") -> None:
    for entry in report.entries:
        console.print(f"{entry.request.key}: {entry.request.instruction}")
        lines = [f"same: {text}" for text in entry.variants.paraphrases]
        lines += [f"easier: {entry.variants.easier}"] if entry.variants.easier else []
        lines += [f"harder: {entry.variants.harder}"] if entry.variants.harder else []
        lines += [entry.variants.note] if entry.variants.note else []
        feasibility = entry.feasibility
        if feasibility is not None:
            lacks = f"; not seen: {', '.join(feasibility.missing)}" if feasibility.missing else ""
            lines.append(f"{'feasible' if feasibility.feasible else 'not feasible'} ({feasibility.score:.2f}){lacks}")
        for line in lines:
            console.print(f"  {line}")
    balance = report.balance
    console.print(f"Tasks without an instruction: {', '.join(balance.missing_tasks) or 'none'}")
    if balance.rare_tasks:
        console.print(f"Tasks with few instructions: {', '.join(balance.rare_tasks)}")
    if balance.missing_cells:
        cells = ", ".join(f"{task} / {topic}" for task, topic in balance.missing_cells[:10])
        more = f" and {len(balance.missing_cells) - 10} more" if len(balance.missing_cells) > 10 else ""
        console.print(f"Tasks and topics without a common item: {cells}{more}")
