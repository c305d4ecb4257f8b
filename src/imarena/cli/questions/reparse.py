"""``imarena reparse``."""

from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, print_causes, progress_bars, session_workspace
from imarena.cli.options import parse_pairs
from imarena.core import counted, error_causes


def command(
    context: typer.Context,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", "-j", help="Only this judge, as `status` names it; repeatable.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="key=value, for judges that need a file, such as questions=list.yaml."),
    ] = None,
) -> None:
    """Parse stored replies again with the current parser. Nothing is asked or paid; earlier verdicts are kept."""
    from imarena.workflows.questions import reparse_replies
    from imarena.workflows.wiring import parse_option_values

    with session_workspace(context) as workspace, progress_bars("reparse") as progress:
        report = reparse_replies(workspace, judge, options=parse_option_values(parse_pairs(option)), progress=progress)

    def show(console: Console) -> None:
        console.print(
            f"{counted(report.read, 'reply')} read again, {report.current:,} read by the present parser already"
        )
        for change, number in sorted(report.changed.items()):
            console.print(f"  {change}: {number:,}")
        print_causes(console, error_causes(report.skipped), "  not read again")
        for status, number in sorted(report.without_answer.items()):
            console.print(f"  no answer to read: {number:,} {status}; the next run asks again")

    emit(context, report.to_json(), show)
