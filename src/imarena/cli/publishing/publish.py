"""``imarena publish``."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import Exit, emit, fail, progress_bars, session_workspace
from imarena.cli.options import Datasets, LicenceIfNone, NewFolder
from imarena.core import counted

if TYPE_CHECKING:
    from imarena.datasets import ChecksumReport
    from imarena.workflows.publishing import PublishReport

_MOST_FILES = 20
_KEYS_SHOWN = 10


def command(
    context: typer.Context,
    directory: NewFolder,
    items_only: Annotated[bool, typer.Option("--items-only", help="Publish the items alone (the default).")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Publish outputs, judgments and votes too.")] = False,
    dataset: Datasets = None,
    licence: LicenceIfNone = "",
    with_comments: Annotated[
        bool, typer.Option("--with-comments", help="With --all: publish the raters' comments too.")
    ] = False,
    name: Annotated[str, typer.Option(help="Title of the data card (default: the data set's name).")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier publication in DIR.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Compare the files in DIR with their checksums.")] = False,
) -> None:
    """Publish a benchmark as a folder for the Hugging Face hub.

    Left out: the names of raters, the paths and commands of this machine, and images whose licence does not permit
    sharing. Images are published without their metadata (EXIF, place, author), with unchanged pixels. Local paths
    and e-mail addresses are removed from instructions, labels and imported columns. Columns that name people
    (annotator, worker_id, email) get pseudonyms. Everything that was left out or changed is counted.

    Exit code 3: images are missing from the workspace. With --check, exit code 1: files are changed or missing.
    """
    from imarena.datasets import check_publication
    from imarena.workflows.publishing import PublishSettings, publish

    if check:
        checked = check_publication(directory)
        emit(context, checked.to_json(), lambda console: _show_check(console, checked))
        if not checked.clean:
            raise typer.Exit(Exit.FAILED)
        return
    if items_only and everything:
        fail("--items-only and --all exclude each other.")
    if with_comments and not everything:
        fail("--with-comments is about votes.", hint="Add --all, which publishes them.")
    settings = PublishSettings(everything, with_comments, licence, tuple(dataset or ()), name, force)
    with session_workspace(context) as workspace, progress_bars("publish") as show_progress:
        report = publish(workspace, directory, settings, progress=show_progress)
    emit(context, report.to_json(), lambda console: _show(console, report))
    if not report.complete:
        raise typer.Exit(Exit.PARTIAL)


def _show(console: Console, report: "PublishReport") -> None:
    rows = ", ".join(counted(number, kind) for kind, number in report.counts.items())
    console.print(f"Wrote {report.directory}: {rows}, {counted(report.images, 'image')}.")
    for noun, reasons in (
        ("image", report.images_left_out),
        ("vote", report.votes_left_out),
        ("judgment", report.judgments_left_out),
    ):
        for reason, number in sorted(reasons.items()):
            console.print(f"left out: {counted(number, noun)} ({reason})")
    if report.images_stripped:
        console.print(
            f"metadata removed: {counted(report.images_stripped, 'image')}; changed_images.csv lists both hashes"
        )
    for name, number in sorted(report.redacted.items()):
        console.print(f"redacted: {counted(number, 'text')} in {name!r} (local path, address or key)")
    for name, number in sorted(report.pseudonymous.items()):
        console.print(f"pseudonyms: {counted(number, 'value')} in {name!r}, which names people")
    if report.withheld_items:
        keys = ", ".join(map(repr, report.withheld_items[:_KEYS_SHOWN]))
        n_hidden = len(report.withheld_items) - _KEYS_SHOWN
        more = f" and {n_hidden:,} more (--json lists all)" if n_hidden > 0 else ""
        console.print(f"items without their images: {keys}{more}")
    if not report.usable_items:
        console.print("No item has all its images: nobody can take part with this publication.")
    if report.without_licence:
        console.print("If the images are yours, state their licence: --licence CC-BY-4.0 --force")


def _show_check(console: Console, report: "ChecksumReport") -> None:
    for word, names in (("changed", report.changed), ("missing", report.missing), ("extra", report.extra)):
        for file in names[:_MOST_FILES]:
            console.print(f"{word}: {file!r}")
        if len(names) > _MOST_FILES:
            console.print(f"... and {len(names) - _MOST_FILES:,} more {word} files")
    if report.clean:
        console.print(f"All {counted(report.files, 'file')} are as they were published.")
    else:
        console.print("The folder is not as it was published.")
