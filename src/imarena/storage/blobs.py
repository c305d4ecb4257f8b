"""Images on disk by SHA-256, in two levels of folders.

A blob is written to a temporary file, flushed to disk, then renamed: a reader sees all of it or nothing, and a row
that refers to it is committed only afterwards.
"""

import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from imarena.core import InvalidImage, StoreError, command_line, sha256_hex


def check_bytes(data: bytes, sha256: str, location: str) -> bytes:
    """Return the bytes if they match the hash, else raise. Takes 0.2 ms for 350 KB; no verdict uses a wrong image."""
    if sha256_hex(data) != sha256:
        raise StoreError(
            f"The image {sha256} has other bytes in {location} than were stored. Run `{command_line('verify --deep')}`."
        )
    return data


class Blobs:
    """A folder of blobs. Safe for many processes at once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def place(self) -> str:
        """The location of the blobs, for display."""
        return str(self.root)

    def path(self, sha256: str) -> Path:
        """Path of a blob."""
        return self.root / sha256[:2] / sha256[2:4] / sha256

    def put(self, data: bytes) -> str:
        """Store bytes and return their hash. The same bytes are stored once."""
        sha256 = sha256_hex(data)
        final = self.path(sha256)
        if self._barred(sha256).exists():
            raise InvalidImage("the image was withdrawn from this workspace")
        if self._renew(final, len(data)):
            return sha256
        staging = self.root / "tmp"
        staging.mkdir(parents=True, exist_ok=True)
        final.parent.mkdir(parents=True, exist_ok=True)
        part = staging / f"{sha256}.{os.getpid()}.{secrets.token_hex(4)}"
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(final)
        _sync_folder(final.parent)
        if self._barred(sha256).exists():  # stored meanwhile
            final.unlink(missing_ok=True)
            raise InvalidImage("the image was withdrawn from this workspace")
        return sha256

    def _renew(self, path: Path, size: int) -> bool:
        """Does the blob exist? If so, refresh its timestamp, so that it is not deleted as an old leftover."""
        try:
            if path.stat().st_size != size:
                return False
            os.utime(path)
        except FileNotFoundError:
            return False
        return True

    def get(self, sha256: str) -> bytes:
        """The bytes of a blob; raises `StoreError` if it is missing or its bytes have changed."""
        return check_bytes(self._read(sha256), sha256, self.place)

    def _read(self, sha256: str) -> bytes:
        try:
            return self.path(sha256).read_bytes()
        except FileNotFoundError:
            raise StoreError(
                f"The image {sha256} is missing from {self.root}. Run `{command_line('verify')}`."
            ) from None

    def head(self, sha256: str, count: int) -> bytes:
        """The first bytes of a blob."""
        try:
            with self.path(sha256).open("rb") as file:
                return file.read(count)
        except FileNotFoundError:
            raise StoreError(
                f"The image {sha256} is missing from {self.root}. Run `{command_line('verify')}`."
            ) from None

    def size(self, sha256: str) -> int | None:
        """Size on disk, or None if the blob is missing."""
        try:
            return self.path(sha256).stat().st_size
        except FileNotFoundError:
            return None

    def sizes(self, hashes: Sequence[str]) -> list[int | None]:
        """The sizes of many blobs."""
        return [self.size(sha256) for sha256 in hashes]

    def digest(self, sha256: str) -> str:
        """The hash of the bytes that are actually stored."""
        return sha256_hex(self._read(sha256))

    def clock(self) -> float:
        """Seconds since 1970 by the clock of the file system: on a shared folder, it is that of another machine."""
        try:
            with tempfile.TemporaryFile(dir=self.root) as file:
                return os.fstat(file.fileno()).st_mtime
        except OSError:  # no folder, or a read-only one: nothing is deleted there
            return time.time()

    def remove_older(self, sha256: str, moment: float) -> int | None:
        """Delete a blob unless it was stored since `moment`; returns its size, or None if it stays.

        It is moved aside before its age is read: a writer has either refreshed its timestamp before (and it is moved
        back), or finds it gone and writes it again.
        """
        path = self.path(sha256)
        aside = self.root / "tmp" / f"{sha256}.{os.getpid()}.{secrets.token_hex(4)}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.rename(aside)
        except FileNotFoundError:
            return None
        status = aside.stat()
        if status.st_mtime > moment:
            aside.replace(path)
            return None
        aside.unlink()
        return status.st_size

    def block(self, sha256: str) -> None:
        """Delete the bytes and refuse them from now on."""
        mark = self._barred(sha256)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        self.path(sha256).unlink(missing_ok=True)

    def _barred(self, sha256: str) -> Path:
        return self.root / "withdrawn" / sha256

    def __iter__(self) -> Iterator[str]:
        """The hashes of all blobs on disk."""
        for first in sorted(self.root.glob("[0-9a-f][0-9a-f]")):
            for second in sorted(first.glob("[0-9a-f][0-9a-f]")):
                for blob in sorted(second.iterdir()):
                    yield blob.name

    def older(self, moment: float) -> Iterator[tuple[str, int]]:
        """Hash and size of each blob that was not stored since `moment`."""
        for sha256 in self:
            status = self.path(sha256).stat()
            if status.st_mtime <= moment:
                yield sha256, status.st_size

    def leftovers(self) -> list[Path]:
        """Partial files of writes that never finished."""
        staging = self.root / "tmp"
        return sorted(staging.iterdir()) if staging.is_dir() else []


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
