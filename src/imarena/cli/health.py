"""``imarena health``."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from imarena.cli import asking
from imarena.cli.console import emit, session
from imarena.core.errors import UserError


def command(
    context: typer.Context,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", "-j", help="As `status` names it, or its kind; all without.")
    ] = None,
    probe: Annotated[
        int, typer.Option("--probe", min=0, help="Ask about so many outputs with texts drawn on them (injection).")
    ] = 0,
    endpoint: asking.EndpointName = "",
    base_url: asking.BaseUrl = None,
    model: asking.Model = "",
    api_key_env: asking.ApiKeyEnv = None,
    option: asking.Option = None,
    max_cost_usd: asking.MaxCost = None,
    yes: asking.Yes = False,
    dry_run: asking.DryRun = False,
) -> None:
    """How far each judge can be trusted: failures, position, consistency, people, ties, drift, injection."""
    from imarena.storage import open_workspace
    from imarena.workflows.health import health

    with open_workspace(session(context).workspace) as workspace:
        found = [] if probe else health(workspace, judge)
        if probe:
            chosen = asking.Chosen(
                endpoint, base_url, model, api_key_env, None, max_cost_usd, option, yes=yes, dry_run=dry_run
            )
            found = _probed(context, workspace, judge or ["builtin"], chosen, probe)
    document = {"judges": [one.to_json() for one in found]}

    def show(console: Console) -> None:
        if not found:
            console.print("Nothing was asked." if probe else "There are no judgments: run `imarena judge` or `battle`.")
        for one in found:
            _show(console, one)

    emit(context, document, show)


def _probed(context: typer.Context, workspace: Any, names: list[str], chosen: asking.Chosen, count: int) -> list[Any]:
    from imarena.workflows.cases import load_board
    from imarena.workflows.health import probe_estimate, probe_injection
    from imarena.workflows.wiring import need_shape, wire_judge

    budget = chosen.budget()
    wired = [wire_judge(workspace.settings, name, chosen.words(), budget) for name in names]
    for one in wired:
        need_shape(one, "pointwise", "health --probe")
    board = load_board(workspace)
    if not board.slots:
        raise UserError("There are no outputs to draw texts on.", hint="Run `imarena edit`, or import outputs.")
    if not asking.go_on(context, chosen, [probe_estimate(workspace, one, board, count) for one in wired]):
        return []
    return [probe_injection(workspace, one, board, count) for one in wired]


MEANS = "Mean of each dimension"


def _show(console: Console, one: Any) -> None:
    console.print(f"\n[bold]{escape(one.judge)}[/]")
    table = Table("question", "", "value", "95 % interval", "n", box=None)
    for line in one.lines:
        if line.question == MEANS:
            continue
        figure = line.figure
        value = escape(figure.reason) if figure.value is None else _number(figure.value)
        ends = "" if figure.low is None or figure.high is None else f"{_number(figure.low)} to {_number(figure.high)}"
        what = " ".join(part for part in (figure.name.replace("_", " "), line.group) if part)
        table.add_row(escape(line.question), escape(what), value, ends, f"{figure.n:,}")
    console.print(table)
    _show_means(console, [line for line in one.lines if line.question == MEANS])
    for text in one.missing:
        console.print(f"  [yellow]not told:[/] {escape(text)}")


def _show_means(console: Console, lines: list[Any]) -> None:
    """Editors down, dimensions across."""
    if not lines:
        return
    names = list(dict.fromkeys(line.figure.name for line in lines))
    means = {(line.group, line.figure.name): line.figure.value for line in lines}
    table = Table(MEANS, *(name.replace("_", " ") for name in names), box=None)
    for editor in dict.fromkeys(line.group for line in lines):
        table.add_row(escape(editor), *(_number(means.get((editor, name))) for name in names))
    console.print(table)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
