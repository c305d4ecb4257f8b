"""Verify a workspace: every record, hash and link. Reports problems and changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import func, select, update

from imarena.core import Progress, first_line, validation_problem
from imarena.core.records import ImageRef, Item, Output, now
from imarena.storage import schema
from imarena.storage.codec import KINDS, RecordKind, from_row, to_row
from imarena.storage.database import reading, writing
from imarena.storage.judge_variants import variant_of_row
from imarena.storage.store import PAGE
from imarena.storage.workspace import Workspace

_HASH_BATCH = 200


@dataclass(frozen=True)
class Finding:
    """A problem: its kind, its place, and a description."""

    kind: str
    """changed_blob, missing_blob, withdrawn_blob, dangling_link, duplicate, bad_record or unregistered_image."""
    subject: str
    detail: str


def verify(workspace: Workspace, *, deep: bool = False, progress: Progress | None = None) -> Iterator[Finding]:
    """All findings. Quick: links, duplicates, and each blob's existence and size.

    Deep: reads every record back, recomputes its id, and hashes every blob. Progress is stored, so that an interrupted
    deep check continues (`restart_deep` discards it). Once a deep check has completed, the next one hashes everything
    again.
    """
    tell = progress or (lambda *_: None)
    yield from _links(workspace, tell)
    yield from _duplicates(workspace)
    yield from _derived_links(workspace)
    yield from _item_images(workspace, tell)
    yield from _blobs(workspace, tell)
    if deep:
        yield from _records(workspace, tell)
        yield from _hashes(workspace, tell)


def restart_deep(workspace: Workspace) -> None:
    """Discard the progress: the next deep check reads all blobs."""
    with writing(workspace.store.engine) as connection:
        connection.execute(update(schema.blobs).values(hashed_at=None))


def _links(workspace: Workspace, tell: Progress) -> Iterator[Finding]:
    for done, kind in enumerate(KINDS):
        tell("links", done, len(KINDS))
        table = kind.table
        for column in table.columns:
            for key in column.foreign_keys:
                target = key.column.table.alias("target")
                target_key = target.c[key.column.name]
                query = (
                    select(table.c.id, column)
                    .outerjoin(target, column == target_key)
                    .where(column.is_not(None), target_key.is_(None))
                    .order_by(table.c.seq)
                )
                with reading(workspace.store.engine) as connection:
                    rows = connection.execute(query).all()
                for identity, value in rows:
                    yield Finding(
                        "dangling_link", identity, f"{table.name}.{column.name} names {value}, which is not stored"
                    )


def _duplicates(workspace: Workspace) -> Iterator[Finding]:
    """Duplicates of things that must be unique. Indexes prevent them, except in a damaged or hand-edited file."""
    table = schema.outputs
    slots = (
        [table.c[name] for name in ("item_id", "turn", "editor", "mode", "sample")],
        (table.c.status == "ok") & table.c.editor.is_not(None),
    )
    chains = (
        [schema.votes.c.assignment_id, schema.votes.c.rater_id],
        schema.votes.c.assignment_id.is_not(None) & schema.votes.c.supersedes.is_(None),
    )
    keys = ([schema.items.c.dataset, schema.items.c.key], schema.items.c.id.is_not(None))
    with reading(workspace.store.engine) as connection:
        for noun, (columns, condition) in (("ok output", slots), ("first vote", chains), ("item key", keys)):
            query = select(*columns, func.count()).where(condition).group_by(*columns).having(func.count() > 1)
            for row in connection.execute(query):
                subject = " / ".join(str(value) for value in row[:-1])
                yield Finding("duplicate", subject, f"{row[-1]} records where only one {noun} is allowed")
        for kind in KINDS:
            query = select(kind.table.c.id, func.count()).group_by(kind.table.c.id).having(func.count() > 1)
            for row in connection.execute(query):
                yield Finding("duplicate", str(row[0]), f"is stored {row[1]} times in {kind.table.name}")


def _derived_links(workspace: Workspace) -> Iterator[Finding]:
    """Columns that repeat values of other rows: the output of each side, and whether a later record replaced it."""
    with reading(workspace.store.engine) as connection:
        for kind in (kind for kind in KINDS if kind.linked):
            table, later = kind.table, kind.table.alias("later")
            for column, source in kind.linked.items():
                output = schema.outputs.alias("output")
                query = select(table.c.id).outerjoin(output, output.c.id == table.c[source])
                for identity in connection.execute(
                    query.where(table.c[column].is_distinct_from(output.c.seq))
                ).scalars():
                    yield Finding("bad_record", identity, f"its column {column} is not the number of its {source}")
            replaced = select(later.c.supersedes).where(later.c.supersedes.is_not(None))
            wrong = (table.c.superseded == 1) != table.c.id.in_(replaced)
            for identity in connection.execute(select(table.c.id).where(wrong)).scalars():
                yield Finding("bad_record", identity, "its column superseded does not fit the records that name it")
        judgments, forms = schema.judgments, schema.judge_forms
        for row in connection.execute(select(forms)).mappings():
            if variant_of_row(row).form_id != row["id"]:
                yield Finding("bad_record", str(row["id"]), f"the form of judge {row['judge']} was changed")
        unknown = select(judgments.c.id).outerjoin(forms, forms.c.id == judgments.c.form_id).where(forms.c.id.is_(None))
        for identity in connection.execute(unknown).scalars():
            yield Finding("bad_record", identity, "its form is not stored")


def item_images(item: Item) -> list[ImageRef]:
    """Every image that an item names."""
    images = [*item.sources, *item.references, *item.masks]
    for turn in item.turns:
        images += [*turn.references, *turn.masks]
    return images


def _item_images(workspace: Workspace, tell: Progress) -> Iterator[Finding]:
    total = workspace.store.count(Item).get((), 0)
    hashes = {row["sha256"] for row in workspace.store.images()}
    for done, row in enumerate(workspace.store.rows(Item)):
        if done % PAGE == 0:
            tell("items", done, total)
        try:
            item = from_row(Item, row)
        except ValueError as error:
            yield Finding("bad_record", row["id"], f"cannot be read: {_reason(error)}")
            continue
        for image in item_images(item):
            if image.sha256 not in hashes:
                yield Finding("unregistered_image", row["id"], f"names the image {image.sha256}, not registered")


def _blobs(workspace: Workspace, tell: Progress) -> Iterator[Finding]:
    rows = list(workspace.store.images())
    naming = _Naming(workspace)
    for start in range(0, len(rows), _HASH_BATCH):
        tell("blobs", start, len(rows))
        page = rows[start : start + _HASH_BATCH]
        for row, size in zip(page, workspace.blobs.sizes([row["sha256"] for row in page]), strict=True):
            sha256 = row["sha256"]
            if row["withdrawn_at"]:
                if size is not None:
                    yield Finding("withdrawn_blob", sha256, "its bytes are still there: withdraw it again")
            elif size is None:
                yield Finding("missing_blob", sha256, f"it is not in {workspace.blobs.place}{naming(sha256)}")
            elif size != row["size_bytes"]:
                problem = f"has {size} bytes where {row['size_bytes']} were stored"
                yield Finding("changed_blob", sha256, f"{problem}{naming(sha256)}")


class _Naming:
    """Describes which records name an image."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._items: dict[str, list[str]] | None = None

    def __call__(self, sha256: str) -> str:
        """The first records that name it, to append to a finding."""
        if self._items is None:
            self._items = {}
            for item in self._workspace.store.records(Item):
                for image in item_images(item):
                    self._items.setdefault(image.sha256, []).append(f"the item {item.key}")
        outputs = self._workspace.store.records(Output, image_sha256=sha256)
        output_names = [
            f"the output {output.output_id} of {output.editor or 'an unnamed editor'}" for output in outputs
        ]
        names = [*self._items.get(sha256, []), *output_names]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"; named by {', '.join(names[:3])}{more}" if names else "; no item or output names it"


