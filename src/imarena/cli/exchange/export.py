"""``imarena export``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_causes, progress_bars, session_workspace
from imarena.cli.options import parse_pairs
from imarena.core import UnknownName, UserError, counted, skip_causes, suggestion

SCORES = "scores"
_SPREADSHEETS = ("csv", "tsv", "excel", "xlsx")


def command(
    context: typer.Context,
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="genarena, native, native_jsonl, native_parquet, table or scores.")
    ],
    directory: Annotated[Path, typer.Argument(help="A new or empty folder; for scores also a new .csv file.")],
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="An option of the format, key=value; repeatable.")
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="scores: also those that do not count, with the reason in a column.")
    ] = False,
) -> None:
    """Export a workspace. Exit code 3: some records could not be written."""
    if format_name == SCORES:
        _export_scores(context, directory, parse_pairs(option), everything=all_)
        return
    if all_:
        raise UserError("--all belongs to `export scores`.", hint="The other formats always hold all records.")
    from imarena.datasets import WRITERS
    from imarena.workflows.exchange import export_records

    if format_name not in WRITERS:
        names = f"Formats: {', '.join(WRITERS)}, {SCORES}."
        if format_name.lower() in _SPREADSHEETS:
            names += (
                f" CSV files: `export table DIR` (items, outputs, votes) or `export {SCORES} FILE.csv` (judgments)."
            )
        hint = suggestion(format_name, [*WRITERS, SCORES], names)
        raise UnknownName(f"There is no export format called '{format_name}'.", hint=hint)
    write = WRITERS.get(format_name)
    with session_workspace(context) as workspace, progress_bars("export") as tell:
        skips = export_records(workspace, write, directory, options=parse_pairs(option), progress=tell)
    lost = [skip for skip in skips if not skip.by_format]
    beyond = [skip for skip in skips if skip.by_format]
    document = {
        "format": format_name,
        "directory": str(directory),
        "skipped": [skip.to_json() for skip in lost],
        "not_in_format": [{"file": s.file, "reason": s.reason} for s in beyond],
    }

    def show(console: Console) -> None:
        console.print(f"Wrote {directory}.")
        for skip in beyond:
            console.print(str(skip))
        print_causes(console, skip_causes(lost))

    emit(context, document, show)
    if lost:
        raise typer.Exit(Exit.PARTIAL)


def _export_scores(context: typer.Context, target: Path, options: dict[str, str], *, everything: bool) -> None:
    from imarena.workflows.exchange import export_scores

    if options:
        raise UserError(f"`export {SCORES}` takes no option '{next(iter(options))}'.", hint="It has --all.")
    with session_workspace(context) as workspace:
        result = export_scores(workspace, target, everything=everything)

    def show(console: Console) -> None:
        rows = ", ".join(counted(number, kind) for kind, number in sorted(result.rows.items())) or "no rows"
        console.print(f"Wrote {result.file}: {rows}.", soft_wrap=True)
        for reason, number in sorted(result.not_counted.items()):
            state = "does not count" if everything else "left out"
            console.print(f"{state}: {counted(number, 'row')} ({reason})")

    emit(context, result.to_json(), show)
