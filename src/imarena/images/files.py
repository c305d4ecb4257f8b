"""Reading an image file that a user names: a regular file of bounded size, never a pipe or a device that has no end."""

import errno
import os
import stat
from pathlib import Path

from imarena.core import InvalidImage

MAX_IMAGE_BYTES = 256 << 20
"""Larger files are refused by all commands and importers."""


def read_image_file(path: Path) -> bytes:
    """The bytes of a file. Raises `OSError` if it cannot be opened, `InvalidImage` if it must not be read."""
    # Non-blocking, because opening a pipe without a writer would block.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(state.st_mode):
            raise InvalidImage("not a regular file (a pipe, a device or a socket)")
        if state.st_size > MAX_IMAGE_BYTES:
            raise InvalidImage(f"the file is larger than {MAX_IMAGE_BYTES >> 20} MiB")
        data = file.read(MAX_IMAGE_BYTES + 1)  # it may grow while it is read
    if len(data) > MAX_IMAGE_BYTES:
        raise InvalidImage(f"the file is larger than {MAX_IMAGE_BYTES >> 20} MiB")
    return data
