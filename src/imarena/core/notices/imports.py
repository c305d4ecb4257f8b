"""Sentences of notices of imports."""

import shlex
from typing import Any

from imarena.core.notices.notice import Medium, Wording
from imarena.core.plurals import counted


def _columns_unused(values: dict[str, Any], medium: Medium) -> str:
    parts = []
    if kept := values["kept"]:
        group = next((column for column in kept if column not in values["clashing"]), "")
        how = f" (`rank --by {shlex.quote(group)}` groups by one)" if medium == "terminal" and group else ""
        parts.append(f"other columns are stored with the item: {', '.join(kept)}{how}")
    if dropped := values["dropped"]:
        parts.append(
            "columns that are not used: " + ", ".join(f"{column} ({reason})" for column, reason in dropped.items())
        )
    if clashing := values["clashing"]:
        name = clashing[0]
        parts.append(f"`--by {name}` means something else: rename it with --columns item_{name}={name}")
    return f"{values['file']}: {'; '.join(parts)}."


def _no_source_column(values: dict[str, Any], _medium: Medium) -> str:
    return (
        f"{values['file']}: no column `source`: its items are text to image. "
        "For edits, name the column of the images: --columns source=NAME."
    )


def _votes_repeated(values: dict[str, Any], _medium: Medium) -> str:
    return (
        f"{values['file']}: {values['rows']:,} rows are of raters who answered the same question more than once "
        f"({counted(values['subjects'], 'question')}). Every row counts as a vote of its own; "
        "remove rows that are corrections of earlier ones."
    )


WORDINGS: dict[str, Wording] = {
    "columns_unused": _columns_unused,
    "no_source_column": _no_source_column,
    "votes_repeated": _votes_repeated,
}
