"""What keeps the bytes of pictures, by SHA-256: a folder (``blobs.py``) or S3-compatible storage (``s3_blobs.py``).

Every implementation passes ``tests/contract/storage/test_blobs.py``. The order of writing is the same everywhere: when
`put` returns, the bytes are stored for good; only then is a row committed that names them.
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
        """Where they are, for people."""
        ...

    def put(self, data: bytes) -> str:
        """Store bytes for good and return their hash. The same bytes are stored once; withdrawn ones are refused."""
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes; raises `StoreError` where they are missing."""
        ...

    def head(self, sha256: str, count: int) -> bytes:
        """The first bytes; raises `StoreError` where they are missing."""
        ...

    def size(self, sha256: str) -> int | None:
        """The number of bytes, or None where they are missing."""
        ...

    def sizes(self, hashes: Sequence[str]) -> list[int | None]:
        """The sizes of many."""
        ...

    def digest(self, sha256: str) -> str:
        """The hash of what is really there."""
        ...

    def clock(self) -> float:
        """Seconds since 1970 by the clock of the storage, which the ages of blobs are by; that of a machine differs."""
        ...

    def remove_older(self, sha256: str, moment: float) -> int | None:
        """Delete what nobody stored since `moment`; its size, or None where it stays."""
        ...

    def bar(self, sha256: str) -> None:
        """Delete the bytes and never take them again."""
        ...

    def __iter__(self) -> Iterator[str]:
        """The hashes of all that is there."""
        ...

    def older(self, moment: float) -> Iterator[tuple[str, int]]:
        """Hash and size of what nobody stored since `moment`."""
        ...

    def leftovers(self) -> list[Path]:
        """Files that writes left which never finished."""
        ...


def open_blobs(root: Path, settings: Settings) -> BlobStore:
    """The pictures of a workspace: the folder in it, another folder, or ``s3://bucket/prefix``."""
    where = settings.blobs
    if not where:
        return Blobs(root / FOLDER)
    if where.startswith("s3://"):
        from imarena.storage.s3_blobs import S3Blobs

        return S3Blobs(where, settings.blobs_endpoint)
    if "://" in where:
        raise UserError(f'`blobs = "{where}"` is not known.', hint="Use s3://bucket/prefix, or the path of a folder.")
    return Blobs(root / where)
