"""curate describe: write a table of the images in a folder, in which a person describes each one."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imarena.core import Cause, Progress, UserError
from imarena.core.records import JsonDict
from imarena.storage import Workspace
from imarena.workflows.curating.sources import open_library

COLUMNS = ("file_name", "shows", "title", "text", "licence", "creator", "page", "seen")


@dataclass(frozen=True)
class DescribeReport:
    """The written table, and the number of images that still need a description."""

    file: Path
    images: int
    not_described: int
    skipped: tuple[Cause, ...]

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        skipped: list[Any] = [cause.to_json() for cause in self.skipped]
        return {
            "file": str(self.file), "images": self.images, "not_described": self.not_described, "skipped": skipped,
        }  # fmt: skip


def describe_folder(
    workspace: Workspace, folder: Path, output: Path | None = None, *, progress: Progress | None = None
) -> DescribeReport:
    """Write `metadata.csv` into a folder of images, with the tools' findings for each; never overwrite a file."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder.", hint="Give a folder of images.")
    file = output or folder / "metadata.csv"
    if file.exists():
        raise UserError(f"{file} exists and is not overwritten.", hint="Give another file with --output.")
    library, contents = open_library(workspace, folder, "", describe=True, progress=progress)
    images = [image for image in library.images() if "#" not in image.key]
    with file.open("w", newline="", encoding="utf-8") as opened:
        table = csv.writer(opened)
        table.writerow(COLUMNS)
        for image in images:
            own = (image.shows, image.title, image.text, image.licence, image.creator, image.page)
            table.writerow((image.key, *own, image.seen))
    return DescribeReport(file, len(images), sum(not image.shows for image in images), contents.skipped)
