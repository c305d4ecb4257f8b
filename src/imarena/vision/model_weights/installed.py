"""Where weights are stored, what is installed, and the hashes that a name is pinned to.

A folder is installed atomically: files are prepared in `.partial/NAME`, then the folder is renamed. Its metadata
is in `NAME/.imarena/manifest.json`; the pins in `pins/NAME.json` stay when the weights are removed.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field, ValidationError

from imarena.core import FrozenModel, ImarenaError, UserError, atomic_replacement, command_line, suggestion
from imarena.core.records import Moment
from imarena.vision.model_weights.entries import (
    NAME_PATTERN,
    SHA256_PATTERN,
    WeightsEntry,
    weights_entries,
    weights_root,
)
from imarena.vision.model_weights.file_checks import WEIGHT_SUFFIXES

_MANIFEST = Path(".imarena") / "manifest.json"


class WeightsChanged(ImarenaError):
    """A file differs from the one that this name is pinned to."""


class WeightFile(FrozenModel):
    """One file of installed weights."""

    sha256: str = Field(pattern=SHA256_PATTERN)
    size_bytes: int = Field(ge=0)


class WeightsManifest(FrozenModel):
    """What was installed, from where, and under which licence."""

    name: str = Field(pattern=NAME_PATTERN)
    source: str
    """`hub:owner/name`, `package:name==version` or `folder`."""
    revision: str | None = None
    licence: str
    licence_url: str = ""
    licence_accepted: bool
    """Was `--accept` given? A permissive licence does not need it."""
    files: dict[str, WeightFile] = Field(min_length=1)
    installed_at: Moment
    software: str

    @property
    def size_bytes(self) -> int:
        """Total size of all files."""
        return sum(file.size_bytes for file in self.files.values())


class WeightPins(FrozenModel):
    """The hashes and the revision of the first download of a name."""

    source: str
    revision: str | None = None
    sha256: dict[str, str]


def check_weights_name(name: str) -> None:
    """Raise unless the name is a valid folder name on every system."""
    if not re.match(NAME_PATTERN, name) or name == "pins":
        raise UserError(
            f"'{name}' cannot be a name of weights.", hint="Use small letters, digits, dots, hyphens and underscores."
        )


def installed_folder(name: str) -> Path | None:
    """The folder of installed weights, or None. Does not check hashes: `imarena weights verify` does."""
    if not re.match(NAME_PATTERN, name):
        return None
    folder = weights_root() / name
    return folder if (folder / _MANIFEST).is_file() else None


def weights_folder(name: str, feature: str) -> Path:
    """The folder of weights that `feature` needs; raises with the install command if they are missing."""
    folder = installed_folder(name)
    if folder is None:
        in_catalog = name in weights_entries()
        hint = (
            f"Install them with: {command_line('weights get', name)}"
            if in_catalog
            else suggestion(name, weights_entries())
        )
        raise UserError(f"{feature} needs the weights '{name}', which are not installed.", hint=hint)
    return folder


def installed_names() -> list[str]:
    """The names that are installed, sorted."""
    return sorted(path.parent.parent.name for path in weights_root().glob(f"*/{_MANIFEST.as_posix()}"))


def read_weights_manifest(folder: Path) -> WeightsManifest:
    """The manifest that was written when a folder was installed."""
    try:
        return WeightsManifest.model_validate_json((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise WeightsChanged(f"The manifest of the weights '{folder.name}' cannot be read.") from error


def read_pins(entry: WeightsEntry) -> WeightPins | None:
    """The pins of a name; None if nothing was downloaded yet from the listed source and revision."""
    path = weights_root() / "pins" / f"{entry.name}.json"
    if not path.is_file():
        return None
    try:
        pins = WeightPins.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        raise WeightsChanged(f"{path} is damaged: it holds the hashes that '{entry.name}' is pinned to.") from error
    return pins if pins.source == entry.source and entry.is_at(pins.revision) else None


def write_pins(name: str, pins: WeightPins) -> None:
    """Pin a name to the files of its first download."""
    path = weights_root() / "pins" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_replacement(path) as part:
        _write_flushed(part, pins.model_dump_json(indent=2))


def check_pins(name: str, known: Mapping[str, str], files: Mapping[str, WeightFile]) -> None:
    """Raise if a file's hash differs from the known one, or if a weights file is missing."""
    for path, sha256 in sorted(known.items()):
        if path in files and files[path].sha256 != sha256:
            raise WeightsChanged(
                f"'{name}' is pinned to another {path}: its hash should be {sha256} and is {files[path].sha256}."
            )
        if path not in files and Path(path).suffix.lower() in WEIGHT_SUFFIXES:
            raise WeightsChanged(f"'{name}' should have the file {path}, which is missing.")


@contextmanager
def prepared_folder(name: str) -> Iterator[Path]:
    """The folder that collects the files of a name, for one process at a time; existing files stay in it."""
    partial = weights_root() / ".partial"
    partial.mkdir(parents=True, exist_ok=True)
    with (partial / f"{name}.lock").open("w") as lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system
            pass
        except BlockingIOError as error:
            raise UserError(
                f"Another process is installing '{name}' now.", hint="Wait until it ends, or stop it."
            ) from error
        except OSError:  # a file system without locks, such as some network file systems
            pass
        folder = partial / name
        folder.mkdir(exist_ok=True)
        yield folder


def install_folder(folder: Path, manifest: WeightsManifest) -> Path:
    """Flush the files, write their manifest and move the folder to its final name, which is returned."""
    for name in manifest.files:
        with (folder / name).open("rb") as file:
            os.fsync(file.fileno())
    (folder / _MANIFEST).parent.mkdir(exist_ok=True)
    _write_flushed(folder / _MANIFEST, json.dumps(manifest.model_dump(mode="json"), indent=2))
    final = weights_root() / manifest.name
    old = folder.parent / f"{manifest.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    if final.exists():
        final.rename(old)
    folder.rename(final)
    shutil.rmtree(old, ignore_errors=True)
    return final


def _write_flushed(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
