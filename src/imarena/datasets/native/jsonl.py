"""Native JSON Lines: one file, one record per line with its kind; images embedded or in files next to it.

    records.jsonl            {"kind": "manifest", "format": "imarena", "version": 1}
                             {"kind": "item", "id": "item_...", "record": {...}}
                             {"kind": "blob", "sha256": "...", "base64": "..."}    with images=embedded
    blobs/ab/cd/abcd...      with images=beside

An image's line comes before the first record that refers to it, so the file can be read in one pass.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Archive, Importable, Intake, Skip, UserError, first_line
from imarena.datasets.folder import Folder, read_jsonl
from imarena.datasets.native.folder import NewerVersion, blob_finder, check_version, parse_line, record_line
from imarena.datasets.native.records import (
    FORMAT,
    KINDS,
    VERSION,
    BlobWriter,
    RecordAdmission,
    images_option,
    new_directory,
    save_beside,
)
from imarena.datasets.options import check_options

_FILE = "records.jsonl"


def write(directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]:
    """Export everything to one file. Yields the images that the workspace no longer has."""
    images = images_option("native_jsonl", options)
    new_directory(directory)
    with (directory / _FILE).open("w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps({"kind": "manifest", "format": FORMAT, "version": VERSION}) + "\n")

        def embed(sha256: str, data: bytes) -> None:
            line = {"kind": "blob", "sha256": sha256, "base64": base64.b64encode(data).decode("ascii")}
            file.write(json.dumps(line) + "\n")

        beside = images == "beside"
        blobs = BlobWriter(archive, save_beside(directory)) if beside else BlobWriter(archive, embed, _FILE)
        for kind, model in KINDS.items():
            for record in archive.records(model):
                yield from blobs.write(kind, record)
                file.write(record_line(kind, record))


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import every record unchanged, including `created_at`. `path` is the file or its folder."""
    check_options("native_jsonl", options)
    folder = Folder(path)
    file = folder.root if folder.root.is_file() else folder.file(_FILE)
    if not file.is_file():
        raise UserError(f"{path} has no {_FILE}.", hint="Name the file itself, or a folder that was exported.")
    name = folder.name(file)
    admission = RecordAdmission(intake, blob_finder(folder))
    for line in read_jsonl(file, name):
        if isinstance(line, Skip):
            yield line
            continue
        number, value = line
        try:
            if value.get("kind") == "manifest":
                check_version(value)
            elif value.get("kind") == "blob":
                _take_blob(value, admission)
            else:
                yield admission.admit(parse_line(value), name, f"line {number}")
        except NewerVersion:
            raise
        except UserError as error:
            yield Skip(name, f"line {number}", first_line(error))


def _take_blob(value: Mapping[str, Any], admission: RecordAdmission) -> None:
    sha256, text = value.get("sha256"), value.get("base64")
    if not isinstance(sha256, str) or not isinstance(text, str):
        raise UserError("a blob needs sha256 and base64")
    try:
        admission.keep(base64.b64decode(text, validate=True), sha256)
    except (binascii.Error, ValueError) as error:
        raise UserError("the blob is not base64") from error
