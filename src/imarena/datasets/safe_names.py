"""Safe file names for untrusted names: a model may be called `../../x`, `a_vs_b` or `con?`."""

import hashlib
import re

from imarena.datasets.folder import escape_name

_UNSAFE = re.compile(r'[/\\:*?"<>|%\x00-\x1f\x7f]')
_MOST_BYTES = 120


def is_plain(name: str) -> bool:
    """Can the name be one part of a path as it is, on any system?"""
    stem = name.split(".", maxsplit=1)[0]
    reserved = stem.isascii() and stem.isalnum() and escape_name(stem) != stem  # CON, NUL, COM1, ...
    return (
        bool(name)
        and not reserved
        and name == name.strip(" .")
        and name.isprintable()
        and not _UNSAFE.search(name)
        and len(name.encode("utf-8", "surrogatepass")) <= _MOST_BYTES
    )


def safe_name(name: str) -> str:
    """A name that is one harmless part of a path. Different names give different ones; plain ones stay as they are.

    Other names are percent-encoded, which `unescape_name` undoes; those too long for that become a hash.
    """
    if is_plain(name):
        return name
    encoded = escape_name(name)
    if len(encoded) <= _MOST_BYTES:
        return encoded
    return "%" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
