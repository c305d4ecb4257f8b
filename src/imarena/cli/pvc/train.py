"""``imarena pvc train``, ``merge`` and ``ablation``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, print_tables, progress_bars
from imarena.cli.options import parse_pairs
from imarena.core import command_line

Examples = Annotated[Path, typer.Argument(help="train.jsonl of `imarena pvc export training`.", show_default=False)]
Out = Annotated[Path, typer.Argument(help="The folder of the run; the same one continues it.", show_default=False)]
Model = Annotated[str, typer.Option("--model", help="A Qwen-VL model: a folder or a hub id.", show_default=False)]
SettingsFile = Annotated[Path | None, typer.Option("--settings", help="A YAML file of training settings.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="One setting, name=value; repeatable.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")]


def train(
    context: typer.Context,
    examples: Examples,
    out: Out,
    model: Model,
    settings: SettingsFile = None,
    change: Set = None,
    validation: Annotated[
        Path | None, typer.Option("--validation", help="Examples to measure the finished model on.")
    ] = None,
    stop_after: Annotated[
        int | None, typer.Option("--stop-after", min=1, help="Stop after this many steps; continue later.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Fine-tune a Qwen-VL model on pairs with LoRA. Repeat the same command to continue a stopped run.

    Needs the `training` extra. The defaults are those of PVC-Judge: rank 64, alpha 128, learning rate 2e-6, 3 epochs.
    """
    from imarena.preferences import train_from_files

    with progress_bars("training") as progress:
        report = train_from_files(
            examples, model, out, settings, parse_pairs(change), device=device, stop_after=stop_after,
            validation=validation, progress=progress,
        )  # fmt: skip
    document = report.to_json()

    def show(console: Console) -> None:
        console.print(f"{report.steps:,} of {report.total_steps:,} steps done")
        if report.loss is not None:
            rate = document["tokens_per_s"] or 0.0
            console.print(f"Loss {report.loss:.4f}; {rate:,.0f} tokens per second")
        if report.validation_accuracy is not None:
            console.print(
                f"Accuracy on {report.validation_examples:,} validation examples: {report.validation_accuracy:.1%}"
            )
        if report.complete:
            console.print(
                f"Adapter: {report.adapter}\nNext: {command_line('pvc merge', out, 'MODEL', '--model', model)}"
            )
        else:
            console.print("Repeat the same command to continue.")

    emit(context, document, show)
    if not report.complete:
        raise typer.Exit(int(Exit.PARTIAL))


def merge(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="A new folder for the merged model.", show_default=False)],
    model: Model,
) -> None:
    """Merge a trained adapter into its model: a folder that `imarena battle --judge pvc-judge --model` loads."""
    from imarena.preferences import merge_run

    merge_run(model, run, target)
    text = f"Merged model: {target}\nNext: {command_line('battle --judge pvc-judge --model', target)}"
    emit(context, {"model": str(target)}, text)


def ablation(
    context: typer.Context,
    examples: Examples,
    held_out: Annotated[Path, typer.Argument(help="test.jsonl of the same export.", show_default=False)],
    out: Out,
    model: Model,
    size: Annotated[
        list[int] | None, typer.Option("--size", min=1, help="Pairs per task; repeatable. 500 to 3,000 by default.")
    ] = None,
    settings: SettingsFile = None,
    change: Set = None,
    device: Device = "auto",
) -> None:
    """Train on increasing numbers of pairs per task and test on the same held-out pairs (figure 4 of GEditBench v2)."""
    from imarena.preferences import ablation_from_files
    from imarena.reports.tables import Column, Number, Table

    with progress_bars("ablation") as progress:
        rows = ablation_from_files(
            examples, held_out, model, out, settings, parse_pairs(change), sizes=size, device=device, progress=progress
        )

    def show(console: Console) -> None:
        head = (Column("pairs per task", ","), Column("examples", ","), Column("accuracy"), Column("95% interval"))
        lines = tuple(
            (
                row.size,
                row.examples,
                Number(row.accuracy.value or 0.0, ".3f"),
                f"{row.accuracy.low or 0.0:.3f} to {row.accuracy.high or 0.0:.3f}",
            )
            for row in rows
        )
        print_tables(console, [Table(head, lines)])

    emit(context, [row.to_json() for row in rows], show)
