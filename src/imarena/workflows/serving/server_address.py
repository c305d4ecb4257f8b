"""The address of a running server: written into the workspace at start, removed at stop."""

import contextlib
import json
import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

FILE = "serving.json"
USUAL = "http://127.0.0.1:8000"
"""Where `serve` listens without options."""
_PATIENCE_S = 2.0


def write_server_address(root: Path, address: str) -> None:
    """Write the address of this process's server; skipped if the workspace cannot be written to."""
    with contextlib.suppress(OSError):
        (root / FILE).write_text(json.dumps({"address": address, "pid": os.getpid()}), encoding="utf-8")


def remove_server_address(root: Path) -> None:
    """Remove the address, unless it now belongs to another server."""
    if _read_document(root).get("pid") == os.getpid():
        with contextlib.suppress(OSError):
            (root / FILE).unlink()


def find_server_address(root: Path) -> str | None:
    """The address of this workspace's server, without a trailing slash; None if none answers.

    A killed server leaves its address behind: it is valid only while its process lives and its port is open.
    """
    document = _read_document(root)
    address, pid = document.get("address"), document.get("pid")
    if not isinstance(address, str) or not isinstance(pid, int) or not _lives(pid):
        return None
    url = urlsplit(address)
    try:
        with socket.create_connection((url.hostname or "", url.port or 80), timeout=_PATIENCE_S):
            return address.rstrip("/")
    except (OSError, ValueError):
        return None


def _read_document(root: Path) -> dict[str, object]:
    try:
        document = json.loads((root / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _lives(pid: int) -> bool:
    if os.name != "posix" or pid <= 0:  # elsewhere os.kill would end it; rely on the open port
        return pid > 0
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
