"""Read the data for a report's gallery, and make thumbnails of images."""

from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path

import numpy as np

from imarena.core import grouped
from imarena.core.records import ImageRef, Item, Output
from imarena.reports import ScoringJudge, Section, gallery_section, last_outputs, spread_items
from imarena.storage import Workspace
from imarena.workflows.reporting.known_truth import true_qualities
from imarena.workflows.studies import preview_bytes, preview_file
from imarena.workflows.views import WHOLE, View


def read_gallery(
    workspace: Workspace,
    picture: Callable[[ImageRef], str],
    count: int,
    truth: Mapping[str, float] | None = None,
    judge: str | None = None,
    editors: Collection[str] = (),
) -> Section | None:
    """A section of some items, chosen by a fixed draw over the tasks. `truth`: known quality (0..1) of outputs by id.

    Without it, the quality is computed for items of the bundled benchmark. `judge` and `editors`: show only scores of
    this judge and outputs of these editors. `picture` returns the address of an image's thumbnail.
    """
    view = View(workspace)
    entries = view.entries
    names = [code for code, name in enumerate(entries.editor.names) if name in editors]
    mask = np.isin(entries.editor.of, names) if editors else np.ones(entries.seq.size, bool)
    if (mask & entries.pictured).any():  # items without any image are not worth a place
        mask &= entries.pictured
    made_for = {entries.item_id[index] for index in np.unique(entries.item[mask]).tolist()}
    items = [item for item in workspace.store.records(Item) if item.item_id in made_for]
    sample = spread_items(items, count)
    if not sample:
        return None
    where = {"item_id": [item.item_id for item in sample], **({"editor": list(editors)} if editors else {})}
    outputs = grouped((output.item_id, output) for output in workspace.store.records(Output, **where))
    shown_outputs = (output for item in sample for output in last_outputs(item, outputs[item.item_id]))
    qualities = truth if truth is not None else true_qualities(workspace, sample, shown_outputs)
    output_ids = [output.output_id for of_item in outputs.values() for output in of_item]
    return gallery_section(sample, len(items), outputs, _scores(view, judge, output_ids), qualities, picture)


def _scores(view: View, judge: str | None, output_ids: Collection[str]) -> dict[str, dict[ScoringJudge, float]]:
    """The scores of these outputs that count, on the judges' own scales."""
    places = [view.entries.index_of[output] for output in output_ids]
    scores: dict[str, dict[ScoringJudge, float]] = defaultdict(dict)
    for variant in view.variants.counting(None if judge is None else (judge,), pairwise=False):
        judgments = view.judgments([variant])
        name = variant.judge if variant.dimension == WHOLE else f"{variant.judge}, {variant.dimension}"
        rows = np.flatnonzero(judgments.ok & np.isfinite(judgments.score) & np.isin(judgments.left, places))
        for output, score in zip(judgments.left[rows].tolist(), judgments.raw_score[rows].tolist(), strict=True):
            scores[view.entries.id_of(output)][ScoringJudge(name, variant.higher_is_better)] = score
    return scores


FILE_PX, INSIDE_PX = 320, 240
INSIDE_BYTES = 6_500_000
"""Limit for all images embedded in one page, so that the page stays under 10 MB."""


class Thumbnails:
    """Returns the address of an image's thumbnail; '' if the image is withdrawn or beyond the limit.

    The thumbnail of a missing or damaged image says so.
    """

    def __init__(self, workspace: Workspace, folder: Path | None) -> None:
        self.workspace = workspace
        self.folder = folder
        """Folder for thumbnail files; None: embed thumbnails in the page."""
        self.left_out = 0
        """Number of images beyond the limit."""
        self.unreadable: set[str] = set()
        """Hashes of images whose file is missing or damaged."""
        self._bytes = 0
        self._addresses: dict[str, str] = {}

    def __call__(self, image: ImageRef) -> str:
        if self.folder is not None:
            return preview_file(self.workspace, self.folder, image, FILE_PX) or self._unreadable(image)
        cached = self._addresses.get(image.sha256)
        address = self._inside(image) if cached is None else cached
        self._addresses[image.sha256] = address
        if not address or self._bytes + len(address) > INSIDE_BYTES:
            self.left_out += bool(address)
            return ""
        self._bytes += len(address)
        return address

    def _inside(self, image: ImageRef) -> str:
        data = preview_bytes(self.workspace, image, INSIDE_PX)
        return _inside(data) if data else self._unreadable(image)

    @cached_property
    def _withdrawn(self) -> frozenset[str]:
        return frozenset(row["sha256"] for row in self.workspace.store.images() if row["withdrawn_at"])

    def _unreadable(self, image: ImageRef) -> str:
        """Note an image that cannot be shown; the address of a picture that says so."""
        if image.sha256 in self._withdrawn:
            return ""
        self.unreadable.add(image.sha256)
        if self.folder is None:
            return _inside(_placeholder())
        path = self.folder / "images" / "unreadable.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_placeholder())
        return f"images/{path.name}"


def _inside(data: bytes) -> str:
    kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{b64encode(data).decode()}"


@cache
def _placeholder() -> bytes:
    """A picture to show where an image cannot be read."""
    from PIL import Image, ImageDraw

    picture = Image.new("L", (180, 120), 225)
    ImageDraw.Draw(picture).text((90, 60), "image missing\nor damaged", fill=60, anchor="mm", align="center")
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()
