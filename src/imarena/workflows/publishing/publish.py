"""publish: a workspace's benchmark as a folder to share, ready to be a data set on the Hugging Face hub."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from imarena.core import Progress, UserError, command_line, new_folder, require_licence, suggestion
from imarena.core.records import Item, Judgment, Output, Vote, now
from imarena.datasets import ExtraColumn, KindWriter, check_publication, write_checksums, write_manifest
from imarena.storage import Workspace
from imarena.workflows.publishing.data_card import CardFacts, write_card
from imarena.workflows.publishing.record_redaction import GONE, NO_LICENCE, RecordRedaction
from imarena.workflows.publishing.workspace_redaction import check_outside, redact_workspace
from imarena.workflows.views import Entries, View, counting_votes, uncounted_judgments, uncounted_votes

MARK = "publication"
"""The manifest's entry that identifies the kind of folder."""
VERSION = 1
CHANGED_IMAGES = "changed_images.csv"
"""The table of images whose metadata was removed: the published hash and the hash in the workspace."""
_ROLES = {"source": "sources", "reference": "references", "mask": "masks"}
_PAIR: dict[str, ExtraColumn] = dict.fromkeys(("dataset", "key", "left_editor", "right_editor"), "text")


@dataclass(frozen=True)
class PublishSettings:
    """What to publish."""

    everything: bool = False
    """Also publish outputs, judgments and votes."""
    with_comments: bool = False
    licence: str = ""
    """Licence of items that state none."""
    datasets: tuple[str, ...] = ()
    """Data sets to publish; empty: all."""
    name: str = ""
    force: bool = False
    """Whether an earlier publication may be replaced."""


@dataclass(frozen=True)
class PublishReport:
    """What was published, and what was left out."""

    directory: str
    counts: dict[str, int]
    images: int
    images_left_out: dict[str, int]
    """Counts by reason."""
    votes_left_out: dict[str, int]
    judgments_left_out: dict[str, int]
    withheld_items: tuple[str, ...] = ()
    """Keys of the items whose images were left out; these items get another id."""
    usable_items: int = 0
    """Number of items with all images: others can make outputs for them."""
    images_stripped: int = 0
    """Number of images whose metadata was removed; they are published under another hash."""
    redacted: dict[str, int] = field(default_factory=dict)
    """Number of item texts that lost a local path, an address or a key, by field or imported column."""
    pseudonymous: dict[str, int] = field(default_factory=dict)
    """Number of values that named people and became pseudonyms, by imported column."""

    @property
    def complete(self) -> bool:
        """False if images that should have been published are gone."""
        return not self.images_left_out.get(GONE)

    @property
    def without_licence(self) -> int:
        """Number of images left out because no licence is stated."""
        return self.images_left_out.get(NO_LICENCE, 0)

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {**self.__dict__, "complete": self.complete}


def publish(
    workspace: Workspace, directory: Path, settings: PublishSettings, *, progress: Progress | None = None
) -> PublishReport:
    """Write the folder as a whole or not at all."""
    _check_datasets(workspace, settings.datasets)
    check_outside(workspace, directory)
    if settings.licence:
        require_licence(settings.licence)
    with new_folder(directory, lambda folder: _why_kept(folder, settings.force)) as part:
        redaction = redact_workspace(
            workspace, directory, licence=settings.licence, with_comments=settings.with_comments
        )
        writer = _Publication(workspace, part, settings, redaction, progress)
        writer.write_items()
        if settings.everything:
            writer.write_outputs()
            writer.write_judgments()
            writer.write_votes()
        counts = writer.finish()
        marks = {MARK: {"version": VERSION, "made_at": now().isoformat(), "everything": settings.everything}}
        write_manifest(part, counts, marks)
        name = settings.name or writer.name()
        if redaction.changed_images:
            _write_changed_images(part / CHANGED_IMAGES, redaction.changed_images)
        write_card(part / "README.md", name, writer.facts, counts, redaction, writer.votes_left_out)
        write_checksums(part)
    return PublishReport(
        str(directory),
        counts,
        writer.images,
        dict(redaction.left_out),
        dict(writer.votes_left_out),
        dict(writer.judgments_left_out),
        tuple(redaction.withheld_items),
        redaction.usable_items,
        len(redaction.changed_images),
        dict(redaction.redacted),
        dict(redaction.pseudonymous),
    )


