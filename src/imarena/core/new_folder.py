"""Create a folder as a whole or not at all: write it next to its target, flush it, rename it."""

import ctypes
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from imarena.core.errors import UserError

_HERE = -100
"""AT_FDCWD: paths are relative to the working directory."""
_SWAP = 2
"""RENAME_EXCHANGE on Linux."""


@contextmanager
def new_folder(target: Path, replaceable: Callable[[Path], str]) -> Iterator[Path]:
    """Yield a temporary folder that replaces `target` if the block succeeds, and is removed if it fails.

    `target` is new or empty; else `replaceable` returns why it may not be replaced ("" if it may). A kill leaves only
    the temporary folder, which the next call removes.
    """
    target = target.absolute()
    _check(target, replaceable)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target)
    part = target.parent / f".{target.name}.part-{secrets.token_hex(4)}"
    part.mkdir()
    lock = _lock(part)
    try:
        yield part
        for path in part.rglob("*"):
            if path.is_file():
                with path.open("rb") as file:
                    os.fsync(file.fileno())
        _check(target, replaceable)
        _replace(part, target)
    finally:
        if lock is not None:
            os.close(lock)
        shutil.rmtree(part, ignore_errors=True)


def _check(target: Path, replaceable: Callable[[Path], str]) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UserError(f"{target} is not a folder.", hint="Name a new folder.")
    reason = replaceable(target) if target.is_dir() and any(target.iterdir()) else ""
    if reason:
        raise UserError(f"{target} is not empty.", hint=reason)


def _replace(part: Path, target: Path) -> None:
    """Move the new folder to the target. The earlier folder is then at `part`, and the caller removes it."""
    if not (target.is_dir() and any(target.iterdir())):
        part.rename(target)
    elif not _exchange(part, target):
        earlier = part.with_name(f"{part.name}-earlier")
        target.rename(earlier)
        part.rename(target)
        earlier.rename(part)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two folders atomically, so that neither is ever missing; return False if the system cannot."""
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    if libc is None or not hasattr(libc, "renameat2"):
        return False
    return bool(libc.renameat2(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _SWAP) == 0)


def _lock(folder: Path) -> int | None:
    """Lock a folder while this process lives; None if another process holds it. A kill releases the lock."""
    try:
        import fcntl
    except ImportError:  # this system has no such locks
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_abandoned(target: Path) -> None:
    """Remove temporary folders of this target whose process is gone."""
    for part in target.parent.glob(f".{_literal(target.name)}.part-*"):
        lock = _lock(part)
        if lock is not None:
            shutil.rmtree(part, ignore_errors=True)
            os.close(lock)


def _literal(name: str) -> str:
    """Escape a name for `glob`, so that no character is a wildcard."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
