"""The share of each output that raters marked as wrong, by segments of a mask or by boxes (004, figure 14)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.core.records import Evidence, Issue, Output
from imarena.workflows.views import View, vote_issues

_SIDE = 512
"""Boxes are drawn on a grid with this many cells per side, so that overlaps count once."""


@dataclass(frozen=True)
class ErrorAreas:
    """Shares (0 to 1) of marked area, one per vote with marks. Empty and full masks are only counted."""

    shares: tuple[float, ...]
    empty: int
    full: int


def error_areas(view: View) -> ErrorAreas:
    """Areas that raters marked in all votes that count."""
    shares: list[float] = []
    empty = full = 0
    marked = list(_marked_votes(view))
    if not marked:
        return ErrorAreas((), 0, 0)
    outputs = {output for output, _ in marked}
    images = {
        output.output_id: output.image
        for output in view.workspace.store.records(Output, status="ok")
        if output.output_id in outputs and output.image is not None
    }
    masks = _masks(view, {image.sha256 for image in images.values()})
    for output, issues in marked:
        image = images.get(output)
        if image is None:
            continue
        share = _share(issues, (image.width or 1, image.height or 1), masks.get(image.sha256))
        if share is None:
            continue
        empty += share <= 0
        full += share >= 1
        if 0 < share < 1:
            shares.append(share)
    return ErrorAreas(tuple(shares), empty, full)


def _marked_votes(view: View) -> Iterator[tuple[str, tuple[Issue, ...]]]:
    """Yield the output and the issues of each vote that counts and that asked the rater to mark regions."""
    for row, issues in vote_issues(view):
        if view.votes.counts[row]:
            yield view.entries.id_of(int(view.votes.left[row])), issues


def _masks(view: View, hashes: set[str]) -> dict[str, Mapping[str, Any]]:
    masks = {}
    if hashes:
        for row in view.workspace.store.rows(Evidence, kind="segments"):
            if row["image_sha256"] in hashes:
                masks[row["image_sha256"]] = json.loads(row["body"]).get("value") or {}
    return masks


def _share(issues: Sequence[Issue], size: tuple[int, int], mask: Mapping[str, Any] | None) -> float | None:
    """The share that one rater marked; None if the vote is not about regions."""
    boxes = [issue.box for issue in issues if issue.box]
    segments = {issue.segment for issue in issues if issue.kind == "segment" and issue.segment is not None}
    none = any(issue.kind == "none" and issue.label == "segments" for issue in issues)
    if segments and mask and mask.get("width") and mask.get("height"):
        area = sum(entry["area"] for entry in mask["segments"] if entry["segment"] in segments)
        return min(1.0, float(area / (mask["width"] * mask["height"])))
    if boxes:
        grid = np.zeros((_SIDE, _SIDE), bool)
        for left, top, right, bottom in boxes:
            grid[_cells(top, bottom, size[1]), _cells(left, right, size[0])] = True
        return float(grid.mean())
    return 0.0 if none else None


def _cells(low: float, high: float, length: int) -> slice:
    """The grid cells that an interval of a side covers, at least one."""
    first = int(low / length * _SIDE)
    return slice(first, max(first + 1, int(high / length * _SIDE)))