@dataclass
class _Publication:
    """Writes the tables of one publication and counts its records."""

    workspace: Workspace
    folder: Path
    settings: PublishSettings
    redaction: RecordRedaction
    progress: Progress | None
    facts: CardFacts = field(default_factory=CardFacts)
    counts: Counter[str] = field(default_factory=Counter)
    images: int = 0
    votes_left_out: Counter[str] = field(default_factory=Counter)
    judgments_left_out: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.view = View(self.workspace)
        self.entries: Entries = self.view.entries  # a snapshot: records added from here on are not published

    def name(self) -> str:
        """Return a title for the data card."""
        names = {item.dataset for item in self.redaction.items.values()}
        return (
            names.pop() if len(names) == 1 else self.redaction.scrub.name(self.workspace.settings.name or "benchmark")
        )

    def write_items(self) -> None:
        columns = _item_columns(self._items())
        with self._table("item", columns) as table:
            for item in self._items():
                published, pictures = self.redaction.item(item)
                cells = _item_cells(published, pictures)
                table.add(published, cells)
                self.images += len(pictures)
                source = cells.get("source")
                self.facts.add_item(published, source if isinstance(source, bytes) else None, self.folder)
                self._count("item")
        if not self.counts["item"]:
            raise UserError(
                "There are no items to publish.",
                hint=f"Import a benchmark first: `{command_line('import table DIR')}`.",
            )

    def write_outputs(self) -> None:
        index_of = self.entries.index_of
        with self._table("output", {"picture": "image", "dataset": "text", "key": "text"}) as table:
            for output in self.workspace.store.records(Output):
                item = self.redaction.items.get(output.item_id)
                if item is None or output.output_id not in index_of:
                    continue
                published, picture = self.redaction.output(output)
                table.add(published, {"picture": picture, "dataset": item.dataset, "key": item.key})
                self.images += picture is not None
                self.facts.editors[published.editor or "not named"] += 1
                self._count("output")

    def write_judgments(self) -> None:
        """Write the judgments that count, failures included: each has a status, and coverage is computed from them."""
        uncounted = uncounted_judgments(self.view)
        with self._table("judgment", _PAIR) as table:
            for judgment in self.workspace.store.records(Judgment):
                if not self._names(judgment):
                    continue
                reason = uncounted.get(judgment.judgment_id)
                if reason is not None:
                    self.judgments_left_out[reason] += 1
                    continue
                published = self.redaction.judgment(judgment)
                table.add(published, self._pair(judgment))
                self.facts.judges[published.judge] += 1
                self._count("judgment")

    def write_votes(self) -> None:
        """Write the verdicts that count, then the pseudonyms of their raters."""
        for vote_id, reason in uncounted_votes(self.view).items():
            vote = self.workspace.store.get(Vote, vote_id) if self.settings.datasets else None
            if vote is None or self._names(vote):
                self.votes_left_out[reason] += 1
        with self._table("vote", _PAIR) as table:
            for vote in counting_votes(self.view):
                if self._names(vote):
                    table.add(self.redaction.vote(vote), self._pair(vote))
                    self._count("vote")
        with self._table("rater", {}) as table:
            for rater in self.redaction.raters():
                table.add(rater)
                self._count("rater")

    def finish(self) -> dict[str, int]:
        """Return the number of rows per table. Empty tables are removed: the `datasets` library cannot load them."""
        for kind, count in self.counts.items():
            if not count:
                (self.folder / f"{kind}.parquet").unlink()
        return {kind: count for kind, count in self.counts.items() if count}

    def _items(self) -> Iterator[Item]:
        item_ids = frozenset(self.entries.item_id)
        where = {"dataset": list(self.settings.datasets)} if self.settings.datasets else {}
        return (item for item in self.workspace.store.records(Item, **where) if item.item_id in item_ids)

    def _names(self, verdict: Judgment | Vote) -> bool:
        """Return whether the verdict's item and outputs are published."""
        outputs = [verdict.left_id] if verdict.right_id is None else [verdict.left_id, verdict.right_id]
        return verdict.item_id in self.redaction.items and all(name in self.entries.index_of for name in outputs)

    def _pair(self, verdict: Judgment | Vote) -> dict[str, str | None]:
        item = self.redaction.items[verdict.item_id]
        editors = (self._editor(verdict.left_id), self._editor(verdict.right_id))
        return dict(zip(_PAIR, (item.dataset, item.key, *editors), strict=True))

    def _editor(self, output_id: str | None) -> str | None:
        if output_id is None:
            return None
        code = int(self.entries.editor.of[self.entries.index_of[output_id]])
        return None if code < 0 else self.redaction.scrub.name(self.entries.editor.names[code])

    def _table(self, kind: str, extra: Mapping[str, ExtraColumn]) -> KindWriter:
        self.counts[kind] = 0
        return KindWriter(self.folder / f"{kind}.parquet", kind, extra)

    def _count(self, kind: str) -> None:
        self.counts[kind] += 1
        if self.progress and self.counts[kind] % 200 == 1:
            self.progress(f"{kind}s", self.counts[kind], None)


