"""Collect the data for a comparison's page, and write the page with its images."""

from functools import partial
from pathlib import Path

from imarena.core import ImarenaError
from imarena.core.records import ImageRef
from imarena.images import preview
from imarena.reports import ComparisonFigures, build_comparison_page, write_html
from imarena.storage import Workspace
from imarena.workflows.studies.comparing import ModelComparison, largest_differences

SHOWN = 12
SIDE_PX = 512


def write_comparison(workspace: Workspace, comparison: ModelComparison, folder: Path) -> Path:
    """Write ``index.html`` and its images; returns the page's path."""
    sides = comparison.sides
    figures = ComparisonFigures(
        sides.old_name, sides.new_name, comparison.judge, comparison.verdict, comparison.by_task, comparison.notices,
        comparison.scale,
    )  # fmt: skip
    ranked = largest_differences(comparison.items, len(comparison.items))
    examples = [item for new in (True, False) for item in [r for r in ranked if r.new_ahead == new][:SHOWN]]
    return write_html(build_comparison_page(figures, examples, partial(preview_file, workspace, folder)), folder)


def preview_file(workspace: Workspace, folder: Path, image: ImageRef, side: int = SIDE_PX) -> str:
    """Write a preview of an image below the page's folder; returns its relative path, empty if there are no pixels."""
    path = folder / "images" / f"{image.sha256[:20]}.jpg"
    if not path.exists():
        data = preview_bytes(workspace, image, side)
        if not data:
            return ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return f"images/{path.name}"


def preview_bytes(workspace: Workspace, image: ImageRef, side: int) -> bytes:
    """A small JPEG of an image; empty if the image is withdrawn or missing (`verify` reports those)."""
    try:
        return preview(workspace.load(image), side).data
    except ImarenaError:
        return b""
