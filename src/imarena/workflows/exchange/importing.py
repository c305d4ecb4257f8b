"""import: read a format, store its images, append its records. Importing twice changes nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from imarena.core import (
    ITEM_LEFT_OUT,
    Cause,
    CauseTally,
    Document,
    InvalidImage,
    Progress,
    ReadFormat,
    Skip,
    content_id,
    sha256_hex,
)
from imarena.core.notices import Notice, text_notice
from imarena.core.records import (
    Exclusion,
    ImageRef,
    Item,
    JsonDict,
    Judgment,
    Output,
    Rater,
    Record,
    Status,
    Tombstone,
    Vote,
)
from imarena.datasets import READERS, download_dataset, is_hub, load_taxonomy, taxonomy_names
from imarena.images import describe_image
from imarena.storage import Conflict, Workspace, add_exclusion, item_images, twin_datasets, withdrawn_images, writing
from imarena.workflows.wiring import record_run

BATCH = 1_000
MAX_SKIPS = 100_000
"""Maximum number of skips stored in full; further ones are only counted, by cause."""
MAX_WARNINGS = 1_000
_ABOUT = ("taxonomy", "task", "family", "topic", "subtopic", "track", "language", "licence")
"""Fields that classify an item. They are not part of its id, so another value does not make another item."""


@dataclass(frozen=True, slots=True)
class ImportReport(Document):
    """The result of an import."""

    format: str
    path: str
    new: Counter[str]
    same: Counter[str]
    skipped: int
    skips: tuple[Skip, ...]
    causes: tuple[Cause, ...]
    """Why rows and files were left out; the counts are exact, even beyond the length of `skips`."""
    datasets: dict[str, int]
    """Number of different items in the import, by data set."""
    notices: tuple[Notice, ...]
    """What was imported but looks wrong, such as a task not in the taxonomy, and unused columns."""


@dataclass
class _Tally:
    """Running counts of an import."""

    new: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    skips: list[Skip] = field(default_factory=list)
    causes: CauseTally = field(default_factory=CauseTally)
    notices: list[Notice] = field(default_factory=list)
    datasets: Counter[str] = field(default_factory=Counter)
    items: set[str] = field(default_factory=set)
    """Items that this import has seen already: a file may contain an item many times."""

    def skip(self, skip: Skip) -> None:
        """Record a skipped row or file."""
        self.skipped += 1
        self.causes.add(skip.reason, skip.where, last=skip.code == ITEM_LEFT_OUT)
        if len(self.skips) < MAX_SKIPS:
            self.skips.append(skip)


class WorkspaceIntake:
    """The workspace as importers see it (the `Intake` port)."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._refs: dict[str, ImageRef] = {}
        self._pending: list[ImageRef] = []
        self._withdrawn = withdrawn_images(workspace)
        self._tombstones: dict[str, str] = {}

    def keep(self, data: bytes, *, name: str) -> ImageRef:  # noqa: ARG002
        """Check an image and store its original bytes."""
        sha256 = sha256_hex(data)
        if sha256 in self._refs:
            return self._refs[sha256]
        if sha256 in self._withdrawn:
            raise InvalidImage(f"the image was withdrawn from this workspace on {self._withdrawn[sha256][:10]}")
        reference = describe_image(data)
        self._workspace.blobs.put(data)
        self._refs[sha256] = reference
        self._pending.append(reference)
        return reference

    def items(self, dataset: str) -> Mapping[str, Item]:
        """Return the stored items of a data set, by key."""
        return {item.key: item for item in self._workspace.store.records(Item, dataset=dataset)}

    def outputs(self, dataset: str) -> Mapping[tuple[str, str], str]:
        """Return the ids of stored ok single-turn outputs, by (item key, editor)."""
        keys = {row["id"]: row["key"] for row in self._workspace.store.rows(Item, dataset=dataset)}
        output_ids: dict[tuple[str, str], str] = {}
        for row in self._workspace.store.rows(Output, status=Status.OK.value, turn=0, sample=0):
            if row["editor"] is not None and row["item_id"] in keys:
                output_ids[keys[row["item_id"]], row["editor"]] = row["id"]
        return output_ids

    def apply_tombstones(self, records: Iterable[Record]) -> None:
        """Register images that records refer to but that a tombstone in the same import declares gone: the records
        stay, and so do their links.
        """
        for record in records:
            if isinstance(record, Tombstone) and record.kind == "image":
                self._tombstones[record.subject] = record.created_at.isoformat()
            images = item_images(record) if isinstance(record, Item) else []
            if isinstance(record, Output) and record.image is not None:
                images = [record.image]
            for image in images:
                moment = self._tombstones.get(image.sha256)
                if moment is not None and image.sha256 not in self._refs:
                    self._workspace.store.keep_images([image], withdrawn_at=moment)

    def flush(self) -> None:
        """Register the images stored so far; must run before the records that refer to them are stored."""
        self._workspace.store.keep_images(self._pending)
        self._pending.clear()


