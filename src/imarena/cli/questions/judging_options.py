"""Shared by commands that ask judges: their options, the estimate before, the bar during, the tally after."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from imarena.cli.console import (
    Exit,
    confirm_spending,
    emit,
    print_causes,
    session,
    session_workspace,
    show_names,
    stderr,
    warn,
)
from imarena.cli.options import BaseUrl, Datasets, Editors, ExecutorOption, MaxCost, Tasks, parse_pairs
from imarena.core import command_line, counted, error_causes
from imarena.core.notices import sentences

if TYPE_CHECKING:
    from imarena.judges import Estimate
    from imarena.workflows.questions import JudgeReport, JudgeTally, ShownOutputs

Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        "-j",
        help="A judge of --list or of imarena.toml, or function:MODULE:NAME; repeatable (default: builtin).",
    ),
]
Listing = Annotated[bool, typer.Option("--list", help="List the judges.")]
EndpointName = Annotated[str, typer.Option("--endpoint", help="An endpoint of imarena.toml.")]
Model = Annotated[
    str,
    typer.Option("--model", help="The model, as the endpoint calls it; for a local judge, its folder or hub id."),
]
ApiKeyEnv = Annotated[
    list[str] | None, typer.Option("--api-key-env", help="The environment variable that holds the API key.")
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N items that have outputs.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Ask each question N times (self-consistency).")]
Concurrency = Annotated[int | None, typer.Option("--concurrency", min=1, help="Number of concurrent questions.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation before spending money.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and the estimated cost, and stop.")]
Option = Annotated[
    list[str] | None, typer.Option("--option", "-o", help="An option of the judge, key=value; repeatable.")
]


@dataclass(frozen=True)
class ChosenOptions:
    """Options of commands that ask judges; each command has some or all of them."""

    endpoint: EndpointName = ""
    base_url: BaseUrl = None
    model: Model = ""
    api_key_env: ApiKeyEnv = None
    editors: Editors = None
    datasets: Datasets = None
    tasks: Tasks = None
    limit: LimitOption = None
    repeats: Repeats = 1
    concurrency: Concurrency = None
    executor: ExecutorOption = ""
    max_cost_usd: MaxCost = None
    option: Option = None
    yes: Yes = False
    dry_run: DryRun = False
    listing: Listing = False

    def endpoint_arguments(self) -> Any:
        """Return the arguments for `wire_judge`."""
        from imarena.workflows.wiring import EndpointArguments, parse_option_values

        return EndpointArguments(
            self.endpoint,
            tuple(self.base_url or ()),
            self.model,
            tuple(self.api_key_env or ()),
            self.concurrency,
            parse_option_values(parse_pairs(self.option)),
            self.executor,
        )

    def budget(self) -> Any:
        """Return a cost limit that all judges of the command share, or None."""
        from imarena.clients import Budget

        return None if self.max_cost_usd is None else Budget(self.max_cost_usd)

    @property
    def what(self) -> "ShownOutputs":
        """The options about what to show, for `plan_scores` and `plan_battles`."""
        return {"datasets": self.datasets, "editors": self.editors, "tasks": self.tasks, "limit": self.limit}


ENDPOINT = ("endpoint", "base_url", "model", "api_key_env")
ALL_OPTIONS = tuple(part.name for part in fields(ChosenOptions))


def with_shared_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command the options `names`, in this order and in place of its parameter `asked`.

    It gets them as one `ChosenOptions`.
    """
    parts = {part.name: part for part in fields(ChosenOptions)}
    shared = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=parts[name].default, annotation=parts[name].type)
        for name in names
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        context, *own = signature(command).parameters.values()
        parameters = [context]
        for parameter in own:
            parameters += shared if parameter.name == "asked" else [parameter.replace(kind=Parameter.KEYWORD_ONLY)]

        def wrapped(context: typer.Context, **values: Any) -> None:
            command(context, asked=ChosenOptions(**{name: values.pop(name) for name in names}), **values)

        vars(wrapped)["__signature__"] = Signature(parameters)
        wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        wrapped.__doc__ = command.__doc__
        return wrapped

    return decorate


def run_judging(
    context: typer.Context, options: ChosenOptions, plan: Callable[[Any, Any, Any], list[Any]], *, rounds: bool
) -> None:
    """Plan (takes workspace, arguments and budget, returns jobs), estimate, ask, and print the results."""
    from imarena.workflows.questions import run_jobs

    if options.listing:
        list_judges(context)
        return
    with session_workspace(context) as workspace:
        jobs = plan(workspace, options.endpoint_arguments(), options.budget())
        run = run_jobs(workspace, jobs, confirm=partial(confirm_estimate, context, options), watching=progress_display)
    document = run_document(options, run.estimates, run.reports)
    if rounds:
        document["rounds"] = [[asdict(stage) for stage in stages] for stages in run.rounds]
    finish_run(context, document, run.reports, options.dry_run)


def run_document(
    options: ChosenOptions, estimates: "Sequence[Estimate]", reports: "Sequence[JudgeReport]"
) -> dict[str, Any]:
    """Return the plan and the results, for ``--json``."""
    return {
        "dry_run": options.dry_run,
        "estimates": [estimate.to_json() for estimate in estimates],
        "reports": [report.to_json() for report in reports],
    }


