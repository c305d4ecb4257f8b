"""Rejections and failures grouped by cause: each reason once, with its count and an example or two.

Two reasons have the same cause if they differ only in details: quoted names, numbers, file names.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from imarena.core.protocols import ITEM_LEFT_OUT, Skip

EXAMPLES = 2
MOST_CAUSES = 500
"""Maximum number of distinct causes, so that a hostile file cannot make more."""
OTHER = "for other reasons"
_DETAIL = re.compile(
    r"(?<!\w)'[^']*'(?!\w)"  # 'a name'
    r'|"[^"]*"'
    r"|[^\s':]*[/\\][^\s':]*"  # a path
    r"|[^\s':]+\.(?:png|jpe?g|webp|avif|tiff?|bmp|gif|csv|tsv|jsonl?|parquet)\b"
    r"|(?<!HTTP )(?<!status )(?<!code )(?<!\w)\d[\d,.]*"  # a number, but not an HTTP status
)


@dataclass(frozen=True)
class Cause:
    """One reason, its count, and an example or two."""

    reason: str
    """In full if it was always the same; else with an ellipsis in place of the differences."""
    count: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        places = " and ".join(self.examples)
        if self.count == 1:
            return f"{places}: {self.reason}" if places else self.reason
        return (
            f"{self.count:,} x {self.reason.rstrip('.')}, such as {places}"
            if places
            else f"{self.count:,} x {self.reason}"
        )

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {"reason": self.reason, "count": self.count, "examples": list(self.examples)}


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts row 3 before row 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name)]


@dataclass
class _Group:
    reason: str
    count: int
    examples: list[str]
    last: bool = False


class CauseTally:
    """Counts reasons by their cause, with bounded memory."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def add(self, reason: str, example: str = "", count: int = 1, *, last: bool = False) -> None:
        """Count a reason; `example` names the place where it occurred. `last`: list it after the others."""
        general = _DETAIL.sub("…", reason)
        if general not in self._groups and len(self._groups) >= MOST_CAUSES:
            reason = general = OTHER
        group = self._groups.setdefault(general, _Group(reason, 0, [], last))
        group.count += count
        if reason != group.reason:
            group.reason = general
        if example and example not in group.examples:
            group.examples = sorted([*group.examples, example], key=_natural)[:EXAMPLES]

    def causes(self) -> tuple[Cause, ...]:
        """Return the causes, most frequent first, then in the order of their examples.

        Threads may report failures in any order: the causes and their examples do not depend on it.
        """
        ordered = sorted(
            self._groups.values(),
            key=lambda group: (group.last, -group.count, [_natural(name) for name in group.examples]),
        )
        return tuple(Cause(group.reason, group.count, tuple(group.examples)) for group in ordered)


def skip_causes(skips: Iterable[Skip]) -> tuple[Cause, ...]:
    """Group skips by cause."""
    tally = CauseTally()
    for skip in skips:
        tally.add(skip.reason, skip.where, last=skip.code == ITEM_LEFT_OUT)
    return tally.causes()


def error_causes(errors: Mapping[str, int]) -> tuple[Cause, ...]:
    """Group messages and their counts by cause."""
    tally = CauseTally()
    for message, number in errors.items():
        tally.add(message, count=number)
    return tally.causes()
