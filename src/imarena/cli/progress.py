"""Progress on stderr: bars on a terminal, elsewhere (a log, a pipe) a plain line every ten seconds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from imarena.cli.console import stderr
from imarena.core import protocols

LINE_EVERY_S = 10.0


@contextmanager
def progress_bars(title: str) -> Iterator[protocols.Progress]:
    """A bar for each stage that is told of."""
    console = stderr()
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=False,
    )
    tasks: dict[str, object] = {}
    line = progress_lines()
    with bars:

        def tell(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(f"{title}: {stage}", total=total)
            bars.update(tasks[stage], completed=done, total=total)  # type: ignore[arg-type]
            line(f"{title}: {stage} {done:,}" + (f" of {total:,}" if total is not None else ""))

        yield tell
        for task in bars.tasks:
            if task.total is not None:
                bars.update(task.id, completed=task.total)


def progress_lines() -> Callable[[str], None]:
    """Say what is told at most every ten seconds, from the tenth on; on a terminal, where bars are drawn, nothing."""
    console = stderr()
    last = time.monotonic()

    def line(text: str) -> None:
        nonlocal last
        if not console.is_terminal and time.monotonic() - last >= LINE_EVERY_S:
            last = time.monotonic()
            console.print(text, soft_wrap=True)

    return line
