"""How every command prints what was left out or failed: each cause once, with its count and an example or two."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from imarena.core import Cause

SHOWN = 20


def print_causes(console: Console, causes: Sequence[Cause], label: str = "left out") -> None:
    """One line per cause, the most frequent first."""
    for cause in causes[:SHOWN]:
        console.print(f"[yellow]{escape(label)}:[/] {escape(str(cause))}", markup=True, soft_wrap=True)
    if rest := causes[SHOWN:]:
        number = sum(cause.count for cause in rest)
        console.print(
            f"[yellow]{escape(label)}:[/] {number:,} for {len(rest):,} other reasons; --json lists them", markup=True
        )
