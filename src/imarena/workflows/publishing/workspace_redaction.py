"""The licence and privacy filter of a workspace, for everything that `publish` and `site` publish."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from imarena.core import ImarenaError, InvalidImage, UserError, require_licence
from imarena.core.records import ImageRef, Item, Vote
from imarena.images import GIF, JPEG, PNG, WEBP, colour_profile, media_type_of, strip_metadata
from imarena.storage import Workspace
from imarena.workflows.publishing.record_redaction import FIXED_METADATA, GONE, LOCAL_TEXT, RecordRedaction
from imarena.workflows.publishing.scrub import Scrubber
from imarena.workflows.questions import expected_objects


def redact_workspace(
    workspace: Workspace, directory: Path, *, licence: str = "", with_comments: bool = False
) -> RecordRedaction:
    """Return the filter for everything written into `directory`. `licence`: of items that state none."""
    scrub = Scrubber([workspace.root, directory.absolute().parent])
    return RecordRedaction(
        scrub,
        _Loader(workspace, scrub),
        _listed_objects(workspace),
        licence=require_licence(licence) if licence else None,
        with_comments=with_comments,
    )


def check_outside(workspace: Workspace, directory: Path) -> None:
    """Raise `UserError` if a folder is among the workspace's own files."""
    for name in ("blobs", "cache"):
        if directory.resolve().is_relative_to(workspace.root.resolve() / name):
            raise UserError(f"{directory} is inside the workspace's own {name}.", hint="Name a folder elsewhere.")


class _Loader:
    """Loads images in published form: without metadata, and without local facts in the remaining texts."""

    def __init__(self, workspace: Workspace, scrub: Scrubber) -> None:
        self._workspace = workspace
        self._scrub = scrub

    def __call__(self, image: ImageRef) -> bytes | str:
        try:
            data = self._workspace.load(image)
        except (ImarenaError, OSError, KeyError):
            return GONE
        try:
            stripped = strip_metadata(data)
        except InvalidImage:
            return FIXED_METADATA
        return LOCAL_TEXT if any(map(self._scrub.is_local, remaining_texts(stripped))) else stripped


def _listed_objects(workspace: Workspace) -> Callable[[Vote], frozenset[str]]:
    @lru_cache(4096)
    def of_turn(item_id: str, turn: int) -> frozenset[str]:
        item = workspace.store.get(Item, item_id)
        return frozenset() if item is None else frozenset(expected_objects(workspace, item, turn))

    return lambda vote: of_turn(vote.item_id, vote.turn)


_RUNS = re.compile(rb"[\x20-\x7e]{8,}")
"""Long enough that compressed pixel data seldom looks like one."""
_MOST_BYTES = 1 << 20


def remaining_texts(data: bytes) -> Iterator[str]:
    """Yield every text in an image's colour profile; in BMP and TIFF files, in any part.

    Finds texts of one and of two bytes per letter, in either byte order.
    """
    named_parts = media_type_of(data) in {PNG, JPEG, WEBP, GIF}
    block = colour_profile(data) if named_parts else data
    for start in range(0, len(block), _MOST_BYTES):
        part = block[start : start + _MOST_BYTES]
        for run in _RUNS.findall(b"\n".join((part.replace(b"\x00", b"\n"), part[::2], part[1::2]))):
            yield run.decode("ascii")
