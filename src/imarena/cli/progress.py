"""Progress bars on stderr. Nothing is drawn where stderr is not a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from imarena.cli.console import stderr
from imarena.core import protocols


@contextmanager
def progress(title: str) -> Iterator[protocols.Progress]:
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
    with bars:

        def tell(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(f"{title}: {stage}", total=total)
            bars.update(tasks[stage], completed=done, total=total)  # type: ignore[arg-type]

        yield tell
        for task in bars.tasks:
            if task.total is not None:
                bars.update(task.id, completed=task.total)
