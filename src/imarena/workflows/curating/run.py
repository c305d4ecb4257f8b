"""curate run and curate base: collect items for instructions, with every step in the journal."""

import asyncio
from collections.abc import Sequence

from imarena.core import Progress, UserError
from imarena.core.records import Item, JsonDict, Run
from imarena.curation import CurationRequest
from imarena.storage import Workspace
from imarena.workflows.curating.items import name_tasks
from imarena.workflows.curating.ordered_run import OrderedRun
from imarena.workflows.curating.report import CurationReport, RequestOutcome
from imarena.workflows.curating.setup import CurationSetup
from imarena.workflows.wiring import record_run

COMMAND = "curate"


def curate(
    workspace: Workspace,
    requests: Sequence[CurationRequest],
    setup: CurationSetup,
    *,
    progress: Progress | None = None,
) -> CurationReport:
    """Collect images for every instruction. The same command resumes after a stop or a kill, and retries failures."""
    if not setup.sources:
        raise UserError("No source was named.", hint="Add --source FOLDER, or --source openverse.")
    if not requests:
        raise UserError("There are no instructions.", hint="Name a table with the columns key, instruction and task.")
    requests, warnings = name_tasks(requests, setup.taxonomy)
    refuse_changed_items(workspace, setup.dataset, requests)
    settings: JsonDict = {"dataset": setup.dataset, "requests": len(requests), "mind": setup.planner.name}
    attempt = sum(workspace.store.count(Run, command=COMMAND).values())
    with record_run(workspace, COMMAND, settings) as run:
        run.plan(len(requests))
        workspace.store.add([setup.evidence(request) for request in requests])
        ordered = OrderedRun(workspace, requests, setup, attempt)
        tally, stopped = ordered.tally, ""
        try:
            stopped = asyncio.run(ordered.ask_all(progress))
        finally:
            run.counts = {"items": tally.new, "requests": len(requests)}
            run.cost_usd = ordered.cost_usd
        decided = tuple(tally.outcomes)
        left = len(requests) - len(decided)
        run.partial = left > 0 or not all(outcome.complete for outcome in decided)
    earlier = earlier_items(workspace, setup.dataset, decided)
    return CurationReport(
        setup.dataset, decided, tally.new, ordered.cost_usd, tally.causes.causes(), tally.failures.causes(), earlier,
        warnings, left, stopped,
    )  # fmt: skip


_NAMED = 5


def refuse_changed_items(workspace: Workspace, dataset: str, requests: Sequence[CurationRequest]) -> None:
    """Raise if the data set has items with the same key and another instruction, task or topic."""
    meaning = {request.key: (request.instruction, request.task, request.topic) for request in requests}
    other = {
        key: item.key for item in workspace.store.records(Item, dataset=dataset)
        if (key := str(item.provenance.get("request"))) in meaning
        and (item.instruction, item.task, item.topic) != meaning[key]
    }  # fmt: skip
    if other:
        names = ", ".join([*other][:_NAMED]) + (f" and {len(other) - _NAMED} more" if len(other) > _NAMED else "")
        raise UserError(
            f"The data set '{dataset}' has items with another instruction, task or topic for: {names}.",
            hint="Items are not changed. Collect the new table into another data set (--dataset NAME), or give the"
            " changed rows new keys.",
        )


def earlier_items(workspace: Workspace, dataset: str, decided: Sequence[RequestOutcome]) -> tuple[str, ...]:
    """Return keys of the data set's items for the decided instructions that this run did not choose."""
    requests = {outcome.key for outcome in decided}
    chosen = {key for outcome in decided for key in outcome.items}
    return tuple(
        item.key for item in workspace.store.records(Item, dataset=dataset)
        if str(item.provenance.get("request")) in requests and item.key not in chosen
    )  # fmt: skip
