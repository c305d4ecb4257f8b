"""Items and images of a site: those that pass the filter of `publish`, as small copies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imarena.core import InvalidImage, Progress, sha256_hex
from imarena.core.records import Item, Mode, Output
from imarena.images import preview
from imarena.reports import SiteExample, SiteImage, SiteInput, WinCounts
from imarena.storage import Workspace, item_images
from imarena.workflows.publishing.record_redaction import RecordRedaction
from imarena.workflows.serving import ResultExample
from imarena.workflows.views import BattleColumns, Entries, edit_question

_CREDITS = ("attribution", "author", "creator", "photographer", "title", "landing_url", "source_url", "url")
"""Imported columns that licences require to be named."""


@dataclass(frozen=True)
class SiteItem:
    """A published item with its images."""

    item: Item
    images: Mapping[str, SiteImage | None]
    """By the SHA-256 of the published image."""
    withheld: tuple[int, int]
    """Number of source and reference images that are not published."""
    credit: str


class SiteImages:
    """The items, outputs and images that a site shows: only items that take part in a battle."""

    def __init__(self, folder: Path, redaction: RecordRedaction, side: int) -> None:
        self.folder = folder / "images"
        self.redaction = redaction
        self.side = side
        self.items: dict[str, SiteItem] = {}
        """By id in the workspace, as are the outputs."""
        self.outputs: dict[str, SiteImage | None] = {}
        self.published: dict[str, Output] = {}
        self.chains: dict[str, Output] = {}
        """Multi-turn outputs as stored in the workspace."""
        self._written: dict[str, SiteImage] = {}

    @property
    def number(self) -> int:
        """Number of image files."""
        return len(self._written)

    def read(
        self, workspace: Workspace, entries: Entries, battles: Iterable[BattleColumns], progress: Progress
    ) -> None:
        """Read the items and outputs of all battles, and write their images."""
        used = np.zeros(entries.seq.size, bool)
        for columns in battles:
            used[columns.left] = used[columns.right] = True
        outputs = {entries.id_of(index) for index in np.flatnonzero(used).tolist()}
        items = {entries.item_id[code] for code in np.unique(entries.item[used]).tolist()}
        multi_turn = workspace.store.records(Output, mode=Mode.MULTI_TURN.value)
        self.chains = {output.output_id: output for output in multi_turn if output.item_id in items}
        added = outputs
        while added := {self.chains[key].parent_id or "" for key in added & self.chains.keys()} & self.chains.keys():
            outputs = outputs | added
        for item in workspace.store.records(Item):
            if item.item_id in items:
                published, pictures = self.redaction.item(item)
                hashes = (image.sha256 for image in item_images(published))
                images = {name: self._write(data) for name, data in zip(hashes, pictures, strict=True)}
                withheld = (len(item.sources), len(item.references)) if not pictures else (0, 0)
                self.items[item.item_id] = SiteItem(published, images, withheld, _credit(published))
                progress("items", len(self.items), len(items))
        for output in workspace.store.records(Output):
            if output.output_id in outputs:
                published_output, picture = self.redaction.output(output)
                self.published[output.output_id] = published_output
                self.outputs[output.output_id] = None if picture is None else self._write(picture)
                progress("outputs", len(self.outputs), len(outputs))

    def asked(self, item_id: str, left_id: str, right_id: str | None = None) -> tuple[str, tuple[SiteInput, ...]]:
        """Return the instruction and the input images of an output or a battle, as judges and raters see them."""
        item = self.items[item_id]
        sides = [self.chains.get(key, self.published[key]) for key in (left_id, right_id) if key is not None]
        edit = edit_question(item.item, sides[0], sides[1] if right_id is not None else None, self.chains)
        absent = [(None,) * number for number in item.withheld]
        references = _site_inputs("reference", [item.images[image.sha256] for image in edit.references] or absent[1])
        if edit.before is not None:
            return edit.instruction, (SiteInput("earlier turn", self.outputs.get(edit.before)), *references)
        sources = [item.images[image.sha256] for image in edit.sources] or absent[0]
        return edit.instruction, (*_site_inputs("source", sources), *references)

    def example(self, example: ResultExample) -> SiteExample:
        """Return an example for a model page."""
        item, counts = self.items[example.item_id], example.counts
        return SiteExample(
            item.item.key,
            *self.asked(example.item_id, example.output_id),
            self.outputs[example.output_id],
            WinCounts(counts.wins, counts.losses, counts.ties + counts.both_bad),
            item.credit,
        )

    def _write(self, data: bytes) -> SiteImage | None:
        try:
            small = preview(data, self.side)
        except InvalidImage:
            return None
        name = f"{sha256_hex(small.data)[:20]}.jpg"
        if name not in self._written:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(small.data)
            self._written[name] = SiteImage(f"images/{name}", small.width, small.height)
        return self._written[name]


def _site_inputs(name: str, images: Sequence[SiteImage | None]) -> tuple[SiteInput, ...]:
    if len(images) == 1:
        return (SiteInput(name, images[0]),)
    return tuple(SiteInput(f"{name} {number}", image) for number, image in enumerate(images, 1))


def _credit(item: Item) -> str:
    """Return licence and author, if the item states them."""
    parts = [f"{name.replace('_', ' ')}: {item.provenance[name]}" for name in _CREDITS if item.provenance.get(name)]
    return "; ".join([*([f"licence: {item.licence}"] if item.licence else []), *parts])
