"""The columns of a table of items: which are fields of an item, and their names in the table (``ours=theirs``)."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from imarena.core import UserError, missing_text, package_yaml, suggestion
from imarena.core.notices import Notice

LABELS = ("taxonomy", "task", "family", "topic", "subtopic", "track", "licence")
TURN_TEXTS = ("instruction", "original_instruction", "expected", "task")
"""Texts that each turn may have: `instruction`, `instruction_2`, ..."""
ROLES = ("source", "reference", "mask")
KNOWN = ("key", *TURN_TEXTS[:3], "instructions", *ROLES, *LABELS, "language", "dataset", "provenance")
_NUMBERED = re.compile(rf"({'|'.join((*TURN_TEXTS, *ROLES))})_([2-9]|[1-9][0-9]{{1,2}})")
_NAMES = package_yaml("imarena.datasets", "table", "column_names.yaml")
TAKEN_NAMES = frozenset(_NAMES["taken"])
"""Names with another meaning when verdicts are grouped (`--by`)."""
_USUAL: dict[str, list[str]] = _NAMES["usual"]
"""Usual names of each column in other tables, used for suggestions."""
_TOO_CLOSE = 0.8
_MOST_NAMES = 200


def numbered(column: str) -> tuple[str, int] | None:
    """Split a column such as `source_2` into field and number (1 without a number); None for other columns."""
    if column in TURN_TEXTS or column in ROLES:
        return column, 1
    match = _NUMBERED.fullmatch(column)
    return (match.group(1), int(match.group(2))) if match else None


def is_known(column: str) -> bool:
    """Is the column a field of an item?"""
    return column in KNOWN or numbered(column) is not None


def parse_columns(text: str) -> dict[str, str]:
    """Parse ``key=id,instruction=edit prompt`` as our name -> theirs. A comma may be part of a column's name."""
    pairs: list[str] = []
    for part in text.split(",") if text else []:
        if "=" in part or not pairs:
            pairs.append(part)
        else:
            pairs[-1] += f",{part}"
    names: dict[str, str] = {}
    for pair in pairs:
        ours, equals, theirs = (part.strip() for part in pair.partition("="))
        if not equals or not ours or not theirs:
            raise UserError(f"'{pair}' does not name two columns.", hint="Write --columns ours=theirs.")
        if ours in names and names[ours] != theirs:
            raise UserError(f"--columns names '{ours}' twice.", hint=f"Choose one of: {names[ours]}, {theirs}.")
        near = difflib.get_close_matches(ours, KNOWN, n=1, cutoff=_TOO_CLOSE)
        if not is_known(ours) and near:
            raise UserError(f"There is no field '{ours}'.", hint=suggestion(ours, near, f"Known: {', '.join(KNOWN)}."))
        names[ours] = theirs
    return names


def _proposal(missing: Sequence[str], useful: Sequence[str], have: Sequence[str]) -> str:
    """What to type, such as `key=id,instruction=prompt`; NAME for a missing column without a usual name there."""
    pairs = []
    for ours in (*missing, *useful):
        fields = (ours, "instructions") if ours == "instruction" else (ours,)
        usual = [f"{field}={theirs}" for field in fields for theirs in _USUAL[field] if theirs in have]
        pairs += usual[:1] or ([f"{ours}=NAME"] if ours in missing else [])
    steps = [f"Name {'them' if len(missing) > 1 else 'it'}: --columns {','.join(pairs)}"]
    if "source" in useful and not any(pair.startswith("source=") for pair in pairs):
        steps.append("Items with a source image also need source=NAME, further turns instruction_2=NAME")
    if "key=NAME" in pairs:
        steps.append("Rows without a key are numbered with -o key=row")
    return steps[0] if len(steps) == 1 else f"{'. '.join(steps)}."


@dataclass
class ColumnNames:
    """Renames a table's columns to our names, and records those that are not fields of an item."""

    theirs: Mapping[str, str] = field(default_factory=dict)
    """Our name -> the table's name."""
    numbered_rows: bool = False
    """Keys are row numbers: the table needs no column `key`."""
    kept: dict[str, None] = field(default_factory=dict)
    """Columns that are kept with the items, by our name."""
    dropped: dict[str, str] = field(default_factory=dict)
    """Columns that were not imported, by the table's name, each with the reason."""
    with_source: bool = False
    """A row had a source image."""

    def check(self, columns: Iterable[str], name: str) -> None:
        """Raise if a column that is required or was named is missing; the error says what to type instead."""
        have = list(columns)
        columns_hint = f"The file has: {', '.join(have[:_MOST_NAMES])}."
        for ours, theirs in self.theirs.items():
            if theirs not in have:
                raise UserError(
                    f"{name}: there is no column '{theirs}' (--columns {ours}={theirs}).",
                    hint=suggestion(theirs, have, columns_hint),
                )
        present = {*self.theirs, *(column for column in have if column not in self.theirs.values())}
        if "instructions" in present:
            present.add("instruction")
        required = ("instruction",) if self.numbered_rows else ("key", "instruction")
        missing = [column for column in required if column not in present]
        if not missing:
            return
        step = _proposal(missing, [column for column in ("source", "task") if column not in present], have)
        raise UserError(f"{name}: {missing_text('column', missing)}.", hint=f"{columns_hint} {step}")

    def rename(self, row: Mapping[str, object]) -> dict[str, object]:
        """A row with our names; columns that are replaced by another one are left out."""
        replaced = set(self.theirs.values())
        renamed = {ours: row[theirs] for ours, theirs in self.theirs.items() if theirs in row}
        for column, value in row.items():
            if column in replaced:
                continue
            if column in self.theirs:
                self.drop(column, f"--columns takes it from {self.theirs[column]}")
            else:
                renamed[column] = value
        self.with_source = self.with_source or any(column.startswith("source") for column in renamed)
        if "license" in renamed and "licence" not in renamed:
            renamed["licence"] = renamed.pop("license")
        return renamed

    def keep(self, column: str) -> None:
        """Record a column that is kept with the items."""
        if len(self.kept) < _MOST_NAMES:
            self.kept[column] = None

    def drop(self, column: str, reason: str) -> None:
        """Record a column that was not imported."""
        if len(self.dropped) < _MOST_NAMES:
            self.dropped.setdefault(column, reason)

    def notices(self, name: str) -> list[Notice]:
        """Notices about columns that are not fields of an item: which are kept and which were not imported."""
        extra = [column for column in self.kept if column not in self.dropped]
        if not extra and not self.dropped:
            return []
        clashing = [column for column in extra if column in TAKEN_NAMES]
        unused = Notice(
            code="columns_unused",
            values={"file": name, "kept": [*extra], "dropped": {**self.dropped}, "clashing": [*clashing]},
        )
        if self.with_source:
            return [unused]
        usual = next((column for column in _USUAL["source"] if column in (*extra, *self.dropped)), "NAME")
        return [unused, Notice(code="no_source_column", values={"file": name, "usual": usual})]
