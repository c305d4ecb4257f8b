"""``imarena measure``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables

ABOUT = {
    "ssim": "structural similarity; 1 for a copy",
    "ms_ssim": "SSIM over five scales; needs 176 pixels a side",
    "psnr": "signal-to-noise ratio in dB; none for a copy",
    "l1": "mean absolute difference, 0 to 1",
    "colour_difference": "mean CIEDE2000; 1 is just visible",
    "changed_share": "share of pixels that differ at all",
    "face_likeness": "is it the same person? From 0.363 on, yes",
    "st_lpips": "perceptual distance, shift-tolerant; needs 21 pixels a side",
    "lpips": "perceptual distance (AlexNet); needs the weights lpips-alex and 31 pixels a side",
}


def command(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="The image before the edit.", show_default=False)],
    output: Annotated[Path, typer.Argument(help="The edited image.", show_default=False)],
    mask: Annotated[
        Path | None,
        typer.Option(
            "--mask", "-m", help="A black and white image of the source's size: white where the edit was requested."
        ),
    ] = None,
) -> None:
    """Measure how far an output is from its source: SSIM, PSNR, colour difference and more. Needs no workspace.

    With --mask, each metric is also given inside and outside the region. The value of one region ignores the pixels
    of the other.
    """
    from imarena.reports.tables import Column, Table
    from imarena.workflows.questions import measure_edit

    measured = measure_edit(source, output, mask)

    def show(console: Console) -> None:
        columns = (Column("metric"), Column("whole", ".4f"), Column("inside", ".4f"), Column("outside", ".4f"))
        rows = tuple(
            (name, values.whole, values.inside, values.outside, ABOUT[name])
            for name, values in measured.metrics.items()
        )
        notes = ["The output has another size and was scaled to the source's."] if measured.resized else []
        if mask is not None and measured.metrics["l1"].inside is None:
            notes.append("The mask is all black: nothing is inside.")
        if mask is not None and measured.metrics["l1"].outside is None:
            notes.append("The mask is all white: nothing is outside.")
        light = tuple(
            (f"{name} of the {image}", values.whole, values.inside, values.outside)
            for image, figures in (("source", measured.source), ("output", measured.output))
            for name, values in figures.items()
        )
        print_tables(
            console,
            [
                Table((*columns, Column("meaning")), rows, notes=tuple(notes)),
                Table((Column("0 to 255"), *(Column(part, ".1f") for part in ("whole", "inside", "outside"))), light),
            ],
        )

    emit(context, asdict(measured), show)
