"""A contact sheet of the first outputs, redrawn during a run: items down, editors across.

``contact-sheet.html`` reloads itself every few seconds until the run ends; ``contact-sheet.jpg`` has the same content
as one image, to send or paste.
"""

import asyncio
import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from imarena.core import Editor, InvalidImage, StoreError, write_atomically
from imarena.core.records import ImageRef, Item, Output
from imarena.images import JPEG, encode_image, preview
from imarena.reports import ContactSheetCell, ContactSheetPage, ContactSheetRow, contact_sheet_html
from imarena.storage import Workspace
from imarena.workflows.editing.plan import EditTally

ROWS = 8
COLUMNS = 12
CELL = 160
LINE = 18
EVERY_S = 3.0
ALIVE_S = 30.0


@dataclass(frozen=True)
class _Look:
    """The content of one cell: an image, or the status that explains why there is none."""

    image: ImageRef | None
    words: str = ""
    error: str = ""


class ContactSheet:
    """``contact-sheet.jpg`` and ``contact-sheet.html`` in the workspace's folder."""

    def __init__(self, workspace: Workspace, items: Sequence[Item], editors: Sequence[Editor]) -> None:
        self.workspace = workspace
        self.items = list(items[:ROWS])
        self.editors = [editor.name for editor in editors[:COLUMNS]]
        self.left_out = (len(items) - len(self.items), len(editors) - len(self.editors))
        self._last = 0.0
        self._stale = True
        self._small: dict[str, bytes] = {}

    def changed(self) -> None:
        """Note that new outputs are stored, so that the next tick draws them."""
        self._stale = True

    async def keep_drawing(self, tally: EditTally) -> None:
        """Draw new outputs every few seconds until cancelled, and from time to time to show that the run is alive."""
        while True:
            await asyncio.sleep(EVERY_S)
            if self._stale or time.monotonic() - self._last > ALIVE_S:
                await asyncio.to_thread(self.draw, tally)

    def draw(self, tally: EditTally, *, ended: bool = False) -> None:
        """Write the image and the page, each as a whole or not at all; the last page no longer reloads itself."""
        self._stale = False
        looks = self._looks()
        rows = [(item, [_source(item), *(looks.get((item.item_id, e)) for e in self.editors)]) for item in self.items]
        page = ContactSheetPage(
            editors=tuple(self.editors),
            rows=tuple(
                ContactSheetRow(item.key, tuple(turn.instruction for turn in item.turns), tuple(map(self._cell, cells)))
                for item, cells in rows
            ),
            outputs=dict(tally.outputs),
            done_before=tally.done_before,
            left_out=self.left_out,
            drawn_at=datetime.now(UTC),
            every_s=EVERY_S,
            ended=ended,
            stopped=tally.stopped,
        )
        write_atomically(self.workspace.root / "contact-sheet.jpg", self._picture(rows))
        write_atomically(sheet_path(self.workspace), contact_sheet_html(page))
        self._last = time.monotonic()

    def _looks(self) -> dict[tuple[str, str], _Look]:
        """Return each cell's newest image; a status only if no attempt gave one."""
        looks: dict[tuple[str, str], _Look] = {}
        where = {"item_id": [item.item_id for item in self.items], "editor": self.editors, "sample": 0}
        for output in self.workspace.store.records(Output, **where):
            cell = (output.item_id, output.editor or "")
            if output.image is not None:
                looks[cell] = _Look(output.image, f"{output.image.width} x {output.image.height}")
            elif cell not in looks or looks[cell].image is None:
                looks[cell] = _Look(None, output.status.value, output.error)
        return looks

    def _cell(self, look: _Look | None) -> ContactSheetCell:
        if look is None:
            return ContactSheetCell()
        return ContactSheetCell(self._preview(look.image) or None if look.image else None, look.words, look.error)

    def _preview(self, image: ImageRef) -> bytes:
        """Return a cached preview; empty if the image was withdrawn or is unreadable: a sheet never ends a run."""
        if image.sha256 not in self._small:
            try:
                self._small[image.sha256] = preview(self.workspace.load(image), CELL - 4).data
            except (StoreError, InvalidImage):
                self._small[image.sha256] = b""
        return self._small[image.sha256]

    def _picture(self, rows: Sequence[tuple[Item, Sequence[_Look | None]]]) -> bytes:
        sheet = Image.new("RGB", ((len(self.editors) + 1) * CELL, len(rows) * (CELL + LINE) + LINE), "white")
        pen = ImageDraw.Draw(sheet)
        font = ImageFont.load_default(11)
        for column, name in enumerate(("source", *self.editors)):
            pen.text((column * CELL + 4, 3), name[:26], fill="black", font=font)
        for row, (item, cells) in enumerate(rows):
            top = LINE + row * (CELL + LINE)
            pen.text((4, top + CELL + 2), f"{item.key}: {item.instruction}"[:180], fill="#444444", font=font)
            for column, look in enumerate(cells):
                data = self._preview(look.image) if look is not None and look.image is not None else b""
                if data:
                    with Image.open(io.BytesIO(data)) as small:
                        sheet.paste(small.convert("RGB"), (column * CELL, top))
                elif look is not None:
                    pen.text((column * CELL + 8, top + 70), look.words, fill="#a02020", font=font)
        return encode_image(sheet, JPEG, quality=88)


def sheet_path(workspace: Workspace) -> Path:
    """Return the path of a run's contact sheet."""
    return workspace.root / "contact-sheet.html"


def _source(item: Item) -> _Look | None:
    image = next(iter((*item.sources, *item.references)), None)
    if image is None:
        return None
    more = len(item.sources) + len(item.references) - 1
    kind = "source" if item.sources else "reference"
    return _Look(image, kind if not more else f"{kind} and {more} more")
