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
) -> None:
    """How far each judge can be trusted: failures, position, consistency, people, ties, drift, injection."""
    from imarena.storage import open_workspace
    from imarena.workflows.health import health

    with open_workspace(session(context).workspace) as workspace:
        found = [] if probe else health(workspace, judge)
        if probe:
            chosen = asking.Chosen(endpoint, base_url, model, api_key_env, None, None, option, True, False)
            found = [_probed(workspace, name, chosen, probe) for name in judge or ["builtin"]]
    document = {"judges": [one.to_json() for one in found]}

    def show(console: Console) -> None:
        for one in found:
            _show(console, one)

    emit(context, document, show)


def _probed(workspace: Any, name: str, chosen: asking.Chosen, count: int) -> Any:
    from imarena.workflows.cases import load_board
    from imarena.workflows.health import probe_injection
    from imarena.workflows.wiring import need_shape, wire_judge

    wired = wire_judge(workspace.settings, name, chosen.words())
    need_shape(wired, "pointwise", "health --probe")
    board = load_board(workspace)
    if not board.slots:
        raise UserError("There are no outputs to draw texts on.", hint="Run `imarena edit`, or import outputs.")
    return probe_injection(workspace, wired, board, count)


def _show(console: Console, one: Any) -> None:
    console.print(f"\n[bold]{escape(one.judge)}[/]")
    table = Table("question", "group", "figure", "value", "95 % interval", "n", box=None)
    for line in one.lines:
        figure = line.figure
        value = escape(figure.reason) if figure.value is None else f"{figure.value:.3g}"
        ends = "" if figure.low is None or figure.high is None else f"{figure.low:.3g} to {figure.high:.3g}"
        table.add_row(escape(line.question), escape(line.group), figure.name, value, ends, f"{figure.n:,}")
    console.print(table)
    for text in one.missing:
        console.print(f"  [yellow]not told:[/] {escape(text)}")
