"""``imarena verify``."""

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, progress_bars, session_workspace
from imarena.core import counted


def command(
    context: typer.Context,
    deep: Annotated[
        bool, typer.Option(help="Read every record and hash every image file; continues where it stopped.")
    ] = False,
    restart: Annotated[bool, typer.Option(help="With --deep: start from the beginning.")] = False,
) -> None:
    """Check every record, hash and link. Exit code 1: problems were found."""
    from imarena.storage import restart_deep, verify

    with session_workspace(context) as workspace, progress_bars("verify") as tell:
        if restart:
            restart_deep(workspace)
        findings = list(verify(workspace, deep=deep, progress=tell))

    def show(console: Console) -> None:
        for finding in findings:
            console.print(f"[red]{finding.kind}[/]  {escape(finding.subject)}  {escape(finding.detail)}", markup=True)
        how = "deep" if deep else "quick"
        console.print(f"{how} check: " + (counted(len(findings), "finding") if findings else "clean"))

    emit(context, {"deep": deep, "clean": not findings, "findings": [f.__dict__ for f in findings]}, show)
    if findings:
        raise typer.Exit(Exit.FAILED)
