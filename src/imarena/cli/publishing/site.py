"""``imarena site``."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from imarena.cli.console import emit, progress_bars, session, session_workspace, warn
from imarena.cli.options import LicenceIfNone, NewFolder
from imarena.core import counted

if TYPE_CHECKING:
    from imarena.workflows.publishing import SiteReport


def command(
    context: typer.Context,
    directory: NewFolder,
    title: Annotated[str, typer.Option(help="Title of the site (default: the workspace's name).")] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(help="Also one board per value of this label; repeatable (default: task, topic, family, track)."),
    ] = None,
    licence: LicenceIfNone = "",
    image_px: Annotated[
        int, typer.Option("--image-px", min=64, max=4096, help="Longer side of each image, in pixels.")
    ] = 480,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap; `rank --seed` with the same seed agrees.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier site in DIR.")] = False,
) -> None:
    """Write a static leaderboard site: boards, win matrices, a page per model, and all battles with their images.

    The site needs no server: open DIR/index.html, or upload the folder to any web server. The licence and privacy
    rules of `imarena publish` apply: raters are not named, and images are shown only where their licence permits it.
    The same records and seed give the same files.
    """
    from imarena.workflows.publishing import SiteSettings, write_site

    defaults = SiteSettings()
    settings = SiteSettings(title, licence, tuple(by) if by else defaults.by, image_px, seed, force)
    with session_workspace(context) as workspace, progress_bars("site") as show_progress:
        report = write_site(workspace, directory, settings, progress=show_progress)
    emit(context, asdict(report), lambda console: _show(console, report))
    if report.open_campaigns and not session(context).json:
        names = ", ".join(map(repr, report.open_campaigns[:3]))
        warn(f"Campaigns are still open ({names}): raters who see the site see the results so far.")


def _show(console: Console, report: "SiteReport") -> None:
    groups = counted(report.group_boards, "board")
    parts = ((report.boards, "board"), (report.models, "model"), (report.battles, "battle"), (report.images, "image"))
    console.print(
        f"Wrote {report.page}: {', '.join(counted(number, noun) for number, noun in parts)}"
        f"{f', and {groups} of groups of items' if report.group_boards else ''}."
    )  # fmt: skip
    for reason, number in sorted(report.images_left_out.items()):
        console.print(f"left out: {counted(number, 'image')} ({reason})")
    if report.without_licence:
        console.print("If the images are yours, state their licence: --licence CC-BY-4.0 --force")
