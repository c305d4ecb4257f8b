"""Small records and pictures for tests."""

import io
import zlib

import numpy as np
from PIL import Image

from imarena.core.ids import sha256_hex
from imarena.core.records import ImageRef, Item, Judgment, Order, Origin, Outcome, Output, Rater, Turn, Vote
from imarena.storage import Blobs, Workspace


def png(seed: int = 0, size: tuple[int, int] = (24, 16)) -> bytes:
    """A small noisy picture, different for each seed."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def kept(workspace: Workspace, seed: int = 0) -> ImageRef:
    """A picture that is stored in a workspace."""
    data = png(seed)
    reference = ImageRef(sha256=sha256_hex(data), size_bytes=len(data), media_type="image/png", width=24, height=16)
    return workspace.keep(reference, data)


def item(key: str = "one", *, instruction: str = "make it red", dataset: str = "test") -> Item:
    """An item without pixels."""
    return Item(dataset=dataset, key=key, turns=(Turn(instruction=instruction),), task="recolour")


def output(of: Item, editor: str | None = "alpha", *, sample: int = 0) -> Output:
    """An imported output without pixels."""
    return Output(item_id=of.item_id, editor=editor, sample=sample, origin=Origin(source="test", row=of.key))


def judgment(left: Output, right: Output | None, work: str, preference: Outcome = Outcome.LEFT) -> Judgment:
    """A pairwise (or, without `right`, a pointwise) verdict."""
    return Judgment(
        work_id=work,
        judge="test-judge",
        item_id=left.item_id,
        left_id=left.output_id,
        right_id=right.output_id if right else None,
        order=Order.LEFT_FIRST if right else None,
        preference=preference if right else None,
        score=None if right else 500.0,
    )


def vote(rater: Rater, left: Output, right: Output, *, key: str, preference: Outcome = Outcome.LEFT) -> Vote:
    """A live vote."""
    return Vote(
        rater_id=rater.rater_id,
        item_id=left.item_id,
        left_id=left.output_id,
        right_id=right.output_id,
        preference=preference,
        idempotency_key=key,
    )


def picture_of(workspace: Workspace, name: str) -> ImageRef:
    """A small picture of its own for a name, stored."""
    return kept(workspace, zlib.crc32(name.encode()))


def blob_folder(workspace: Workspace) -> Blobs:
    """The pictures of a workspace that keeps them in a folder."""
    assert isinstance(workspace.blobs, Blobs)
    return workspace.blobs
