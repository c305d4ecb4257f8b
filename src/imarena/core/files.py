"""Atomic file writes, safe even if two processes write the same file; and file hashes."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_replacement(path: Path) -> Iterator[Path]:
    """Yield a new path beside `path` to write to; if the block ends without an error, it replaces `path`."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hex, read in chunks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, data: bytes | str) -> None:
    """Write a file so that readers see either all of the old bytes or all of the new ones."""
    with atomic_replacement(path) as part:
        part.write_bytes(data.encode() if isinstance(data, str) else data)
