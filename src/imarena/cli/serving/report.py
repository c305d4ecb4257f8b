"""``imarena report``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import emit, progress_bars, session
from imarena.cli.options import Editors, Leaderboard, LeaderboardNames, parse_renames


def command(
    context: typer.Context,
    target: Annotated[
        Path | None,
        typer.Argument(
            help="FILE.html, or a folder that also gets Markdown, LaTeX, CSV, PNG and SVG "
            "(default: report.html in the workspace)."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The report's title.")] = "",
    gallery: Annotated[int, typer.Option(min=0, help="Number of items to show with all their outputs.")] = 12,
    judge: Annotated[str | None, typer.Option("--judge", "-j", help="Only boards and scores of this judge.")] = None,
    editors: Editors = None,
    against: Annotated[
        str,
        typer.Option("--against", metavar="DIR|DAY", help="Show changes since a day (YYYY-MM-DD) or workspace."),
    ] = "",
    leaderboard: Leaderboard = None,
    names: LeaderboardNames = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Also print one board per value of this column, such as task.")
    ] = None,
) -> None:
    """Write a report that opens in any browser: one HTML file, or a folder with the tables and plots beside it.

    The conclusion first, then boards with intervals, failures, examples, judges, the tables of papers, and methods.
    """
    from imarena.storage import open_workspace
    from imarena.workflows.reporting import ReportQuery, read_leaderboard, write_report

    root = session(context).workspace
    board = None if leaderboard is None else read_leaderboard(leaderboard, parse_renames(names, "--names"))
    with open_workspace(root) as workspace, progress_bars("report") as tell:
        query = ReportQuery(judge, tuple(editors or ()), by, against, board)
        path = write_report(
            workspace, target or root / "report.html", title=title, gallery=gallery, query=query, progress=tell
        )
    emit(context, {"report": str(path)}, f"Wrote {path}.")
