"""Shared by the native formats: the kinds of records, their order, and the handling of images."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from imarena.core import (
    Archive,
    ImarenaError,
    Importable,
    Intake,
    InvalidImage,
    Skip,
    UserError,
    error_line,
    first_line,
    validation_problem,
)
from imarena.core.notices import Notice
from imarena.core.records import (
    Assignment,
    Calibration,
    Campaign,
    Event,
    Evidence,
    Exclusion,
    ImageRef,
    Item,
    Judgment,
    Output,
    Ranking,
    Rater,
    Record,
    Reply,
    Run,
    Tombstone,
    Trace,
    Verification,
    Vote,
)
from imarena.datasets.options import check_options

FORMAT = "imarena"
VERSION = 1

KINDS: dict[str, type[Record]] = {
    "tombstone": Tombstone,
    "run": Run,
    "rater": Rater,
    "campaign": Campaign,
    "item": Item,
    "output": Output,
    "trace": Trace,
    "evidence": Evidence,
    "reply": Reply,
    "judgment": Judgment,
    "assignment": Assignment,
    "event": Event,
    "vote": Vote,
    "exclusion": Exclusion,
    "verification": Verification,
    "calibration": Calibration,
    "ranking": Ranking,
}
"""Kinds of records by name, in an order in which records only refer to earlier kinds."""


def record_id(kind: str, record: Record) -> str:
    """The ID by which other records refer to this one."""
    return str(getattr(record, f"{kind}_id"))


def record_images(record: Record) -> Iterator[ImageRef]:
    """Every image that a record refers to."""
    if isinstance(record, Output):
        if record.image is not None:
            yield record.image
    elif isinstance(record, Item):
        yield from (*record.sources, *record.references, *record.masks)
        for turn in record.turns:
            yield from (*turn.references, *turn.masks)


def parse_record(kind: object, body: object, claimed_id: object = None) -> Importable:
    """Make a record from its decoded JSON. Raises `UserError` with the reason on one line."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise UserError(f"the kind of record {kind!r} is not known (known: {', '.join(KINDS)})")
    try:
        record = KINDS[kind].model_validate(body)
    except (ValidationError, ValueError) as error:
        raise UserError(f"not a valid {kind} ({first_error(error)})") from error
    if claimed_id is not None and claimed_id != record_id(kind, record):
        raise UserError(f"the {kind} does not match its id {claimed_id!r}: it was changed after it was written")
    return as_importable(record)


def as_importable(record: Record) -> Importable:
    """Narrow the type of a record of a known kind to what an importer may yield."""
    importable: Any = record
    return importable  # type: ignore[no-any-return]


def first_error(error: ValueError) -> str:
    """The errors of a validation, or the first line of another error, shortened."""
    if isinstance(error, ValidationError):
        return validation_problem(error, given=False).text
    return error_line(error, 200)


FindBlob = Callable[[ImageRef], bytes]
"""Finds an image's bytes in a native import. Raises `UserError` if they are missing."""


class RecordAdmission:
    """Admits a record once its images are stored. An image is checked once, however many records refer to it."""

    def __init__(self, intake: Intake, find: FindBlob) -> None:
        self._intake = intake
        self._find = find
        self._kept: set[str] = set()
        self._refused: dict[str, str] = {}
        self._withdrawn: set[str] = set()

    def admit(self, record: Importable, file: str, row: str) -> Importable:
        """Return the record, or the reason why it is skipped."""
        if isinstance(record, Skip | Notice):
            return record
        if isinstance(record, Tombstone):
            self._withdrawn.add(record.subject)
        for image in record_images(record):
            reason = self._keep(image)
            if reason:
                return Skip(file, row, reason)
        return record

    def knows(self, sha256: str) -> bool:
        """Was this image stored or rejected before?"""
        return sha256 in self._kept or sha256 in self._refused

    def keep(self, data: bytes, sha256: str) -> None:
        """Store an image that is part of the imported stream."""
        try:
            if self._intake.keep(data, name=sha256[:12]).sha256 == sha256:
                self._kept.add(sha256)
            else:
                self._refused[sha256] = "its bytes do not match their hash"
        except InvalidImage as error:
            self._refused[sha256] = first_line(error)

    def _keep(self, image: ImageRef) -> str:
        sha256 = image.sha256
        if sha256 not in self._kept and sha256 not in self._refused and sha256 not in self._withdrawn:
            try:
                self.keep(self._find(image), sha256)
            except UserError as error:
                self._refused[sha256] = first_line(error)
        return f"image {sha256[:12]}: {self._refused[sha256]}" if sha256 in self._refused else ""


def blob_path(sha256: str) -> str:
    """The path of an image below an exported folder: two levels of folders, then its hash."""
    return f"blobs/{sha256[:2]}/{sha256[2:4]}/{sha256}"


SaveBlob = Callable[[str, bytes], None]
"""Takes an image's hash and its bytes."""


class BlobWriter:
    """Writes each image once with `save`. `inside`: the file that contains all of them; empty: one file per image."""

    def __init__(self, archive: Archive, save: SaveBlob, inside: str = "") -> None:
        self._archive = archive
        self._save = save
        self._inside = inside
        self._seen: set[str] = set()

    def write(self, kind: str, record: Record) -> Iterator[Skip]:
        """Write the images of a record. An image that the workspace no longer has is reported; the record is kept."""
        for image in record_images(record):
            if image.sha256 in self._seen:
                continue
            self._seen.add(image.sha256)
            data = load_picture(self._archive, image)
            if isinstance(data, str):
                yield Skip(self._inside or blob_path(image.sha256), f"{kind} {record_id(kind, record)}", data)
            else:
                self._save(image.sha256, data)


def save_beside(directory: Path) -> SaveBlob:
    """Save images below an exported folder, each in a file named by its hash."""

    def save(sha256: str, data: bytes) -> None:
        path = directory / blob_path(sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return save


def load_picture(archive: Archive, image: ImageRef) -> bytes | str:
    """The bytes of an image, or the reason why there are none."""
    try:
        return archive.load(image)
    except (ImarenaError, OSError, KeyError) as error:
        return f"the image is not in the workspace ({first_line(error)})"


def new_directory(directory: Path) -> Path:
    """Create an empty folder to export to. Raises if it is not empty, because that may be a user's mistake."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UserError(f"{directory} is not an empty folder.", hint="Name a new folder to export into.")
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def images_option(form: str, options: Mapping[str, str]) -> str:
    """Where an exporter writes the images: `embedded` (the default) or `beside`."""
    check_options(form, options, images=("embedded", "beside"))
    return options.get("images", "embedded")
