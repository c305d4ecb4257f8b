"""``imarena curate``: run, base, rescore; the other commands are in `curate_results` and `curate_repair`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from imarena.cli.console import (
    Exit,
    command_group,
    emit,
    print_causes,
    progress_bars,
    session,
    session_workspace,
    stderr,
    warn,
)
from imarena.cli.curate import curate_repair, curate_results
from imarena.cli.options import BaseUrl, EditInstruction, MaxCost
from imarena.cli.questions.judging_options import (
    ChosenOptions,
    Concurrency,
    DryRun,
    Model,
    Yes,
    may_spend,
)
from imarena.core import command_line, counted

if TYPE_CHECKING:
    from imarena.core import Cause
    from imarena.core.records import JsonDict
    from imarena.curation import CurationRequest
    from imarena.workflows.curating import CurationReport, RequestOutcome

app = command_group("Collect, check and trace source images for a benchmark (CogRetriever).")
_Many = list[str] | None
Dataset = Annotated[str, typer.Option("--dataset", "-d", help="The data set that the items go to.")]
SourceOption = Annotated[
    _Many,
    typer.Option(
        "--source", "-s",
        help="A folder or Parquet file, openverse, wikimedia, google, hf:OWNER/NAME or a [sources] table; repeatable.",
    ),
]  # fmt: skip
Licence = Annotated[str, typer.Option("--licence", help="Licence of local images that state none.")]
PoolOption = Annotated[int | None, typer.Option("--pool", min=1, help="Images per instruction (K_p, default 3).")]
Rounds = Annotated[int | None, typer.Option("--rounds", min=1, help="Maximum number of rounds (T, default 4).")]
Queries = Annotated[int | None, typer.Option("--queries", min=1, help="Queries per round (K, default 5).")]
Results = Annotated[int | None, typer.Option("--results", min=1, help="Results per query (N, default 20).")]
Threshold = Annotated[float | None, typer.Option("--threshold", min=0, max=1, help="Minimum score (default 0.8).")]
MinSide = Annotated[
    int | None, typer.Option("--min-long-side", min=16, help="Minimum long side in pixels (default 2048).")
]
Duplicates = Annotated[
    str,
    typer.Option(
        "--duplicates-in",
        metavar="<benchmark|instruction>",
        help="Refuse near-duplicates in the whole benchmark, or per instruction.",
    ),
]
Describe = Annotated[
    bool, typer.Option(help="Look at local images once, so that search also finds what the tools see in them.")
]
EndpointOption = Annotated[
    str,
    typer.Option("--endpoint", help="An endpoint of imarena.toml whose model plans and scores."),
]
_NOTHING = "Nothing was collected."
_FREE = "Without --endpoint, rules choose the images at no cost."


@app.command("run")
def run(
    context: typer.Context,
    instructions: Annotated[Path, typer.Argument(help="A table with the columns instruction, key, task and topic.")],
    dataset: Dataset = "curated",
    source: SourceOption = None,
    licence: Licence = "",
    pool: PoolOption = None,
    rounds: Rounds = None,
    queries: Queries = None,
    results: Results = None,
    threshold: Threshold = None,
    min_long_side: MinSide = None,
    duplicates_in: Duplicates = "",
    describe: Describe = True,
    endpoint: EndpointOption = "",
    base_url: BaseUrl = None,
    model: Model = "",
    concurrency: Concurrency = None,
    max_cost_usd: MaxCost = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Collect images for instructions: plan queries, search, check, score, and reflect while images are missing.

    Run the same command again to continue after a stop and to retry what had no answer.
    """
    from imarena.workflows.curating import read_requests

    options: dict[str, Any] = {
        "pool": pool, "rounds": rounds, "queries": queries, "results_per_query": results, "threshold": threshold,
        "min_long_side": min_long_side, "duplicates_in": duplicates_in or None,
    }  # fmt: skip
    work = _Collection(
        dataset, source or [], licence, options, describe,
        ChosenOptions(
            endpoint, base_url, model, concurrency=concurrency, max_cost_usd=max_cost_usd, yes=yes, dry_run=dry_run
        ),
    )  # fmt: skip
    _collect(context, read_requests(instructions), work)


