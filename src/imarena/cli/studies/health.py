"""``imarena health``."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import emit, print_tables, session
from imarena.cli.options import Executor
from imarena.cli.questions import judging_options as asking
from imarena.cli.questions.scan import show_findings
from imarena.core.notices import sentences
from imarena.reports import columns, interval
from imarena.reports.tables import Cell, Column, Number, Table


def command(
    context: typer.Context,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", "-j", help="As `status` names it, its kind, or NAME@VERSION; all without."),
    ] = None,
    probe: Annotated[
        int, typer.Option("--probe", min=0, help="Ask about so many outputs, or pairs, with texts drawn on them.")
    ] = 0,
    battles: Annotated[
        bool, typer.Option("--battles", help="Probe with pairs a judge that can score and compare.")
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
) -> None:
    """How far each judge can be trusted: failures, position, consistency, people, ties, drift, injection.

    With --probe the judge is asked about outputs with texts drawn on them that address it; a pairwise judge about
    pairs, in both orders. Answers are kept: the next call goes on where this one stopped.
    """
    from imarena.storage import open_workspace
    from imarena.workflows.questions import findings
    from imarena.workflows.studies import judge_health_report

    chosen = asking.ChosenOptions(
        endpoint,
        base_url,
        model,
        api_key_env,
        concurrency,
        max_cost_usd,
        option,
        yes=yes,
        dry_run=dry_run,
        executor=executor,
    )
    with open_workspace(session(context).workspace) as workspace:
        together = None
        if probe:
            found, estimates, reports = _probed(context, workspace, judge or ["builtin"], chosen, probe, battles)
        else:
            (found, together), estimates, reports = judge_health_report(workspace, judge), [], []
        words = None if probe else findings(workspace)
    document: dict[str, Any] = {"judges": [one.to_json() for one in found]}
    if together is not None:
        document["together"] = together.to_json()
    if words is not None:
        document["pictures"] = words.to_json()
    if probe:
        document |= {"estimates": [one.to_json() for one in estimates], "reports": [one.to_json() for one in reports]}

    def show(console: Console) -> None:
        if not found and not probe:
            console.print("There are no judgments: run `imarena judge` or `battle`.")
        for one in found:
            _show(console, one)
        if together is not None and (together.lines or together.notices):
            _show(console, together)
        if words is not None and words.read + words.unread:
            console.print("\n[bold]Words in the pictures[/]")
            show_findings(console, words)

    if probe:
        asking.finish_run(context, document, reports, dry_run, more=show)
    else:
        emit(context, document, show)


def _probed(
    context: typer.Context, workspace: Any, names: list[str], chosen: asking.ChosenOptions, count: int, battles: bool
) -> tuple[list[Any], list[Any], list[Any]]:
    """What the answers say (those of earlier calls too), what was planned, what was asked."""
    from imarena.workflows.questions import load_outputs
    from imarena.workflows.studies import judge_probes, plan_probe, run_probe
    from imarena.workflows.wiring import check_judge_shape, wire_judge

    budget = chosen.budget()
    wired = [wire_judge(workspace.settings, name, chosen.words(), budget) for name in names]
    board = load_outputs(workspace)
    jobs = []
    for one in wired:
        if battles:
            check_judge_shape(one, "pairwise", "health --probe --battles")
        paired = battles or one.shape == "pairwise"
        jobs.append(
            plan_probe(
                workspace, one, board, count, battles=paired, concurrency=chosen.concurrency, executor=chosen.executor
            )
        )
    reports: list[Any] = []
    estimates = [job.estimate for job in jobs]
    if not asking.confirm_estimate(context, chosen, estimates):
        return [], estimates, reports
    with asking.progress_display() as watch:
        for job in jobs:
            reports.append(run_probe(workspace, job, watch=watch))
            if reports[-1].stopped:
                break
    return [judge_probes(workspace, job.wired.judge) for job in jobs], estimates, reports


MEANS = "Mean of each dimension"


def _show(console: Console, one: Any) -> None:
    from imarena.workflows.studies import RAISED, TURNED

    console.print(f"\n[bold]{escape(one.judge)}[/]")
    if any(status != "ok" for status in one.statuses):
        told = ", ".join(f"{number:,} {status}" for status, number in one.statuses.items())
        console.print(f"Answers: {told}", markup=False)
    if len(one.versions) > 1:
        *earlier, counts = one.versions
        console.print(f" version {escape(counts)}; earlier: {escape(', '.join(earlier))} (--judge NAME@VERSION)")
    apart = (MEANS, RAISED, TURNED)
    tables = [
        _figures([line for line in one.lines if line.question not in apart]),
        _means([line for line in one.lines if line.question == MEANS]),
        *(_probe(question, [line for line in one.lines if line.question == question]) for question in (RAISED, TURNED)),
    ]
    print_tables(console, [table for table in tables if table.rows])
    for text in sentences(one.notices):
        console.print(f"  [yellow]{escape(text)}[/]")


def _figures(lines: list[Any]) -> Table:
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


def _value(figure: Any) -> Cell:
    return str(figure.reason) if figure.value is None else _number(figure.value)


def _ends(figure: Any) -> Cell:
    return interval(figure.low, figure.high, _spec(max(abs(figure.low or 0), abs(figure.high or 0))))


def _probe(question: str, lines: list[Any]) -> Table:
    """Kinds of text down; the share that fell for it and the mean shift across."""
    groups: dict[str, list[Any]] = {}
    for line in lines:
        group = "all, less the control" if line.figure.name == "beyond_control" else line.group
        groups.setdefault(group, []).append(line.figure)
    rows: list[tuple[Cell, ...]] = []
    for group, found in groups.items():
        shift = found[-1]
        fell: tuple[Cell, ...] = (None, None, None)
        if len(found) > 1:
            fell = (_value(found[0]), _ends(found[0]), found[0].n)
        rows.append((group, *fell, _value(shift), _ends(shift), shift.n))
    count = Column("n", ",")
    head = columns("text", "fell for it", "95 % interval", count, "mean shift", "95 % interval", Column("units", ","))
    return Table(head, tuple(rows), question)


def _means(lines: list[Any]) -> Table:
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
