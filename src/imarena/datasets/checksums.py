"""SHA256SUMS of a published folder, in the format of `sha256sum`: written last, for downloaders to check."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from imarena.core import UserError, file_sha256

CHECKSUMS_FILE = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_IGNORED = frozenset({".git", ".gitattributes", ".cache"})
"""Files that Git and the Hugging Face client add to a folder."""


@dataclass(frozen=True)
class ChecksumReport:
    """The differences between a folder and its checksums."""

    files: int
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether every file is there and unchanged, with no others."""
        return not (self.changed or self.missing or self.extra)

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {"clean": self.clean, **self.__dict__}


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS for every file below the folder."""
    lines = [f"{file_sha256(folder / name)}  {name}\n" for name in sorted(_files(folder))]
    (folder / CHECKSUMS_FILE).write_text("".join(lines), encoding="utf-8")


def read_checksums(folder: Path) -> dict[str, str]:
    """Map file names to SHA-256. Raises `UserError` if the list is missing, damaged or names a file outside."""
    path = folder / CHECKSUMS_FILE
    if not path.is_file():
        raise UserError(f"{folder} has no {CHECKSUMS_FILE}.", hint="Name a folder that `publish` wrote.")
    sums: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = _LINE.fullmatch(line)
        parts = Path(match[2]).parts if match else ()
        if match is None or ".." in parts or Path(match[2]).is_absolute() or match[2] in sums:
            raise UserError(f"{path}, line {number} is not a checksum of a file in this folder.")
        sums[match[2]] = match[1]
    return sums


def check_publication(folder: Path) -> ChecksumReport:
    """Compare every file of a published folder with its checksum. Links are not followed: a link counts as changed."""
    sums = read_checksums(folder)
    present = set(_files(folder))
    changed = [
        name
        for name in sorted(present & sums.keys())
        if not _is_plain_file(folder / name) or file_sha256(folder / name) != sums[name]
    ]
    missing = sorted(sums.keys() - present)
    return ChecksumReport(len(sums), tuple(changed), tuple(missing), tuple(sorted(present - sums.keys())))


def _is_plain_file(path: Path) -> bool:
    """Return whether this is a regular file: not a link, not a pipe that never ends."""
    return path.is_file() and not path.is_symlink()


def _files(folder: Path) -> Iterator[str]:
    """Yield the path with `/` of every file below the folder, except SHA256SUMS itself."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if (path.is_symlink() or not path.is_dir()) and name.parts[0] not in _IGNORED and str(name) != CHECKSUMS_FILE:
            yield name.as_posix()