@app.command("base")
def base(
    context: typer.Context,
    instruction: EditInstruction,
    query: Annotated[list[str], typer.Option("--query", "-q", help="A keyword search; repeatable.")],
    key: Annotated[str, typer.Option(help="The instruction's key in the data set.")],
    task: Annotated[str, typer.Option(help="The task of the taxonomy.")] = "",
    topic: Annotated[str, typer.Option(help="The topic.")] = "",
    dataset: Dataset = "curated",
    source: SourceOption = None,
    licence: Licence = "",
    pool: PoolOption = None,
    results: Results = None,
    threshold: Threshold = None,
    min_long_side: MinSide = None,
    describe: Describe = True,
) -> None:
    """Search with your own keywords (base track). Results pass the same checks and scores as those of `curate run`."""
    from imarena.curation import CurationRequest

    options: dict[str, Any] = {
        "pool": pool, "results_per_query": results, "threshold": threshold, "min_long_side": min_long_side,
        "queries": len(query),
    }  # fmt: skip
    request = CurationRequest(key, instruction, task or None, topic or None, tuple(query))
    _collect(context, [request], _Collection(dataset, source or [], licence, options, describe, ChosenOptions()))


@app.command("rescore")
def rescore(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="The data set whose stored candidates are scored again.")],
    to: Annotated[str, typer.Option("--to", help="The data set that the new pools go to.")],
    pool: PoolOption = None,
    threshold: Threshold = None,
    min_long_side: MinSide = None,
    duplicates_in: Duplicates = "",
    endpoint: EndpointOption = "",
    base_url: BaseUrl = None,
    model: Model = "",
    concurrency: Concurrency = None,
    max_cost_usd: MaxCost = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Score the stored candidates under new criteria; nothing is searched or downloaded again."""
    from imarena.workflows.curating import (
        curation_settings,
        estimate_curation,
        stored_candidates,
        wire_curation_planner,
    )
    from imarena.workflows.curating import rescore as score_again

    options: dict[str, Any] = {
        "pool": pool, "threshold": threshold, "min_long_side": min_long_side, "duplicates_in": duplicates_in or None,
    }  # fmt: skip
    chosen = ChosenOptions(
        endpoint, base_url, model, concurrency=concurrency, max_cost_usd=max_cost_usd, yes=yes, dry_run=dry_run
    )
    with session_workspace(context) as workspace:
        mind = wire_curation_planner(workspace.settings, chosen.endpoint_arguments(), max_cost_usd)
        stored = stored_candidates(workspace, dataset, to, curation_settings(workspace, options))
        estimates = estimate_curation(workspace, to, stored.requests, mind, stored.settings, stored=stored.images)
        if not may_spend(context, chosen, estimates, _NOTHING, _FREE):
            return
        with progress_bars("rescore") as progress:
            report = score_again(workspace, stored, to, mind, progress=progress)
    _finish(context, report)


@dataclass(frozen=True)
class _Collection:
    dataset: str
    sources: list[str]
    licence: str
    given: "JsonDict"
    describe: bool
    chosen: ChosenOptions


def _collect(context: typer.Context, requests: "list[CurationRequest]", work: _Collection) -> None:
    from imarena.workflows.curating import (
        CurationSetup,
        check_sources,
        curate,
        curation_settings,
        estimate_curation,
        wire_curation_planner,
        wire_sources,
    )

    with session_workspace(context) as workspace:
        settings = curation_settings(workspace, work.given)
        mind = wire_curation_planner(workspace.settings, work.chosen.endpoint_arguments(), work.chosen.max_cost_usd)
        check_sources(workspace, work.sources)
        estimates = estimate_curation(workspace, work.dataset, requests, mind, settings, sources=len(work.sources))
        if not may_spend(context, work.chosen, estimates, _NOTHING, _FREE):
            return
        with progress_bars("curate") as progress:
            sources = wire_sources(
                workspace, work.sources, licence=work.licence, describe=work.describe, progress=progress
            )
            setup = CurationSetup(
                work.dataset, sources.sources, mind.planner, settings, opened=mind.opened,
                concurrency=mind.concurrency,
            )  # fmt: skip
            report = curate(workspace, requests, setup, progress=progress)
    _finish(context, report, sources.skipped)


def _finish(context: typer.Context, report: "CurationReport", skipped: "tuple[Cause, ...]" = ()) -> None:
    document = {**report.to_json(), "skipped": [cause.to_json() for cause in skipped]}

    def show(console: Console) -> None:
        print_causes(console, skipped, "skipped files")
        _show(console, report)

    for warning in report.warnings:
        warn(warning)
    emit(context, document, show)
    if report.left and not session(context).json:
        stderr().print(f"{counted(report.left, 'instruction')} left; run the same command to continue.")
    if not report.complete:
        raise typer.Exit(Exit.PARTIAL)


def _show(console: Console, report: "CurationReport") -> None:
    for outcome in report.requests:
        tried = sum(outcome.candidates.values())
        line = (
            f"{outcome.key}: {counted(len(outcome.items), 'image')} of {counted(tried, 'candidate')}, "
            f"{counted(outcome.rounds, 'round')}"
        )
        why = f"; manual review: {outcome.review}" if outcome.review else ""
        console.print(line + (f"; failed: {outcome.error}" if outcome.error else why), soft_wrap=True)
        for image in outcome.chosen:
            score = "" if image.score is None else f", score {image.score:.2f}"
            console.print(f"  {image.item}: {image.source}/{image.file}{score}", soft_wrap=True)
        if outcome.flags:
            console.print(f"  check by a person: {', '.join(outcome.flags)}")
    print_causes(console, report.left_out)
    print_causes(console, report.failures, "no answer (the same command tries again)")
    items = sum(len(outcome.items) for outcome in report.requests)
    console.print(f"{counted(items, 'item')} for data set '{report.dataset}', {report.new_items} new.")
    if report.stopped:
        console.print(f"stopped: {report.stopped}", soft_wrap=True)
    if report.earlier:
        console.print(
            f"'{report.dataset}' also has {counted(len(report.earlier), 'item')} that earlier runs chose:"
            f" {', '.join(report.earlier)}. To leave them out, collect into another data set (--dataset NAME).",
            soft_wrap=True,
        )  # fmt: skip
    if items:
        key = next(image.item for outcome in report.requests for image in outcome.chosen)
        console.print(f"History of an image: {command_line('curate log', key)}", soft_wrap=True)
    if report.complete:
        console.print(
            f"Next: {command_line('campaign create', 'Image check', '--kind', 'check', '--datasets', report.dataset)}"
            " --raters-per-unit 2 --adjudication rater",
            soft_wrap=True,
        )  # fmt: skip
    _advise(console, [outcome for outcome in report.requests if outcome.review])


def _advise(console: Console, short: "list[RequestOutcome]") -> None:
    """Print advice on instructions with too few images."""
    if any(outcome.too_small for outcome in short):
        console.print("Images were too small: lower the limit with --min-long-side N, or add larger images.")
    if any(outcome.too_small < sum(outcome.candidates.values()) or not outcome.candidates for outcome in short):
        console.print(
            "For the instructions under manual review: describe your images (`curate describe`), change the words\n"
            "of the instruction, or search with your own keywords (`curate base`)."
        )


curate_results.add_commands(app)
app.command("describe")(curate_repair.describe_images)
app.command("repair")(curate_repair.repair_items)
