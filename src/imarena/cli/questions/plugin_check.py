"""The output of `judge --check` and `edit --check`. Exit code 0: nothing to fix; 2: something to fix."""

import os
import sys
from pathlib import PurePath
from shlex import quote
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, fail
from imarena.core import command_line, counted

if TYPE_CHECKING:
    from imarena.workflows.studies import PluginCheck

_DOES = {"scores": "scores outputs (`judge`)", "compares": "compares pairs (`battle`)"}


def check_path(path: str, command: str) -> str:
    """Return `MODULE:NAME` of a `--check`. Explains how to write a file's name."""
    path = path.removeprefix("function:")
    file, _, name = path.partition(":")
    if file.endswith(".py"):
        module = ".".join(PurePath(file).with_suffix("").parts[-1:])
        folder = PurePath(file).parent
        plugin = f"{module}:{name or 'NAME'}"
        start = "" if folder == PurePath() else f"cd {quote(str(folder))} && "
        fail(
            f"--check takes MODULE:NAME, not the file '{file}'.",
            hint=f"In the folder of the file: {start}PYTHONPATH=. {command_line(command, '--check', plugin)}"
            + ("" if name else " (NAME is a function in the file)"),
        )
    return path


def finish_check(context: typer.Context, check: "PluginCheck") -> None:
    """Print the result and end with its exit code."""
    emit(context, check.to_json(), lambda console: _show(console, check))
    code = Exit.USER if check.to_fix else Exit.DONE
    if check.hangs:  # a thread that never returns would keep the process alive
        sys.stderr.flush()
        os._exit(code)
    raise typer.Exit(code)


def _show(console: Console, check: "PluginCheck") -> None:
    identity = f"{check.name}, version {check.version}" if check.name else check.path
    does = f": {', '.join(_DOES[action] for action in check.does)}" if check.does else ""
    console.print(f"{identity}{does}")
    for answer in check.answers:
        console.print(f"  {answer.case}: {answer.answer} ({answer.seconds:.2f} s)")
    for title, findings in (("To fix", check.to_fix), ("Good to know", check.notes)):
        for finding in findings:
            cases = f" [{'; '.join(finding.cases)}]" if finding.cases else ""
            console.print(f"{title}: {finding.message}{cases}", soft_wrap=True)
            if finding.hint:
                console.print(f"  {finding.hint}", soft_wrap=True)
    if not check.to_fix:
        console.print("Nothing to fix.")
    else:
        console.print(f"{counted(len(check.to_fix), 'thing')} to fix. Nothing was stored.")
