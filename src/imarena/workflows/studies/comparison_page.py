"""Reads what the page of a comparison shows, and writes it with its pictures."""

from functools import partial
from pathlib import Path

from imarena.core import ImarenaError
from imarena.core.records import ImageRef
from imarena.images import preview
from imarena.reports import ComparedItem, ComparisonFigures, build_comparison_page, write_html
from imarena.storage import Workspace
from imarena.workflows.studies.comparing import ModelComparison, largest_differences

SHOWN = 12
SIDE_PX = 512


def write_comparison(workspace: Workspace, found: ModelComparison, folder: Path) -> Path:
    """Write ``index.html`` and its pictures; returns the page."""
    sides = found.sides
    figures = ComparisonFigures(
        sides.old_name, sides.new_name, found.judge, found.verdict, found.by_task, found.notices
    )
    ranked = [
        ComparedItem(one.item, one.old, one.new, one.points > 0.5, one.gap)
        for one in largest_differences(found.items, len(found.items))
    ]
    shown = [one for new in (True, False) for one in [r for r in ranked if r.new_ahead == new][:SHOWN]]
    return write_html(build_comparison_page(figures, shown, partial(_file, workspace, folder)), folder)


def _file(workspace: Workspace, folder: Path, image: ImageRef) -> str:
    path = folder / "images" / f"{image.sha256[:20]}.jpg"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.write_bytes(preview(workspace.load(image), SIDE_PX).data)
        except ImarenaError:
            return ""  # withdrawn or missing: `verify` tells
    return f"images/{path.name}"
