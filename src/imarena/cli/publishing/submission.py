"""``imarena submission``: check, make, add."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, command_group, emit, progress_bars, session_workspace
from imarena.core import command_line, counted

if TYPE_CHECKING:
    from imarena.core.records import Item
    from imarena.workflows.publishing import AddReport, SubmissionCheck

_MOST_LINES = 20

app = command_group("Outputs of other teams: check, make, add.")
FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="One image per item, named by its key.")]
Items = Annotated[
    Path | None,
    typer.Option("--items", metavar="DIR", help="A folder that `publish` wrote (default: the items of the workspace)."),
]
AnySize = Annotated[
    bool, typer.Option("--any-size", help="Accept images whose size differs from that of the source image.")
]


@app.command("check")
def check(context: typer.Context, folder: FolderArgument, items: Items = None, any_size: AnySize = False) -> None:
    """List all missing, extra, broken and wrong-size files of a folder. Exit code 3: the folder has problems."""
    report = _check(context, folder, items, any_size)
    emit(context, report.to_json(), lambda console: _show_check(console, report))
    if not report.clean:
        raise typer.Exit(Exit.PARTIAL)


@app.command("make")
def make(
    context: typer.Context,
    folder: FolderArgument,
    editor: Annotated[str, typer.Option(help="The editor's name, as a leaderboard shows it.")],
    out: Annotated[Path, typer.Option(metavar="PACK.zip", help="The file to write.")],
    items: Items = None,
    version: Annotated[str, typer.Option("--version", help="The editor's version.")] = "",
    seed: Annotated[int | None, typer.Option(help="The seed that the outputs were made with.")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Pack even if outputs are missing.")] = False,
    any_size: AnySize = False,
) -> None:
    """Pack a folder of outputs with its provenance into one file."""
    from imarena.workflows.publishing import make_submission

    checked = _check(context, folder, items, any_size)
    with progress_bars("pack") as show_progress:
        report = make_submission(
            checked, out, editor=editor, version=version, seed=seed, partial=partial, progress=show_progress
        )
    text = f"Wrote {report.pack}: {counted(report.files, 'output')} of '{editor}', {report.size_bytes:,} bytes."
    lines = [text, f"SHA-256: {report.sha256}"]
    lines += [f"not in the pack: {counted(report.missing, 'output')} that items ask for"] if report.missing else []
    lines += [f"ignored: {counted(len(checked.extra), 'extra file')}"] if checked.extra else []
    emit(context, asdict(report), "\n".join(lines))


@app.command("add")
def add(
    context: typer.Context,
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="A file that `submission make` wrote.")],
    name: Annotated[
        str,
        typer.Option(
            "--as", metavar="NAME", help="Store the outputs under this editor name instead of the one in the pack."
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the pack and store nothing.")] = False,
) -> None:
    """Add a pack's outputs to the workspace: all or none. Adding it twice changes nothing."""
    from imarena.workflows.publishing import add_submission

    with session_workspace(context) as workspace, progress_bars("add") as show_progress:
        report = add_submission(workspace, pack, name=name, dry_run=dry_run, progress=show_progress)
    emit(context, asdict(report), lambda console: _show_added(console, report))


def _check(context: typer.Context, folder: Path, published: Path | None, any_size: bool) -> "SubmissionCheck":
    from imarena.workflows.publishing import check_submission

    with progress_bars("check") as show_progress:
        return check_submission(folder, _items(context, published), any_size=any_size, progress=show_progress)


def _items(context: typer.Context, published: Path | None) -> list["Item"]:
    from imarena.workflows.publishing import benchmark_items

    if published is not None:
        return benchmark_items(None, published)
    with session_workspace(context) as workspace:
        return benchmark_items(workspace, None)


def _show_check(console: Console, report: "SubmissionCheck") -> None:
    from imarena.reports.tables import printable

    groups = {
        "missing": list(report.missing),
        "extra": [f"{wrong.file}: {wrong.reason}" for wrong in report.extra],
        "broken": [f"{wrong.file}: {wrong.reason}" for wrong in report.broken],
        "wrong size": [f"{wrong.file}: {wrong.reason}" for wrong in report.wrong_size],
    }
    for title, lines in groups.items():
        if lines:
            console.print(f"{title}: {counted(len(lines), 'file')}")
            for line in lines[:_MOST_LINES]:
                console.print(f"  {printable(line)}")
            if len(lines) > _MOST_LINES:
                console.print(f"  ... and {len(lines) - _MOST_LINES:,} more; --json lists all")
    if report.datasets and report.missing:
        console.print(
            f"The data sets {', '.join(map(printable, report.datasets))} have items with the same keys, so that each"
            " file is expected in a folder named after its data set. If one of them was imported by mistake, remove it:"
            f" {command_line('dataset remove NAME')}"
        )
    usable = len(report.files)
    only_extra = not (report.missing or report.broken or report.wrong_size)
    end = "clean" if report.clean else "complete; extra files are not packed" if only_extra else "not ready"
    console.print(f"{usable:,} of {counted(report.expected, 'output')} can be read: {end}")


def _show_added(console: Console, report: "AddReport") -> None:
    from imarena.reports.tables import printable

    verb = "Would add" if report.dry_run else "Added"
    lines = [f"{verb} {counted(report.new, 'output')} of '{report.editor}'; {report.same:,} already stored."]
    if report.missing:
        keys = ", ".join(printable(key) for key in report.missing_keys)
        more = ", ..." if report.missing > len(report.missing_keys) else ""
        lines.append(
            f"not in the pack: {counted(report.missing, 'output')} that items of this workspace ask for ({keys}{more})"
        )
    if report.wrong_size:
        lines.append(f"of another size than the source image: {counted(report.wrong_size, 'output')}")
    console.print("\n".join(lines))
