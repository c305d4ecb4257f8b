"""submission make: the outputs of one editor and their provenance, in one file."""

import os
import secrets
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from imarena.core import (
    VERSION,
    Progress,
    UserError,
    command_line,
    counted,
    file_sha256,
    sha256_hex,
    validation_problem,
)
from imarena.core.records import Mode, now
from imarena.datasets import PACK_MANIFEST, PackedFile, PackManifest, check_editor_name
from imarena.images import SUFFIXES, read_image_file
from imarena.workflows.publishing.record_redaction import original_content_id
from imarena.workflows.publishing.submission_check import SubmissionCheck, SubmittedFile

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # real file times would reveal when the outputs were made


@dataclass(frozen=True)
class PackReport:
    """What was packed."""

    pack: str
    sha256: str
    editor: str
    files: int
    size_bytes: int
    missing: int
    cut_off: int
    """Number of outputs of later turns that were left out because the turn before has none."""


def make_submission(
    check: SubmissionCheck,
    target: Path,
    *,
    editor: str,
    version: str = "",
    seed: int | None = None,
    partial: bool = False,
    progress: Progress | None = None,
) -> PackReport:
    """Pack the checked outputs. The file appears as a whole or not at all."""
    check_editor_name(editor, "Give a plain one with --editor NAME.")
    _require_usable(check, partial)
    if target.exists():
        raise UserError(f"{target} exists already.", hint="Delete it first, or name another file with --out.")
    files = _in_order(check.files)
    if not files:
        raise UserError(
            f"{check.folder} has no output of any item.", hint=f"`{command_line('submission check')}` lists the names."
        )
    packed = [_manifest_entry(number, submitted) for number, submitted in enumerate(files, 1)]
    try:
        manifest = PackManifest(
            editor=editor, editor_version=version, seed=seed, made_at=now(), software=f"imarena {VERSION}",
            files=tuple(packed), missing=check.expected - len(files),
        )  # fmt: skip
    except ValidationError as error:
        raise UserError(f"{validation_problem(error).text}.") from error
    part = target.with_name(f".{target.name}.part-{secrets.token_hex(4)}")
    try:
        with part.open("xb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
                _write(archive, manifest, files, progress)
            stream.flush()
            os.fsync(stream.fileno())
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)
    size = target.stat().st_size
    return PackReport(
        str(target), file_sha256(target), editor, len(files), size, manifest.missing, len(check.files) - len(files)
    )


def _require_usable(check: SubmissionCheck, partial: bool) -> None:
    problems = {"broken": check.broken, "of the wrong size": check.wrong_size}
    wrong = [f"{counted(len(files), 'file')} {word}" for word, files in problems.items() if files]
    if check.missing and not partial:
        wrong.append(f"{counted(len(check.missing), 'output')} missing")
    if wrong:
        raise UserError(
            f"{check.folder} is not ready: {', '.join(wrong)}.",
            hint=f"`{command_line('submission check')}` lists them. --partial packs without the missing ones, "
            "--any-size takes"
            " images of any size.",
        )


def _in_order(files: Iterable[SubmittedFile]) -> list[SubmittedFile]:
    """Return every file, except later turns whose earlier turn is missing: a chain of turns has no gap."""
    packed = {(file.expected.item.item_id, file.expected.mode, file.expected.turn) for file in files}

    def is_complete(file: SubmittedFile) -> bool:
        output = file.expected
        earlier = range(output.turn) if output.mode is Mode.MULTI_TURN else ()
        return all((output.item.item_id, output.mode, turn) in packed for turn in earlier)

    return [file for file in files if is_complete(file)]


def _manifest_entry(number: int, submitted: SubmittedFile) -> PackedFile:
    """Return the manifest entry of a file. Its name in the pack is a number, because keys may contain anything."""
    item, image = submitted.expected.item, submitted.image
    return PackedFile(
        file=f"outputs/{number:06}{SUFFIXES[image.media_type]}", dataset=item.dataset, key=item.key,
        content_id=original_content_id(item), mode=submitted.expected.mode, turn=submitted.expected.turn,
        sha256=image.sha256, size_bytes=image.size_bytes, media_type=image.media_type,
        width=image.width or 1, height=image.height or 1,
    )  # fmt: skip


def _write(
    archive: zipfile.ZipFile, manifest: PackManifest, files: list[SubmittedFile], progress: Progress | None
) -> None:
    text = manifest.model_dump_json(indent=1).encode("utf-8")
    archive.writestr(zipfile.ZipInfo(PACK_MANIFEST, _LONG_AGO), text, zipfile.ZIP_DEFLATED)
    for number, (packed, submitted) in enumerate(zip(manifest.files, files, strict=True)):
        if progress and number % 50 == 0:
            progress("packed", number, len(files))
        data = read_image_file(submitted.path)
        if sha256_hex(data) != packed.sha256:
            raise UserError(f"{submitted.path.name} changed while it was packed.", hint="Run the same command again.")
        archive.writestr(zipfile.ZipInfo(packed.file, _LONG_AGO), data)
