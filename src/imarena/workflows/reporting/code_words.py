"""Codes of tasks and topics in words: ImagenWorld calls a task `MRIE` and a topic `CG`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from imarena.datasets import load_taxonomy
from imarena.reports import Section
from imarena.workflows.views import View


def explain_codes(view: View, sections: Sequence[Section | None]) -> list[Section | None]:
    """The sections, each with the meaning of the codes in its tables."""
    taxonomy = load_taxonomy("imagenworld")
    listed = {"task": taxonomy.tasks, "topic": taxonomy.topics}
    codes = {
        entry.name: entry.title
        for column, entries in listed.items()
        for entry in entries
        if entry.name in view.entries.labels[column].used()
    }
    return [section and _explained(section, codes) for section in sections]


def _explained(section: Section, codes: Mapping[str, str]) -> Section:
    shown = {cell for table in section.tables for row in table.rows for cell in row if isinstance(cell, str)}
    shown |= {column.title for table in section.tables for column in table.columns}
    words = "; ".join(f"{code}: {title.lower()}" for code, title in codes.items() if code in shown)
    return replace(section, text=(*section.text, f"Codes: {words}.")) if words else section
