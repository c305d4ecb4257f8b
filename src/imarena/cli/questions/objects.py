"""``imarena objects``."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import session_workspace
from imarena.cli.options import BaseUrl, Datasets, MaxCost, Tasks
from imarena.cli.questions import judging_options

if TYPE_CHECKING:
    from imarena.workflows.questions import ListedObjects

SHOWN = 5


def command(
    context: typer.Context,
    endpoint: judging_options.EndpointName = "",
    base_url: BaseUrl = None,
    model: judging_options.Model = "",
    api_key_env: judging_options.ApiKeyEnv = None,
    datasets: Datasets = None,
    tasks: Tasks = None,
    concurrency: judging_options.Concurrency = None,
    max_cost_usd: MaxCost = None,
    option: judging_options.Option = None,
    yes: judging_options.Yes = False,
    dry_run: judging_options.DryRun = False,
) -> None:
    """List the objects that a correct output shows, for raters to tick and judges to see.

    With --endpoint (or --base-url and --model) a model is asked; without, the built-in reader lists what the
    instruction names. The same command resumes: listed items are skipped, failed ones are asked again.
    """
    from imarena.workflows.questions import list_objects, plan_objects, shown_object_lists
    from imarena.workflows.wiring import wire_lister

    options = judging_options.ChosenOptions(
        endpoint, base_url, model, api_key_env, concurrency, max_cost_usd, option, yes, dry_run
    )
    with session_workspace(context) as workspace:
        wired = wire_lister(workspace.settings, options.endpoint_arguments(), options.budget())
        job = plan_objects(workspace, wired, datasets=datasets, tasks=tasks, concurrency=concurrency)
        reports = []
        if judging_options.confirm_estimate(context, options, [job.estimate]):
            with judging_options.progress_display() as watch:
                reports = [list_objects(workspace, job, watch=watch)]
        lists = shown_object_lists(workspace, datasets=datasets, tasks=tasks)
    document = judging_options.run_document(options, [job.estimate], reports) | {
        "lists": [asdict(item_list) for item_list in lists]
    }
    judging_options.finish_run(context, document, reports, dry_run, more=lambda console: _show(console, lists))


def _show(console: Console, lists: "list[ListedObjects]") -> None:
    for item_list in lists[:SHOWN]:
        objects = ", ".join(item_list.objects) or "(nothing is listed)"
        console.print(f"  [bold]{escape(item_list.key)}[/]: {escape(objects)}", markup=True)
    if len(lists) > SHOWN:
        console.print(f"  ... and {len(lists) - SHOWN:,} more items (--json lists them all)")
