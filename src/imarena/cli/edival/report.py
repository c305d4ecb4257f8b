"""``imarena edival report``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, session_workspace
from imarena.core import UserError

Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", "-j", help="edival or edival@VERSION; repeatable. The others are compared with the first."),
]
RuleOption = Annotated[
    str,
    typer.Option(
        "--overall", metavar="<per-turn|paper-o4>", help="The overall score: sqrt(IF x CC) per turn, or pooled."
    ),
]
Complete = Annotated[bool, typer.Option("--complete", help="Use only images with an output at every turn.")]
Baselines = Annotated[
    list[str] | None, typer.Option("--baseline", help="Another judge to compare with people; repeatable.")
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Tables as Markdown.")]
Latex = Annotated[bool, typer.Option("--latex", help="Tables as LaTeX.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write each table as CSV, and the plots.")]


def command(
    context: typer.Context,
    judge: Judges = None,
    overall: RuleOption = "per-turn",
    complete: Complete = False,
    baseline: Baselines = None,
    markdown: Markdown = False,
    latex: Latex = False,
    out: Out = None,
) -> None:
    """Print EdiVal's tables: by editor and turn, by type, consistency, quality, fronts, tool swaps, people."""
    from imarena.workflows.reporting import edival_report, write_edival_report

    if overall not in ("per-turn", "paper-o4"):
        raise UserError(f"There is no rule '{overall}' for --overall.", hint="Use per-turn or paper-o4.")
    with session_workspace(context) as workspace:
        report = edival_report(
            workspace,
            judge,
            rule="paper-o4" if overall == "paper-o4" else "per-turn",
            complete=complete,
            baselines=baseline or (),
        )
    paths = write_edival_report(report, out) if out is not None else []

    def show(console: Console) -> None:
        print_tables(console, report.tables, markdown=markdown, latex=latex)
        if paths:
            console.print(f"{len(paths)} files in {out}")

    emit(context, {**report.to_json(), "files": [str(path) for path in paths]}, show)
