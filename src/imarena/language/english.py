"""Is an instruction English? The reader supports no other language, and must not take foreign words for things."""

import re
import unicodedata
from functools import cache

from imarena.core import package_yaml

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|「[^」]*」|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")


@cache
def _little_words() -> tuple[frozenset[str], frozenset[str]]:
    words = package_yaml("imarena.language", "little_words.yaml")
    return frozenset(words["english"].split()), frozenset(words["foreign"].split())


def is_english(text: str) -> bool:
    """Decide by the script, and by common short words of several languages; words in quotation marks are ignored.

    A text without any distinctive word (a bare noun, 'sunset') counts as English.
    """
    bare = _QUOTED.sub(" ", text.replace("’", "'"))
    letters = [character for character in bare if character.isalpha()]
    if not letters:
        return True
    if sum("LATIN" in unicodedata.name(character, "") for character in letters) < 0.7 * len(letters):
        return False
    words = [word.casefold() for word in _WORD.findall(bare)]
    english, other_languages = _little_words()
    foreign = sum(word in other_languages for word in words)
    return foreign == 0 or foreign <= sum(word in english for word in words)
