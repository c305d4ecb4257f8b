"""The native folder: a manifest, one JSON Lines file per kind of record, and images named by their hash.

    manifest.json            {"format": "imarena", "version": 1, "counts": {"item": 3, ...}}
    records/item.jsonl       {"kind": "item", "id": "item_...", "record": {...}}
    blobs/ab/cd/abcd...      the original bytes of an image, named by their SHA-256

The manifest is written last: a folder without one is incomplete.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import VERSION as SOFTWARE
from imarena.core import Archive, Importable, Intake, Skip, UserError, counted, first_line
from imarena.core.records import Record
from imarena.datasets.folder import Folder, read_json, read_jsonl
from imarena.datasets.imported import check_storable
from imarena.datasets.native.records import (
    FORMAT,
    KINDS,
    VERSION,
    BlobWriter,
    FindBlob,
    RecordAdmission,
    blob_path,
    new_directory,
    parse_record,
    record_id,
    save_beside,
)
from imarena.datasets.options import check_options


def record_line(kind: str, record: Record) -> str:
    """One record as one line of JSON, with its ID so that links can be followed without this package."""
    return f'{{"kind":{json.dumps(kind)},"id":{json.dumps(record_id(kind, record))},"record":{record.to_json()}}}\n'


def parse_line(value: Mapping[str, Any]) -> Importable:
    """Parse a line that `record_line` wrote. Raises `UserError` with the reason."""
    if "record" not in value:
        raise UserError("the field record is missing")
    check_storable(value["record"])
    return parse_record(value.get("kind"), value["record"], value.get("id"))


def write(directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]:
    """Export everything. Yields the images that the workspace no longer has."""
    check_options("native", options)
    new_directory(directory)
    (directory / "records").mkdir()
    blobs = BlobWriter(archive, save_beside(directory))
    counts: dict[str, int] = {}
    for kind, model in KINDS.items():
        count = 0
        with (directory / "records" / f"{kind}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for record in archive.records(model):
                yield from blobs.write(kind, record)
                file.write(record_line(kind, record))
                count += 1
        counts[kind] = count
    write_manifest(directory, counts)


def write_manifest(directory: Path, counts: Mapping[str, int], more: Mapping[str, object] | None = None) -> None:
    """Write the last file of an export. Readers ignore the fields in `more`."""
    manifest = {"format": FORMAT, "version": VERSION, "software": SOFTWARE, "counts": dict(counts), **(more or {})}
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


class NewerVersion(UserError):
    """The export was written by a later version of the format."""


def check_version(manifest: Mapping[str, Any]) -> None:
    """Reject an export that this version of the software cannot read."""
    version = manifest.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise NewerVersion(
            f"The export has version {version!r}; this software reads up to {VERSION}.", hint="Upgrade imarena."
        )


def read_manifest(folder: Folder) -> dict[str, int]:
    """How many records of each kind the exporter wrote. Raises `UserError` if the manifest cannot be read."""
    path = folder.file("manifest.json")
    if not path.is_file():
        raise UserError(
            f"{folder.root} has no manifest.json.",
            hint="It is not a native export, or the export did not run to its end.",
        )
    try:
        manifest = read_json(path)
    except UserError as error:
        raise UserError(f"manifest.json: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UserError(f'manifest.json does not have "format": "{FORMAT}".', hint="Name another format.")
    check_version(manifest)
    counts = manifest.get("counts")
    if not isinstance(counts, dict) or not all(isinstance(count, int) for count in counts.values()):
        raise UserError("manifest.json has no counts.")
    return counts


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import every record unchanged, including `created_at`. Altered lines and images are reported and skipped."""
    check_options("native", options)
    folder = Folder(path)
    counts = read_manifest(folder)
    admission = RecordAdmission(intake, blob_finder(folder))
    for kind in KINDS:
        name = f"records/{kind}.jsonl"
        file = folder.file(name)
        if not file.is_file():
            if counts.get(kind, 0):
                yield Skip(name, "", f"the file is not there; the manifest counts {counted(counts[kind], 'record')}")
            continue
        yield from _read_kind(file, name, counts.get(kind, 0), admission)


def blob_finder(folder: Folder) -> FindBlob:
    """Make a lookup of images by hash below a folder."""
    return lambda image: folder.read_bytes(blob_path(image.sha256))


def _read_kind(file: Path, name: str, expected: int, admission: RecordAdmission) -> Iterator[Importable]:
    n_lines = 0
    for line in read_jsonl(file, name):
        if isinstance(line, Skip):
            if line.row:
                n_lines += 1
                yield line
            continue
        n_lines += 1
        number, value = line
        try:
            yield admission.admit(parse_line(value), name, f"line {number}")
        except UserError as error:
            yield Skip(name, f"line {number}", first_line(error))
    if n_lines != expected:
        yield Skip(name, "", f"the manifest counts {counted(expected, 'record')}, the file holds {n_lines}")
