"""Check that installed weights are still the files that were installed, by hashing every file again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from imarena.core import ImarenaError, Progress, UserError, command_line, file_sha256, first_line
from imarena.vision.model_weights.entries import weights_entries
from imarena.vision.model_weights.file_checks import check_weight_file
from imarena.vision.model_weights.installed import (
    WeightsManifest,
    check_pins,
    installed_folder,
    installed_names,
    read_pins,
    read_weights_manifest,
)


@dataclass(frozen=True)
class WeightsFinding:
    """One mismatch."""

    name: str
    kind: Literal["changed", "missing", "unknown", "manifest", "pin"]
    """`unknown`: a file that was not installed; `pin`: a file that differs from the list or the first download."""
    file: str
    detail: str


def verify_weights(names: Sequence[str], progress: Progress) -> Iterator[WeightsFinding]:
    """Hash every file of these names (all installed ones if empty) and yield each mismatch."""
    for name in names or installed_names():
        folder = installed_folder(name)
        if folder is None:
            raise UserError(
                f"The weights '{name}' are not installed.", hint=f"`{command_line('weights list')}` shows which are."
            )
        try:
            manifest = read_weights_manifest(folder)
        except ImarenaError as error:
            yield WeightsFinding(name, "manifest", "", str(error))
            continue
        yield from _files(folder, manifest, progress)
        yield from _pinned(manifest)


def _files(folder: Path, manifest: WeightsManifest, progress: Progress) -> Iterator[WeightsFinding]:
    done = 0
    for path, expected in sorted(manifest.files.items()):
        file = folder / path
        if not file.is_file():
            yield WeightsFinding(manifest.name, "missing", path, "the file is not there")
        elif (sha256 := file_sha256(file)) != expected.sha256:
            yield WeightsFinding(manifest.name, "changed", path, f"should be {expected.sha256}, is {sha256}")
        else:
            try:
                check_weight_file(file)
            except UserError as error:
                yield WeightsFinding(manifest.name, "changed", path, first_line(error))
        done += expected.size_bytes
        progress(manifest.name, done, manifest.size_bytes)
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if not file.is_dir() and path not in manifest.files and path != ".imarena/manifest.json":
            yield WeightsFinding(manifest.name, "unknown", path, "the file was not installed")


def _pinned(manifest: WeightsManifest) -> Iterator[WeightsFinding]:
    """The manifest lies next to the files: if somebody changes both, the list and the pins still reveal it."""
    entry = weights_entries().get(manifest.name)
    try:
        pins = read_pins(entry) if entry else None
        hashes = {**(pins.sha256 if pins else {}), **(entry.sha256 if entry else {})}
        check_pins(manifest.name, hashes, manifest.files)
    except ImarenaError as error:
        yield WeightsFinding(manifest.name, "pin", "", str(error))
