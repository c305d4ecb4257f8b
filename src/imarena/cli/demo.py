"""``imarena demo``."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, stderr
from imarena.cli.progress import progress


def command(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(help="Where the demo's workspace goes.")] = Path("imarena-demo"),
    full: Annotated[bool, typer.Option(help="All of the bundled benchmark instead of a fixed sample.")] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Then serve it: vote and look in a browser.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --serve: the port.")] = 8000,
) -> None:
    """The whole path on the bundled benchmark, offline: items, outputs, judgments, battles, ranking, report."""
    from imarena.workflows.demo import demo, next_steps
    from imarena.workflows.serving import need_web

    if serve:
        need_web()  # before a minute of work, not after it
    with progress("demo") as tell:
        done = demo(directory, full=full, progress=tell)
    document = {**done.__dict__, "workspace": str(done.workspace), "report": str(done.report)}

    def show(console: Console) -> None:
        console.print(
            f"{done.items} of {done.of_items} items, {done.outputs} outputs by eight editors,"
            f" {done.judgments} scores and {done.battles} battles by the builtin judge."
        )
        for title, value in done.tau.items():
            console.print(f"Kendall's tau of the board '{title}' with the known order: {value:.2f}")
        console.print(f"\nThe report: {done.report.resolve()}\n\nTry next:", markup=False)
        for line in next_steps(directory, _program()):
            console.print(f"  {line}", markup=False)

    emit(context, document, show)
    if serve:
        from imarena.workflows.serving import serve as serve_workspace

        told = stderr()
        serve_workspace(
            directory,
            port=port,
            with_campaign=True,
            say=lambda address: told.print(f"Open {address}   (stop with Ctrl-C)", markup=False, soft_wrap=True),
        )


def _program() -> str:
    """How to call this program from here: by its name where that is on the path, else as it was called."""
    return "imarena" if shutil.which("imarena") else sys.argv[0]
