"""``imarena see``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from imarena.cli.console import Exit, emit, print_tables
from imarena.core import UserError

if TYPE_CHECKING:
    from imarena.workflows.questions import SeenPicture

BOXED = ("objects", "faces", "words", "salient")


def command(
    context: typer.Context,
    images: Annotated[list[Path], typer.Argument(help="Image files.", show_default=False)],
    tool: Annotated[
        list[str] | None,
        typer.Option("--tool", "-t", help="objects, words, salient, colours, faces or quality; repeatable."),
    ] = None,
    boxes: Annotated[
        Path | None, typer.Option("--boxes", help="Folder for a copy of each image with boxes drawn on it.")
    ] = None,
) -> None:
    """Show what is in images: objects, text, the salient region, colours, faces, quality. Needs no workspace.

    An image that cannot be read, or a tool that fails, gets a status; the other results are shown.
    """
    from imarena.workflows.questions import see

    if boxes is not None and boxes.exists() and not boxes.is_dir():
        raise UserError(f"{boxes} is not a folder.", hint="Name a folder, which is made where it is missing.")
    findings: list[SeenPicture] = []
    paths: list[str] = []
    for picture in images:
        findings.append(see(picture, tool or ()))
        paths.append("" if boxes is None else _write_boxes(boxes, picture, findings[-1], set(paths)))
    documents = [
        {**finding.to_json(), **({"boxes": file or None} if boxes is not None else {})}
        for finding, file in zip(findings, paths, strict=True)
    ]

    def show(console: Console) -> None:
        for finding in findings:
            _show(console, finding)
        if any(paths):
            console.print(f"boxes: {boxes}")

    emit(context, {"pictures": documents}, show)
    if not any(finding.answers for finding in findings):
        raise typer.Exit(Exit.USER)
    if not all(finding.complete for finding in findings):
        raise typer.Exit(Exit.PARTIAL)


def _write_boxes(folder: Path, picture: Path, finding: "SeenPicture", used_paths: set[str]) -> str:
    """Write the copy with boxes; return its path, or "" if the image cannot be read."""
    if not finding.answers:
        return ""
    from imarena.workflows.questions import draw_boxes

    data = draw_boxes(picture, finding)
    number, file = 1, folder / f"{picture.stem}.boxes.png"
    while str(file) in used_paths:  # two images with the same name in two folders
        number += 1
        file = folder / f"{picture.stem}-{number}.boxes.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}.") from error
    return str(file)


def _show(console: Console, finding: "SeenPicture") -> None:
    from imarena.reports.tables import Column, Table

    size = f", {finding.width} x {finding.height}" if finding.width else ""
    console.print(f"[bold]{escape(finding.picture)}[/bold]{size}", markup=True)
    if finding.error:
        console.print(f"  {finding.status}: {finding.error}")
    rows: list[tuple[str | float, ...]] = []
    for name in BOXED:
        for entry in finding.boxes(name):
            box = " ".join(f"{end:.0f}" for end in entry.box)
            rows.append((name, entry.label, entry.score, box))
    if rows:
        columns = (Column("seen"), Column("what"), Column("score", ".2f"), Column("box (left top right bottom)"))
        print_tables(console, [Table(columns, tuple(rows))])
    described = finding.to_json()
    for name in ("colours", "quality"):
        if described.get(name):
            entries = (
                [f"{colour['name']} {colour['share']:.0%}" for colour in described[name]]
                if name == "colours"
                else [f"{key} {value:.2f}" for key, value in described[name].items() if value is not None]
            )
            console.print(f"  {name}: {', '.join(entries)}")
    for name, answer in finding.answers.items():
        if answer.error:
            console.print(f"  {name}: {answer.status}: {answer.error}")
