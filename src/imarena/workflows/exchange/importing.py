"""import: read a format, store its images, append its records. Importing twice changes nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from imarena.core import InvalidImage, Progress, ReadFormat, Skip, content_id, sha256_hex
from imarena.core.records import ImageRef, Item, JsonDict, Judgment, Output, Record, Status, Tombstone, Vote
from imarena.datasets import load_taxonomy, taxonomy_names
from imarena.images import check_image
from imarena.storage import Conflict, Workspace, item_images, withdrawn_images
from imarena.workflows.wiring import record_run

BATCH = 1_000
MAX_SKIPS = 1_000
"""Skips that are kept word for word; the rest is only counted."""


@dataclass
class ImportReport:
    """What an import did."""

    format: str
    path: str
    new: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    skips: list[Skip] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What was imported but looks wrong, such as a task that the taxonomy does not know."""

    def skip(self, skip: Skip) -> None:
        """Note something that was left out."""
        self.skipped += 1
        if len(self.skips) < MAX_SKIPS:
            self.skips.append(skip)

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "format": self.format,
            "path": self.path,
            "new": dict(self.new),
            "same": dict(self.same),
            "skipped": self.skipped,
            "warnings": self.warnings,
            "skips": [{"file": skip.file, "row": skip.row, "reason": skip.reason} for skip in self.skips],
        }


class WorkspaceIntake:
    """What an importer may ask of a workspace (the `Intake` port)."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._refs: dict[str, ImageRef] = {}
        self._pending: list[ImageRef] = []
        self._withdrawn = withdrawn_images(workspace)
        self._tombstones: dict[str, str] = {}

    def keep(self, data: bytes, *, name: str) -> ImageRef:  # noqa: ARG002
        """Check a picture and store its original bytes."""
        sha256 = sha256_hex(data)
        if sha256 in self._refs:
            return self._refs[sha256]
        if sha256 in self._withdrawn:
            raise InvalidImage(f"the image was withdrawn from this workspace on {self._withdrawn[sha256][:10]}")
        info = check_image(data)
        reference = ImageRef(
            sha256=sha256, size_bytes=len(data), media_type=info.media_type, width=info.width, height=info.height
        )
        self._workspace.blobs.put(data)
        self._refs[sha256] = reference
        self._pending.append(reference)
        return reference

    def items(self, dataset: str) -> Mapping[str, Item]:
        """The items of a data set that are stored already, by key."""
        return {item.key: item for item in self._workspace.store.records(Item, dataset=dataset)}

    def outputs(self, dataset: str) -> Mapping[tuple[str, str], str]:
        """Ids of the ok single-turn outputs that are stored already, by (item key, editor)."""
        keys = {row["id"]: row["key"] for row in self._workspace.store.rows(Item, dataset=dataset)}
        found: dict[tuple[str, str], str] = {}
        for row in self._workspace.store.rows(Output, status=Status.OK.value, turn=0, sample=0):
            if row["editor"] is not None and row["item_id"] in keys:
                found[keys[row["item_id"]], row["editor"]] = row["id"]
        return found

    def bury(self, records: Iterable[Record]) -> None:
        """Register the pictures that records name and a tombstone in the same import says are gone: the records stay
        and so do their links, here as where they came from.
        """
        for record in records:
            if isinstance(record, Tombstone) and record.kind == "image":
                self._tombstones[record.subject] = record.created_at.isoformat()
            named = item_images(record) if isinstance(record, Item) else []
            if isinstance(record, Output) and record.image is not None:
                named = [record.image]
            for image in named:
                moment = self._tombstones.get(image.sha256)
                if moment is not None and image.sha256 not in self._refs:
                    self._workspace.store.keep_images([image], withdrawn_at=moment)

    def flush(self) -> None:
        """Register the pictures kept so far: before the records that name them."""
        self._workspace.store.keep_images(self._pending)
        self._pending.clear()


def import_records(
    workspace: Workspace,
    read: ReadFormat,
    *,
    format_name: str,
    path: Path,
    options: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import everything that `read` yields. Bad rows are reported and left out; good ones go in, a batch at a time."""
    report = ImportReport(format_name, str(path))
    chosen = dict(options or {})
    intake = WorkspaceIntake(workspace)
    place = content_id("place", str(path.resolve()))
    settings: JsonDict = {"format": format_name, "path": path.name, "place": place, "options": {**chosen}}
    with record_run(workspace, "import", settings) as run:
        stream = read(path, intake, chosen)
        done = 0
        while batch := list(islice(stream, BATCH)):
            records: list[Record] = []
            for entry in batch:
                if isinstance(entry, Skip):
                    report.skip(entry)
                else:
                    records.append(entry)
            intake.flush()
            intake.bury(records)
            _write(workspace, records, report)
            done += len(batch)
            if progress:
                progress("records", done, None)
        intake.flush()
        run.counts = dict(report.new)
        run.partial = report.skipped > 0
    return report


def _check_tasks(records: list[Record], report: ImportReport) -> None:
    """Warn of tasks and topics that an item's taxonomy does not know; each warning once."""
    for record in records:
        if isinstance(record, Item) and record.taxonomy in taxonomy_names() and len(report.warnings) < MAX_SKIPS:
            warning = load_taxonomy(record.taxonomy or "").check(record)
            if warning and warning not in report.warnings:
                report.warnings.append(warning)


def _write(workspace: Workspace, records: list[Record], report: ImportReport) -> None:
    _check_tasks(records, report)
    outcome = workspace.store.add(records)
    refused = {id(conflict.record) for conflict in outcome.conflicts}
    kinds = Counter(type(record).__name__ for record in records if id(record) not in refused)
    report.new.update(outcome.new_by_kind)
    report.same.update(kinds - outcome.new_by_kind)
    if outcome.same:
        for record in _changed(workspace, records):
            report.same[type(record).__name__] -= 1
            report.skip(_conflict_skip(Conflict(record, "it is stored already with another verdict, which stays")))
    for conflict in outcome.conflicts:
        report.skip(_conflict_skip(conflict))


def _changed(workspace: Workspace, records: list[Record]) -> list[Record]:
    """Votes and judgments whose place in their source is known, but with another verdict than the one given now."""
    changed: list[Record] = []
    for kind in (Vote, Judgment):
        given = {_verdict_id(record): record for record in records if isinstance(record, kind)}
        found = workspace.store.records(kind, id=list(given)) if given else ()
        for stored in found:
            if isinstance(stored, Vote | Judgment):
                record = given[_verdict_id(stored)]
                changed += [record] if _verdict(record) != _verdict(stored) else []
    return changed


def _verdict_id(record: Vote | Judgment) -> str:
    """The id of a verdict."""
    return record.vote_id if isinstance(record, Vote) else record.judgment_id


def _verdict(record: Vote | Judgment) -> tuple[object, ...]:
    if isinstance(record, Vote):
        return record.preference, record.ratings, record.retracted
    return record.status, record.preference, record.score, record.scores


def _conflict_skip(conflict: Conflict) -> Skip:
    record = conflict.record
    origin = getattr(record, "origin", None)
    name = type(record).__name__.lower()
    label = f"{record.dataset} / {record.key}" if isinstance(record, Item) else name
    if isinstance(record, Vote):
        label = f"vote of {record.rater_id}"
    return Skip(
        origin.file if origin and origin.file else label,
        origin.row if origin and origin.row else "",
        f"{name} not stored: {conflict.reason}",
    )
