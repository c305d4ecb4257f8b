"""Read a submission pack. A pack is untrusted input: all of it is checked before any of it is used, nothing is unpacked
to disk, and no name in it ever becomes a path.
"""

import json
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from imarena.core import UserError, command_line, error_line, validation_problem
from imarena.datasets.pack_manifest import PACK_MANIFEST, PackManifest
from imarena.images import MAX_IMAGE_BYTES

_SHOWN = 10
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_ARCHIVES = frozenset({".zip", ".jar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"})
_DRIVE = re.compile(r"[A-Za-z]:")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_BYTES = 20
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, struct.error, ValueError,
    OverflowError,
)  # fmt: skip
"""Exceptions that `zipfile` raises on damaged archives."""


@dataclass(frozen=True)
class PackLimits:
    """Upper limits for a pack."""

    files: int = 100_000
    total_bytes: int = 64 << 30
    file_bytes: int = MAX_IMAGE_BYTES
    manifest_bytes: int = 64 << 20
    ratio: int = 200
    """Maximum ratio of decompressed to compressed bytes; images hardly compress, zip bombs do."""
    small_bytes: int = 1 << 20
    """Files up to this size may have any ratio."""
    directory_bytes: int = 64 << 20
    """Maximum size of the archive's list of files, which is read into memory."""


PACK_LIMITS = PackLimits()


class RepeatedKey(ValueError):
    """A JSON object that repeats a key, so its value is ambiguous."""


class SubmissionPack:
    """An open pack whose list of files has been checked."""

    def __init__(self, name: str, archive: zipfile.ZipFile, limits: PackLimits) -> None:
        self.name = name
        self._archive = archive
        self._limits = limits
        self._entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}

    def read_manifest(self) -> PackManifest:
        """Return the pack's manifest; it must list exactly the files in the pack."""
        if PACK_MANIFEST not in self._entries:
            raise UserError(
                f"{self.name} has no {PACK_MANIFEST}.",
                hint=f"It is not a submission; `{command_line('submission make')}` makes one.",
            )
        data = self.read(PACK_MANIFEST)
        try:
            manifest = PackManifest.model_validate_json(data)
            json.loads(data, object_pairs_hook=_without_repeats)
        except ValidationError as error:
            problem = validation_problem(error, given=False)  # a pack comes from strangers
            raise UserError(f"{self.name}: {PACK_MANIFEST} is not valid ({problem.text}).") from error
        except RepeatedKey as error:
            raise UserError(f"{self.name}: {PACK_MANIFEST} is not valid: {error}.") from error
        counts = Counter(packed.file for packed in manifest.files)
        problems = [f"{file!a}: listed {number} times" for file, number in counts.items() if number > 1]
        present = self._entries.keys() - {PACK_MANIFEST}
        problems += [f"{file!a}: listed, and not in the pack" for file in sorted(set(counts) - present)]
        problems += [f"{file!a}: in the pack, and not listed" for file in sorted(present - set(counts))]
        refuse_pack(self.name, problems)
        return manifest

    def read(self, file: str) -> bytes:
        """Return the bytes of a file, with the size that the archive declares."""
        entry = self._entries[file]
        try:
            with self._archive.open(entry) as stream:
                data = stream.read(entry.file_size + 1)
        except _DAMAGED as error:
            raise UserError(f"{self.name}: {file!a} cannot be read ({error_line(error, 200)}).") from error
        if len(data) != entry.file_size:
            raise UserError(f"{self.name}: {file!a} has another size than the archive lists.")
        return data


@contextmanager
def open_pack(path: Path, limits: PackLimits = PACK_LIMITS) -> Iterator[SubmissionPack]:
    """Open a pack and check its list of files. Raises `UserError` with all problems."""
    if not path.is_file():
        raise UserError(f"There is no file {path}.", hint="Name a pack that `submission make` wrote.")
    with path.open("rb") as file:
        size = file.seek(0, 2)
        _check_directory(path.name, file, size, limits)
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGED as error:
            raise UserError(f"{path.name} is not a ZIP archive that can be read ({error_line(error, 200)}).") from error
        with archive:
            refuse_pack(path.name, list(_archive_problems(archive.infolist(), size, limits)))
            yield SubmissionPack(path.name, archive, limits)