def import_dataset(
    workspace: Workspace,
    format_name: str,
    path: str,
    *,
    options: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file or folder of a known format, or a data set from the hub (`hub:owner/name[@revision]`)."""
    reader = READERS.get(format_name)
    source = download_dataset(path, workspace.root / "downloads") if is_hub(path) else Path(path)
    return import_records(workspace, reader, format_name=format_name, path=source, options=options, progress=progress)


def import_records(
    workspace: Workspace,
    reader: ReadFormat,
    *,
    format_name: str,
    path: Path,
    options: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import everything that `reader` yields, in batches. Bad rows are reported and left out."""
    tally = _Tally()
    reader_options = dict(options or {})
    intake = WorkspaceIntake(workspace)
    path_id = content_id("place", str(path.resolve()))
    settings: JsonDict = {"format": format_name, "path": path.name, "place": path_id, "options": {**reader_options}}
    earlier = {name for (name,) in workspace.store.count(Item, "dataset")}
    with record_run(workspace, "import", settings) as run:
        stream = reader(path, intake, reader_options)
        done = 0
        while batch := list(islice(stream, BATCH)):
            records: list[Record] = []
            for entry in batch:
                if isinstance(entry, Skip):
                    tally.skip(entry)
                elif isinstance(entry, Notice):
                    tally.notices.append(entry)
                else:
                    records.append(entry)
            intake.flush()
            intake.apply_tombstones(records)
            _write(workspace, records, tally)
            done += len(batch)
            if progress:
                progress("records", done, None)
        intake.flush()
        run.counts = dict(tally.new)
        run.partial = tally.skipped > 0
    tally.notices += _repeated_datasets(workspace, sorted((+tally.datasets).keys() - earlier))
    return ImportReport(
        format_name, str(path), tally.new, tally.same, tally.skipped, tuple(tally.skips), tally.causes.causes(),
        dict(+tally.datasets), tuple(tally.notices),
    )  # fmt: skip


def _repeated_datasets(workspace: Workspace, new: list[str]) -> list[Notice]:
    """Warn about new data sets that repeat one of the workspace, as an import of the wrong folder does."""
    notices = []
    for name in new:
        twins = {other: number for other, number in twin_datasets(workspace, name).items() if other not in new}
        if twins:
            other = max(twins, key=lambda twin: twins[twin])
            values: JsonDict = {"dataset": name, "other": other, "keys": twins[other]}
            notices.append(Notice(code="dataset_repeated", values=values))
    return notices


def _check_tasks(records: list[Record], tally: _Tally) -> None:
    """Warn about tasks and topics that an item's taxonomy does not know; each warning once."""
    for record in records:
        if isinstance(record, Item) and record.taxonomy in taxonomy_names() and len(tally.notices) < MAX_WARNINGS:
            warning = load_taxonomy(record.taxonomy or "").check(record)
            if warning and text_notice(warning) not in tally.notices:
                tally.notices.append(text_notice(warning))


def _write(workspace: Workspace, records: list[Record], tally: _Tally) -> None:
    _check_tasks(records, tally)
    exclusions = [record for record in records if isinstance(record, Exclusion)]
    records = [record for record in records if not isinstance(record, Exclusion)]
    differing = _differing_items(workspace, records, tally)
    outcome = workspace.store.add(records)
    _write_exclusions(workspace, exclusions, tally)
    tally.datasets.subtract(clash.record.dataset for clash in outcome.conflicts if isinstance(clash.record, Item))
    refused = {id(conflict.record) for conflict in outcome.conflicts}
    kinds = Counter(type(record).__name__ for record in records if id(record) not in refused)
    tally.new.update(outcome.new_by_kind)
    tally.same.update(kinds - outcome.new_by_kind)
    if outcome.same:
        for record in _conflicts(workspace, records):
            tally.same[type(record).__name__] -= 1
            tally.skip(_conflict_skip(Conflict(record, "it is stored already with another verdict, which stays")))
    if differing:
        tally.same["Item"] -= len(differing)
    for conflict in [*differing, *outcome.conflicts]:
        tally.skip(_conflict_skip(conflict))


def _write_exclusions(workspace: Workspace, exclusions: list[Exclusion], tally: _Tally) -> None:
    """Store exclusions separately: they can be lifted in place, unlike other records."""
    for exclusion in exclusions:
        if workspace.store.get(Rater, exclusion.rater_id) is None:
            tally.skip(_conflict_skip(Conflict(exclusion, f"there is no rater '{exclusion.rater_id}'")))
            continue
        with writing(workspace.store.engine) as connection:
            new = add_exclusion(connection, exclusion)
        (tally.new if new else tally.same)["Exclusion"] += 1


def _conflicts(workspace: Workspace, records: list[Record]) -> list[Record]:
    """Return votes and judgments that are already stored, but with another verdict than the given one."""
    changed: list[Record] = []
    for kind in (Vote, Judgment):
        by_id = {_verdict_id(record): record for record in records if isinstance(record, kind)}
        matches = workspace.store.records(kind, id=list(by_id)) if by_id else ()
        for stored in matches:
            if isinstance(stored, Vote | Judgment):
                record = by_id[_verdict_id(stored)]
                changed += [record] if _verdict(record) != _verdict(stored) else []
    return changed


def _differing_items(workspace: Workspace, records: list[Record], tally: _Tally) -> list[Conflict]:
    """Return items that were stored before this import and that it gives with another licence, task or the like."""
    imported = {item.item_id: item for item in reversed(records) if isinstance(item, Item)}
    earlier = [item_id for item_id in imported if item_id not in tally.items]
    tally.datasets.update(imported[item_id].dataset for item_id in earlier)
    tally.items.update(earlier)
    conflicts: list[Conflict] = []
    for stored in workspace.store.records(Item, id=earlier) if earlier else ():
        fields = _lost_fields(imported[stored.item_id], stored)
        if fields:
            reason = (
                f"the stored item has another {', '.join(fields)}; records are never changed: "
                "import into a new workspace, or under dataset=NAME"
            )
            conflicts.append(Conflict(imported[stored.item_id], reason))
    return conflicts


def _lost_fields(item: Item, stored: Item) -> list[str]:
    """Return the fields that an item states but the stored one does not. A missing value (or the default language)
    states nothing, so nothing of it is lost.
    """
    unstated = {None, "", Item.model_fields["language"].default}
    fields = [name for name in _ABOUT if getattr(item, name) not in {*unstated, getattr(stored, name)}]
    return fields + [name for name, value in item.provenance.items() if value and value != stored.provenance.get(name)]


def _verdict_id(record: Vote | Judgment) -> str:
    """Return the id of a verdict."""
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
