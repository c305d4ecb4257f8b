"""``imarena edival``: the commands of the group."""

import typer

from imarena.cli.edival import build, objects, report, score

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Object-centric edits (EdiVal): build a benchmark, score and report.",
)
app.command("build", help=build.command.__doc__)(build.command)
app.command("objects", help=objects.command.__doc__)(objects.command)
app.command("score", help=score.command.__doc__)(score.command)
app.command("report", help=report.command.__doc__)(report.command)
