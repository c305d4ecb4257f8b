"""``imarena edival``: the commands of the group."""

from imarena.cli.console import command_group
from imarena.cli.edival import build, objects, report, score

app = command_group("Object-centric edits (EdiVal): build a benchmark, score and report.")
app.command("build", help=build.command.__doc__)(build.command)
app.command("objects", help=objects.command.__doc__)(objects.command)
app.command("score", help=score.command.__doc__)(score.command)
app.command("report", help=report.command.__doc__)(report.command)
