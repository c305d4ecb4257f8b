"""``imarena objects``."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import session_workspace
from imarena.cli.questions import judging_options

if TYPE_CHECKING:
    from imarena.workflows.questions import ListedObjects

SHOWN = 5


@judging_options.with_shared_options(
    *judging_options.ENDPOINT, "datasets", "tasks", "concurrency", "max_cost_usd", "option", "yes", "dry_run"
)
def command(context: typer.Context, *, asked: judging_options.ChosenOptions) -> None:
    """List the objects that a correct output shows, for raters to tick and judges to see.

    With --endpoint (or --base-url and --model) a model is asked; without, the built-in reader lists what the
    instruction names. The same command resumes: listed items are skipped, failed ones are asked again.
    """
    from imarena.workflows.questions import list_objects, plan_objects, shown_object_lists
    from imarena.workflows.wiring import wire_lister

    with session_workspace(context) as workspace:
        wired = wire_lister(workspace.settings, asked.endpoint_arguments(), asked.budget())
        chosen = {"datasets": asked.datasets, "tasks": asked.tasks}
        job = plan_objects(workspace, wired, concurrency=asked.concurrency, **chosen)
        reports = []
        if judging_options.confirm_estimate(context, asked, [job.estimate]):
            with judging_options.progress_display() as watch:
                reports = [list_objects(workspace, job, watch=watch)]
        lists = shown_object_lists(workspace, **chosen)
    document = judging_options.run_document(asked, [job.estimate], reports) | {
        "lists": [asdict(item_list) for item_list in lists]
    }
    judging_options.finish_run(context, document, reports, asked.dry_run, more=lambda console: _show(console, lists))


def _show(console: Console, lists: "list[ListedObjects]") -> None:
    for item_list in lists[:SHOWN]:
        objects = ", ".join(item_list.objects) or "(nothing is listed)"
        console.print(f"  [bold]{escape(item_list.key)}[/]: {escape(objects)}", markup=True)
    if len(lists) > SHOWN:
        console.print(f"  ... and {len(lists) - SHOWN:,} more items (--json lists them all)")
