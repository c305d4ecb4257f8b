"""Count unusual images of a workspace: outputs of another size than their source, and animations."""

from collections import Counter
from functools import cache

from imarena.core import ImarenaError
from imarena.core.records import Item, Output, Status
from imarena.images import JPEG, PNG, inspect
from imarena.reports import UnusualImages
from imarena.storage import Workspace
from imarena.workflows.views import UNNAMED_EDITOR

HEAD_BYTES = 1 << 16
"""Bytes to read of a PNG, which states before its pixels whether it is animated."""


def count_unusual_images(workspace: Workspace) -> UnusualImages:
    """Count unusual images. Sizes come from the image register; files that can hold several frames are inspected."""
    register = {row["sha256"]: row for row in workspace.store.images() if not row["withdrawn_at"]}
    sizes = {name: (row["width"], row["height"]) for name, row in register.items() if row["width"] is not None}

    @cache
    def animated(sha256: str) -> bool:
        return sha256 in register and _is_animated(workspace, sha256, register[sha256]["media_type"])

    other_size: Counter[str] = Counter()
    moving: Counter[str] = Counter()
    first_source: dict[str, str] = {}
    inputs: set[str] = set()
    for item in workspace.store.records(Item):
        inputs |= {image.sha256 for image in (*item.sources, *item.references)}
        if item.sources:
            first_source[item.item_id] = item.sources[0].sha256
    for row in workspace.store.rows(Output, status=Status.OK.value):
        image, editor = row["image_sha256"], row["editor"] or UNNAMED_EDITOR
        if image is None:
            continue
        source = first_source.get(row["item_id"])
        other_size[editor] += source in sizes and image in sizes and sizes[image] != sizes[source]
        moving[editor] += animated(image)
    return UnusualImages(other_size, moving, sum(map(animated, inputs)))


def _is_animated(workspace: Workspace, sha256: str, media_type: str) -> bool:
    if media_type == JPEG:
        return False
    try:
        if media_type == PNG:
            return inspect(workspace.blobs.head(sha256, HEAD_BYTES)).animated
        return inspect(workspace.blobs.get(sha256)).animated
    except (ImarenaError, OSError):  # missing or damaged: `verify` lists it
        return False
