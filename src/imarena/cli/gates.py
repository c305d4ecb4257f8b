"""Options of commands with a gate (`--fail-if`), the files that they write, and their exit codes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit
from imarena.core import UserError

if TYPE_CHECKING:
    from imarena.stats import GateReport

JUnitFile = Annotated[Path | None, typer.Option("--junit", help="Write the gate's result as JUnit XML to this file.")]
SummaryFile = Annotated[
    Path | None, typer.Option("--summary", help="Write a Markdown summary for a pull request to this file.")
]


def check_gate_options(junit: Path | None, *, gated: bool) -> None:
    """Reject options of a gate if there is none."""
    if junit is not None and not gated:
        raise UserError("--junit writes the result of a gate, and there is none.", hint="Add --fail-if.")


def write_gate_files(
    report: "GateReport | None", suite: str, junit: Path | None, summary: Path | None, markdown: str
) -> None:
    """Write the requested files, replacing earlier ones."""
    from imarena.reports import gate_junit

    if junit is not None and report is not None:
        _write(junit, gate_junit(report, suite))
    if summary is not None:
        _write(summary, markdown)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror}.") from error


def show_gates(console: Console, report: "GateReport | None") -> None:
    """Print every gate as a sentence."""
    from imarena.reports import gate_lines
    from imarena.reports.tables import printable

    if report is None:
        return
    style = {"passed": "bold green", "failed": "bold red", "incomplete": "bold yellow"}[report.outcome]
    for line in gate_lines(report):
        console.print(printable(line), style=style)


def gate_exit(report: "GateReport | None", *, partial: bool = False) -> None:
    """End the command: exit 3 if data are incomplete or a gate has no answer, 4 if one failed, else 0."""
    if partial or (report is not None and report.outcome == "incomplete"):
        raise typer.Exit(Exit.PARTIAL)
    if report is not None and report.outcome == "failed":
        raise typer.Exit(Exit.GATE)