def _write_changed_images(path: Path, hashes: Mapping[str, str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("published_sha256", "original_sha256"))
        table.writerows(sorted(hashes.items()))


def _item_columns(items: Iterator[Item]) -> dict[str, ExtraColumn]:
    """Return columns for the most instructions and images that an item has, named as in the format `table`."""
    most = Counter({"instruction": 1})
    of_turns = False
    for item in items:
        lengths = {"instruction": len(item.turns), **{role: len(getattr(item, name)) for role, name in _ROLES.items()}}
        most |= Counter(lengths)
        of_turns = of_turns or any(turn.references or turn.masks for turn in item.turns)
    texts: dict[str, ExtraColumn] = {_numbered_column("instruction", n): "text" for n in range(most["instruction"])}
    images: dict[str, ExtraColumn] = {_numbered_column(role, n): "image" for role in _ROLES for n in range(most[role])}
    last: dict[str, ExtraColumn] = {"turn_images": "images"} if of_turns else {}
    return {**texts, **images, **last}


def _item_cells(item: Item, pictures: list[bytes]) -> dict[str, str | bytes | list[bytes] | None]:
    """Return the extra columns of an item. `pictures` are in the order of `item_images`; empty if they are left out."""
    cells: dict[str, str | bytes | list[bytes] | None] = {
        _numbered_column("instruction", n): turn.instruction for n, turn in enumerate(item.turns)
    }
    at = 0
    for role, name in _ROLES.items():
        for n in range(len(getattr(item, name)) if pictures else 0):
            cells[_numbered_column(role, n)] = pictures[at]
            at += 1
    if pictures[at:]:
        cells["turn_images"] = pictures[at:]
    return cells


def _numbered_column(role: str, number: int) -> str:
    return role if number == 0 else f"{role}_{number + 1}"


def _check_datasets(workspace: Workspace, names: tuple[str, ...]) -> None:
    datasets = [name for (name,) in workspace.store.count(Item, "dataset")]
    for name in names:
        if name not in datasets:
            raise UserError(f"There is no data set '{name}'.", hint=suggestion(name, datasets))


def _why_kept(folder: Path, force: bool) -> str:
    """Return why a non-empty folder may not be replaced; empty if it may."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        is_publication = isinstance(manifest, dict) and MARK in manifest
        report = check_publication(folder) if is_publication else None
    except (OSError, ValueError, UserError):
        report = None
    if report is None:
        return "Name a new or empty folder."
    if not force:
        return "It is an earlier publication: --force replaces it."
    if report.extra or (folder / ".git").exists():
        other = ", ".join(report.extra[:3]) or ".git"
        return f"It holds files that `publish` did not write ({other}): name a new folder."
    return ""