USES = {"pointwise": "judge", "pairwise": "battle", "both": "judge, battle"}
NEEDS = {
    "nothing": "nothing",
    "chat": "an endpoint",
    "optional_chat": "nothing, or an endpoint",
    "vision": "the vision extra and --model",
    "records": "a file",
}


def list_judges(context: typer.Context) -> None:
    """Print the catalog: each judge, the command that takes it, and what it needs."""
    from imarena.judges import CARDS, JUDGES

    judges = dict.fromkeys(JUDGES.names(), "of an installed package")
    for name, card in CARDS.items():
        only = "" if card.dimension == "overall" else f"about {card.dimension} only; "
        judges[name] = f"{card.about} ({only}{USES[card.shape]}; needs {NEEDS[card.needs]})"
    judges["function:MODULE:NAME"] = "A judge of your own: see docs/guide/write-your-own-judge.md"
    emit(context, judges, lambda console: show_names(console, judges))


def confirm_estimate(context: typer.Context, options: ChosenOptions, estimates: "Sequence[Estimate]") -> bool:
    """Print the estimate on stderr and, if it may cost money, ask for confirmation. False: do not run."""
    console = stderr()
    for estimate in estimates:
        show_estimate(console, estimate)
    spends = any(estimate.spends for estimate in estimates)
    return confirm_spending(context, spends=spends, yes=options.yes, dry_run=options.dry_run)


def may_spend(
    context: typer.Context, options: ChosenOptions, estimates: "Sequence[Estimate]", nothing: str, free: str = ""
) -> bool:
    """Like `confirm_estimate`; if not, print `nothing`, after `free` if no model was chosen."""
    if confirm_estimate(context, options, estimates):
        return True
    emit(context, run_document(options, estimates, []), nothing if estimates else f"{free} {nothing}".strip())
    return False


def show_estimate(console: Console, estimate: "Estimate") -> None:
    """Print one judge's plan in a few lines."""
    most = "at most " if estimate.at_most else ""
    questions = counted(estimate.new, "question")
    console.print(
        f"[bold]{escape(estimate.judge)}[/]: {most}{questions} to ask, {estimate.done_before:,} done before",
        markup=True,
    )
    print_causes(console, error_causes(estimate.unfit), "  left out")
    if not estimate.new:
        return
    parts = []
    if estimate.input_tokens is not None:
        parts.append(f"{estimate.input_tokens:,} tokens in, {estimate.output_tokens:,} out")
        parts.append("cost not known" if estimate.cost_usd is None else f"about {estimate.cost_usd:,.4f} USD")
    if estimate.seconds is not None:
        parts.append("under a second" if estimate.seconds < 0.5 else f"about {duration_text(estimate.seconds)}")
    for line, style in ((", ".join(parts), ""), ("; ".join(estimate.basis), "dim")):
        console.print(Padding(Text(line, style=style), (0, 0, 0, 2), expand=False))


def duration_text(seconds: float) -> str:
    """Format seconds in a suitable unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress_display() -> Iterator[Callable[[Any, int, int], None]]:
    """Show a bar on stderr with rate, cost and failures; if stderr is not a terminal, print a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from imarena.cli.console import progress_lines

    console, line = stderr(), progress_lines()
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[details]}"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    import time

    started = time.monotonic()
    tasks: dict[JudgeTally, Any] = {}
    with bars:

        def watch(tally: "JudgeTally", done: int, total: int) -> None:
            if tally not in tasks:
                tasks[tally] = bars.add_task(tally.judge, total=total, details="")
            failed = done - tally.judgments["ok"]
            rate = done / max(time.monotonic() - started, 1e-6)
            cost = f", {tally.cost_usd:.4f} USD" if tally.cost_usd else ""
            details = f"{rate:.1f}/s{cost}" + (f", {failed} failed" if failed else "")
            bars.update(tasks[tally], completed=done, total=total, details=details)
            line(f"{tally.judge}: {done:,} of {total:,}, {details}")

        yield watch


def finish_run(
    context: typer.Context,
    document: dict[str, Any],
    reports: "Sequence[JudgeReport]",
    dry_run: bool,
    more: Callable[[Console], None] | None = None,
) -> None:
    """Print the results, and `more`; exit code 3 if something is missing."""

    def show(console: Console) -> None:
        _show(console, reports, dry_run)
        if more:
            more(console)

    emit(context, document, show)
    if any(report.missing for report in reports):
        if not session(context).json:
            left = sum(report.missing for report in reports)
            stderr().print(
                f"{counted(left, 'question')} left; run the same command to continue (`{command_line('status')}` "
                "lists all)."
            )
        raise typer.Exit(Exit.PARTIAL)


def _show(console: Console, reports: "Sequence[JudgeReport]", dry_run: bool) -> None:
    if dry_run:
        console.print("Nothing was asked.")
    for report in reports:
        counts = (
            ", ".join(f"{number:,} {status}" for status, number in sorted(report.judgments.items()))
            or "nothing left to ask"
        )
        cost = f"; {report.cost_usd:.4f} USD" if report.cost_usd else ""
        took = f"; {duration_text(report.seconds)}" if report.seconds >= 1 else ""
        again = f" ({report.shared:,} more answered from identical images)" if report.shared else ""
        console.print(f"{report.judge}: {counts}{again}; {report.done_before:,} done before{cost}{took}")
        print_causes(console, error_causes(report.errors), "  failed")
        for text in sentences(report.notices):
            warn(text)
        if report.stopped:
            console.print(f"  stopped: {report.stopped}")
