"""The contact sheet as a self-contained page that can be opened from a folder."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from imarena.reports.tables import render_template

STALE_S = 90
"""If a page of an unfinished run is older than this many seconds, it says that the process may have been killed."""


@dataclass(frozen=True)
class ContactSheetCell:
    """A small JPEG and the text below it, or an error if there is no image."""

    picture: bytes | None = None
    words: str = ""
    error: str = ""

    @property
    def data(self) -> str:
        """The image in base64."""
        return base64.b64encode(self.picture or b"").decode("ascii")


@dataclass(frozen=True)
class ContactSheetRow:
    """One item: its key, the instructions of its turns, the source and one cell per editor."""

    key: str
    instructions: tuple[str, ...]
    cells: tuple[ContactSheetCell, ...]


@dataclass(frozen=True)
class ContactSheetPage:
    """The content of the page."""

    editors: tuple[str, ...]
    rows: tuple[ContactSheetRow, ...]
    outputs: Mapping[str, int]
    done_before: int
    left_out: tuple[int, int]
    """Number of items and of editors that do not fit on the sheet."""
    drawn_at: datetime
    every_s: float
    ended: bool
    stopped: str = ""


def contact_sheet_html(drawn: ContactSheetPage) -> str:
    """The HTML of the page."""
    return render_template(
        "contact_sheet.html.j2", sheet=drawn, state=_state(drawn), counts=_counts(drawn), stale_s=STALE_S
    )


def _state(page: ContactSheetPage) -> str:
    when = f"{page.drawn_at:%Y-%m-%d %H:%M:%S} UTC"
    if not page.ended:
        return f"The run continues; drawn {when}."
    return f"The run stopped at {when}: {page.stopped}" if page.stopped else f"The run ended at {when}."


def _counts(page: ContactSheetPage) -> str:
    counts = [f"{number:,} {status}" for status, number in sorted(page.outputs.items())]
    text = f"This run: {', '.join(counts) or 'nothing yet'}; {page.done_before:,} done before."
    items, editors = page.left_out
    more = [f"{number:,} {noun}" for number, noun in ((items, "items"), (editors, "editors")) if number > 0]
    return f"{text} Not shown: {' and '.join(more)}." if more else text
