"""``imarena weights``: list, get, add, verify."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, command_group, emit, print_tables, progress_bars, stderr
from imarena.core import counted

if TYPE_CHECKING:
    from imarena.workflows.upkeep import InstalledWeights

app = command_group("Model weights: list, get, add, verify.")
Accept = Annotated[bool, typer.Option("--accept", help="Accept a licence that restricts use.")]


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the weights that can be installed by name, and those that are installed."""
    from imarena.reports.tables import Column, Table
    from imarena.workflows.upkeep import list_weights

    entries = list_weights()

    def show(console: Console) -> None:
        titles = ("name", "installed", "size", "licence", "hashes", "from", "for")
        rows = tuple(
            (
                entry.name,
                "yes" if entry.installed else "no",
                _size(entry.size_bytes),
                entry.licence if entry.permissive else f"{entry.licence} (--accept)",
                entry.hashes,
                entry.source,
                entry.purpose,
            )
            for entry in entries
        )
        notes = ("hashes 'at first download': what is downloaded first is recorded, and other files are refused then.",)
        print_tables(console, [Table(tuple(Column(title) for title in titles), rows, notes=notes)])

    emit(context, [asdict(entry) for entry in entries], show)


@app.command("get")
def get(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name of `imarena weights list`.", show_default=False)],
    accept: Accept = False,
) -> None:
    """Download weights and check their hashes. An interrupted download is continued."""
    from imarena.workflows.upkeep import downloadable_entry, get_weights

    entry = downloadable_entry(name)
    stderr().print(
        f"{name}: {_size(entry.size_bytes)} from {entry.source}, licence {entry.licence} ({entry.licence_url})",
        soft_wrap=True,
    )  # fmt: skip
    with progress_bars(name) as progress:
        installed = get_weights(name, accept=accept, progress=progress)
    _report(context, installed)


@app.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name to install them under.", show_default=False)],
    folder: Annotated[Path, typer.Argument(help="A folder with *.safetensors or *.onnx.", show_default=False)],
    licence: Annotated[
        str | None, typer.Option(help="Their licence, such as Apache-2.0; a listed name has its own.")
    ] = None,
    accept: Accept = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace weights installed under this name.")] = False,
) -> None:
    """Copy weights from a folder. Files that can run code (.bin, .pt, .pth, .ckpt, .pkl) are refused."""
    from imarena.workflows.upkeep import add_weights

    with progress_bars(name) as progress:
        installed = add_weights(name, folder, licence=licence, accept=accept, replace=replace, progress=progress)
    _report(context, installed)


@app.command("verify")
def verify(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(help="Only these; all by default.", show_default=False)] = None,
) -> None:
    """Hash all installed files again. Exit code 1: a file is changed, missing or unknown."""
    from imarena.vision import installed_names, verify_weights

    checked = names or installed_names()
    with progress_bars("verify") as progress:
        findings = list(verify_weights(checked, progress))

    def show(console: Console) -> None:
        for finding in findings:
            console.print(
                f"[red]{finding.kind}[/]  {escape(finding.name)}  {finding.file}  {escape(finding.detail)}", markup=True
            )
        result = counted(len(findings), "finding") if findings else "clean"
        console.print(f"{counted(len(checked), 'model')} checked: {result}")

    document = {"names": checked, "clean": not findings, "findings": [asdict(finding) for finding in findings]}
    emit(context, document, show)
    if findings:
        raise typer.Exit(Exit.FAILED)


def _report(context: typer.Context, installed: "InstalledWeights") -> None:
    manifest = installed.manifest
    consent = "accepted with --accept" if manifest.licence_accepted else "permissive"
    text = (
        f"{manifest.name}: {'installed' if installed.fresh else 'was installed already'} in {installed.folder}\n"
        f"licence: {manifest.licence} ({consent})\n"
        f"{counted(len(manifest.files), 'file')}, {_size(manifest.size_bytes)}, from {manifest.source}"
        f"{f' at {manifest.revision}' if manifest.revision else ''}"
    )
    emit(context, installed.to_json(), lambda console: console.print(text, soft_wrap=True))


def _size(size_bytes: int | None) -> str:
    if size_bytes is None:
        return "?"
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:,.1f} kB"
