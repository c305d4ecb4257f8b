"""Texts that stay in an image file when its metadata is removed: in colour profiles, and anywhere in BMP and TIFF."""

import re
from collections.abc import Iterator

from imarena.images import GIF, JPEG, PNG, WEBP, colour_profile, media_type_of

_RUNS = re.compile(rb"[\x20-\x7e]{8,}")
"""Long enough that coded pixels seldom look like one."""
_MOST_BYTES = 1 << 20


def remaining_texts(data: bytes) -> Iterator[str]:
    """Every text in the colour profile of an image; of BMP and TIFF files in any part.

    Texts of one and of two bytes per letter are found, in either order of bytes.
    """
    named_parts = media_type_of(data) in {PNG, JPEG, WEBP, GIF}
    block = colour_profile(data) if named_parts else data
    for start in range(0, len(block), _MOST_BYTES):
        part = block[start : start + _MOST_BYTES]
        for run in _RUNS.findall(b"\n".join((part.replace(b"\x00", b"\n"), part[::2], part[1::2]))):
            yield run.decode("ascii")
