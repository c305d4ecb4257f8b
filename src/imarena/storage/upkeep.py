"""Keeping a workspace for years: what is not needed any more, and what must go."""

import time
from dataclasses import dataclass

from sqlalchemy import select, update

from imarena.core.errors import UserError
from imarena.core.records import Evidence, Item, Output, Rater, Tombstone, now
from imarena.storage import schema
from imarena.storage.database import writing
from imarena.storage.verify import images_of
from imarena.storage.workspace import Workspace

GRACE_S = 3600.0
"""Files younger than this may belong to a write that is under way."""


@dataclass(frozen=True)
class Garbage:
    """What nothing refers to."""

    blobs: tuple[str, ...]
    leftovers: int
    bytes: int


def collect_garbage(workspace: Workspace, *, remove: bool, grace_s: float = GRACE_S) -> Garbage:
    """Find (and with `remove` delete) pictures that no record names, and parts of writes that never finished."""
    used = {image.sha256 for item in workspace.store.records(Item) for image in images_of(item)}
    used |= {row["image_sha256"] for row in workspace.store.rows(Output) if row["image_sha256"]}
    used |= {row["image_sha256"] for row in workspace.store.rows(Evidence)}
    limit = time.time() - grace_s
    unused: list[str] = []
    size = 0
    for sha256 in workspace.blobs:
        path = workspace.blobs.path(sha256)
        stat = path.stat()
        if sha256 not in used and stat.st_mtime <= limit:
            unused.append(sha256)
            size += stat.st_size
    old = [path for path in workspace.blobs.leftovers() if path.stat().st_mtime <= limit]
    size += sum(path.stat().st_size for path in old)
    if remove:
        for start in range(0, len(unused), 500):
            with writing(workspace.store.engine) as connection:
                chosen = schema.blobs.c.sha256.in_(unused[start : start + 500])
                connection.execute(schema.blobs.delete().where(chosen, schema.blobs.c.withdrawn_at.is_(None)))
        for sha256 in unused:
            workspace.blobs.remove(sha256)
        for path in old:
            path.unlink(missing_ok=True)
    return Garbage(tuple(unused), len(old), size)


def withdraw_image(workspace: Workspace, sha256: str, reason: str) -> Tombstone:
    """Remove a picture's bytes for good. Records that name it stay; a tombstone says what happened."""
    table = schema.blobs
    with writing(workspace.store.engine) as connection:
        found = connection.execute(select(table.c.sha256).where(table.c.sha256.startswith(sha256, autoescape=True)))
        matches = list(found.scalars())
        if len(sha256) < 8 or not matches:
            raise UserError(f"No image '{sha256}' is stored.", hint="Give its SHA-256 (or its first 8 digits or more).")
        if len(matches) > 1:
            raise UserError(f"'{sha256}' fits {len(matches)} images.", hint="Give more digits.")
        connection.execute(update(table).where(table.c.sha256 == matches[0]).values(withdrawn_at=now().isoformat()))
    tombstone = Tombstone(subject=matches[0], kind="image", reason=reason)
    workspace.store.add([tombstone], durable=True)
    workspace.blobs.remove(matches[0])
    workspace.cache.clear()
    return tombstone


def withdraw_rater(workspace: Workspace, rater_id: str, reason: str) -> Tombstone:
    """Remove a rater's personal data (name, contact, parameters). The votes stay under the bare id."""
    rater = workspace.store.get(Rater, rater_id)
    if rater is None:
        raise UserError(f"There is no rater '{rater_id}'.", hint="'imarena status' lists the raters.")
    tombstone = Tombstone(subject=rater_id, kind="rater", reason=reason)
    workspace.store.add([tombstone], durable=True)
    workspace.store.put(rater.model_copy(update={"name": "", "contact": "", "params": {}, "active": False}))
    return tombstone


def withdrawn(workspace: Workspace) -> dict[str, str]:
    """Hashes of pictures that were withdrawn, with the moment: they are not to be stored again."""
    return {row["sha256"]: row["withdrawn_at"] for row in workspace.store.images() if row["withdrawn_at"]}