def _records(workspace: Workspace, tell: Progress) -> Iterator[Finding]:
    for kind in KINDS:
        total = workspace.store.count(kind.record).get((), 0)
        for done, row in enumerate(workspace.store.rows(kind.record)):
            if done % PAGE == 0:
                tell(kind.table.name, done, total)
            problem = _problem(kind, row)
            if problem:
                yield Finding("bad_record", row["id"], problem)


def _reason(error: ValueError) -> str:
    return validation_problem(error).text if isinstance(error, ValidationError) else first_line(error)


def _problem(kind: RecordKind, row: dict[str, object]) -> str | None:
    try:
        record = from_row(kind.record, row)
    except ValueError as error:
        return f"cannot be read: {_reason(error)}"
    if getattr(record, kind.identity) != row["id"]:
        return "its content does not give its id: it was changed"
    should = to_row(record)
    for column in kind.derived:
        if row[column] != should[column]:
            return f"its column {column} does not fit its content: it was changed"
    return None


def _hashes(workspace: Workspace, tell: Progress) -> Iterator[Finding]:
    rows = [row for row in workspace.store.images() if not row["withdrawn_at"]]
    due = [row for row in rows if row["hashed_at"] is None]
    good: list[str] = []
    naming = _Naming(workspace)
    for done, row in enumerate(due):
        tell("hashes", len(rows) - len(due) + done, len(rows))
        sha256 = row["sha256"]
        if workspace.blobs.size(sha256) != row["size_bytes"]:
            continue  # the quick check reports it
        if workspace.blobs.digest(sha256) == sha256:
            good.append(sha256)
        else:
            yield Finding("changed_blob", sha256, f"its bytes have another hash{naming(sha256)}")
        if len(good) >= _HASH_BATCH:
            _mark(workspace, good)
            good = []
    restart_deep(workspace)


def _mark(workspace: Workspace, hashes: list[str]) -> None:
    marks = update(schema.blobs).where(schema.blobs.c.sha256.in_(hashes)).values(hashed_at=now().isoformat())
    with writing(workspace.store.engine) as connection:
        connection.execute(marks)