def _without_repeats(pairs: list[tuple[str, object]]) -> None:
    repeated = [name for name, number in Counter(name for name, _ in pairs).items() if number > 1]
    if repeated:
        raise RepeatedKey(f"the key {repeated[0]!a} appears twice")


def _check_directory(name: str, file: IO[bytes], size: int, limits: PackLimits) -> None:
    """Reject a list of files that is too large, before reading it."""
    file.seek(max(0, size - 65_557))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise UserError(f"{name} is not a ZIP archive.", hint="A submission is the file that `submission make` wrote.")
    count, directory = _END.unpack_from(tail, at)[4:6]
    at64 = at - _LOCATOR_BYTES - _END64.size
    if at64 >= 0 and tail[at - _LOCATOR_BYTES :].startswith(b"PK\x06\x07"):
        large = _END64.unpack_from(tail, at64)
        count, directory = max(count, large[7]), max(directory, large[8])
    elif directory == 0xFFFFFFFF or count == 0xFFFF:
        raise UserError(f"{name} is a ZIP archive without the list of files that it announces.")
    if directory > limits.directory_bytes:
        raise UserError(
            f"{name}: its list of files has {directory:,} bytes; at most {limits.directory_bytes:,} are read."
        )
    if count > limits.files + 1:
        raise UserError(f"{name} holds {count:,} files; a submission has at most {limits.files:,}.")
    file.seek(0)


def _archive_problems(entries: list[zipfile.ZipInfo], size: int, limits: PackLimits) -> Iterator[str]:
    """Yield all problems with the names, kinds and sizes of an archive's entries."""
    if len(entries) > limits.files + 1:
        yield f"{len(entries):,} files; a submission has at most {limits.files:,}"
        return
    names: dict[str, str] = {}
    for entry in entries:
        reason = _name_problem(entry) or _kind_problem(entry) or _size_problem(entry, limits)
        folded = unicodedata.normalize("NFKC", entry.filename.rstrip("/")).casefold()
        if not reason and folded in names:
            same_name = names[folded] == entry.filename
            reason = "appears twice" if same_name else f"differs from {names[folded]!a} only in case or Unicode form"
        names[folded] = entry.filename
        if reason:
            yield f"{entry.orig_filename!a}: {reason}"
    total = sum(entry.file_size for entry in entries)
    if total > limits.total_bytes:
        yield f"the files have {total:,} bytes together; at most {limits.total_bytes:,} are read"
    if total > limits.small_bytes and total > limits.ratio * size:
        yield f"the archive becomes {total:,} bytes, more than {limits.ratio} times its size, like a bomb"
    if sum(entry.compress_size for entry in entries) > size:
        yield "files of the archive overlap"


def _name_problem(entry: zipfile.ZipInfo) -> str:
    name = entry.orig_filename
    if not name or len(name) > 512:
        return "the name is empty or too long"
    if not name.isprintable():
        return "the name holds characters that cannot be printed"
    if "\\" in name:
        return "the name holds a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "an absolute path"
    if any(part in ("", ".", "..") for part in name.removesuffix("/").split("/")):
        return "a path that leads out of the pack"
    return ""


def _kind_problem(entry: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "not a plain file"
    if entry.flag_bits & _ENCRYPTED:
        return "encrypted"
    if Path(entry.filename).suffix.lower() in _ARCHIVES:
        return "an archive inside the archive"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "compressed in a way that is not read (stored and deflated are)"
    return ""


def _size_problem(entry: zipfile.ZipInfo, limits: PackLimits) -> str:
    most = limits.manifest_bytes if entry.filename == PACK_MANIFEST else limits.file_bytes
    if entry.is_dir():
        return "a folder with content" if entry.file_size else ""
    if entry.file_size > most:
        return f"{entry.file_size:,} bytes; at most {most:,} are read"
    if entry.file_size > limits.small_bytes and entry.file_size > limits.ratio * max(entry.compress_size, 1):
        return f"compressed more than {limits.ratio} times, as in a decompression bomb"
    return ""


def refuse_pack(name: str, problems: list[str]) -> None:
    """Raise `UserError` with all problems of a pack, if there are any."""
    if problems:
        more = [f"... and {len(problems) - _SHOWN:,} more"] if len(problems) > _SHOWN else []
        raise UserError(f"{name} is refused; nothing was stored.", hint="\n".join([*problems[:_SHOWN], *more]))
