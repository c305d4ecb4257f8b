"""``imarena pvc regions``."""

from dataclasses import asdict

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, progress_bars, session_workspace
from imarena.cli.options import Datasets, Tasks
from imarena.cli.pvc.pairs import DetectorOption, Grounding, Regions, SegmenterOption


def command(
    context: typer.Context,
    dataset: Datasets = None,
    task: Tasks = None,
    regions: Regions = "auto",
    detector: DetectorOption = "efficientdet",
    segmenter: SegmenterOption = "",
    grounding: Grounding = "paper",
) -> None:
    """Find the edit region of every item and store its boxes: a campaign with `show_region` outlines them.

    There is one region per item, made from its source and all of its outputs, so that it does not identify an editor.
    """
    from imarena.workflows.preferences import RegionOptions, write_edit_regions

    options = RegionOptions(regions, detector, segmenter, grounding)
    with session_workspace(context) as workspace, progress_bars("regions") as progress:
        report = write_edit_regions(workspace, options, datasets=dataset or (), tasks=task or (), progress=progress)

    def show(console: Console) -> None:
        from imarena.reports.tables import Column, Table

        console.print(f"{report.regions:,} of {report.items:,} items have an edit region.")
        for title, counts in (("found by", report.found_by), ("no region", report.skipped)):
            if counts:
                print_tables(console, [Table((Column(title), Column("items", ",")), tuple(counts.items()))])

    emit(context, asdict(report), show)
