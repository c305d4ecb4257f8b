"""A workspace's settings: the file ``imarena.toml``, validated when it is read."""

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from imarena.core.errors import UserError
from imarena.core.validation import validation_problem

FILE_NAME = "imarena.toml"
ExecutorKind = Literal["auto", "threads", "processes", "ray"]
"""Where questions are answered: in this process, in separate processes, or on a Ray cluster; `auto` chooses."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseSettings(_Section):
    """Where records are stored. Empty: in a SQLite file in the workspace."""

    url: str = ""
    url_env: str = ""
    """Name of an environment variable with the address, for addresses that contain a password."""


class CacheSettings(_Section):
    """The cache of previews and tiles."""

    cap_mb: int = Field(default=2048, ge=16)


class BoardSettings(_Section):
    """The board that is shown by default."""

    source: Literal["", "people", "judge"] = ""
    """Empty: people, unless a judge covers as many editors and links them in fewer separate groups."""
    judge: str = ""
    min_battles: int = Field(default=30, ge=1)
    """Editors with fewer human battles do not count as linked to the others by them."""
    overall: str = ""
    """How to combine a rater's marks on several criteria into one. Empty: by the rule of the data set."""
    success: dict[str, float] = Field(default_factory=dict)
    """By judge: the minimum score of a successful output. Some judges have a threshold of their own."""


class Settings(_Section):
    """Everything in ``imarena.toml``. Other packages validate their tables: judges, editors, endpoints and so on."""

    name: str = "arena"
    executor: ExecutorKind = "auto"
    """Where questions are answered, unless a command's `--executor` says otherwise."""
    blobs: str = ""
    """Where images are stored: a folder, or ``s3://bucket/prefix``. Empty: the folder ``blobs`` of the workspace."""
    blobs_endpoint: str = ""
    """The address of S3-compatible storage. Empty: the one in the environment, else Amazon's."""
    database: DatabaseSettings = DatabaseSettings()
    cache: CacheSettings = CacheSettings()
    board: BoardSettings = BoardSettings()
    endpoints: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    judges: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    editors: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    sources: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    """Image sources of `curate`, by name."""
    curation: dict[str, JsonValue] = Field(default_factory=dict)
    """Parameters of `curate`."""


def load_settings(path: Path) -> Settings:
    """Read and validate a settings file; a wrong one raises `UserError` with the line or the key."""
    try:
        with path.open("rb") as file:
            raw = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid TOML: {error}.") from error
    try:
        return Settings.model_validate(raw)
    except ValidationError as error:
        problem = validation_problem(error, Settings)
        raise UserError(f"{path}: {problem.text}.", hint=problem.hint) from error
