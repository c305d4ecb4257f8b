"""Models on a hub: the current commit of a repository, the hashes that it states, and its files (the `hub` extra)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from imarena.core import MissingExtra, UserError, error_line

_FEATURE = "Downloading weights from a hub"


@dataclass(frozen=True)
class HubCommit:
    """A repository at one commit: `sha256` maps its large files that match the patterns to their hashes."""

    repository: str
    revision: str
    files: tuple[str, ...]
    sha256: dict[str, str]


def find_commit(repository: str, revision: str | None, patterns: Sequence[str]) -> HubCommit:
    """Ask the hub (by default or at HF_ENDPOINT) for a commit; without a revision, for the newest one."""
    hub = _import_hub()
    try:
        info = hub.HfApi().model_info(repository, revision=revision, files_metadata=True)
    except _failures(hub) as error:
        raise _unreachable(repository, error) from error
    siblings = [file for file in info.siblings or () if any(fnmatch(file.rfilename, pattern) for pattern in patterns)]
    if not siblings:
        raise UserError(
            f"{repository} holds none of the files {', '.join(patterns)}.", hint="Weights in pickles are not loaded."
        )
    for file in siblings:
        if Path(file.rfilename).is_absolute() or ".." in Path(file.rfilename).parts or "\\" in file.rfilename:
            raise UserError(f"{repository} names a file outside of its folder: {file.rfilename!a}.")
    hashes = {file.rfilename: str(file.lfs.sha256) for file in siblings if file.lfs is not None}
    return HubCommit(repository, str(info.sha), tuple(file.rfilename for file in siblings), hashes)


def download_commit(commit: HubCommit, folder: Path) -> None:
    """Download the files of a commit into `folder`; existing files are kept, partial downloads are continued."""
    hub = _import_hub()
    try:
        hub.snapshot_download(
            commit.repository, revision=commit.revision, local_dir=folder, allow_patterns=list(commit.files),
            max_workers=4,
        )  # fmt: skip
    except _failures(hub) as error:
        raise _unreachable(commit.repository, error) from error


def _import_hub() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError as error:
        raise MissingExtra(_FEATURE, "hub") from error
    return huggingface_hub


def _failures(hub: Any) -> tuple[type[Exception], ...]:
    """The exceptions of the client: errors of the hub, and those of the HTTP library that its version uses."""
    return (hub.errors.HfHubHTTPError, getattr(hub.errors, "HTTPError", OSError), OSError, ValueError)


def _unreachable(repository: str, error: BaseException) -> UserError:
    reason = error_line(error, 300)
    return UserError(
        f"The model {repository} could not be downloaded: {reason}",
        hint="Check the network and your access (HF_TOKEN). What was downloaded is kept: run the same command again.",
    )
