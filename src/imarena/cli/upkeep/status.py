"""``imarena status``."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, session_workspace
from imarena.core import command_line
from imarena.reports import columns, rank_tables
from imarena.reports.tables import CellValue, Column, Table
from imarena.workflows.upkeep import WorkspaceStatus, workspace_status

LISTED = 40
"""Maximum number of names of one kind to list."""
MEANINGS = {
    "item": "benchmark entries: instructions with their source images",
    "output": "images that editors made",
    "output attempt": "requests to editors, with those that failed",
    "evidence": "findings in images: boxes, masks, text, measured values",
    "reply": "raw answers of judges",
    "judgment": "verdicts of judges, with failed attempts",
    "rater": "people who vote",
    "vote": "answers of people, without those taken back",
    "record of votes taken back or changed": "earlier answers and their corrections",
    "campaign": "sets of questions for raters",
    "assignment": "tasks for raters, finished or open",
    "ranking": "leaderboards that were computed and stored",
    "gold set": "items set aside to measure routing policies",
}
"""What a kind of record is, in a few words."""


def command(
    context: typer.Context,
    items: Annotated[
        bool, typer.Option("--items", help="List the items and the file names that `edit -e folder:PATH` reads.")
    ] = False,
) -> None:
    """Print counts by editor, judge, rater and status."""
    from imarena.workflows.editing import item_files

    with session_workspace(context) as workspace:
        if items:
            files = list(item_files(workspace))
            emit(context, {"files": [asdict(file) for file in files]}, lambda console: _show_files(console, files))
            return
        summary = workspace_status(workspace)
    emit(context, asdict(summary), lambda console: _show(console, summary))


def _show_files(console: Console, files: list[Any]) -> None:
    """Print one line for every output that the items require."""
    if not files:
        console.print(f"There are no items: `{command_line('import FORMAT PATH')}` brings them.")
        return
    head = columns(Column("file", wrap=True), "mode", Column("instruction", wrap=True))
    rows = tuple((file.file, file.mode, " ".join(file.instruction.split())) for file in files)
    print_tables(console, [Table(head, rows)])
    console.print(
        f"`{command_line('export table DIR')}` writes items of one turn with their sources, `export native DIR` all."
    )


def _show(console: Console, summary: WorkspaceStatus) -> None:
    heading = f"{summary.name}  {summary.root}  ({summary.database}, schema {summary.schema})"
    console.print(heading, style="bold", soft_wrap=True)
    print_tables(console, _tables(summary))
    if summary.words:
        flagged, scanned = summary.words["flagged"], summary.words["read"]
        message = f"{flagged:,} of {scanned:,} scanned images hold text that addresses a judge"
        console.print(
            f"{message}: see `{command_line('health')}`" if flagged else message, style="yellow" if flagged else ""
        )
    for line in summary.unfinished:
        console.print(f"unfinished: {line}; run the same command again", style="yellow")
    for line in summary.interrupted:
        console.print(f"running or interrupted: {line}; run the same command again to finish it", style="yellow")


def _tables(summary: WorkspaceStatus) -> list[Table]:
    rows: list[tuple[CellValue, ...]] = [
        (name, number, MEANINGS.get(name, "")) for name, number in summary.totals.items() if number
    ]
    rows.append(("different images", summary.images, f"image files, {summary.image_bytes / 1e6:,.1f} MB together"))
    tables = (
        Table(columns("records", Column("count", ","), Column("what is counted", wrap=True)), tuple(rows)),
        Table(columns("records", Column("count", ","), ""), tuple(rows)),
        _counts("items by data set", summary.items),
        _outputs(summary),
        _nested("judgments by judge", summary.judgments),
        _counts("votes by rater", summary.votes),
        _counts("failed: the command that asked retries them", summary.missing),
        _counts("imported without a verdict: not retried", summary.imported_failures),
    )
    return [table for table in tables if table.rows]


def _counts(title: str, counts: dict[str, int]) -> Table:
    lines = list(counts.items())
    rows = lines[:LISTED]
    if len(lines) > LISTED:
        rows.append((f"... and {len(lines) - LISTED} more", sum(number for _, number in lines[LISTED:])))
    return Table(columns(title, Column("count", ",")), tuple(rows))


def _outputs(summary: WorkspaceStatus) -> Table:
    """Return each editor's outputs: those it was asked for, and coverage as on boards. Outputs that its data sets need
    but that it was not asked for (`not run`) lower the coverage.

    Text comes last, because it wraps on narrow terminals.
    """
    without = summary.outputs_without_pixels
    head = columns(
        Column("outputs by editor", wrap=True),
        Column("ok", ","),
        Column("asked for", ","),
        Column("coverage", ".0%", absent="–"),
        Column("attempts", ","),
        Column("no pixels", ","),
        Column("no output", wrap=True),
    )
    rows: list[tuple[CellValue, ...]] = []
    for name, row in summary.outputs.items():
        n_made, n_requested = row.get("ok", 0), sum(row.values())
        failed = ", ".join(f"{number:,} {state}" for state, number in sorted(row.items()) if state != "ok")
        not_run = summary.not_run.get(name, 0)
        failed = ", ".join(filter(None, (failed, f"{not_run:,} not run" if not_run else "")))
        pixels = without.get(name, 0) if without else None
        needed = summary.needed.get(name)
        share = None if needed is None else rank_tables.coverage_cell(summary.coverage[name], needed)
        rows.append((name, n_made, n_requested, share, summary.attempts[name], pixels, failed))
    meanings = [f"Coverage: {rank_tables.COVERAGE}"] if summary.needed else []
    meanings += ["not run: needed, but never asked for"] if summary.not_run else []
    return Table(head, tuple(rows), notes=(f"{'; '.join(meanings)}.",) if meanings else ())


def _nested(title: str, counts: dict[str, dict[str, int]]) -> Table:
    states = sorted({state for row in counts.values() for state in row}, key=lambda state: (state != "ok", state))
    rows = tuple((name, *(row.get(state) for state in states)) for name, row in counts.items())
    return Table(columns(title, *(Column(state, ",") for state in states)), rows)
