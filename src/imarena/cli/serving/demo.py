"""``imarena demo``."""

import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, progress_bars, session, stderr

if TYPE_CHECKING:
    from imarena.storage import Workspace
    from imarena.workflows.demo import Demo


def command(
    context: typer.Context,
    directory: Annotated[
        Path | None, typer.Argument(help="Workspace folder (default: imarena-demo).", show_default=False)
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Use the whole bundled benchmark, not a fixed sample.")] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Also serve it, from the first outputs on: vote and view boards.")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --serve: the port.")] = 8000,
) -> None:
    """Run the complete workflow on the bundled benchmark, offline: from items and outputs to ranking and report."""
    from imarena.workflows.demo import demo, next_steps
    from imarena.workflows.serving import first_campaign, need_port, need_web, run_background_server

    if directory is None:  # not the workspace of IMARENA_WORKSPACE, which holds the user's own work
        source = context.find_root().get_parameter_source("workspace")
        workspace_given = source is not None and source.name == "COMMANDLINE"
        directory = session(context).workspace if workspace_given else Path("imarena-demo")
    if not full and not directory.exists():
        _say("The demo takes about two minutes of CPU time. If you interrupt it, the same command continues it.")
    if serve:
        need_web()  # fail before the work, not after it
        need_port("127.0.0.1", port)
        signal.signal(signal.SIGTERM, _end)  # the server must not outlive this process
    with ExitStack() as stack:
        servers: list[subprocess.Popen[str]] = []
        lines: list[str] = []

        def say(line: str) -> None:
            lines.append(line)
            _say(line)
            if line.startswith("Open "):
                _say("Vote there at once: boards fill while the judge is at work, and Runs shows how far it is.")

        def ready(workspace: "Workspace") -> None:
            first_campaign(workspace)
            servers.append(stack.enter_context(run_background_server(directory, port=port, say=say)))

        with progress_bars("demo") as tell:
            done = demo(directory, full=full, progress=tell, ready=ready if serve else None)
        _tell(context, done, next_steps(directory, _program()))
        for server in servers:
            _say("\n" + lines[0] if lines else "")
            with suppress(KeyboardInterrupt):
                raise typer.Exit(server.wait())


def _say(line: str) -> None:
    stderr().print(line, soft_wrap=True)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _tell(context: typer.Context, done: "Demo", steps: tuple[str, ...]) -> None:
    document = {**done.__dict__, "workspace": str(done.workspace), "report": str(done.report)}

    def show(console: Console) -> None:
        console.print(
            f"{done.items} of {done.of_items} items, {done.outputs} outputs by eight editors,"
            f" {done.judgments} scores and {done.battles} battles by the builtin judge."
        )
        console.print(done.conclusion)
        if done.tau:
            values = "; ".join(f"{title} {value:.2f}" for title, value in done.tau.items())
            console.print(
                "The true order of these editors is known. Kendall's tau of each board with it (1: identical): "
                f"{values}. studio-flaky is excluded: its place depends on how its missing outputs count."
            )
        console.print(f"\nOpen the report in a browser: {done.report.resolve()}\n\nTry next:")
        for line in steps:
            console.print(f"  {line}")

    emit(context, document, show)


def _program() -> str:
    """Return how to call this program from here: by name if that is on the path, else as it was called."""
    if shutil.which("imarena"):
        return "imarena"
    return f"{sys.executable} -m imarena" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
