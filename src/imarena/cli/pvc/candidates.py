"""``imarena pvc candidates``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, progress_bars
from imarena.cli.options import Tasks
from imarena.core import command_line

ROWS_SHOWN = 20


def command(
    context: typer.Context,
    table: Annotated[
        Path, typer.Argument(help="CSV, TSV, JSON Lines or Parquet with image, instruction, task.", show_default=False)
    ],
    out: Annotated[Path, typer.Argument(help="A new folder for the chosen items.", show_default=False)],
    per_task: Annotated[int, typer.Option("--per-task", min=1, help="Items per task.")] = 1500,
    task: Tasks = None,
    image_features: Annotated[
        str,
        typer.Option(
            "--image-features", metavar="<colour-layout|clip|dino|dinov3|siglip>", help="Embedder of the images."
        ),
    ] = "colour-layout",
    text_features: Annotated[
        str,
        typer.Option(
            "--text-features", metavar="<words|minilm|clip>", help="Embedder of the instructions; words: hashed words."
        ),
    ] = "words",
) -> None:
    """Choose diverse items per task by greedy k-center, and write a folder that `imarena import table` reads."""
    from imarena.preferences import CandidateOptions, choose_candidates
    from imarena.reports.tables import Column, Table

    options = CandidateOptions(per_task, tuple(task or ()), image_features, text_features)
    with progress_bars("candidates") as progress:
        report = choose_candidates(table, out, options, progress)

    def show(console: Console) -> None:
        rows = tuple((task.task, task.rows, task.chosen, task.radius) for task in report.tasks)
        head = (Column("task"), Column("rows", ","), Column("chosen", ","), Column("largest distance left", ".3f"))
        print_tables(console, [Table(head, rows)])
        for reason in report.skipped[:ROWS_SHOWN]:
            console.print(f"Skipped {reason}")
        if len(report.skipped) > ROWS_SHOWN:
            console.print(f"Skipped {len(report.skipped) - ROWS_SHOWN:,} more rows; see candidates.json.")
        console.print(f"Next: {command_line('import table', out)}, then {command_line('edit --editors NAME')}.")

    emit(context, asdict(report), show)
