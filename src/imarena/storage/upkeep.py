"""Maintenance of a workspace: collect garbage, and withdraw images and raters."""

import time
from collections import deque
from dataclasses import dataclass

from sqlalchemy import or_, select, update

from imarena.core import UserError, command_line
from imarena.core.records import Evidence, Item, Output, Rater, Tombstone, now
from imarena.storage import schema
from imarena.storage.claims import drop_expired
from imarena.storage.database import reading, truncate_wal, writing
from imarena.storage.verify import item_images
from imarena.storage.workspace import Workspace

GRACE_S = 3600.0
"""Younger files may belong to a write in progress."""
HOLD_S = 2.0
"""How long other writers wait while images are removed: each image takes several requests on S3 storage."""
PAUSE_S = 0.2
"""Long enough for waiting writers, which check every tenth of a second."""


@dataclass(frozen=True)
class Garbage:
    """Data that nothing refers to."""

    blobs: tuple[str, ...]
    leftovers: int
    bytes: int


def collect_garbage(workspace: Workspace, *, remove: bool, grace_s: float = GRACE_S) -> Garbage:
    """Find (and with `remove` delete) images that no record names, and partial files of writes that never finished.

    Safe during an import: images that are stored again meanwhile stay. Ages are by the storage's clock.
    """
    limit = workspace.blobs.clock() - grace_s
    used_hashes = _used_hashes(workspace)
    unused = {sha256: size for sha256, size in workspace.blobs.older(limit) if sha256 not in used_hashes}
    old = [path for path in workspace.blobs.leftovers() if path.stat().st_mtime <= limit]
    size = sum(path.stat().st_size for path in old)
    if remove:
        drop_expired(workspace.store.engine)
        for path in old:
            path.unlink(missing_ok=True)
        unused = _remove(workspace, list(unused), limit)
    return Garbage(tuple(unused), len(old), size + sum(unused.values()))


def _used_hashes(workspace: Workspace) -> set[str]:
    hashes = {image.sha256 for item in workspace.store.records(Item) for image in item_images(item)}
    hashes |= {row["image_sha256"] for row in workspace.store.rows(Output) if row["image_sha256"]}
    for row in workspace.store.rows(Evidence):
        hashes |= {row["image_sha256"], row["against_sha256"]}
    return hashes


def _remove(workspace: Workspace, unused: list[str], limit: float) -> dict[str, int]:
    """Delete blobs and their rows in batches, while nobody else writes. Returns the deleted blobs with their sizes."""
    removed: dict[str, int] = {}
    left = deque(unused)
    while left:
        with writing(workspace.store.engine) as connection:
            batch: dict[str, int] = {}
            until = time.monotonic() + HOLD_S
            while left and len(batch) < 500 and time.monotonic() < until:
                sha256 = left.popleft()
                size = workspace.blobs.remove_older(sha256, limit)
                if size is not None:
                    batch[sha256] = size
            condition = schema.blobs.c.sha256.in_(list(batch))
            connection.execute(schema.blobs.delete().where(condition, schema.blobs.c.withdrawn_at.is_(None)))
        removed |= batch
        if left:
            time.sleep(PAUSE_S)
    return removed


def withdraw_image(workspace: Workspace, sha256: str, reason: str) -> Tombstone:
    """Delete an image's bytes, and the evidence read from it, for good. Its records stay, and a tombstone is stored."""
    table, evidence = schema.blobs, schema.evidence
    with writing(workspace.store.engine) as connection:
        result = connection.execute(select(table.c.sha256).where(table.c.sha256.startswith(sha256, autoescape=True)))
        matches = list(result.scalars())
        if len(sha256) < 8 or not matches:
            raise UserError(f"No image '{sha256}' is stored.", hint="Give its SHA-256 (or its first 8 digits or more).")
        if len(matches) > 1:
            raise UserError(f"'{sha256}' fits {len(matches)} images.", hint="Give more digits.")
        connection.execute(update(table).where(table.c.sha256 == matches[0]).values(withdrawn_at=now().isoformat()))
        connection.execute(
            evidence.delete().where(or_(evidence.c.image_sha256 == matches[0], evidence.c.against_sha256 == matches[0]))
        )
    truncate_wal(workspace.store.engine)
    tombstone = Tombstone(subject=matches[0], kind="image", reason=reason)
    workspace.store.add([tombstone], durable=True)
    workspace.blobs.block(matches[0])
    workspace.cache.clear()
    for preview in workspace.root.glob(f"report/images/{matches[0][:20]}*"):
        preview.unlink()
    return tombstone


def withdraw_rater(workspace: Workspace, rater_id: str, reason: str) -> Tombstone:
    """Remove a rater's personal data (name, contact, parameters, sign-ins). The votes stay under the bare id."""
    rater = workspace.store.get(Rater, rater_id)
    if rater is None:
        raise UserError(f"There is no rater '{rater_id}'.", hint=f"`{command_line('status')}` lists the raters.")
    tombstone = Tombstone(subject=rater_id, kind="rater", reason=reason)
    workspace.store.add([tombstone], durable=True)
    workspace.store.put(rater.model_copy(update={"name": "", "contact": "", "params": {}, "active": False}))
    with writing(workspace.store.engine) as connection:
        connection.execute(schema.sessions.delete().where(schema.sessions.c.rater_id == rater_id))
        connection.execute(schema.guests.delete().where(schema.guests.c.rater_id == rater_id))
    truncate_wal(workspace.store.engine)
    return tombstone


def withdrawn_images(workspace: Workspace) -> dict[str, str]:
    """Hashes of withdrawn images with the time of withdrawal; they must not be stored again."""
    table = schema.blobs
    with reading(workspace.store.engine) as connection:
        query = select(table.c.sha256, table.c.withdrawn_at).where(table.c.withdrawn_at.is_not(None))
        return {row.sha256: row.withdrawn_at for row in connection.execute(query)}
