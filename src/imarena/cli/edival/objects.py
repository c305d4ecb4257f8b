"""``imarena edival objects``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, session
from imarena.cli.edival.build import DecomposerOption, DetectorName


def command(
    context: typer.Context,
    picture: Annotated[Path, typer.Argument(help="An image file.", metavar="image")],
    decomposer: DecomposerOption = "offline",
    detector: DetectorName = "efficientdet",
) -> None:
    """List the objects of one image as a benchmark would use them, and list those left out with the reason."""
    from imarena.core import Settings, load_settings
    from imarena.storage import is_workspace
    from imarena.workflows.edival_building import decompose_image, scene_document, wire_decomposer

    root = session(context).workspace
    settings = load_settings(root) if is_workspace(root) else Settings()
    scene = decompose_image(wire_decomposer(settings, decomposer, detector), picture)

    def show(console: Console) -> None:
        from imarena.reports.tables import show_table
        from imarena.workflows.edival_building import objects_table

        if scene.contents is not None:
            show_table(objects_table(scene.contents.objects), console)
        else:
            console.print(f"{scene.outcome}: {scene.reason}")
        for left_out in scene.dropped:
            console.print(f"  left out: {left_out.name}: {left_out.reason}")

    emit(context, scene_document(scene), show)
    if scene.outcome == "failed":
        raise typer.Exit(Exit.PARTIAL)
