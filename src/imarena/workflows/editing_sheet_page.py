"""The contact sheet as a page of its own: nothing is loaded from elsewhere, so that it can be opened from a folder."""

import base64
import html
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

STALE_S = 90
"""A page that is older than this and does not say that its run ended tells so: the process may have been killed."""

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #777; --bad: #b3261e; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 20px; }
h1 { font-size: 20px; margin: 0 0 4px; }
p { margin: 0 0 12px; color: var(--soft); }
.frame { overflow-x: auto; }
table { border-collapse: collapse; }
th { position: sticky; top: 0; background: Canvas; font-weight: 600; }
th, td { padding: 6px 8px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td { min-width: 120px; }
td.words { width: 220px; min-width: 160px; }
td img { display: block; max-width: 160px; height: auto; border-radius: 3px; }
small { color: var(--soft); }
.status { color: var(--bad); font-weight: 600; }
.error { max-width: 156px; color: var(--soft); overflow-wrap: anywhere; }
"""

STALE = """
const drawn = %d, note = document.getElementById("state");
setTimeout(() => location.reload(), %d);
if (Date.now() / 1000 - drawn > %d)
  note.textContent = "Not drawn for a while: the run may have been stopped. Run the same command again to go on.";
"""


@dataclass(frozen=True)
class Cell:
    """A small JPEG, words below it, and what went wrong where there is no picture."""

    picture: bytes | None = None
    words: str = ""
    error: str = ""


@dataclass(frozen=True)
class Row:
    """One item: its key, the instructions of its turns, the source and a cell for each editor."""

    key: str
    instructions: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Page:
    """All that the page says."""

    editors: tuple[str, ...]
    rows: tuple[Row, ...]
    outputs: Mapping[str, int]
    done_before: int
    left_out: tuple[int, int]
    """Items and editors that the sheet has no room for."""
    drawn_at: datetime
    every_s: float
    ended: bool
    stopped: str = ""


def page(drawn: Page) -> str:
    """The page's text."""
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in ("", "source", *drawn.editors))
    rows = "".join(_row(row) for row in drawn.rows)
    script = "" if drawn.ended else f"<script>{_script(drawn)}</script>"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Contact sheet</title><style>{STYLE}</style><body><h1>First outputs</h1>"
        f'<p><span id="state" role="status">{html.escape(_state(drawn))}</span> {html.escape(_counts(drawn))} '
        f'<a href="contact-sheet.jpg">As one picture</a></p>'
        f'<div class="frame"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{script}</html>\n'
    )


def _script(drawn: Page) -> str:
    return STALE % (drawn.drawn_at.timestamp(), drawn.every_s * 1000, STALE_S)


def _state(drawn: Page) -> str:
    when = f"{drawn.drawn_at:%Y-%m-%d %H:%M:%S} UTC"
    if not drawn.ended:
        return f"The run goes on; drawn {when}."
    return f"The run stopped at {when}: {drawn.stopped}" if drawn.stopped else f"The run ended at {when}."


def _counts(drawn: Page) -> str:
    told = [f"{number:,} {status}" for status, number in sorted(drawn.outputs.items())]
    words = f"This run: {', '.join(told) or 'nothing yet'}; {drawn.done_before:,} done before."
    items, editors = drawn.left_out
    more = [f"{number:,} {noun}" for number, noun in ((items, "items"), (editors, "editors")) if number > 0]
    return f"{words} Not shown: {' and '.join(more)}." if more else words


def _row(row: Row) -> str:
    told = "<br>".join(html.escape(words) for words in row.instructions)
    cells = "".join(f"<td>{_cell(cell, row.key)}</td>" for cell in row.cells)
    return f'<tr><td class="words">{told}<br><small>{html.escape(row.key)}</small></td>{cells}</tr>'


def _cell(cell: Cell, key: str) -> str:
    if cell.picture is not None:
        data = base64.b64encode(cell.picture).decode("ascii")
        name = html.escape(f"{key}: {cell.words}", quote=True)
        return f'<img src="data:image/jpeg;base64,{data}" alt="{name}"><small>{html.escape(cell.words)}</small>'
    if not cell.words:
        return "<small>…</small>"
    error = html.escape(cell.error[:300])
    return f'<span class="status">{html.escape(cell.words)}</span><div class="error"><small>{error}</small></div>'
