"""``imarena report``."""

from pathlib import Path
from typing import Annotated

import typer

from imarena.cli.console import emit, session
from imarena.cli.progress import progress_bars


def command(
    context: typer.Context,
    directory: Annotated[Path | None, typer.Argument(help="Where it goes; 'report' in the workspace.")] = None,
    title: Annotated[str, typer.Option(help="The report's title.")] = "",
    gallery: Annotated[int, typer.Option(help="How many items to show with all their outputs.")] = 12,
    judge: Annotated[str | None, typer.Option("--judge", "-j", help="Only boards and scores of this judge.")] = None,
    editors: Annotated[
        list[str] | None, typer.Option("--editors", "-e", help="Only these editors; repeatable.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Each board also per value of this column, such as task.")
    ] = None,
) -> None:
    """A folder that opens in any browser: boards with intervals, failures, a gallery; and the same as Markdown."""
    from imarena.storage import open_workspace
    from imarena.workflows.reporting import ReportQuery, write_report

    root = session(context).workspace
    with open_workspace(root) as workspace, progress_bars("report") as tell:
        query = ReportQuery(judge, tuple(editors or ()), by)
        folder = directory or root / "report"
        path = write_report(workspace, folder, title=title, gallery=gallery, query=query, progress=tell)
    emit(context, {"report": str(path)}, lambda console: console.print(f"Wrote {path}.", markup=False))
