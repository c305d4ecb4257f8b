"""Commands that texts suggest: `command_line` makes each, so that all name the workspace of the running command."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PLACE = "{imarena}"
_folder = Path()


@contextmanager
def suggest_for(workspace: Path) -> Iterator[None]:
    """Let commands in texts name this workspace folder. One process runs one command, so all its threads share it."""
    global _folder  # noqa: PLW0603 - texts are made in every room, and only the door knows the option
    before, _folder = _folder, workspace
    try:
        yield
    finally:
        _folder = before


def command_line(command: str, *values: object, workspace: Path | None = None, program: str = "imarena") -> str:
    """Return a command for the user to copy: `imarena -w DIR rank --judge 'my judge'`.

    `command`: the words after `imarena` as they are; `values`: more words, each quoted for the shell; `workspace`: the
    folder, if it is another one than that of the running command. The current folder is not named.
    """
    folder = _folder if workspace is None else workspace
    option = [] if folder == Path() else ["-w", shlex.quote(str(folder))]
    return " ".join([program, *option, *([command] if command else []), *(shlex.quote(str(value)) for value in values)])


def fill_in_commands(text: str) -> str:
    """Return a text of a data file with its commands: `{imarena} rank` becomes `imarena -w DIR rank`."""
    return text.replace(_PLACE, command_line(""))
