"""``imarena pvc regions``."""

from typing import Annotated, Literal

import typer
from rich.console import Console

from imarena.cli.console import emit, print_tables, session
from imarena.cli.progress import progress_bars


def command(
    context: typer.Context,
    dataset: Annotated[list[str] | None, typer.Option("--dataset", help="Only this data set; repeatable.")] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; repeatable.")] = None,
    regions: Annotated[
        Literal["auto", "objects", "changes"],
        typer.Option(
            "--regions", help="Find edit regions by named objects, by shared changes, or the first that works."
        ),
    ] = "auto",
    detector: Annotated[
        str, typer.Option("--detector", help="efficientdet, grounding-dino, owl-vit or owlv2.")
    ] = "efficientdet",
    segmenter: Annotated[
        str, typer.Option("--segmenter", help="Masks instead of boxes: mobile-sam, sam or sam2.")
    ] = "",
    grounding: Annotated[
        Literal["paper", "public"], typer.Option("--grounding", help="Where objects are looked for, per task.")
    ] = "paper",
) -> None:
    """Find the edit region of every item and store its boxes: a campaign with `show_region` outlines them.

    There is one region per item, made from its source and all of its outputs, so that it does not identify an editor.
    """
    from imarena.storage import open_workspace
    from imarena.workflows.preferences import RegionOptions, write_edit_regions

    options = RegionOptions(regions, detector, segmenter, grounding)
    with open_workspace(session(context).workspace) as workspace, progress_bars("regions") as progress:
        report = write_edit_regions(workspace, options, datasets=dataset or (), tasks=task or (), progress=progress)

    def show(console: Console) -> None:
        from imarena.reports.tables import Column, Table

        console.print(f"{report['regions']:,} of {report['items']:,} items have an edit region.", markup=False)
        for title, key in (("found by", "found_by"), ("no region", "skipped")):
            if report[key]:
                print_tables(console, [Table((Column(title), Column("items", ",")), tuple(report[key].items()))])

    emit(context, report, show)
