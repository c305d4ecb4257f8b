"""``imarena health``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import emit, print_tables, session_workspace
from imarena.cli.options import LatexTables
from imarena.cli.questions import judging_options
from imarena.cli.questions.scan import show_findings
from imarena.core import UserError, command_line
from imarena.core.notices import sentences
from imarena.reports.tables import Table

if TYPE_CHECKING:
    from imarena.judges import JudgeHealth
    from imarena.workflows.questions import JudgeReport


@judging_options.with_shared_options(
    *judging_options.ENDPOINT, "concurrency", "executor", "option", "max_cost_usd", "yes", "dry_run"
)
def command(
    context: typer.Context,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="A judge's name, kind or NAME@VERSION (default: all judges)."),
    ] = None,
    probe: Annotated[
        int, typer.Option("--probe", min=0, help="Ask about N outputs or pairs with texts drawn on them.")
    ] = 0,
    battles: Annotated[
        bool, typer.Option("--battles", help="Probe with pairs if a judge both scores and compares.")
    ] = False,
    *,
    asked: judging_options.ChosenOptions,
    latex: LatexTables = False,
) -> None:
    """Report how reliable each judge is: failures, position bias, consistency, agreement, ties, drift, injection.

    With --probe the judge is asked about outputs with texts drawn on them that address it; a pairwise judge is
    asked about pairs, in both orders. Answers are kept: the next call continues where this one stopped.
    """
    from imarena.workflows.questions import read_findings
    from imarena.workflows.studies import judge_health_report

    if latex and probe:
        raise UserError(
            "--latex prints no probe.", hint=f"Answers are stored: run `{command_line('health --latex')}` afterwards."
        )
    if probe:
        _probe(context, judge or ["builtin"], asked, probe, battles=battles)
        return
    with session_workspace(context) as workspace:
        judges, together = judge_health_report(workspace, judge)
        texts = read_findings(workspace)
    document: dict[str, Any] = {
        "judges": [health.to_json() for health in judges],
        "together": together.to_json(),
        "pictures": texts.to_json(),
    }

    def show(console: Console) -> None:
        if latex:
            for health in (*judges, together):
                print_tables(console, _latex_tables(health), latex=True)
            return
        _show_judges(console, judges)
        if together.lines or together.notices:
            _show(console, together)
        if texts.read + texts.unread:
            console.print(
                f"\n[bold]Text in the images[/] (read by `{command_line('scan')}`, without a judge)", markup=True
            )
            show_findings(console, texts)

    emit(context, document, show)


def _show_judges(console: Console, judges: "Sequence[JudgeHealth]") -> None:
    """Print one row per judge, if there are several, and then the figures of each."""
    from imarena.workflows.studies import health_summary

    if not judges:
        console.print(f"There are no judgments: run `{command_line('judge')}` or `battle`.")
    if len(judges) > 1:
        print_tables(console, [health_summary(judges)])
    for health in judges:
        _show(console, health)


def _probe(
    context: typer.Context, names: list[str], options: judging_options.ChosenOptions, number: int, *, battles: bool
) -> None:
    """Ask about outputs with texts drawn on them, and show the judges' health with the answers."""
    from imarena.workflows.studies import judge_probes, plan_probes, run_probes

    reports: list[JudgeReport] = []
    judges: list[JudgeHealth] = []
    with session_workspace(context) as workspace:
        jobs = plan_probes(workspace, names, options.endpoint_arguments(), options.budget(), number, battles=battles)
        estimates = [job.estimate for job in jobs]
        if judging_options.confirm_estimate(context, options, estimates):
            with judging_options.progress_display() as watch:
                reports = run_probes(workspace, jobs, watch=watch)
            judges = [judge_probes(workspace, job.wired.judge) for job in jobs]
    document: dict[str, Any] = {
        "judges": [health.to_json() for health in judges],
        "dry_run": options.dry_run,
        "estimates": [estimate.to_json() for estimate in estimates],
        "reports": [report.to_json() for report in reports],
    }

    def show(console: Console) -> None:
        for health in judges:
            _show(console, health)

    judging_options.finish_run(context, document, reports, options.dry_run, more=show)


def _show(console: Console, health: "JudgeHealth") -> None:
    from imarena.workflows.studies import health_tables

    console.print(f"\n[bold]{escape(health.judge)}[/]", markup=True)
    if any(status != "ok" for status in health.statuses):
        statuses = ", ".join(f"{number:,} {status}" for status, number in health.statuses.items())
        console.print(f"Answers: {statuses}")
    if len(health.versions) > 1:
        *earlier, newest = health.versions
        console.print(f" version {newest}; earlier: {', '.join(earlier)} (--judge NAME@VERSION)")
    print_tables(console, health_tables(health))
    for text in sentences(health.notices):
        console.print(f"  {text}", style="yellow")


def _latex_tables(health: "JudgeHealth") -> list[Table]:
    """Return the same tables with the judge in each title, and notes on what is not available below the last one."""
    from imarena.workflows.studies import named_health_tables

    tables = named_health_tables(health)
    notes = tuple(sentences(health.notices, "report"))
    return [*tables[:-1], replace(tables[-1], notes=notes)] if tables else []
