"""Interface for storing image bytes by SHA-256: a folder (``blobs.py``) or S3-compatible storage (``s3_blobs.py``).

Every implementation passes ``tests/contract/storage/test_blobs.py``. The write order is the same everywhere: `put`
returns when the bytes are stored durably; only then is a row committed that refers to them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from imarena.core import Settings, UserError
from imarena.storage.blobs import Blobs

FOLDER = "blobs"


class BlobStore(Protocol):
    """Bytes by their hash. Safe for many processes at once."""

    @property
    def place(self) -> str:
        """The location of the blobs, for display."""
        ...

    def put(self, data: bytes) -> str:
        """Store bytes durably and return their hash. The same bytes are stored once; withdrawn bytes are refused."""
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes; raises `StoreError` if they are missing."""
        ...

    def head(self, sha256: str, count: int) -> bytes:
        """The first `count` bytes; raises `StoreError` if the blob is missing."""
        ...

    def size(self, sha256: str) -> int | None:
        """The number of bytes, or None if they are missing."""
        ...

    def sizes(self, hashes: Sequence[str]) -> list[int | None]:
        """The sizes of many blobs."""
        ...

    def digest(self, sha256: str) -> str:
        """The hash of the bytes that are actually stored."""
        ...

    def clock(self) -> float:
        """Seconds since 1970 by the storage's clock, which dates the blobs and may differ from the machine's."""
        ...

    def remove_older(self, sha256: str, moment: float) -> int | None:
        """Delete a blob unless it was stored since `moment`; returns its size, or None if it stays."""
        ...

    def block(self, sha256: str) -> None:
        """Delete the bytes and refuse them from now on."""
        ...

    def __iter__(self) -> Iterator[str]:
        """The hashes of all blobs."""
        ...

    def older(self, moment: float) -> Iterator[tuple[str, int]]:
        """Hash and size of each blob that was not stored since `moment`."""
        ...

    def leftovers(self) -> list[Path]:
        """Files left by writes that never finished."""
        ...


def open_blobs(root: Path, settings: Settings) -> BlobStore:
    """The images of a workspace: the folder in it, another folder, or ``s3://bucket/prefix``."""
    blobs = settings.blobs
    if not blobs:
        return Blobs(root / FOLDER)
    if blobs.startswith("s3://"):
        from imarena.storage.s3_blobs import S3Blobs

        return S3Blobs(blobs, settings.blobs_endpoint)
    if "://" in blobs:
        raise UserError(f'`blobs = "{blobs}"` is not known.', hint="Use s3://bucket/prefix, or the path of a folder.")
    return Blobs(root / blobs)
