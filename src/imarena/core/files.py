"""Files that are written whole or not at all, also where two processes write the same one; and a file's hash."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_replacement(path: Path) -> Iterator[Path]:
    """A new path beside `path` to write to; when the block ends without an error it takes the place of `path`."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes in hex, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, data: bytes | str) -> None:
    """Write a file so that a reader sees all of the old bytes or all of the new ones."""
    with atomic_replacement(path) as part:
        part.write_bytes(data.encode() if isinstance(data, str) else data)
