"""Reading the answers of search services: whatever is not as documented counts as missing, never as an error later."""

import html
import re
from typing import Any

from imarena.core import SourceFailure

_TAG = re.compile(r"<[^>]*>")
_LONGEST = 2000


def listed_entries(reply: Any, name: str, source: str) -> list[dict[str, Any]]:
    """A list of objects; an answer without it is no search result."""
    listed = reply.get(name) if isinstance(reply, dict) else None
    if not isinstance(listed, list):
        raise SourceFailure(f"{source} answers without '{name}'")
    return [entry for entry in listed if isinstance(entry, dict)]


def text(entry: Any, *names: str) -> str:
    """A text, by path; empty where it is missing. Markup is removed."""
    for name in names:
        entry = entry.get(name) if isinstance(entry, dict) else None
    if isinstance(entry, int) and not isinstance(entry, bool):
        return str(entry)
    if not isinstance(entry, str):
        return ""
    return " ".join(html.unescape(_TAG.sub(" ", entry)).split())[:_LONGEST]


def address(entry: Any, *names: str) -> str:
    """A web address, by path, as it is: `&copy=1` in it is no mark-up. Empty where it is missing or too long."""
    for name in names:
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry.strip() if isinstance(entry, str) and len(entry) <= _LONGEST else ""


def number(entry: Any, *names: str) -> int | None:
    """A whole number, by path."""
    for name in names:
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry if isinstance(entry, int) and not isinstance(entry, bool) and entry > 0 else None
