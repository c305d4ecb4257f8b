"""``imarena scan``."""

from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, print_tables, session
from imarena.cli.progress import progress_bars
from imarena.cli.questions.judging_options import duration_text
from imarena.core import counted

SHOWN = 40


def command(context: typer.Context) -> None:
    """Read the words in every output and source, and flag those that speak to a judge, whatever the judge.

    Resumes: a picture that was read is not read again. No network and no model: the OCR is in the package.
    """
    from imarena.storage import open_workspace
    from imarena.workflows.questions import findings, scan_images

    with open_workspace(session(context).workspace) as workspace:
        with progress_bars("scan") as tell:
            report = scan_images(workspace, progress=tell)
        found = findings(workspace)

    def show(console: Console) -> None:
        took = f"; {duration_text(report.seconds)}" if report.seconds >= 1 else ""
        console.print(f"{counted(report.read['ok'], 'picture')} read, {report.done_before:,} before{took}")
        for error, number in report.errors.most_common(3):
            console.print(f"  {number:,} x {error}", markup=False, highlight=False)
        if report.stopped:
            console.print(f"  stopped: {report.stopped}", markup=False)
        show_findings(console, found)

    emit(context, {"report": report.to_json(), "findings": found.to_json()}, show)
    if report.missing:
        raise typer.Exit(Exit.PARTIAL)


def show_findings(console: Console, found: Any) -> None:
    """The words that address a judge: where they stand, by which trick, and what they say."""
    from imarena.workflows.questions import findings_table

    console.print(escape(found.in_words()))
    if not found.found:
        return
    more = len(found.found) - SHOWN
    print_tables(console, [findings_table(found, SHOWN)])
    if more > 0:
        console.print(f"... and {more:,} more (--json lists them all)")
