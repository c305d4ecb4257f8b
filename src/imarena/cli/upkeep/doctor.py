"""``imarena doctor``."""

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, session
from imarena.workflows.upkeep import Check, examine


def command(context: typer.Context) -> None:
    """Check Python, the installed packages, the optional extras, the disk and the workspace."""
    checks = examine(session(context).workspace)

    def show(console: Console) -> None:
        for check in checks:
            console.print(_line(check), markup=True)

    emit(context, [check.__dict__ for check in checks], show)
    if any(check.state == "bad" for check in checks):
        raise typer.Exit(Exit.FAILED)


def _line(check: Check) -> str:
    from rich.markup import escape

    mark = {"good": "[green]good[/]", "bad": "[red]bad [/]", "absent": "[yellow]none[/]"}[check.state]
    return f"{mark}  {check.name:22} {escape(check.detail)}"
