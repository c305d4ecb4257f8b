"""The root command: global options, and commands whose modules are imported only when used."""

import contextlib
import ctypes
import errno
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from imarena.cli.console import Exit, Session, fail
from imarena.cli.help import CommandGroup
from imarena.core import VERSION, ImarenaError, UserError, suggest_for, suggestion

_M_ARENA_MAX = -8
_USUAL_VALUES = {"--fragility": "3"}
"""Options that may be given without a value, and the value that they then have."""
_OPTION = re.compile(r"-(?![\d.])")
"""Matches the start of an option, but not a negative number."""
_DISK_TROUBLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Start here": {
        "demo": ("serving.demo", "Run the complete workflow on the bundled benchmark, offline."),
        "compare": ("studies.compare", "Is NEW better than OLD? Two folders of outputs, one verdict."),
        "score": ("questions.score", "Score one edit, without a workspace."),
        "init": ("upkeep.init", "Create a workspace."),
        "import": ("exchange.import_", "Import items, outputs, judgments and votes."),
        "status": ("upkeep.status", "Print counts by editor, judge and status."),
        "doctor": ("upkeep.doctor", "Check the machine and the installation."),
    },
    "Editors and judges": {
        "edit": ("editing.edit", "Run editors over the items: single, multi-turn, complex."),
        "judge": ("questions.judge", "Score outputs one by one with machine judges."),
        "battle": ("questions.battle", "Compare outputs in pairs with machine judges, in both orders."),
        "health": ("studies.health", "Report how reliable each judge of a workspace is."),
        "scan": ("questions.scan", "Read the text in every image, or run another vision tool, and store the results."),
        "objects": ("questions.objects", "List the objects that a correct output shows, for raters and judges."),
        "reparse": ("questions.reparse", "Parse stored replies again with the current parser."),
    },
    "Boards and reports": {
        "rank": ("boards.rank", "Print a leaderboard from a workspace or a table of battles."),
        "report": ("serving.report", "Write a report: one HTML file, or a folder with tables and plots."),
        "site": ("publishing.site", "Write a static leaderboard site: boards, models, battles with images."),
        "align": ("studies.align", "Compare a judge or a metric with people."),
        "agree": ("studies.agree", "Measure agreement among raters."),
        "judge-study": (
            "studies.judge_study",
            "Compare pointwise and pairwise judging: the judge studies of GenArena.",
        ),
        "signature": ("boards.signature", "Explain the signature of a board."),
    },
    "People": {
        "serve": ("serving.serve", "Serve the web application: voting, rating, leaderboards, explorer."),
        "campaign": ("rating.campaign", "Manage rating campaigns: create, invite, status, export, close."),
        "route": ("active_elo.route", "Active Elo: calibrate a judge, assign votes, rank again."),
        "simulate": ("active_elo.simulate", "Compare routing policies at the same number of human votes."),
    },
    "Benchmarks": {
        "curate": ("curate.curate", "Collect, check and trace source images for a benchmark (CogRetriever)."),
        "edival": ("edival.commands", "Object-centric edits (EdiVal): build a benchmark, score and report."),
        "export": ("exchange.export", "Export a workspace."),
        "publish": ("publishing.publish", "Publish a benchmark as a folder for the Hugging Face hub."),
        "submission": ("publishing.submission", "Outputs of other teams: check, make and add a submission."),
    },
    "One image or one edit": {
        "see": ("questions.see", "Show what is in images: objects, text, faces, colours, quality."),
        "measure": ("questions.measure", "Measure how far an output is from its source; no workspace needed."),
        "agent": ("editing.agent", "Edit one image with CV-Agent and print every step."),
    },
    "Training and ablations": {
        "pvc": ("pvc.commands", "PVC-Judge: candidates, preference pairs, training data, training, meta-evaluation."),
        "agent-ablation": ("editing.agent_ablation", "Rate what each stage of CV-Agent adds."),
    },
    "Upkeep": {
        "verify": ("upkeep.verify", "Check every record, hash and link."),
        "backup": ("upkeep.backup", "Copy a workspace into a backup folder."),
        "restore": ("upkeep.restore", "Restore a workspace from a backup."),
        "dataset": ("upkeep.dataset", "Data sets of a workspace: list, remove."),
        "upgrade": ("upkeep.upgrade", "Upgrade a workspace to the newest schema, after a backup of its database."),
        "gc": ("upkeep.gc", "Remove images that no record refers to."),
        "withdraw": ("upkeep.withdraw", "Remove an image's bytes or a rater's personal data, and leave a tombstone."),
        "weights": ("upkeep.weights", "Model weights: list, get, add, verify."),
        "cluster": ("upkeep.cluster", "Check a Ray cluster: what it offers and what is missing."),
    },
}
"""The headings of `imarena --help` and the commands below each: the name, its module under ``imarena.cli`` (with a
`command`, or an `app` with several), and its line of help."""
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class LazyGroup(TyperGroup):
    """Imports a command's module when the command is used, so that ``--help`` stays fast."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        path, summary = COMMANDS[cmd_name]
        module = import_module(f"imarena.cli.{path}")
        app = getattr(module, "app", None)
        if app is None:
            app = CommandGroup(add_completion=False, rich_markup_mode=None)
            app.command(cmd_name, help=module.command.__doc__)(module.command)
        built = typer.main.get_command(app)
        built.name = cmd_name
        built.short_help = summary
        return built

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and (hint := suggestion(args[0], COMMANDS, "")):
            ctx.fail(f"No such command '{args[0]}'. {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        width = max(map(len, COMMANDS))
        for heading, group in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in group.items()])


app = typer.Typer(
    cls=LazyGroup, add_completion=False, rich_markup_mode=None, no_args_is_help=True, pretty_exceptions_enable=False
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"imarena {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    workspace: Annotated[
        Path,
        typer.Option("--workspace", "-w", metavar="DIR", envvar="IMARENA_WORKSPACE", help="The workspace folder."),
    ] = Path(),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
    ] = False,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """imarena: the open arena for image editing and image generation models."""
    context.with_resource(suggest_for(workspace))
    context.obj = Session(workspace=workspace, json=as_json, out=sys.stdout)
    if as_json:  # any other output, from a plug-in or a library, would break the document
        context.with_resource(contextlib.redirect_stdout(sys.stderr))


def hoist_global_options(arguments: list[str]) -> list[str]:
    """Allow ``--json`` and ``--workspace DIR`` anywhere: move them before the command."""
    front: list[str] = []
    words: list[str] = []
    remaining = iter(arguments)
    for word in remaining:
        if word == "--":
            words += [word, *remaining]
        elif word == "--json":
            front.append(word)
        elif word in ("--workspace", "-w"):
            front += [word, *(value for _, value in zip(range(1), remaining, strict=False))]
        elif word.startswith("--workspace="):
            front.append(word)
        else:
            words.append(word)
    return front + words


def fill_in_values(arguments: list[str]) -> list[str]:
    """Allow ``--fragility`` without its number: typer has no options with an optional value."""
    filled: list[str] = []
    for word, following in zip(arguments, [*arguments[1:], "-"], strict=True):
        filled.append(word)
        if word in _USUAL_VALUES and _OPTION.match(following):
            filled.append(_USUAL_VALUES[word])
    return filled


def main() -> None:
    """The entry point: exit 0 done, 1 failed, 2 the user must fix something, 3 done in part, 4 a gate failed."""
    _share_heaps()
    try:
        app(args=hoist_global_options(fill_in_values(sys.argv[1:])), prog_name="imarena")
    except UserError as error:
        message, _, hint = str(error).partition("\n")
        _end(message, hint, Exit.USER)
    except ImarenaError as error:
        _end(str(error), "", Exit.FAILED)
    except KeyboardInterrupt:
        _end("stopped.", "Run the same command again to continue.", Exit.PARTIAL)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        if error.filename is None and error.errno not in _DISK_TROUBLE:
            raise
        prefix = f"{error.filename}: " if error.filename is not None else ""
        _end(f"{prefix}{error.strerror}.", "Check the path, its rights and the room on its disk.", Exit.USER)


def _share_heaps() -> None:
    """Limit the heaps of threads: by default glibc gives each thread its own, which doubles memory for image work."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            libc.mallopt(_M_ARENA_MAX, 2)


def _end(message: str, hint: str, code: Exit) -> None:
    try:
        fail(message, hint=hint, code=code)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
