"""Data sets from a model hub: ``imarena import FORMAT hub:owner/name[@revision]`` (the `hub` extra)."""

import re
from pathlib import Path

from imarena.core import MissingExtra, UserError, first_line

PREFIX = "hub:"
_NAME = re.compile(r"hub:(?P<name>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@(?P<revision>[\w./-]+))?")
_GLOBS = ("*.parquet", "*.json", "*.jsonl", "*.csv", "*.tsv", "*.png", "*.jpg", "*.jpeg", "*.webp")


def is_hub(path: str) -> bool:
    """Is this the name of a data set on a hub?"""
    return path.startswith(PREFIX)


def download_dataset(path: str, folder: Path) -> Path:
    """Download a data set's tables and images (never code) to `folder`, pinned to one revision; returns its root.

    Files that were downloaded before are not downloaded again. The environment variable HF_ENDPOINT names the hub.
    """
    match = _NAME.fullmatch(path)
    if match is None:
        raise UserError(f"'{path}' does not name a data set.", hint="Write hub:owner/name or hub:owner/name@revision.")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise MissingExtra("Importing from a hub", "hub") from error
    name, revision = match["name"], match["revision"]
    target = folder / name.replace("/", "--") / (revision or "main").replace("/", "--")
    try:
        snapshot_download(
            name, repo_type="dataset", revision=revision, local_dir=target, allow_patterns=list(_GLOBS), max_workers=4
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = first_line(error)
        raise UserError(
            f"The data set {name} could not be fetched: {reason}",
            hint="Check the name, the revision, the network and your access (HF_TOKEN).",
        ) from error
    return target
