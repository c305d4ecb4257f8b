"""Shared by all commands: the workspace location, what goes to stdout and stderr, how errors and progress are printed.

With ``--json`` one JSON document goes to stdout and nothing else. Progress and messages always go to stderr; with
``--json``, so does all output of plug-ins.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer
from rich.console import Console

from imarena.cli.help import CommandGroup, Subcommands

if TYPE_CHECKING:
    from imarena.core import Cause, protocols
    from imarena.reports.tables import Table
    from imarena.storage import Workspace

UNBOUNDED = 4096
"""Width in columns if the output has no edge: tables are as wide as their contents."""


class Exit(IntEnum):
    """Exit codes, which are part of the command line's contract."""

    DONE = 0
    FAILED = 1
    USER = 2
    PARTIAL = 3
    GATE = 4


@dataclass(frozen=True)
class Session:
    """The options before the command."""

    workspace: Path
    json: bool
    quiet: bool = False
    out: TextIO | None = None
    """Where the result goes. With ``--json``, `sys.stdout` of a running command is stderr, for output of plug-ins."""


def command_group(about: str) -> typer.Typer:
    """Return a command with subcommands; without one of them it prints its help."""
    return CommandGroup(cls=Subcommands, add_completion=False, rich_markup_mode=None, no_args_is_help=True, help=about)


def session(context: typer.Context) -> Session:
    """Return the session of a running command."""
    return context.find_object(Session) or Session(workspace=Path(), json=False)


def session_workspace(context: typer.Context) -> "Workspace":
    """Open the workspace of a running command, for use in a `with` statement."""
    from imarena.storage import open_workspace

    return open_workspace(session(context).workspace)


def given_options(context: typer.Context) -> frozenset[str]:
    """Return the parameters that the user gave, by name; the others have their defaults."""
    return frozenset(
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")
    )


def stderr() -> Console:
    """Return the console for progress, warnings and errors."""
    return _console(sys.stderr)


def _console(file: TextIO) -> Console:
    """Return a console without markup. Pipes and files have no width: text wraps there only if COLUMNS is set."""
    if file.isatty():
        return Console(file=file, highlight=False, markup=False)
    width = None if os.environ.get("COLUMNS", "").isdigit() else UNBOUNDED
    return Console(file=file, highlight=False, markup=False, soft_wrap=True, width=width)


def emit(context: typer.Context, document: Any, show: Callable[[Console], None] | str) -> None:
    """Print the result: as one JSON document with ``--json``, else with `show`, or this text."""
    out = session(context).out or sys.stdout
    if session(context).json:
        out.write(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False, default=str) + "\n")
    elif isinstance(show, str):
        _console(out).print(show)
    else:
        show(_console(out))
    out.flush()


def print_tables(console: Console, tables: Sequence["Table"], *, markdown: bool = False, latex: bool = False) -> None:
    """Print tables in the requested format; Markdown and LaTeX are printed unchanged, ready for a file."""
    from imarena.reports.tables import show_table, to_latex, to_markdown

    for table in tables:
        if markdown or latex:
            console.print(to_markdown(table) if markdown else to_latex(table), soft_wrap=True)
        else:
            show_table(table, console)
            console.print()


def show_names(console: Console, names: Mapping[str, str]) -> None:
    """Print names with short descriptions, which keep their own column on any terminal width."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, about in names.items():
        table.add_row(Text(name, style="bold"), Text(about))
    console.print(table, soft_wrap=False)


def confirm_spending(context: typer.Context, *, spends: bool, yes: bool, dry_run: bool) -> bool:
    """Return whether to run: never with --dry-run. Ask first if it may cost money and a person is at the terminal."""
    if dry_run:
        return False
    if not spends or yes or session(context).json or not sys.stdin.isatty():
        return True
    return typer.confirm("Go on?", err=True)


def fail(message: str, *, hint: str = "", code: Exit = Exit.USER) -> NoReturn:
    """Stop with one clear message."""
    console = stderr()
    console.print(f"[bold red]error:[/] {_escape(message)}", markup=True)
    if hint:
        console.print(hint)
    raise typer.Exit(int(code))


def warn(message: str) -> None:
    """Print a warning on stderr. Names from outside may be in it: they cannot control the terminal."""
    from imarena.reports.tables import printable

    text = "\n".join(map(printable, message.split("\n")))
    stderr().print(f"[yellow]warning:[/] {_escape(text)}", markup=True)


def warn_all(context: typer.Context, texts: Iterable[str]) -> None:
    """Print each warning once; with ``--json`` the document contains them."""
    if not session(context).json:
        for text in dict.fromkeys(texts):
            warn(text)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)


CAUSES_SHOWN = 20
"""Maximum number of causes to list."""


def print_causes(console: Console, causes: "Sequence[Cause]", label: str = "left out") -> None:
    """Print one line per cause, most frequent first."""
    for cause in causes[:CAUSES_SHOWN]:
        console.print(f"[yellow]{_escape(label)}:[/] {_escape(str(cause))}", markup=True, soft_wrap=True)
    if hidden_causes := causes[CAUSES_SHOWN:]:
        number = sum(cause.count for cause in hidden_causes)
        console.print(
            f"[yellow]{_escape(label)}:[/] {number:,} for {len(hidden_causes):,} other reasons; --json lists them",
            markup=True,
        )


LINE_EVERY_S = 10.0


@contextmanager
def progress_bars(title: str) -> "Iterator[protocols.Progress]":
    """Show a bar for each reported stage; if stderr is not a terminal (a log, a pipe), a line every ten seconds."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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
            line(f"{title}: {stage}: {done:,}" + (f" of {total:,}" if total is not None else ""))

        yield tell
        for task in bars.tasks:
            if task.total is not None:
                bars.update(task.id, completed=task.total)


def progress_lines() -> Callable[[str], None]:
    """Return a function that prints lines, at most one every ten seconds after the first ten; none on a terminal."""
    console = stderr()
    last = time.monotonic()

    def line(text: str) -> None:
        nonlocal last
        if not console.is_terminal and time.monotonic() - last >= LINE_EVERY_S:
            last = time.monotonic()
            console.print(text, soft_wrap=True)

    return line
