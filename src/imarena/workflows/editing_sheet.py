"""A contact sheet of the first outputs, drawn again while a run lasts: items down, editors across."""

import html
import time
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from imarena.core.protocols import Editor
from imarena.core.records import ImageRef, Item, Output
from imarena.images import JPEG, encode, preview
from imarena.storage import Workspace

ROWS = 8
COLUMNS = 12
CELL = 160
EVERY_S = 5.0


class ContactSheet:
    """``contact-sheet.jpg`` and ``contact-sheet.html`` in the workspace's folder."""

    def __init__(self, workspace: Workspace, items: Sequence[Item], editors: Sequence[Editor]) -> None:
        self.workspace = workspace
        self.items = list(items[:ROWS])
        self.editors = [editor.name for editor in editors[:COLUMNS]]
        self._last = 0.0
        self._cells: dict[str, Image.Image] = {}

    @property
    def path(self) -> Path:
        """The page."""
        return self.workspace.root / "contact-sheet.html"

    def changed(self) -> None:
        """New outputs are stored; draw again if the last drawing is some seconds old."""
        if time.monotonic() - self._last >= EVERY_S:
            self.draw()

    def draw(self) -> None:
        """Write the picture and the page, each whole or not at all."""
        found = self._found()
        sheet = Image.new("RGB", ((len(self.editors) + 1) * CELL, len(self.items) * (CELL + 18) + 18), "white")
        pen = ImageDraw.Draw(sheet)
        font = ImageFont.load_default(11)
        for column, name in enumerate(("source", *self.editors)):
            pen.text((column * CELL + 4, 3), name[:26], fill="black", font=font)
        for row, item in enumerate(self.items):
            top = 18 + row * (CELL + 18)
            pen.text((4, top + CELL + 2), f"{item.key}: {item.instruction}"[:180], fill="#444444", font=font)
            pictures = [
                item.sources[0] if item.sources else None,
                *(found.get((item.item_id, e)) for e in self.editors),
            ]
            for column, shown in enumerate(pictures):
                if isinstance(shown, ImageRef):
                    sheet.paste(self._cell(shown), (column * CELL, top))
                elif shown:
                    pen.text((column * CELL + 8, top + 70), shown, fill="#a02020", font=font)
        self._write(encode(sheet, JPEG, quality=88))
        self._last = time.monotonic()

    def _found(self) -> dict[tuple[str, str], ImageRef | str]:
        """The picture of each cell, or the status that says why there is none."""
        cells: dict[tuple[str, str], ImageRef | str] = {}
        where = {"item_id": [item.item_id for item in self.items], "editor": self.editors, "sample": 0}
        for output in self.workspace.store.records(Output, **where):
            place = (output.item_id, output.editor or "")
            if output.image is not None:
                cells[place] = output.image
            else:
                cells.setdefault(place, output.status.value)
        return cells

    def _cell(self, image: ImageRef) -> Image.Image:
        import io

        if image.sha256 not in self._cells:
            small = preview(self.workspace.load(image), CELL - 4)
            self._cells[image.sha256] = Image.open(io.BytesIO(small.data)).convert("RGB")
        return self._cells[image.sha256]

    def _write(self, picture: bytes) -> None:
        root = self.workspace.root
        names = ", ".join(html.escape(name) for name in self.editors)
        page = (
            '<!doctype html><meta charset="utf-8"><title>Contact sheet</title>'
            '<body style="font:14px sans-serif;margin:16px"><h1>First outputs</h1>'
            f'<p>{names}</p><img src="contact-sheet.jpg" alt="The first outputs of each editor" style="max-width:100%">'
        )
        for name, data in (("contact-sheet.jpg", picture), ("contact-sheet.html", page.encode())):
            part = root / f"{name}.part"
            part.write_bytes(data)
            part.replace(root / name)
