"""Words of a file name: weak evidence of what an image shows, weaker than any stated text."""

import re

from imarena.core import FoundImage

_WORD = re.compile(r"[^\W_]+")
_CAMERA = frozenset({"img", "dsc", "dscn", "dscf", "pxl", "photo"})


def path_words(key: str) -> str:
    """Words of a path: folders and the file name, without numbers such as those from a camera."""
    words = (word for word in _WORD.findall(re.sub(r"\.\w+(#\d+)?$", "", key)) if not any(c.isdigit() for c in word))
    return " ".join(word for word in words if word.casefold() not in _CAMERA)


def stated_text(result: FoundImage) -> str:
    """The texts that somebody stated about an image: title, content, text; not a title derived from its path."""
    title = "" if is_file_name(result.title, result.key) else result.title
    return " ".join(filter(None, (title, result.shows, result.text)))


def is_file_name(title: str, key: str) -> bool:
    """Does a title only repeat words of the path?"""
    return set(_WORD.findall(title.casefold())) <= set(_WORD.findall(path_words(key).casefold()))
