"""The reader's word lists, from `lexicon.yaml` and `colour_names.yaml`, validated once on first use."""

import re
from functools import cache, lru_cache
from typing import Annotated

from pydantic import StringConstraints

from imarena.core import FrozenModel, package_yaml

Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-f]{6}$")]
LowerWord = Annotated[str, StringConstraints(to_lower=True)]


class Lexicon(FrozenModel):
    """Words by meaning. `colours`: word to sRGB value; `colour_names`: the same for names of several words.

    `enhance`: operation to the words that request it.
    """

    version: int
    colours: dict[str, Colour]
    colour_names: dict[str, Colour]
    materials: frozenset[LowerWord]
    styles: tuple[LowerWord, ...]
    ambience: frozenset[LowerWord]
    numbers: dict[str, int]
    places: dict[str, frozenset[LowerWord]]
    enhance: dict[str, tuple[LowerWord, ...]]
    enhance_only_when_removed: tuple[LowerWord, ...]
    size_up: frozenset[LowerWord]
    size_down: frozenset[LowerWord]
    verbs: frozenset[LowerWord]
    text_words: frozenset[LowerWord]
    image_words: frozenset[LowerWord]
    shades: frozenset[LowerWord]
    also_things: frozenset[LowerWord]
    settings: frozenset[LowerWord]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The bundled word lists; styles are sorted by length, longest first."""
    words = package_yaml("imarena.language", "lexicon.yaml")
    names = package_yaml("imarena.language", "colour_names.yaml")["names"]
    styles = sorted(words["styles"], key=len, reverse=True)
    return Lexicon.model_validate(words | {"colour_names": names, "styles": styles})


@cache
def sentence_forms(name: str) -> tuple[re.Pattern[str], ...]:
    """A list from `forms.yaml`: sentence patterns that request one kind of change."""
    return tuple(map(re.compile, package_yaml("imarena.language", "forms.yaml")[name]))
