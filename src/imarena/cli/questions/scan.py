"""``imarena scan``."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_causes, print_tables, progress_bars, session_workspace
from imarena.cli.options import ExecutorOption
from imarena.cli.questions.judging_options import duration_text
from imarena.core import counted, error_causes

if TYPE_CHECKING:
    from imarena.workflows.questions import Findings

SHOWN = 40


def command(
    context: typer.Context,
    tool: Annotated[
        str,
        typer.Option(
            "--tool", "-t", help="words, objects, faces, salient, colours, quality, or a vision tool by name."
        ),
    ] = "words",
    executor: ExecutorOption = "",
) -> None:
    """Read the text in every output and source image, and flag text that addresses the judge.

    With --tool, another vision tool runs on every image, and its results are stored as evidence. Results of
    the same version of the tool are kept. Needs no network: the tools are bundled.
    """
    from imarena.workflows.questions import read_findings, scan_images, scan_with_tool

    with session_workspace(context) as workspace, progress_bars("scan") as progress:
        if tool == "words":
            report = scan_images(workspace, executor=executor, progress=progress)
        else:
            report = scan_with_tool(workspace, tool, executor=executor, progress=progress)
        findings = read_findings(workspace) if tool == "words" else None

    def show(console: Console) -> None:
        took = f"; {duration_text(report.seconds)}" if report.seconds >= 1 else ""
        console.print(f"{counted(report.read['ok'], 'image')} read, {report.done_before:,} before{took}")
        print_causes(console, error_causes(report.errors), "  failed")
        if report.stopped:
            console.print(f"  stopped: {report.stopped}")
        if findings is not None:
            show_findings(console, findings)

    document = {"report": report.to_json(), **({} if findings is None else {"findings": findings.to_json()})}
    emit(context, document, show)
    if report.missing:
        raise typer.Exit(Exit.PARTIAL)


def show_findings(console: Console, findings: "Findings") -> None:
    """Print the text that addresses a judge: where it is, which trick it uses, and what it says."""
    from imarena.workflows.questions import findings_table

    console.print(findings.in_words())
    if not findings.found:
        return
    more = len(findings.found) - SHOWN
    print_tables(console, [findings_table(findings, SHOWN)])
    if more > 0:
        console.print(f"... and {more:,} more (--json lists them all)")
