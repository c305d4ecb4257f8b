"""Markdown tables (GitHub's). Text is escaped, so that no name becomes a link, a tag or a second column."""

import re

from imarena.reports.tables.table import Table, printable

CODE = re.compile(r"`((?:imarena |--)[^`]*)`")
"""Commands and options in a text. A name with backticks is no code."""
_SPECIAL = re.compile(r"[\\`*\[\]<>|~$]|_(?![0-9A-Za-z])|(?<![0-9A-Za-z])_")
"""Underscores between letters have no meaning in Markdown, so most names are unchanged."""
_LINE_START = re.compile(r"^(\s*)(?:([#+\-=])|(\d+)([.)]))")


def to_markdown(table: Table) -> str:
    """The table with its title in bold, its notes and its signature; ends with a line break."""
    filled = table.filled
    lines = [f"**{escape_markdown(filled.title)}**", ""] if filled.title else []
    columns = range(len(filled.columns))
    if filled.notes_first:
        lines += [line for note in filled.notes for line in (escape_paragraph(note), "")]
    lines.append(_row([column.title for column in filled.columns]))
    lines.append("|" + "|".join("--:" if filled.numeric(column) else "---" for column in columns) + "|")
    lines += [_row(texts) for texts in filled.texts()]
    for note in (*(() if filled.notes_first else filled.notes), filled.signature):
        lines += ["", escape_paragraph(note)] if note else []
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """Escape text, including HTML, so that Markdown prints it literally inside a line."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text).replace("&", "&amp;"))


def escape_paragraph(text: str) -> str:
    """Escape text that starts a line, where `#`, `-` and `1.` also have a meaning. Commands in backticks stay code."""
    parts = CODE.split(printable(text))  # every second part is between backticks
    return _LINE_START.sub(
        lambda match: f"{match[1]}\\{match[2]}" if match[2] else f"{match[1]}{match[3]}\\{match[4]}",
        "".join(f"`{part}`" if number % 2 else escape_markdown(part) for number, part in enumerate(parts)),
    )


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(escape_markdown(cell) for cell in cells) + " |"
