"""``imarena curate`` describe and repair: what a person adds before and after a run."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_causes, progress_bars, session_workspace
from imarena.cli.options import BaseUrl, MaxCost, Verifiers
from imarena.cli.questions.judging_options import ChosenOptions, DryRun, Model, Yes, may_spend
from imarena.core import command_line, counted

if TYPE_CHECKING:
    from imarena.workflows.curating import RepairEntry, RepairResult


def describe_images(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A folder of images.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-O", help="The table to write (default: metadata.csv in the folder).")
    ] = None,
) -> None:
    """Write a table with one row per image of a folder. Describe each image in it; `curate run` reads the table.

    Write the things that an image shows in the column `shows`. They count even if no detector finds them. The column
    `seen` lists what the tools found and is not read back. An existing table is never overwritten.
    """
    from imarena.workflows.curating import describe_folder

    with session_workspace(context) as workspace, progress_bars("describe") as progress:
        report = describe_folder(workspace, folder, output, progress=progress)

    def show(console: Console) -> None:
        print_causes(console, report.skipped, "skipped files")
        console.print(f"Wrote {counted(report.images, 'row')} to {report.file}.")
        console.print(
            f"{counted(report.not_described, 'image')} left to describe: write in the column `shows` what they show,"
            " in a few English words."
        )

    emit(context, report.to_json(), show)


def repair_items(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="The data set that people checked.")],
    item: Annotated[str, typer.Argument(help="An item on the repair list; without it, print the list.")] = "",
    candidate: Annotated[bool, typer.Option("--candidate", help="Use the next best candidate of its pool.")] = False,
    crop: Annotated[str, typer.Option(help="Crop its image to LEFT,TOP,RIGHT,BOTTOM in pixels.")] = "",
    instruction: Annotated[str, typer.Option(help="Give it another instruction.")] = "",
    discard: Annotated[bool, typer.Option("--discard", help="Discard it permanently.")] = False,
    verifiers: Verifiers = 2,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Minimum score of another candidate.")] = None,
    min_long_side: Annotated[int | None, typer.Option(min=16, help="Minimum long side in pixels.")] = None,
    endpoint: Annotated[str, typer.Option(help="An endpoint of imarena.toml whose model captions and scores.")] = "",
    base_url: BaseUrl = None,
    model: Model = "",
    max_cost_usd: MaxCost = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Print the items that people sent to repair, or repair one of them.

    A repaired item goes to the data set DATASET-repaired; people check it again before `curate release` takes it.
    """
    from imarena.workflows.curating import RepairChange, RepairSession, wire_curation_planner

    options: dict[str, Any] = {"threshold": threshold, "min_long_side": min_long_side}
    change = RepairChange(candidate, crop, instruction, discard)
    chosen = ChosenOptions(endpoint, base_url, model, max_cost_usd=max_cost_usd, yes=yes, dry_run=dry_run)
    with session_workspace(context) as workspace:
        desk = RepairSession(workspace, dataset, options, verifiers, stores=not dry_run)
        if not item:
            entries = desk.entries()
            document = {"dataset": dataset, "repair": [asdict(entry) for entry in entries]}
            emit(context, document, lambda console: _show_list(console, dataset, entries))
            if entries:
                raise typer.Exit(Exit.PARTIAL)
            return
        mind = wire_curation_planner(workspace.settings, chosen.endpoint_arguments(), max_cost_usd)
        plan = desk.plan(item, change, mind)
        if not may_spend(context, chosen, plan.estimates, "Nothing was repaired."):
            return
        result = desk.carry_out(plan)

    emit(context, result.to_json(), lambda console: _show_repair(console, dataset, result))
    if result.stopped:
        raise typer.Exit(Exit.PARTIAL)


def _show_repair(console: Console, dataset: str, result: "RepairResult") -> None:
    if result.stopped:
        console.print(f"{result.key}: not repaired; stopped: {result.stopped}", soft_wrap=True)
        return
    if not result.item:
        console.print(f"{result.key}: discarded.")
        return
    flags = f"; check by a person: {', '.join(result.flags)}" if result.flags else ""
    score = "" if result.score is None else f", score {result.score:.2f}"
    console.print(f"{result.key}: now {result.item} in data set '{result.dataset}'{score}{flags}.")
    console.print(
        f"Next, when all are repaired: {command_line('curate release', dataset)} --to NAME"
        "   (it prints how to let people check the repairs)",
        soft_wrap=True,
    )


def _show_list(console: Console, dataset: str, entries: "list[RepairEntry]") -> None:
    if not entries:
        console.print(f"No item of '{dataset}' is on the repair list.")
        return
    for entry in entries:
        console.print(f"{entry.key} ({entry.image} pixels): {entry.instruction}")
        console.print(f"  not met: {', '.join(entry.failed) or 'not stated'}")
        for comment in entry.comments:
            console.print(f"  comment: {comment}")
        console.print(f"  other candidates of its pool: {entry.candidates}")
    console.print(
        f"Next: {command_line('curate repair', dataset)} KEY with --candidate, --crop, --instruction or --discard.",
        soft_wrap=True,
    )  # fmt: skip
