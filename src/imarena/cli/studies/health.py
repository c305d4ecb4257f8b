"""``imarena health``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import emit, print_tables, session
from imarena.cli.options import Executor
from imarena.cli.questions import judging_options as asking
from imarena.cli.questions.scan import show_findings
from imarena.core import UserError
from imarena.core.notices import sentences
from imarena.reports import columns, interval
from imarena.reports.tables import Cell, Column, Number, Table

if TYPE_CHECKING:
    from imarena.judges import Estimate, HealthFigure, JudgeHealth
    from imarena.stats import Figure
    from imarena.workflows.questions import Findings, JudgeReport


def command(
    context: typer.Context,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="As `status` names it, its kind, or NAME@VERSION; all without."),
    ] = None,
    probe: Annotated[
        int, typer.Option("--probe", min=0, help="Ask about N outputs or pairs with texts drawn on them.")
    ] = 0,
    battles: Annotated[
        bool, typer.Option("--battles", help="Probe with pairs a judge that both scores and compares.")
    ] = False,
    endpoint: asking.EndpointName = "",
    base_url: asking.BaseUrl = None,
    model: asking.Model = "",
    api_key_env: asking.ApiKeyEnv = None,
    concurrency: asking.Concurrency = None,
    executor: Executor = "",
    option: asking.Option = None,
    max_cost_usd: asking.MaxCost = None,
    yes: asking.Yes = False,
    dry_run: asking.DryRun = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the tables as LaTeX.")] = False,
) -> None:
    """How far each judge can be trusted: failures, position, consistency, people, ties, drift, injection.

    With --probe the judge is asked about outputs with texts drawn on them that address it; a pairwise judge about
    pairs, in both orders. Answers are kept: the next call goes on where this one stopped.
    """
    from imarena.storage import open_workspace
    from imarena.workflows.questions import read_findings
    from imarena.workflows.studies import judge_health_report, judge_probes, plan_probes, run_probes

    if latex and probe:
        raise UserError("--latex prints no probe.", hint="Answers are stored: run `imarena health --latex` afterwards.")
    chosen = asking.ChosenOptions(
        endpoint, base_url, model, api_key_env, concurrency, max_cost_usd, option, yes, dry_run, executor
    )
    together: JudgeHealth | None = None
    texts: Findings | None = None
    estimates: list[Estimate] = []
    reports: list[JudgeReport] = []
    with open_workspace(session(context).workspace) as workspace:
        if probe:
            jobs = plan_probes(
                workspace, judge or ["builtin"], chosen.endpoint_arguments(), chosen.budget(), probe, battles=battles
            )
            estimates, judges = [job.estimate for job in jobs], []
            if asking.confirm_estimate(context, chosen, estimates):
                with asking.progress_display() as watch:
                    reports = run_probes(workspace, jobs, watch=watch)
                judges = [judge_probes(workspace, job.wired.judge) for job in jobs]
        else:
            judges, together = judge_health_report(workspace, judge)
            texts = read_findings(workspace)
    document: dict[str, Any] = {"judges": [health.to_json() for health in judges]}
    if probe:
        document["dry_run"] = dry_run
        document["estimates"] = [estimate.to_json() for estimate in estimates]
        document["reports"] = [report.to_json() for report in reports]
    if together is not None and texts is not None:
        document |= {"together": together.to_json(), "pictures": texts.to_json()}

    def show(console: Console) -> None:
        if latex:
            for health in (*judges, *([together] if together else [])):
                print_tables(console, _latex_tables(health), latex=True)
            return
        if not judges and not probe:
            console.print("There are no judgments: run `imarena judge` or `battle`.")
        for health in judges:
            _show(console, health)
        if together is not None and (together.lines or together.notices):
            _show(console, together)
        if texts is not None and texts.read + texts.unread:
            console.print("\n[bold]Words in the pictures[/]")
            show_findings(console, texts)

    if probe:
        asking.finish_run(context, document, reports, dry_run, more=show)
    else:
        emit(context, document, show)


MEANS = "Mean of each dimension"


def _show(console: Console, health: "JudgeHealth") -> None:
    console.print(f"\n[bold]{escape(health.judge)}[/]")
    if any(status != "ok" for status in health.statuses):
        statuses = ", ".join(f"{number:,} {status}" for status, number in health.statuses.items())
        console.print(f"Answers: {statuses}", markup=False)
    if len(health.versions) > 1:
        *earlier, newest = health.versions
        console.print(f" version {escape(newest)}; earlier: {escape(', '.join(earlier))} (--judge NAME@VERSION)")
    print_tables(console, _tables(health))
    for text in sentences(health.notices):
        console.print(f"  [yellow]{escape(text)}[/]")


def _tables(health: "JudgeHealth") -> list[Table]:
    """The figures of one judge; only tables with rows."""
    from imarena.workflows.studies import RAISED, TURNED

    apart = (MEANS, RAISED, TURNED)
    tables = [
        _figures([line for line in health.lines if line.question not in apart]),
        _means([line for line in health.lines if line.question == MEANS]),
        *(
            _probe(question, [line for line in health.lines if line.question == question])
            for question in (RAISED, TURNED)
        ),
    ]
    return [table for table in tables if table.rows]


def _latex_tables(health: "JudgeHealth") -> list[Table]:
    """The same with the judge in each title, and below the last what is not available."""
    tables = [
        replace(table, title=": ".join(part for part in (health.judge, table.title) if part))
        for table in _tables(health)
    ]
    notes = tuple(sentences(health.notices, "report"))
    return [*tables[:-1], replace(tables[-1], notes=notes)] if tables else []


def _figures(lines: "Sequence[HealthFigure]") -> Table:
    """One row per figure; a question stands once."""
    rows: list[tuple[Cell, ...]] = []
    last = ""
    for line in lines:
        figure = line.figure
        what = " ".join(part for part in (figure.name.replace("_", " "), line.group) if part)
        asked, last = "" if line.question == last else line.question, line.question
        rows.append((asked, what, _value(figure), _ends(figure), figure.n))
    head = columns(
        Column("question", wrap=True), "figure", Column("value", wrap=True), "95 % interval", Column("n", ",")
    )
    return Table(head, tuple(rows))


def _value(figure: "Figure") -> Cell:
    return figure.reason if figure.value is None else _number(figure.value)


def _ends(figure: "Figure") -> Cell:
    return interval(figure.low, figure.high, _spec(max(abs(figure.low or 0), abs(figure.high or 0))))


def _probe(question: str, lines: "Sequence[HealthFigure]") -> Table:
    """Kinds of text down; the share that fell for it and the mean shift across."""
    groups: dict[str, list[Figure]] = {}
    for line in lines:
        group = "all, less the control" if line.figure.name == "beyond_control" else line.group
        groups.setdefault(group, []).append(line.figure)
    rows: list[tuple[Cell, ...]] = []
    for group, figures in groups.items():
        shift = figures[-1]
        fell: tuple[Cell, ...] = (None, None, None)
        if len(figures) > 1:
            fell = (_value(figures[0]), _ends(figures[0]), figures[0].n)
        rows.append((group, *fell, _value(shift), _ends(shift), shift.n))
    count = Column("n", ",")
    head = columns("text", "fell for it", "95 % interval", count, "mean shift", "95 % interval", Column("units", ","))
    return Table(head, tuple(rows), question)


def _means(lines: "Sequence[HealthFigure]") -> Table:
    """Editors down, dimensions across."""
    names = list(dict.fromkeys(line.figure.name for line in lines))
    means = {(line.group, line.figure.name): line.figure.value for line in lines}
    rows = tuple(
        (editor, *(_number(means.get((editor, name))) for name in names))
        for editor in dict.fromkeys(line.group for line in lines)
    )
    return Table(columns(MEANS, *(name.replace("_", " ") for name in names)), rows)


def _number(value: float | None) -> Number | None:
    return None if value is None else Number(0.0 if abs(value) < 1e-9 else value, _spec(abs(value)))


def _spec(size: float) -> str:
    """Three digits, and all digits of a large number."""
    return ".0f" if size >= 100 else ".3g"
