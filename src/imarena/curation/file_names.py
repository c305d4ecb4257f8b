"""Words of a file's name: weak evidence of what an image shows, below anything that somebody stated."""

import re

from imarena.core import FoundImage

_WORD = re.compile(r"[^\W_]+")
_CAMERA = frozenset({"img", "dsc", "dscn", "dscf", "pxl", "photo"})


def path_words(key: str) -> str:
    """Words of a path: folders and the file's name, without numbers such as a camera gives."""
    words = (word for word in _WORD.findall(re.sub(r"\.\w+(#\d+)?$", "", key)) if not any(c.isdigit() for c in word))
    return " ".join(word for word in words if word.casefold() not in _CAMERA)


def stated_text(found: FoundImage) -> str:
    """What somebody stated about an image: title, what it shows, text; not a title made of its path."""
    title = "" if is_file_name(found.title, found.key) else found.title
    return " ".join(filter(None, (title, found.shows, found.text)))


def is_file_name(title: str, key: str) -> bool:
    """Does a title only repeat the words of the path?"""
    return set(_WORD.findall(title.casefold())) <= set(_WORD.findall(path_words(key).casefold()))
